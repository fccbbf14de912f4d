//! Mechanism: what flash can do, and nothing of when or why.
//!
//! A block is free, open or closed. Opening takes it from its free pool (one pool for the drive, or
//! one for each LUN); programming
//! fills it page by page through a [`Frontier`]; full, it closes; [`Flash::lift`] takes its valid
//! pages into the controller's buffer and erases it. A manager must place the migrating pages again
//! (as [`Cause::Gc`]) before the host's next request.
//!
//! The state is a structure of arrays: 8.1 bytes a physical page, and nothing is allocated after
//! construction, except for the log of a drive with a wear limit.

mod counters;
mod divider;
mod geometry;
mod invariants;
mod memory;
mod observer;
mod wear;

pub use counters::{Cause, Counters};
pub use geometry::{Address, EraseUnit, Geometry, Shape};
pub use memory::{filled, prefetch};
pub use observer::{FlashOp, Observer, Silent};
pub use wear::{EndOfLife, Moment, Wear, WearLog};

use crate::error::{Error, Result};
use divider::Divider;

/// "No page": the value of an unmapped entry in either direction of the map.
pub const NONE: u32 = u32::MAX;

/// How the free blocks are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pools {
    /// Any free block will do.
    Drive,
    /// Each LUN (die) has its own.
    PerLun,
}

impl Pools {
    /// How many pools a drive of this shape has.
    pub fn count(self, geometry: &Geometry) -> u32 {
        geometry.blocks() / self.blocks_per_pool(geometry)
    }

    fn blocks_per_pool(self, geometry: &Geometry) -> u32 {
        match self {
            Pools::Drive => geometry.blocks(),
            Pools::PerLun => geometry.blocks_per_lun(),
        }
    }
}

/// Life of a block: free, open and closed in turn; before the first or after the last, set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    Free,
    Open,
    Closed,
    /// Waits to replace a block that is worn out.
    Spare,
    /// Worn out and replaced.
    Retired,
}

/// The place in an open block where its next page goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frontier {
    next_page: u32,
    end_page: u32,
}

impl Frontier {
    /// True if the block behind the frontier has no free page, or there is none yet.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.next_page == self.end_page
    }

    /// Free pages left in the open block.
    #[inline(always)]
    pub fn room_pages(&self) -> u32 {
        self.end_page - self.next_page
    }
}

/// The flash array and its logical→physical map.
#[derive(Debug, Clone)]
pub struct Flash<O: Observer = Silent> {
    geometry: Geometry,
    logical_to_physical: Vec<u32>,
    physical_to_logical: Vec<u32>,
    /// One bit a physical page: programmed, and overwritten or trimmed since.
    invalid: Vec<u64>,
    invalid_pages: Vec<u32>,
    erase_counts: Vec<u32>,
    states: Vec<BlockState>,
    /// The free blocks of each pool; the one erased last comes last, and is opened first unless a
    /// manager chooses.
    free: Vec<Vec<u32>>,
    blocks_per_pool: u32,
    mapped_pages: u32,
    counters: Counters,
    block_of: Divider,
    wear: WearLog,
    observer: O,
}

impl Flash {
    /// A new, erased drive that never wears out, with nobody listening.
    pub fn new(geometry: Geometry, logical_pages: u32, pools: Pools) -> Result<Self> {
        Self::with_observer(geometry, logical_pages, pools, Wear::default(), Silent)
    }
}

impl<O: Observer> Flash<O> {
    /// A new, erased drive whose operations `observer` hears.
    pub fn with_observer(
        geometry: Geometry,
        logical_pages: u32,
        pools: Pools,
        wear: Wear,
        observer: O,
    ) -> Result<Self> {
        let physical_pages = geometry.physical_pages();
        let usable_pages = pools.usable_blocks(&geometry, wear)? * geometry.pages_per_block();
        if logical_pages == 0 {
            return Err(Error::Geometry(
                "the drive would have no logical page; it must have at least 1".into(),
            ));
        }
        if logical_pages >= usable_pages && usable_pages < physical_pages {
            return Err(Error::Geometry(format!(
                "{logical_pages} logical pages on the {usable_pages} pages of the blocks that are \
                 not spare leave no over-provisioning; use fewer spare blocks or a larger op"
            )));
        }
        if logical_pages >= physical_pages {
            return Err(Error::Geometry(format!(
                "{logical_pages} logical pages on {physical_pages} physical pages leave no \
                 over-provisioning; op must be above 0 and fill below 1"
            )));
        }
        let blocks = geometry.blocks() as usize;
        let blocks_per_pool = pools.blocks_per_pool(&geometry);
        let mut free: Vec<Vec<u32>> = (0..geometry.blocks())
            .step_by(blocks_per_pool as usize)
            .map(|first| (first..first + blocks_per_pool).rev().collect())
            .collect();
        let wear = WearLog::new(wear, &mut free);
        let mut states = filled(BlockState::Free, blocks)?;
        for &spare in wear.spares().iter().flatten() {
            states[spare as usize] = BlockState::Spare;
        }
        Ok(Flash {
            geometry,
            logical_to_physical: filled(NONE, logical_pages as usize)?,
            physical_to_logical: filled(NONE, physical_pages as usize)?,
            invalid: filled(0, (physical_pages as usize).div_ceil(64))?,
            invalid_pages: filled(0, blocks)?,
            erase_counts: filled(0, blocks)?,
            states,
            free,
            blocks_per_pool,
            mapped_pages: 0,
            counters: Counters::default(),
            block_of: Divider::new(geometry.pages_per_block()),
            wear,
            observer,
        })
    }

