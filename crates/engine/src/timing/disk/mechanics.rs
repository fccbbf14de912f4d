//! Mechanics of a disk: positions of sectors, and the times at which they pass the heads.
//!
//! The seek curve is settle + a·√distance up to a third of the cylinders and linear beyond
//! (Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994, Table
//! 3). Angles are times: the offset after time 0, modulo a revolution, at which a sector is under
//! its head. Tracks are skewed by the time of a switch, so that a pass over several tracks loses
//! only that time.

use std::ops::Range;

use super::DiskTimes;
use crate::error::{Error, Result};
use crate::timing::SECTOR_BYTES;

/// Smallest supported number of cylinders. With fewer, the seek curve is meaningless.
const FEWEST_CYLINDERS: u64 = 16;
/// Largest supported number of cylinders, so that angles (in ns) fit in 64 bits.
const MOST_CYLINDERS: u64 = u32::MAX as u64;

/// Zone: adjacent cylinders whose tracks have equally many sectors.
#[derive(Debug, Clone, Copy)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    sectors_per_track: u64,
}

/// Position of a sector on the disk: cylinder, head and index on the track.
#[derive(Debug, Clone, Copy)]
struct Place {
    cylinder: u64,
    head: u64,
    /// Number of sectors that precede it on its track.
    index: u64,
    sectors_per_track: u64,
}

/// Mechanics of a disk: tracks, arm and spindle.
#[derive(Debug, Clone)]
pub struct Mechanics {
    zones: Vec<Zone>,
    heads: u64,
    revolution_ns: u64,
    head_switch_ns: u64,
    settle_ns: f64,
    /// Coefficient a of √distance (in cylinders) in the seek curve, in ns.
    root_ns: f64,
    knee_cylinders: f64,
    knee_ns: f64,
    /// Seek time per cylinder in the linear part of the curve, in ns.
    slope_ns: f64,
}

impl Mechanics {
    /// Builds the mechanics of a checked profile, with the cylinders that its capacity needs.
    pub fn new(times: &DiskTimes) -> Result<Self> {
        let revolution_ns = 60e9 / times.rpm;
        let sectors_of_zone = |zone: u32| {
            let inward = f64::from(zone) / f64::from((times.zones - 1).max(1));
            let mb_s = times.outer_mb_s + (times.inner_mb_s - times.outer_mb_s) * inward;
            (mb_s * revolution_ns / 1e3 / f64::from(SECTOR_BYTES)).round().max(1.0) as u64
        };
        let (heads, zones) = (u64::from(times.heads), u64::from(times.zones));
        let sectors_of_index: u64 = (0..times.zones).map(sectors_of_zone).sum::<u64>() * heads;
        let sectors = times.capacity_bytes / u64::from(SECTOR_BYTES);
        let cylinders_per_zone = sectors.div_ceil(sectors_of_index);
        let cylinders = cylinders_per_zone * zones;
        if !(FEWEST_CYLINDERS..=MOST_CYLINDERS).contains(&cylinders) {
            return Err(Error::Spec(format!(
                "disk.capacity_bytes is {}; with these data rates it needs {cylinders} \
                 cylinder(s), but only {FEWEST_CYLINDERS} to {MOST_CYLINDERS} are supported",
                times.capacity_bytes
            )));
        }
        let mut first_sector = 0;
        let zone = |number: u32| {
            let sectors_per_track = sectors_of_zone(number);
            let first_cylinder = u64::from(number) * cylinders_per_zone;
            let zone = Zone { first_sector, first_cylinder, sectors_per_track };
            first_sector += cylinders_per_zone * heads * sectors_per_track;
            zone
        };
        let (near_ns, full_ns) = (times.track_to_track_ms * 1e6, times.full_seek_ms * 1e6);
        // The distance x of two random cylinders, in full strokes, has the density 2(1 − x). With
        // the knee at a third of a stroke, this value makes the mean of the curve equal to the
        // average seek.
        let knee_ns =
            (135.0 * times.average_seek_ms * 1e6 - 27.0 * near_ns - 20.0 * full_ns) / 88.0;
        let knee_cylinders = cylinders as f64 / 3.0;
        let root_ns = (knee_ns - near_ns) / (knee_cylinders.sqrt() - 1.0);
        Ok(Mechanics {
            zones: (0..times.zones).map(zone).collect(),
            heads,
            revolution_ns: revolution_ns.round() as u64,
            head_switch_ns: (times.head_switch_ms * 1e6).round() as u64,
            settle_ns: near_ns - root_ns,
            root_ns,
            knee_cylinders,
            knee_ns,
            slope_ns: (full_ns - knee_ns) / (cylinders as f64 - 1.0 - knee_cylinders),
        })
    }

    /// Time of a seek over a distance of `cylinders` cylinders, in ns.
    pub fn seek_ns(&self, cylinders: u64) -> u64 {
        let distance = cylinders as f64;
        let ns = if cylinders == 0 {
            0.0
        } else if distance <= self.knee_cylinders {
            self.settle_ns + self.root_ns * distance.sqrt()
        } else {
            self.knee_ns + self.slope_ns * (distance - self.knee_cylinders)
        };
        ns.round() as u64
    }

