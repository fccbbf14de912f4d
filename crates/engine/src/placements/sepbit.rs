//! `SepBIT`: separates pages by estimated invalidation time (Wang et al., FAST 2022).
//!
//! A host page is short-lived if the version that it invalidates lived for less than ℓ, the
//! mean lifespan of the last 16 collected blocks of short-lived pages. Pages that are migrated from
//! a block of short-lived pages share one stream. Other migrated pages are classified by their age.

use super::LastWrites;
use super::{HostPage, Placement, RegisteredPlacement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::params::Params;
use crate::registry::{Entry, Pairs, Registered};
use crate::state::{require, state};

const SHORT_LIVED: usize = 0;
const LONG_LIVED: usize = 1;
/// Stream of pages migrated from a block of short-lived pages.
const SURVIVORS: usize = 2;
/// Streams of other migrated pages: younger than 4ℓ, younger than 16ℓ, and older.
/// ℓ is the mean lifespan of blocks of short-lived pages.
const BY_AGE: [usize; 3] = [3, 4, 5];

/// Number of collected blocks over which the lifespan ℓ is averaged.
const BLOCKS: u64 = 16;

pub struct SepBit {
    last_writes: LastWrites,
    /// 16·ℓ, in host pages written; infinite until 16 blocks of short-lived pages were collected.
    lifespans: u64,
    /// Number of blocks of short-lived pages collected since ℓ was updated.
    /// The next field is the sum of their lifespans, in host pages written.
    collected: u64,
    sum: u64,
}

state!(SepBit { nested last_writes, value lifespans, value collected, value sum });

impl Registered<Sizes> for SepBit {
    const ENTRY: Entry = Entry::new(
        "sepbit",
        "pages separated by the estimated time until they become invalid, in six classes",
    )
    .candidates(&[
        Pairs::usual(&["sepbit"], &["greedy", "cost-benefit"]),
        Pairs::rare(&["sepbit"], &["d-choices:d=4"]),
    ]);

    fn build(_params: &Params, sizes: &Sizes) -> Result<Self> {
        let last_writes = LastWrites::new(sizes.logical_pages)?;
        Ok(SepBit { last_writes, lifespans: u64::MAX, collected: 0, sum: 0 })
    }
}

impl Placement for SepBit {
    const USES_VICTIM: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        match self.last_writes.replace(page.logical, page.now) {
            Some(lifespan) if lifespan * BLOCKS < self.lifespans => SHORT_LIVED,
            _ => LONG_LIVED,
        }
    }

    fn on_victim(&mut self, victim: &Victim) {
        if victim.stream == SHORT_LIVED {
            self.sum += victim.now - victim.opened;
            self.collected += 1;
            if self.collected == BLOCKS {
                self.lifespans = self.sum;
                (self.collected, self.sum) = (0, 0);
            }
        }
    }

    fn forget(&mut self, logical: u32) {
        self.last_writes.forget(logical);
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        if victim.stream == SHORT_LIVED {
            return SURVIVORS;
        }
        let age = self.last_writes.age(logical, victim.now).unwrap_or(u64::MAX / BLOCKS);
        // age < 4ℓ and age < 16ℓ, computed from the stored 16ℓ.
        BY_AGE[usize::from(age * 4 >= self.lifespans) + usize::from(age >= self.lifespans)]
    }

    fn bytes(&self) -> u64 {
        self.last_writes.bytes()
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        let is_sound = self.collected < BLOCKS && self.sum <= BLOCKS * drive.now;
        require(is_sound, "SepBit.collected")
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
    }
}

impl RegisteredPlacement for SepBit {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(_params: &Params) -> Streams {
        Streams { all: 6, migration: 4 }
    }
}