    /// Bytes that a drive of this size takes, for a check before it is built. The 33 bytes a block
    /// leave room for the largest victim policy.
    pub fn bytes_needed(geometry: &Geometry, logical_pages: u32) -> u64 {
        let physical = u64::from(geometry.physical_pages());
        u64::from(logical_pages) * 4
            + physical * 4
            + physical / 8
            + u64::from(geometry.blocks()) * 33
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn logical_pages(&self) -> u32 {
        self.logical_to_physical.len() as u32
    }

    /// Logical pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        self.mapped_pages
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// Erases of each block since the drive was new.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_counts
    }

    /// State of each block.
    pub fn states(&self) -> &[BlockState] {
        &self.states
    }

    #[inline(always)]
    pub fn state(&self, block: u32) -> BlockState {
        self.states[block as usize]
    }

    /// Pages of each block that hold invalid data.
    #[inline(always)]
    pub fn invalid_pages(&self) -> &[u32] {
        &self.invalid_pages
    }

    /// Blocks in `pool` that are erased and not open.
    #[inline(always)]
    pub fn free_blocks(&self, pool: usize) -> u32 {
        self.free[pool].len() as u32
    }

    pub fn pools(&self) -> usize {
        self.free.len()
    }

    /// The pool that `block` belongs to.
    #[inline(always)]
    pub fn pool_of(&self, block: u32) -> usize {
        if self.free.len() == 1 { 0 } else { (block / self.blocks_per_pool) as usize }
    }

    /// The blocks of `pool`, which are numbered consecutively.
    pub fn blocks_of(&self, pool: usize) -> std::ops::Range<u32> {
        let first = pool as u32 * self.blocks_per_pool;
        first..first + self.blocks_per_pool
    }

    /// The block that physical page `page` lies in.
    #[inline(always)]
    pub fn block_of(&self, page: u32) -> u32 {
        self.block_of.divide(page)
    }

    /// Where the current version of a logical page lies, if it is mapped.
    pub fn physical(&self, logical: u32) -> Option<u32> {
        let page = self.logical_to_physical[logical as usize];
        (page != NONE).then_some(page)
    }

    /// Checks that every page of a request exists, naming the first that does not.
    pub fn check_range(&self, pages: &[u32]) -> Result<()> {
        let logical_pages = self.logical_pages();
        // The maximum vectorises; the search runs only where it will find something.
        if pages.iter().copied().max().is_none_or(|highest| highest < logical_pages) {
            return Ok(());
        }
        let page = *pages.iter().find(|&&p| p >= logical_pages).expect("the maximum is one");
        Err(Error::OffTheEnd { page, logical_pages })
    }

    /// The free blocks of `pool`, the one erased last at the end.
    pub fn free(&self, pool: usize) -> &[u32] {
        &self.free[pool]
    }

    /// Opens the free block of `pool` that was erased last.
    ///
    /// # Panics
    /// If the pool has no free block: a manager must collect first.
    pub fn open(&mut self, pool: usize) -> Frontier {
        let last = self.free[pool].len().checked_sub(1).expect("a free block to open");
        self.open_at(pool, last)
    }

    /// Opens the block in place `at` of [`Self::free`].
    pub fn open_at(&mut self, pool: usize, at: usize) -> Frontier {
        let block = self.free[pool].remove(at);
        debug_assert_eq!(self.states[block as usize], BlockState::Free);
        self.states[block as usize] = BlockState::Open;
        let first = block * self.geometry.pages_per_block();
        Frontier { next_page: first, end_page: first + self.geometry.pages_per_block() }
    }

    /// The block behind a frontier that has been opened.
    #[inline(always)]
    pub fn block_behind(&self, frontier: &Frontier) -> u32 {
        self.block_of.divide(frontier.end_page - 1)
    }

    /// Programs `logical` at the frontier and invalidates its previous version.
    /// Returns the block in which that version lay.
    #[inline(always)]
    pub fn program(&mut self, logical: u32, frontier: &mut Frontier) -> Option<u32> {
        let old = self.logical_to_physical[logical as usize];
        let invalid = if old == NONE {
            self.mapped_pages += 1;
            None
        } else {
            Some(self.invalidate(old))
        };
        self.migrate(logical, frontier, Cause::Host);
        invalid
    }

