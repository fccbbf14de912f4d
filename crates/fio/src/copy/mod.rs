//! Requests of one copy of a job, in order.

mod addresses;
mod sizes;

use crate::job::{Direction, Generator, Io, Job, Mode, Seeding};
use crate::lfsr::Lfsr;
use crate::map::BlockMap;
use crate::places::{Distribution, Drawn, Zones};
use crate::random::Random;
use crate::seeds::{SEEDS, Seed, seeds_of};
use crate::sprandom::Regions;

/// Copy of a job: an iterator over its requests. It never ends if only time ends the job.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // independent facts of a run
pub struct Copy {
    job: Job,
    seeds: [u64; SEEDS],
    sizes: [Random; 3],
    mix: Random,
    zone: Random,
    order: [Random; 3],
    blocks: Random,
    lfsr: Option<Lfsr>,
    regions: Option<Regions>,
    map: Option<BlockMap>,
    drawn: Option<Drawn>,
    zones: Option<Zones>,
    /// Start of the current zone or of the region.
    start: u64,
    last_start: [Option<u64>; 3],
    last_end: [u64; 3],
    /// Requests until the next random place.
    left_in_run: u64,
    mixed: Direction,
    mixed_until: u64,
    issued: [u64; 3],
    issued_bytes: [u64; 3],
    last_was_write: bool,
    zone_bytes: u64,
    loops_left: u64,
    is_in_pass: bool,
    has_passed: bool,
    pass_bytes: u64,
    is_file_done: bool,
    is_done: bool,
}

impl Copy {
    /// Copy of a job at its start.
    pub fn new(job: Job) -> Self {
        let seeds = seeds_of(&job);
        let mapped = job.strides.map_or(job.size, |zone| zone.range);
        let blocks = mapped / job.least();
        let range = job.least[0].min(job.least[1]);
        let file_seed = match job.seeding {
            Seeding::Repeated => job.file_hash.wrapping_mul(job.number as u32),
            _ => seeds[Seed::Block as usize] as u32,
        };
        let ranges = job.size.div_ceil(range);
        let drawn =
            Drawn::new(&job.distribution, ranges, job.scale, job.center, u64::from(file_seed));
        let zones = match &job.distribution {
            Distribution::Zoned(zones) | Distribution::ZonedAbs(zones) => Some(Zones::new(zones)),
            _ => None,
        };
        let uses_map = job.is_random && job.distribution == Distribution::Uniform;
        let is_lfsr = uses_map && job.generator == Generator::Lfsr;
        let narrow = || Random::new(0, false);
        let mut copy = Copy {
            lfsr: is_lfsr.then(|| Lfsr::new(blocks, seeds[Seed::Block as usize])),
            regions: job.sprandom.map(|options| {
                Regions::new(&options, job.size, job.least(), seeds[Seed::Sprandom as usize])
            }),
            map: (uses_map && job.has_map && !is_lfsr).then(|| BlockMap::new(blocks)),
            seeds,
            sizes: [narrow(), narrow(), narrow()],
            mix: narrow(),
            zone: narrow(),
            order: [narrow(), narrow(), narrow()],
            blocks: narrow(),
            drawn,
            zones,
            start: job.offset,
            last_start: [None; 3],
            last_end: [job.offset; 3],
            left_in_run: 1,
            mixed: Direction::Read,
            mixed_until: 0,
            issued: [0; 3],
            issued_bytes: [0; 3],
            last_was_write: false,
            zone_bytes: 0,
            loops_left: job.loops,
            is_in_pass: false,
            has_passed: false,
            pass_bytes: 0,
            is_file_done: false,
            is_done: false,
            job,
        };
        copy.seed();
        copy
    }

    fn seed(&mut self) {
        let is_wide = self.job.generator == Generator::Tausworthe64;
        let seed = |place: Seed| self.seeds[place as usize];
        let trim_sizes = match self.job.mode {
            Mode::TrimWrite => Seed::WriteSizes,
            _ => Seed::TrimSizes,
        };
        let sizes = [Seed::ReadSizes, Seed::WriteSizes, trim_sizes];
        self.sizes = sizes.map(|place| Random::new(seed(place), is_wide));
        self.mix = Random::new(seed(Seed::Mix), false);
        self.zone = Random::new(seed(Seed::Zone), false);
        self.order = [0; 3].map(|_| Random::new(seed(Seed::Order), false));
        self.blocks = Random::new(seed(Seed::Block), is_wide);
    }