    /// Time at which the first bit of `to` is under its head.
    /// The arm leaves sector `from` at `now_ns`.
    pub fn arrival_ns(&self, now_ns: u64, from: u64, to: u64) -> u64 {
        let (from, to) = (self.place(from), self.place(to));
        let there_ns = now_ns + self.travel_ns(from, to);
        let turned_ns = there_ns % self.revolution_ns;
        there_ns + (self.angle_ns(to) + self.revolution_ns - turned_ns) % self.revolution_ns
    }

    /// Time at which the first bit of `to` passes the heads, in a pass over all sectors from
    /// `from`.
    /// Sector `from` starts to pass at `from_ns`, and must not be after `to`.
    pub fn begin_ns(&self, from: u64, from_ns: u64, to: u64) -> u64 {
        let mut at_ns = from_ns;
        for (run, run_ns, switch_ns) in self.runs(from) {
            if to < run.end {
                return at_ns + self.part_ns(self.place(run.start), to - run.start);
            }
            at_ns += run_ns + switch_ns;
        }
        at_ns
    }

    /// Time at which the last bit of `sectors` has passed, if the first begins at `begin_ns`.
    pub fn end_ns(&self, sectors: Range<u64>, begin_ns: u64) -> u64 {
        let mut at_ns = begin_ns;
        for (run, run_ns, switch_ns) in self.runs(sectors.start) {
            if run.end >= sectors.end {
                let place = self.place(run.start);
                return at_ns + self.part_ns(place, sectors.end - run.start);
            }
            at_ns += run_ns + switch_ns;
        }
        at_ns
    }

    /// First of `sectors` that has not passed the heads completely at `now_ns`.
    /// The first sector begins to pass at `begin_ns`.
    pub fn reached(&self, sectors: Range<u64>, begin_ns: u64, now_ns: u64) -> u64 {
        let mut at_ns = begin_ns;
        for (run, run_ns, switch_ns) in self.runs(sectors.start) {
            if at_ns >= now_ns || run.start >= sectors.end {
                return run.start.min(sectors.end);
            }
            if at_ns + run_ns > now_ns {
                let place = self.place(run.start);
                // Largest index of a sector on the track whose end time, rounded down to whole ns,
                // has been reached.
                let past_ns = self.index_ns(place, place.index) + now_ns - at_ns;
                let index = ((past_ns + 1) * place.sectors_per_track - 1) / self.revolution_ns;
                return (run.start + index - place.index).min(sectors.end);
            }
            at_ns += run_ns + switch_ns;
        }
        sectors.end
    }

    /// Runs of sectors on consecutive tracks from `sector` on.
    /// Each has its duration and that of the switch to the next track.
    fn runs(&self, sector: u64) -> impl Iterator<Item = (Range<u64>, u64, u64)> + use<'_> {
        let mut next = sector;
        std::iter::from_fn(move || {
            let place = self.place(next);
            let left = place.sectors_per_track - place.index;
            let run = next..next + left;
            next = run.end;
            let is_last_head = place.head + 1 == self.heads;
            let switch_ns = if is_last_head { self.step_ns() } else { self.head_switch_ns };
            Some((run, self.part_ns(place, left), switch_ns))
        })
    }

    fn place(&self, sector: u64) -> Place {
        let zone = self.zones[self.zones.partition_point(|z| z.first_sector <= sector) - 1];
        let sectors_per_track = zone.sectors_per_track;
        let (track, index) = (
            (sector - zone.first_sector) / sectors_per_track,
            (sector - zone.first_sector) % sectors_per_track,
        );
        let cylinder = zone.first_cylinder + track / self.heads;
        Place { cylinder, head: track % self.heads, index, sectors_per_track }
    }

    fn travel_ns(&self, from: Place, to: Place) -> u64 {
        let switch_ns = if from.head == to.head { 0 } else { self.head_switch_ns };
        self.seek_ns(from.cylinder.abs_diff(to.cylinder)).max(switch_ns)
    }

    /// Time to switch from the last head of a cylinder to the first head of the next, in ns.
    fn step_ns(&self) -> u64 {
        let switch_ns = if self.heads == 1 { 0 } else { self.head_switch_ns };
        self.seek_ns(1).max(switch_ns)
    }

    fn angle_ns(&self, place: Place) -> u64 {
        let of_cylinder_ns = self.step_ns() + (self.heads - 1) * self.head_switch_ns;
        let of_cylinder_ns = of_cylinder_ns % self.revolution_ns;
        let skew_ns = place.cylinder * of_cylinder_ns + place.head * self.head_switch_ns;
        (skew_ns + self.index_ns(place, place.index)) % self.revolution_ns
    }

    /// Time from the start of a track to a sector.
    fn index_ns(&self, place: Place, index: u64) -> u64 {
        index * self.revolution_ns / place.sectors_per_track
    }

    fn part_ns(&self, place: Place, sectors: u64) -> u64 {
        self.index_ns(place, place.index + sectors) - self.index_ns(place, place.index)
    }
}
