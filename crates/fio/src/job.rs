//! A job of fio, and the requests of one of its copies, in order.

use crate::lfsr::Lfsr;
use crate::map::BlockMap;
use crate::places::{Distribution, Drawn, Zones};
use crate::random::Random;

/// Kind of I/O of a job, as `rw` states it without its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Trims only.
    Trim,
    /// Reads and writes.
    Mixed,
    /// A trim, then a write of the same place.
    TrimWrite,
}

/// Direction of a request; the numbers are those of fio's settings per direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Trim.
    Trim = 2,
}

/// Generator of random blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generator {
    /// 32-bit generator.
    Tausworthe,
    /// 64-bit generator.
    Tausworthe64,
    /// Shift register, which draws each block once.
    Lfsr,
}

/// Seeds of a job's generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seeding {
    /// `randrepeat=1`: the same seeds in each run and each loop.
    Repeated,
    /// `randrepeat=1` with this `randseed`: the same seeds in each run, which loops continue.
    /// Random blocks do not depend on it.
    Continued(u64),
    /// `randrepeat=0` with this `randseed`.
    Fixed(u64),
    /// `randrepeat=0`: other seeds in each run, here from a number.
    Fresh(u64),
}

/// Zones of `zonemode=strided`, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strides {
    /// Size of a zone.
    pub range: u64,
    /// Bytes of I/O in a zone before the next.
    pub size: u64,
    /// Gap between zones.
    pub skip: u64,
}

/// Options of a job with one file, in bytes.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // fio has as many flags
pub struct Job {
    /// Kind of I/O.
    pub mode: Mode,
    /// Whether `rw` is random.
    pub is_random: bool,
    /// `rw=…:N`: requests from one random place on, of a random job.
    pub run: u64,
    /// `rw=…:N`: bytes to skip after a request, of a sequential job.
    pub skip: i64,
    /// `rw_sequencer=identical`.
    pub is_identical: bool,
    /// Smallest sizes by direction.
    pub least: [u64; 3],
    /// Largest sizes by direction.
    pub most: [u64; 3],
    /// Alignments of random places by direction.
    pub align: [u64; 3],
    /// Sizes and their shares in per cent, by direction; empty without `bssplit`.
    pub splits: [Vec<(u64, u64)>; 3],
    /// `bs_unaligned`.
    pub is_unaligned: bool,
    /// `bs_is_seq_rand`: sizes of sequential and random requests instead of reads and writes.
    pub is_by_order: bool,
    /// `rwmixread`, in per cent.
    pub read_percent: u64,
    /// `percentage_random` by direction.
    pub random_percent: [u64; 3],
    /// Whether a map of written blocks is kept.
    pub has_map: bool,
    /// Generator of random blocks.
    pub generator: Generator,
    /// Distribution of random blocks.
    pub distribution: Distribution,
    /// Centre of the distribution, as a share of the blocks.
    pub center: Option<f64>,
    /// Start of the region.
    pub offset: u64,
    /// Size of the region.
    pub size: u64,
    /// End of the device.
    pub end: u64,
    /// `loops`.
    pub loops: u64,
    /// `io_size`.
    pub io_size: Option<u64>,
    /// `number_ios`.
    pub number_ios: Option<u64>,
    /// Whether only time ends the job.
    pub is_timed: bool,
    /// `zonemode=strided`.
    pub strides: Option<Strides>,
    /// Writes between flushes; 0 without flushes.
    pub fsync: u64,
    /// Seeds.
    pub seeding: Seeding,
    /// Number of the copy among all copies of all jobs, from 1.
    pub number: u64,
    /// Number of the full drive's blocks for each block, for a smaller drive in its place.
    pub scale: f64,
    /// Hash of the file's name, from which fio seeds its distributions.
    pub file_hash: u32,
}

/// Request of a job; without a direction, it is a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// Direction, or None.
    pub direction: Option<Direction>,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Places of fio's seeds.
#[derive(Clone, Copy)]
enum Seed {
    ReadSizes = 0,
    WriteSizes = 1,
    TrimSizes = 2,
    Mix = 4,
    Block = 6,
    Order = 10,
    Zone = 16,
}

/// fio's own constants of seeds.
const RANDSEED: u64 = 0xb189_9bed;
const DEFAULT_SEED: u64 = 0x89;
const STEP: u64 = 0x9e37_0001;

/// Copy of a job: an iterator over its requests. It never ends if only time ends the job.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // independent facts of a run
pub struct Copy {
    job: Job,
    seeds: [u64; 17],
    sizes: [Random; 3],
    mix: Random,
    zone: Random,
    order: [Random; 3],
    blocks: Random,
    lfsr: Option<Lfsr>,
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
        let seeds = seeds_of(job.seeding, job.number);
        let mapped = job.strides.map_or(job.size, |zone| zone.range);
        let blocks = mapped / least_of(&job);
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

