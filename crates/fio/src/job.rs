//! A job of fio: its options and its requests.

use crate::places::Distribution;
use crate::sprandom::Sprandom;

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
    /// `sprandom`, of random writes of one size by a shift register.
    pub sprandom: Option<Sprandom>,
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

impl Job {
    /// Smallest request, which is the unit of random blocks.
    pub(crate) fn least(&self) -> u64 {
        self.least.iter().copied().min().unwrap_or(1).max(1)
    }
}
