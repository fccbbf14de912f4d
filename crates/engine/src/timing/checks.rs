//! Checks of a profile's times, and the sentence that refuses a value.

use super::params::{Array, ByKind, Scheduling, Timing};
use crate::error::{Error, Result};
use crate::flash::{EraseUnit, Geometry};

/// The longest duration of anything, so that sums of times fit 64 bits: an hour.
const MOST_US: f64 = 3.6e9;

/// The most dies that events are told apart of: see the schedule.
const MOST_DIES: u64 = 500_000;

impl Timing {
    /// An error that names the first value that cannot be, on a drive of that shape.
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        self.check_durations()?;
        self.check_counts()?;
        let wrong = |what: String| Err(Error::Spec(what));
        if self.dies(geometry) > MOST_DIES {
            let dies = self.dies(geometry);
            return wrong(format!(
                "a timed drive has at most {MOST_DIES} dies; this one has {dies}"
            ));
        }
        let (page_bytes, shape) = (geometry.page_bytes(), geometry.shape());
        let flash_page_bytes = self.flash_page_bytes(geometry);
        if !flash_page_bytes.is_multiple_of(page_bytes) {
            return wrong(format!(
                "flash_page_bytes is {flash_page_bytes}; it must be a multiple of the mapping \
                 unit's {page_bytes} bytes"
            ));
        }
        let planes = self.program.planes;
        if planes != 1 && planes != shape.planes_per_die {
            return wrong(format!(
                "program.planes is {planes}; it must be 1, or all {} planes of a die",
                shape.planes_per_die
            ));
        }
        if planes > 1 && shape.erase_unit == EraseUnit::Block {
            return wrong(
                "programs of several planes need erase_unit \"multi-plane\" or \
                 \"superblock\""
                    .into(),
            );
        }
        if self.scheduling.suspend && !self.scheduling.reads_first {
            return wrong(
                "scheduling.suspend is true; a read that suspends goes first, so \
                 scheduling.reads_first must be true"
                    .into(),
            );
        }
        let bounded = self.scheduling.most_wait_us > 0.0;
        if (self.scheduling.copies_yield || bounded) && !self.scheduling.reads_first {
            let key = if bounded { "most_wait_us" } else { "copies_yield" };
            return wrong(format!(
                "scheduling.{key} is for a drive whose reads go first, so scheduling.reads_first \
                 must be true"
            ));
        }
        self.check_plane_reads(geometry)?;
        let is_paceable = self.collection.background && self.scheduling.copies_yield;
        if self.collection.paced && !is_paceable {
            return wrong(
                "collection.paced is for a drive that collects in the background and whose copies \
                 yield, so collection.background and scheduling.copies_yield must be true"
                    .into(),
            );
        }
        let units = u64::from(self.units_per_flash_page(geometry))
            * u64::from(planes)
            * u64::from(self.program.pages_per_word_line);
        let dies = match shape.erase_unit {
            EraseUnit::Superblock => self.dies(geometry),
            EraseUnit::Block | EraseUnit::MultiPlane => 1,
        };
        if units > 4096 || !u64::from(geometry.pages_per_block()).is_multiple_of(units * dies) {
            return wrong(format!(
                "a program writes {units} mapping units; a block of {} on {dies} die(s) must hold \
                 a whole number of programs of at most 4096",
                geometry.pages_per_block()
            ));
        }
        if self.map_cache.bytes > 0 {
            let bytes = self.map_cache.bytes;
            let segment = self.map_cache.segment_bytes_of(page_bytes);
            if u64::from(segment) > bytes
                || self.map_cache.entry_bytes == 0
                || self.map_cache.entry_bytes > segment
            {
                return wrong(format!(
                    "map_cache: entry_bytes is {}; it must be from 1 to segment_bytes, here {segment} \
                     (at most a mapping unit), and that at most bytes, {bytes}",
                    self.map_cache.entry_bytes
                ));
            }
        }
        self.slc.check(self, geometry, MOST_US)?;
        self.errors.check(MOST_US)?;
        let cache_bytes = self.write_cache.bytes;
        if cache_bytes > 0 && cache_bytes < 2 * u64::from(page_bytes) {
            return wrong(format!(
                "write_cache.bytes is {cache_bytes}; it must be 0, or hold two mapping units of \
                 {page_bytes} bytes"
            ));
        }
        Ok(())
    }

    /// An error where planes cannot read beside each other, of a profile that has them do so.
    fn check_plane_reads(&self, geometry: &Geometry) -> Result<()> {
        let Some(planes) = self.reading_planes(geometry) else { return Ok(()) };
        let needed = if !self.scheduling.reads_first {
            "whose reads go first, so scheduling.reads_first must be true"
        } else if !self.bus.die_interleaving {
            "whose dies are interleaved, so bus.die_interleaving must be true"
        } else if self.scheduling.most_wait_us > 0.0 {
            "without a bound to what programs wait, so scheduling.most_wait_us must be 0"
        } else if self.collection.paced {
            "whose collection is not paced, so collection.paced must be false"
        } else if self.dies(geometry) * (1 + u64::from(planes)) > MOST_DIES {
            "of fewer planes: with its dies they are 500000 at most"
        } else {
            return Ok(());
        };
        Err(Error::Spec(format!(
            "scheduling.plane_reads is \"independent\"; that is for a drive {needed}"
        )))
    }

    fn check_durations(&self) -> Result<()> {
        let Array { read_us, program_us, erase_us, read_spread, program_spread, erase_spread } =
            &self.timing;
        let times = [("timing.read_us", read_us), ("timing.program_us", program_us)];
        let spreads =
            [("timing.read_spread", read_spread), ("timing.program_spread", program_spread)];
        let all = |named: &[(&'static str, &ByKind)]| -> Vec<(&'static str, f64)> {
            let each = |(name, kinds): &(&'static str, &ByKind)| {
                kinds.values().iter().map(|&value| (*name, value)).collect::<Vec<_>>()
            };
            named.iter().flat_map(each).collect()
        };
        for (name, kinds) in times.iter().chain(&spreads) {
            if kinds.values().is_empty() || kinds.values().len() > 8 {
                return Err(Error::Spec(format!("{name} must have 1 to 8 values")));
            }
        }
        let Scheduling { suspend_us, resume_us, most_wait_us, .. } = self.scheduling;
        let mut durations = all(&times);
        durations.extend([
            ("timing.erase_us", *erase_us),
            ("scheduling.suspend_us", suspend_us),
            ("scheduling.resume_us", resume_us),
            ("scheduling.most_wait_us", most_wait_us),
            ("write_cache.idle_flush_ms", self.write_cache.idle_flush_ms),
        ]);
        if let Some((name, value)) = durations.iter().find(|(_, us)| !(0.0..=MOST_US).contains(us))
        {
            return Err(Error::outside(name, value, format_args!("from 0 to {MOST_US:e}")));
        }
        let mut relative = all(&spreads);
        relative.push(("timing.erase_spread", *erase_spread));
        if let Some((name, value)) = relative.iter().find(|(_, sd)| !(0.0..=0.28).contains(sd)) {
            return Err(Error::outside(name, value, "from 0 to 0.28, so that no draw is below 0"));
        }
        let rates = [
            ("bus.channel_mb_s", self.bus.channel_mb_s),
            ("host.link_mb_s", self.host.link_mb_s),
            ("write_cache.mb_s", self.write_cache.mb_s),
        ];
        let is_rate = |rate: f64| rate == 0.0 || (0.001..=1e9).contains(&rate);
        if let Some((name, value)) = rates.iter().find(|(_, rate)| !is_rate(*rate)) {
            let domain = "0 for one that takes no time, or 0.001 to 1e9";
            return Err(Error::outside(name, value, domain));
        }
        let retention_s = self.refresh.retention_s;
        if !(0.0..=3e9).contains(&retention_s) {
            return Err(Error::outside("refresh.retention_s", retention_s, "from 0 to 3e9"));
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<()> {
        let most_ns = (MOST_US * 1e3) as u64;
        let counts = [
            ("host.depth", u64::from(self.host.depth), 1, 65_536),
            ("host.link_packet_bytes", u64::from(self.host.link_packet_bytes), 1, 1 << 20),
            ("program.planes", u64::from(self.program.planes), 1, 64),
            ("program.pages_per_word_line", u64::from(self.program.pages_per_word_line), 1, 64),
            ("host.read_in_ns", self.host.read_in_ns, 0, most_ns),
            ("host.write_in_ns", self.host.write_in_ns, 0, most_ns),
            ("host.out_ns", self.host.out_ns, 0, most_ns),
            ("host.controller_ns", self.host.controller_ns, 0, most_ns),
            ("bus.read_command_ns", self.bus.read_command_ns, 0, most_ns),
            ("bus.program_command_ns", self.bus.program_command_ns, 0, most_ns),
            ("bus.erase_command_ns", self.bus.erase_command_ns, 0, most_ns),
            ("write_cache.access_ns", self.write_cache.access_ns, 0, most_ns),
            ("write_cache.bytes", self.write_cache.bytes, 0, 1 << 44),
            ("map_cache.bytes", self.map_cache.bytes, 0, 1 << 44),
        ];
        let wrong = counts.iter().find(|(_, n, least, most)| !(least..=most).contains(&n));
        wrong.map_or(Ok(()), |(name, value, least, most)| {
            Err(Error::outside(name, value, format_args!("from {least} to {most}")))
        })
    }
}
