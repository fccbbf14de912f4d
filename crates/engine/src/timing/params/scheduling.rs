//! `[scheduling]` of a profile: the next operation of a die, and the die for the next page.

use serde::{Deserialize, Serialize};

/// Number of reads that a die performs at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReads {
    /// One read at a time, on all planes that are programmed together.
    #[default]
    Together,
    /// One read per plane, each of one flash page, independent of the other planes.
    Independent,
}

/// Rule that chooses the die for the host's next pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Dies in turn, regardless of queues.
    #[default]
    InTurn,
    /// Die with the fewest waiting programs and erases; of equal dies, the next in turn.
    ShortestQueue,
}

/// `[scheduling]`: the next operation of a die.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduling {
    /// True if reads precede waiting programs and erases.
    pub reads_first: bool,
    /// True if a read suspends a program or erase in progress.
    pub suspend: bool,
    /// Time until a suspended array is free for the read, in µs.
    pub suspend_us: f64,
    /// Additional array time after resuming, in µs.
    pub resume_us: f64,
    /// Largest number of suspensions of an operation.
    /// After these, the operation is completed before any read.
    pub most_suspends: u32,
    /// True if host reads precede reads of pages to copy.
    /// A collection can then be interrupted between two pages.
    pub copies_yield: bool,
    /// Longest time in µs for which other operations may overtake a waiting operation; 0 for no
    /// limit. Afterwards the waiting operation is performed next, and is not suspended again.
    pub most_wait_us: f64,
    /// Number of reads that a die performs at the same time.
    pub plane_reads: PlaneReads,
    /// Choice of the die for the host's next pages, if pages are striped over the LUNs.
    pub dispatch: Dispatch,
}