    /// Bytes that a pass may issue.
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
        bytes.saturating_add(again)
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

    fn direction(&mut self) -> Direction {
        match self.job.mode {
            Mode::Read => Direction::Read,
            Mode::Write => Direction::Write,
            Mode::Trim => Direction::Trim,
            Mode::TrimWrite => {
                let is_pair = self.last_start[Direction::Write as usize]
                    == self.last_start[Direction::Trim as usize];
                if is_pair { Direction::Trim } else { Direction::Write }
            }
            Mode::Mixed => {
                if self.issued[self.mixed as usize] >= self.mixed_until {
                    let is_read = self.mix.between(1, 100) <= self.job.read_percent;
                    let next = if is_read { Direction::Read } else { Direction::Write };
                    if next != self.mixed {
                        let other = match self.mixed {
                            Direction::Read => 100 - self.job.read_percent,
                            _ => self.job.read_percent,
                        };
                        self.mixed_until = self.issued[self.mixed as usize] * other / 100;
                    }
                    self.mixed = next;
                }
                self.mixed
            }
        }
    }

    /// Place relative to the region or zone, whether it is random, and whether the map gets it.
    fn place(&mut self, direction: Direction) -> Option<(u64, bool, bool)> {
        let is_trim_written = self.job.mode == Mode::TrimWrite && self.job.is_random;
        let mut is_new = false;
        if self.job.run > 0 {
            self.left_in_run -= 1;
            if self.left_in_run == 0 {
                (is_new, self.left_in_run) = (true, self.job.run);
            }
        }
        if is_trim_written && direction == Direction::Write {
            let trimmed = self.last_start[Direction::Trim as usize]?;
            return Some((trimmed - self.start, true, false));
        }
        if is_new && self.job.is_random {
            if self.is_random_now(direction) {
                return Some((self.random_place(direction)?, true, true));
            }
            return match self.next_in_order(direction) {
                Some(place) => Some((place, false, false)),
                None => Some((self.random_place(direction)?, false, false)),
            };
        }
        if is_new {
            return Some((self.next_in_order(direction)?, false, false));
        }
        if self.job.is_identical {
            let last = self.last_start[direction as usize];
            return Some((last.map_or(0, |last| last - self.start), false, false));
        }
        match self.next_in_order(direction) {
            Some(place) => Some((place, false, false)),
            None => Some((self.random_place(direction)?, false, false)),
        }
    }

    fn is_random_now(&mut self, direction: Direction) -> bool {
        let percent = self.job.random_percent[direction as usize];
        percent == 100 || self.order[direction as usize].between(1, 100) <= percent
    }

    fn next_in_order(&mut self, direction: Direction) -> Option<u64> {
        let job = &self.job;
        let end = &mut self.last_end[direction as usize];
        let is_past = *end >= job.size + job.offset;
        if is_past && job.is_timed {
            *end = self.start;
        }
        if *end >= job.end {
            return None;
        }
        if *end == self.start && self.start > 0 && job.skip < 0 {
            *end = job.end.min(job.size);
        }
        let mut place = *end - self.start;
        if place > 0 && job.skip != 0 {
            place = place.wrapping_add_signed(job.skip);
            if place >= job.end {
                place = if job.skip > 0 {
                    self.start
                } else {
                    job.end.min(job.size).wrapping_add_signed(job.skip)
                };
            }
        }
        Some(place)
    }

    fn random_place(&mut self, direction: Direction) -> Option<u64> {
        let block = self.random_block(direction).or_else(|| {
            if !self.job.is_timed {
                return None;
            }
            self.reset_file();
            self.random_block(direction)
        })?;
        Some(block * self.job.align[direction as usize])
    }

    fn random_block(&mut self, direction: Direction) -> Option<u64> {
        if let Some(drawn) = &mut self.drawn {
            return Some(drawn.draw());
        }
        let blocks = self.block_count(direction);
        if blocks == 0 {
            return None;
        }
        let Some(zones) = &self.zones else { return self.uniform_block(blocks) };
        let (start, end) = zones.draw(&mut self.zone);
        if let Distribution::Zoned(_) = self.job.distribution {
            let first = start * blocks / 100;
            return Some(first + self.uniform_block(blocks * (end - start) / 100)?);
        }
        let align = self.job.align[direction as usize];
        let (first, last) = (start / align, end / align);
        if last > blocks {
            return None;
        }
        Some(first + self.uniform_block(last - first)?)
    }

