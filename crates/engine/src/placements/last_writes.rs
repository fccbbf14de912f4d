//! Last write of each page: what most placements estimate lifetimes from.

use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::state::state;

/// Clock after the last write of each page, exact, at 4 bytes a logical page.
/// Clocks are kept modulo 2³²: a page that rests for longer looks younger than it is.
pub struct LastWrites {
    /// The clock after the last write of each page; 0 if there was none.
    written_at: Table<u32>,
}

state!(LastWrites { table written_at });

impl LastWrites {
    pub fn new(logical_pages: u32) -> Result<Self> {
        Ok(LastWrites { written_at: filled(0, logical_pages as usize)? })
    }

    /// Host pages written since the last write of `logical`, if there was one.
    #[inline(always)]
    pub fn age(&self, logical: u32, now: u64) -> Option<u64> {
        since(self.written_at[logical as usize], now)
    }

    /// Age of `logical` as [`Self::age`] has it; from now on, the last write is this one.
    #[inline(always)]
    pub fn replace(&mut self, logical: u32, now: u64) -> Option<u64> {
        let age = self.age(logical, now);
        self.written_at[logical as usize] = stamp(now);
        age
    }

    /// Forgets `logical`, whose data is gone: its next write is its first.
    pub fn forget(&mut self, logical: u32) {
        self.written_at[logical as usize] = 0;
    }

    #[inline(always)]
    pub fn prefetch(&self, logical: u32) {
        prefetch(&self.written_at, logical as usize);
    }

    pub fn bytes(&self) -> u64 {
        size_of_val(&self.written_at[..]) as u64
    }
}

/// A clock as it is kept of a write: never 0.
#[inline(always)]
pub fn stamp(now: u64) -> u32 {
    (now as u32).wrapping_add(1).max(1)
}

/// Host pages written since a write that is kept as `written_at`; `None` of 0.
#[inline(always)]
pub fn since(written_at: u32, now: u64) -> Option<u64> {
    (written_at != 0).then(|| u64::from(stamp(now).wrapping_sub(written_at)))
}
