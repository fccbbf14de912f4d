//! Wear: the erase limit of blocks, spare blocks, and the end of a drive's life.
//! The wear log records the moments that determine the drive's life (paper 4, §5–6).
//!
//! A block is worn out at its `limit`-th erase. A spare block of its pool replaces it among
//! the free blocks, and the worn block is retired; without a spare, the worn block remains in use.
//! The life of the drive ends when a block is worn out and its pool has no spare block left, after
//! the block has been replaced if possible.

use serde::{Deserialize, Serialize};

use super::{Array, BlockState, Cause, Geometry, Pools};
use crate::error::{Error, Result};
use crate::state::state;

/// Wear limits of a drive: erases per block, and spare blocks. The default has no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wear {
    /// Erases after which a block is worn out, at least 1; [`Wear::NO_LIMIT`] for none.
    pub limit: u32,
    /// Spare blocks of each pool, set aside at the start to replace worn blocks.
    pub spare_blocks_per_pool: u32,
}

impl Wear {
    /// Value of `limit` for blocks that never wear out.
    pub const NO_LIMIT: u32 = u32::MAX;
}

impl Default for Wear {
    fn default() -> Self {
        Wear { limit: Self::NO_LIMIT, spare_blocks_per_pool: 0 }
    }
}

impl Pools {
    /// Number of blocks of a new drive without the spare blocks; an error if none remain.
    pub fn usable_blocks(self, geometry: &Geometry, wear: Wear) -> Result<u32> {
        let blocks_per_pool = self.blocks_per_pool(geometry);
        let spares = wear.spare_blocks_per_pool;
        if spares >= blocks_per_pool {
            return Err(Error::Geometry(format!(
                "{spares} spare blocks leave no block to write in a pool of {blocks_per_pool}; \
                 use a smaller share of spare blocks"
            )));
        }
        if wear.limit == 0 {
            return Err(Error::outside("the wear limit", "0 erases", "at least 1"));
        }
        Ok(self.count(geometry) * (blocks_per_pool - spares))
    }
}

/// Values of the drive's counters right after an erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Number of block erases so far, including this one.
    pub erases: u64,
    /// Valid pages read from erased blocks, by cause.
    migrated_pages: [u64; Cause::SAVED],
    /// Pages left unprogrammed in blocks that were closed before they were full.
    pub skipped_pages: u64,
    /// Host pages written: the clock.
    pub host_pages: u64,
    /// Pages programmed for the host.
    pub host_programs: u64,
}

impl Moment {
    /// Valid pages that were read from blocks erased for `cause`.
    pub fn migrated_pages(&self, cause: Cause) -> u64 {
        self.migrated_pages.get(cause as usize).copied().unwrap_or(0)
    }
}

/// State of the drive at the end of its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndOfLife {
    /// Counters at the end of the life.
    pub moment: Moment,
    /// Erase count of each block at the end of the life.
    pub erase_counts: Vec<u32>,
}

/// Log of the wear of a drive: first erase counts reached, spare blocks, end of life.
#[derive(Debug, Clone)]
pub struct WearLog {
    limit: u32,
    /// Lowest erase count that no block has reached yet, at most the limit.
    /// The first block that reaches it adds an entry to the log.
    pub(super) watched_erases: u32,
    /// Spare blocks of each pool; the last one is used first.
    spares: Vec<Vec<u32>>,
    pub(super) migrated_pages: [u64; Cause::SAVED],
    first_to_reach: Vec<Moment>,
    end_of_life: Option<EndOfLife>,
}

state! {
    WearLog {
        fixed limit,
        value watched_erases,
        lists spares,
        value migrated_pages,
        value first_to_reach,
        value end_of_life,
    } where is_sound
}

impl WearLog {
    fn is_sound(&self) -> bool {
        let reached = self.first_to_reach.len();
        let watched = if self.limit == Wear::NO_LIMIT {
            Wear::NO_LIMIT
        } else {
            self.limit.min(u32::try_from(reached).unwrap_or(u32::MAX).saturating_add(1))
        };
        reached <= self.limit as usize && self.watched_erases == watched
    }

    /// Builds the log of a new drive.
    /// Removes the spare blocks from the free blocks of each pool, beginning with the blocks that
    /// would be opened last.
    pub(super) fn new(wear: Wear, free: &mut [Vec<u32>]) -> Self {
        let count = wear.spare_blocks_per_pool as usize;
        WearLog {
            limit: wear.limit,
            watched_erases: if wear.limit == Wear::NO_LIMIT { Wear::NO_LIMIT } else { 1 },
            spares: free.iter_mut().map(|blocks| blocks.drain(..count).collect()).collect(),
            migrated_pages: [0; Cause::SAVED],
            first_to_reach: Vec::new(),
            end_of_life: None,
        }
    }

    /// For n = 1, 2, …: the moment when the first block was erased for the n-th time.
    /// The list ends at the highest erase count reached, at most the limit. It is empty without a
    /// limit.
    pub fn first_to_reach(&self) -> &[Moment] {
        &self.first_to_reach
    }

    /// State of the drive at the end of its life, or None if it is not over.
    pub fn end_of_life(&self) -> Option<&EndOfLife> {
        self.end_of_life.as_ref()
    }

    /// Remaining spare blocks of each pool.
    pub fn spares(&self) -> &[Vec<u32>] {
        &self.spares
    }
}

impl Array {
    /// Updates the log after the erase of a block, which is the last in its free pool.
    #[cold]
    pub(super) fn note_wear(&mut self, block: u32, pool: usize) {
        let erases = self.erase_counts[block as usize];
        let limit = self.wear.limit;
        if erases as usize > self.wear.first_to_reach.len() && erases <= limit {
            let moment = self.moment();
            self.wear.first_to_reach.push(moment);
            self.wear.watched_erases = (erases + 1).min(limit);
        }
        if erases == limit {
            self.wear_out(block, pool);
        }
    }

    fn wear_out(&mut self, block: u32, pool: usize) {
        if let Some(spare) = self.wear.spares[pool].pop() {
            let worn = self.free[pool].pop();
            debug_assert_eq!(worn, Some(block));
            self.states[block as usize] = BlockState::Retired;
            self.states[spare as usize] = BlockState::Free;
            self.free[pool].push(spare);
        }
        if self.wear.spares[pool].is_empty() && self.wear.end_of_life.is_none() {
            let moment = self.moment();
            let erase_counts = self.erase_counts.to_vec();
            self.wear.end_of_life = Some(EndOfLife { moment, erase_counts });
        }
    }

    fn moment(&self) -> Moment {
        Moment {
            erases: self.counters.erases,
            migrated_pages: self.wear.migrated_pages,
            skipped_pages: self.counters.skipped_pages,
            host_pages: self.counters.host.written_pages,
            host_programs: self.counters.programs(Cause::Host),
        }
    }
}