    /// Programs a migrating page at the frontier. [`Self::program`] is for pages of the host.
    #[inline(always)]
    pub fn migrate(&mut self, logical: u32, frontier: &mut Frontier, cause: Cause) {
        debug_assert!(!frontier.is_full());
        let page = frontier.next_page;
        frontier.next_page += 1;
        self.logical_to_physical[logical as usize] = page;
        self.physical_to_logical[page as usize] = logical;
        self.observer.on_op(FlashOp::Program { page, cause });
    }

    /// Adds programs done through [`Self::program`] and [`Self::migrate`] to the counters; the
    /// caller counts a run of them at once to keep the hot loop short.
    #[inline(always)]
    pub fn count(&mut self, cause: Cause, pages: u64) {
        self.counters.count(cause, pages);
    }

    /// Closes a full block; returns it.
    pub fn close(&mut self, frontier: &Frontier) -> u32 {
        assert!(frontier.is_full(), "only a full block closes");
        let block = self.block_behind(frontier);
        debug_assert_eq!(self.states[block as usize], BlockState::Open);
        self.states[block as usize] = BlockState::Closed;
        block
    }

    /// Leaves the free pages behind the frontier unprogrammed until the next erase, as if invalid.
    pub fn skip(&mut self, frontier: &mut Frontier) {
        let block = self.block_behind(frontier);
        for page in frontier.next_page..frontier.end_page {
            self.invalid[page as usize / 64] |= 1 << (page % 64);
        }
        self.invalid_pages[block as usize] += frontier.room_pages();
        self.counters.skipped_pages += u64::from(frontier.room_pages());
        frontier.next_page = frontier.end_page;
    }

    /// Unmaps `logical`; returns the block in which it lay, or `None` if it was not mapped.
    pub fn trim(&mut self, logical: u32) -> Option<u32> {
        let old = std::mem::replace(&mut self.logical_to_physical[logical as usize], NONE);
        if old == NONE {
            return None;
        }
        self.mapped_pages -= 1;
        self.counters.trimmed_pages += 1;
        Some(self.invalidate(old))
    }

    #[inline(always)]
    fn invalidate(&mut self, page: u32) -> u32 {
        let block = self.block_of.divide(page);
        debug_assert_eq!(self.invalid[page as usize / 64] >> (page % 64) & 1, 0);
        debug_assert_ne!(self.states[block as usize], BlockState::Free);
        self.invalid[page as usize / 64] |= 1 << (page % 64);
        self.invalid_pages[block as usize] += 1;
        block
    }

    /// Moves the valid pages of a closed block to `buffer` in physical order (cleared first) and
    /// erases the block, which joins its free pool; once worn out, a spare block does in its place.
    pub fn lift(&mut self, block: u32, buffer: &mut Vec<u32>, cause: Cause) {
        assert_eq!(
            self.states[block as usize],
            BlockState::Closed,
            "only a closed block is collected"
        );
        buffer.clear();
        let first = block * self.geometry.pages_per_block();
        let end = first + self.geometry.pages_per_block();
        let mut page = first;
        while page < end {
            let width = (64 - page % 64).min(end - page);
            let mask = (u64::MAX >> (64 - width)) << (page % 64);
            let word = &mut self.invalid[page as usize / 64];
            let mut valid = !*word & mask;
            *word &= !mask;
            let base = page & !63;
            while valid != 0 {
                let source = base + valid.trailing_zeros();
                valid &= valid - 1;
                let logical = self.physical_to_logical[source as usize];
                debug_assert_eq!(self.logical_to_physical[logical as usize], source);
                prefetch(&self.logical_to_physical, logical as usize);
                self.observer.on_op(FlashOp::Read { page: source, cause });
                buffer.push(logical);
            }
            page += width;
        }
        debug_assert_eq!(
            buffer.len() as u32 + self.invalid_pages[block as usize],
            self.geometry.pages_per_block()
        );
        self.invalid_pages[block as usize] = 0;
        self.erase_counts[block as usize] += 1;
        self.counters.erases += 1;
        self.states[block as usize] = BlockState::Free;
        let pool = self.pool_of(block);
        self.free[pool].push(block);
        self.wear.migrated_pages[cause as usize] += buffer.len() as u64;
        if self.erase_counts[block as usize] >= self.wear.watched_erases {
            self.note_wear(block, pool);
        }
        self.observer.on_op(FlashOp::Erase { block, cause });
    }

    /// Fetches what [`Self::program`] will read first for `logical`.
    #[inline(always)]
    pub fn prefetch_map(&self, logical: u32) {
        prefetch(&self.logical_to_physical, logical as usize);
    }

    /// Fetches what invalidating the current version of `logical` will touch; returns its block.
    #[inline(always)]
    pub fn prefetch_invalidation(&self, logical: u32) -> Option<u32> {
        let page = self.logical_to_physical[logical as usize];
        if page == NONE {
            return None;
        }
        let block = self.block_of.divide(page);
        prefetch(&self.invalid, page as usize / 64);
        prefetch(&self.invalid_pages, block as usize);
        Some(block)
    }
}

#[cfg(test)]
mod tests;