    /// Forgets the positions and written blocks of the file.
    fn reset_file(&mut self) {
        self.last_start = [None; 3];
        self.last_end = [self.start; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(lfsr) = &mut self.lfsr {
            lfsr.reset(self.seeds[Seed::Block as usize]);
        }
    }

    /// True if the job starts another pass.
    fn goes_on(&mut self) -> bool {
        if self.is_done {
            return false;
        }
        if self.job.is_timed {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        let limit = self.job.io_size.unwrap_or(self.job.size);
        let bytes: u64 = self.issued_bytes.iter().sum();
        let most = self.job.most.iter().max().copied().unwrap_or(0);
        !self.has_all_requests()
            && bytes + most <= limit
            && !(self.is_file_done && self.job.io_size.is_none())
    }

    fn has_all_requests(&self) -> bool {
        let factor = if self.job.mode == Mode::TrimWrite { 2 } else { 1 };
        let count: u64 = self.issued.iter().sum();
        self.job.number_ios.is_some_and(|number| count >= number * factor * self.job.loops)
    }

    fn has_all_bytes(&self) -> bool {
        let [reads, writes, trims] = self.issued_bytes;
        let bytes = match self.job.mode {
            Mode::Mixed => reads + writes,
            Mode::Read => reads,
            Mode::Write | Mode::TrimWrite => writes,
            Mode::Trim => trims,
        };
        bytes >= self.job.io_size.unwrap_or(self.job.size).saturating_mul(self.job.loops)
    }

    /// Bytes that a pass may issue. Only the end of the file begins another pass, so that a job
    /// that never reaches it draws all loops in one.
    fn bytes_of_pass(&self) -> u64 {
        let job = &self.job;
        let of_io = job.io_size.unwrap_or(0);
        let has_writes = !matches!(job.mode, Mode::Read | Mode::Trim);
        let is_free = has_writes && job.is_random && !job.has_map;
        let is_mixed_in_order = job.mode == Mode::Mixed && !job.is_random;
        let bytes = if is_free || is_mixed_in_order { job.size.max(of_io) } else { job.size };
        let again = if job.mode == Mode::TrimWrite {
            job.io_size.unwrap_or(job.size).saturating_mul(job.loops)
        } else {
            0
        };
        bytes.saturating_mul(job.loops).saturating_add(again)
    }

    /// Next request within a pass, or None if the pass cannot issue another.
    fn issue(&mut self) -> Option<Io> {
        if self.needs_flush() {
            self.last_was_write = false;
            return Some(Io { direction: None, offset: 0, bytes: 0 });
        }
        let direction = self.direction();
        if let Some(strides) = self.job.strides {
            self.move_zone(strides, direction);
        }
        let (offset, is_random, is_marked) = self.place(direction)?;
        let offset = self.checked(direction, offset)?;
        let mut bytes = self.size(direction, offset, is_random)?;
        if offset + bytes > self.job.end {
            return None;
        }
        if let (Some(map), true) = (&mut self.map, is_marked) {
            let least = self.job.least[direction as usize];
            let count = map.add((offset - self.start) / least, bytes.div_ceil(least));
            bytes = bytes.min(count * least);
        }
        self.zone_bytes += bytes;
        let at = direction as usize;
        (self.last_start[at], self.last_end[at]) = (Some(offset), offset + bytes);
        self.issued[at] += 1;
        self.issued_bytes[at] += bytes;
        self.last_was_write = direction == Direction::Write;
        Some(Io { direction: Some(direction), offset, bytes })
    }

    fn needs_flush(&self) -> bool {
        let (fsync, writes) = (self.job.fsync, self.issued[Direction::Write as usize]);
        fsync > 0 && self.last_was_write && writes > 0 && writes.is_multiple_of(fsync)
    }
}

impl Iterator for Copy {
    type Item = Io;

    fn next(&mut self) -> Option<Io> {
        loop {
            if !self.is_in_pass {
                if !self.goes_on() {
                    self.is_done = true;
                    return None;
                }
                if self.has_passed {
                    self.start = self.job.offset;
                    (self.zone_bytes, self.mixed_until) = (0, 0);
                    if self.job.seeding == Seeding::Repeated {
                        self.seed();
                    }
                }
                if self.has_passed {
                    self.reset_file();
                }
                (self.is_in_pass, self.has_passed) = (true, true);
                (self.pass_bytes, self.is_file_done) = (0, false);
            }
            let is_over = !self.job.is_timed
                && (self.has_all_bytes()
                    || self.has_all_requests()
                    || self.pass_bytes >= self.bytes_of_pass());
            if !is_over {
                if let Some(io) = self.issue() {
                    self.pass_bytes += io.bytes;
                    return Some(io);
                }
                self.is_file_done = true;
            }
            if self.map.is_some() && !self.is_file_done {
                // At the end of a pass, fio draws a block for which the map has no place.
                self.blocks.draw();
            }
            self.is_in_pass = false;
            self.is_done |= self.pass_bytes == 0;
        }
    }
}
