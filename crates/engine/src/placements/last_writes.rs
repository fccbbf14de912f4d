//! Last write of each page, from which most placements estimate lifetimes.

use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::state::state;

/// Clock after the last write of each page, in 4 bytes per logical page.
/// The clock counts host pages written. It is stored modulo 2³², so pages that were last written
/// more than 2³² host pages ago seem younger than they are.
pub struct LastWrites {
    /// Clock after the last write of each page, or 0 if never written.
    written_at: Table<u32>,
}

state!(LastWrites { table written_at });

impl LastWrites {
    pub fn new(logical_pages: u32) -> Result<Self> {
        Ok(LastWrites { written_at: filled(0, logical_pages as usize)? })
    }

    /// Host pages written since the last write of `logical`, or None if it was never written.
    #[inline(always)]
    pub fn age(&self, logical: u32, now: u64) -> Option<u64> {
        since(self.written_at[logical as usize], now)
    }

    /// Records a write of `logical`, and returns the [`Self::age`] that the page had before.
    #[inline(always)]
    pub fn replace(&mut self, logical: u32, now: u64) -> Option<u64> {
        let age = self.age(logical, now);
        self.written_at[logical as usize] = stamp(now);
        age
    }

    /// Forgets `logical` after TRIM, so that its next write counts as its first.
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

/// Stored form of a clock, which is never 0.
#[inline(always)]
pub fn stamp(now: u64) -> u32 {
    (now as u32).wrapping_add(1).max(1)
}

/// Host pages written since the stored clock `written_at`, or None for 0.
#[inline(always)]
pub fn since(written_at: u32, now: u64) -> Option<u64> {
    (written_at != 0).then(|| u64::from(stamp(now).wrapping_sub(written_at)))
}
