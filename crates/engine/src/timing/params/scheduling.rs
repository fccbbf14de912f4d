//! `[scheduling]` of a profile: what a die does next, and which die gets the next page.

use serde::{Deserialize, Serialize};

/// Reads that a die does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReads {
    /// One, of all planes that are programmed at once.
    #[default]
    Together,
    /// One of each plane, of one flash page, whatever the other planes read.
    Independent,
}

/// Choice of the die that the host's next pages go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// One after another, whatever waits there.
    #[default]
    InTurn,
    /// The one with the fewest programs and erases to do; of equals, the next in turn.
    ShortestQueue,
}

/// `[scheduling]`: which operation a die does next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduling {
    /// True if reads go before programs and erases that wait.
    pub reads_first: bool,
    /// True if a read suspends a program or an erase that is under way.
    pub suspend: bool,
    /// Time until a suspended array is free for the read.
    pub suspend_us: f64,
    /// Time that going on takes beyond what was left.
    pub resume_us: f64,
    /// Suspensions of one operation, after which it is finished first.
    pub most_suspends: u32,
    /// True if the host's reads go before those of pages to be copied.
    /// A collection is then interrupted between two pages.
    pub copies_yield: bool,
    /// Time for which others may go first, after which what waits goes before them; 0 for ever.
    /// It is then not suspended, nor is it again.
    pub most_wait_us: f64,
    /// Reads that a die does at a time.
    pub plane_reads: PlaneReads,
    /// Die that the host's next pages go to, where pages go round the LUNs.
    pub dispatch: Dispatch,
}