    fn uniform_block(&mut self, blocks: u64) -> Option<u64> {
        let block = if let Some(lfsr) = &mut self.lfsr {
            lfsr.draw()?
        } else {
            let share = self.blocks.draw() as f64 / self.blocks.limit();
            (blocks as f64 * share) as u64
        };
        match &self.map {
            Some(map) if map.has(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    fn block_count(&self, direction: Direction) -> u64 {
        let at = direction as usize;
        let mut bytes = self.job.strides.map_or(self.job.size.min(self.job.end), |zone| zone.range);
        bytes -= self.job.least[at].saturating_sub(self.job.align[at]).min(bytes);
        bytes / self.job.align[at]
    }

    /// Place on the device, if it is inside the region.
    fn checked(&mut self, direction: Direction, place: u64) -> Option<u64> {
        let offset = place.checked_add(self.start)?;
        if place >= self.job.size || offset >= self.job.end {
            return None;
        }
        let is_pair = self.job.mode == Mode::TrimWrite && self.job.is_random;
        let last = self.last_start[Direction::Trim as usize];
        if is_pair && direction == Direction::Trim && last == Some(offset) {
            // fio changes the last write, or the same place twice would end the pairs.
            let write = &mut self.last_start[Direction::Write as usize];
            *write = write.map(|write| write.wrapping_sub(1));
        }
        Some(offset)
    }

    fn size(&mut self, direction: Direction, offset: u64, is_random: bool) -> Option<u64> {
        let is_pair = self.job.mode == Mode::TrimWrite && self.job.is_random;
        if is_pair && direction == Direction::Write {
            let at = Direction::Trim as usize;
            return Some(self.last_end[at] - self.last_start[at]?);
        }
        let at = match (self.job.is_by_order, is_random) {
            (true, true) => Direction::Write,
            (true, false) => Direction::Read,
            (false, _) => direction,
        } as usize;
        let (least, most) = (self.job.least[at], self.job.most[at]);
        if least == most {
            return Some(least);
        }
        let fits = |bytes: u64| offset + bytes <= self.job.size + self.job.offset;
        if !fits(least) {
            return None;
        }
        loop {
            let number = self.sizes[at].draw();
            let limit = self.sizes[at].limit();
            let mut bytes = 0;
            if self.job.splits[at].is_empty() {
                bytes = least + (most as f64 * (number as f64 / limit)) as u64;
            } else {
                let mut percent = 0;
                for &(size, share) in self.job.splits[at].iter().filter(|(_, share)| *share > 0) {
                    bytes = size;
                    percent += share;
                    let bound = (limit as u128 - 1) as u64 / 100;
                    if number / percent <= bound && fits(bytes) {
                        break;
                    }
                }
            }
            if !self.job.is_unaligned {
                bytes -= bytes % least;
            }
            bytes = bytes.min(most);
            if fits(bytes) {
                return Some(bytes);
            }
        }
    }

    fn move_zone(&mut self, strides: Strides, direction: Direction) {
        let at = direction as usize;
        if self.zone_bytes >= strides.size {
            self.zone_bytes = 0;
            self.start += strides.range + strides.skip;
            if self.start >= self.job.end {
                self.start = self.job.offset;
            }
            self.last_end[at] = self.start;
        }
        if self.last_end[at] >= self.start + strides.range {
            self.last_end[at] = self.start;
        }
        if self.zone_bytes.is_multiple_of(strides.range) {
            self.reset_file();
        }
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
            if self.map.is_some() {
                // At the end of a pass, fio draws a block for which the map has no place.
                self.blocks.draw();
            }
            self.is_in_pass = false;
            self.is_done = self.pass_bytes == 0;
        }
    }
}

fn least_of(job: &Job) -> u64 {
    job.least.iter().copied().min().unwrap_or(1).max(1)
}

fn seeds_of(seeding: Seeding, number: u64) -> [u64; 17] {
    let randseed = match seeding {
        Seeding::Repeated => DEFAULT_SEED,
        Seeding::Continued(randseed) | Seeding::Fixed(randseed) => randseed,
        Seeding::Fresh(entropy) => {
            let mut random = Random::new(entropy.wrapping_add(number.wrapping_mul(STEP)), true);
            return [0; 17].map(|_| random.draw());
        }
    };
    let mut product = (0..4).fold(randseed, |product, _| product.wrapping_mul(STEP));
    let mut seeds = [0; 17];
    for (seed, place) in seeds.iter_mut().zip(0..) {
        *seed = product.wrapping_mul(number).wrapping_add(place);
        product = product.wrapping_mul(STEP);
    }
    if !matches!(seeding, Seeding::Fixed(_)) {
        seeds[Seed::Block as usize] = RANDSEED.wrapping_mul(number);
    }
    seeds
}
