//! Flash: blocks, pages and the operations on them, without any policy or time.
//!
//! A block is free, open or closed. Opening takes it from its free pool (one pool for the drive, or
//! one for each LUN); programming fills it page by page through a [`Frontier`]; full, it closes. To
//! collect it, a manager reads its valid pages into the controller's buffer
//! ([`Flash::read_valid`]), erases it, and migrates the pages to frontiers before the host's next
//! request ([`Flash::migrate`]).
//!
//! The state ([`Array`]) is a structure of arrays: 8.1 bytes a physical page, and nothing is
//! allocated after construction, except for the log of a drive with a wear limit.

mod array;
mod blocks;
mod compaction;
mod counters;
mod divider;
mod geometry;
mod invariants;
mod memory;
mod observer;
mod runs;
mod state;
mod wear;

use std::ops::Deref;

pub use array::Array;
pub use blocks::{Blocks, Loss};
use compaction::keep_unmarked;
pub use counters::{Cause, Counters, HostCounters};
pub(crate) use divider::Divider;
pub use geometry::{Address, EraseUnit, Geometry, Shape};
pub use memory::{Table, filled, prefetch, prefetch_address};
pub use observer::{FlashOp, Notice, Observer, Recorder, Score, Silent, Tap};
pub use runs::{Director, Each, MAP_LOOKAHEAD, NextPage, Stop};
pub use wear::{EndOfLife, Moment, Wear, WearLog};

use crate::error::Result;

/// "No page": the value of an unmapped entry in either direction of the map.
pub const NONE: u32 = u32::MAX;

/// Division of the free blocks into pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pools {
    /// Any free block will do.
    Drive,
    /// Each LUN (die) has its own.
    PerLun,
}

impl Pools {
    /// Number of pools of a drive of this shape.
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

/// Life of a block: free, open and closed in turn.
/// Before the first or after the last, it is set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, and waiting to be opened.
    Free,
    /// Being written: a write frontier.
    Open,
    /// Written to its end, and so open to collection.
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

    /// The physical page that is programmed next.
    #[inline(always)]
    pub fn next_page(&self) -> u32 {
        self.next_page
    }

    /// Free pages left in the open block.
    #[inline(always)]
    pub fn room_pages(&self) -> u32 {
        self.end_page - self.next_page
    }
}

/// A flash array that can be worked with, and the observer of what is done to it.
#[derive(Debug, Clone)]
pub struct Flash<T: Tap = Silent> {
    array: Array,
    tap: T,
    /// An erase that its observer has not heard of yet.
    unreported_erase: Option<(u32, Cause)>,
}

impl<T: Tap> Deref for Flash<T> {
    type Target = Array;

    #[inline(always)]
    fn deref(&self) -> &Array {
        &self.array
    }
}

impl Flash {
    /// A new, erased drive that never wears out, with nobody listening.
    pub fn new(geometry: Geometry, logical_pages: u32, pools: Pools) -> Result<Self> {
        Self::with_tap(geometry, logical_pages, pools, Wear::default(), Silent)
    }
}

impl<T: Tap> Flash<T> {
    /// A new, erased drive whose operations go to `tap`.
    pub fn with_tap(
        geometry: Geometry,
        logical_pages: u32,
        pools: Pools,
        wear: Wear,
        tap: T,
    ) -> Result<Self> {
        let array = Array::new(geometry, logical_pages, pools, wear)?;
        Ok(Flash { array, tap, unreported_erase: None })
    }

    /// The observer, if there is one.
    pub fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        self.tap.observer_mut()
    }

    /// Tells the observer, if there is one, what happens beside the operations.
    #[inline(always)]
    pub fn notify(&mut self, notice: &Notice) {
        if T::IS_OPEN {
            self.tap.notify(notice);
        }
    }

    /// True if the observer asks for the scores of victims.
    #[inline(always)]
    pub fn asks_scores(&self) -> bool {
        T::IS_OPEN && self.tap.asks_scores()
    }

    /// Counts a page that the host is about to write: the tick of the drive's clock.
    #[inline(always)]
    pub fn count_host_page(&mut self) {
        self.array.counters.host.written_pages += 1;
    }

    /// Counters of the host's requests, to be changed.
    /// Pages written are counted one by one, by [`Self::count_host_page`].
    pub fn host_mut(&mut self) -> &mut HostCounters {
        &mut self.array.counters.host
    }

    /// Opens the free block of `pool` that was erased last.
    ///
    /// # Panics
    /// If the pool has no free block: a manager must collect first.
    pub fn open(&mut self, pool: usize) -> Frontier {
        let last = self.array.free[pool].len().checked_sub(1).expect("a free block to open");
        self.open_at(pool, last)
    }

    /// Opens the block in place `at` of [`Array::free`].
    pub fn open_at(&mut self, pool: usize, at: usize) -> Frontier {
        let array = &mut self.array;
        let block = array.free[pool].remove(at);
        debug_assert_eq!(array.states[block as usize], BlockState::Free);
        array.states[block as usize] = BlockState::Open;
        let first = block * array.geometry.pages_per_block();
        let frontier =
            Frontier { next_page: first, end_page: first + array.geometry.pages_per_block() };
        if T::IS_OPEN && self.unreported_erase.is_some_and(|(erased, _)| erased == block) {
            self.report_erase();
        }
        frontier
    }

    /// Programs `logical` at the frontier, and invalidates its previous version.
    /// `logical` was not in this place before. Returns the block in which the previous version lay.
    #[inline(always)]
    pub fn program(&mut self, logical: u32, frontier: &mut Frontier, cause: Cause) -> Option<Loss> {
        let old = self.array.logical_to_physical[logical as usize];
        let invalidated = if old == NONE {
            self.array.mapped_pages += 1;
            None
        } else {
            Some(self.array.blocks.invalidate(old))
        };
        let page = self.array.map_next(logical, frontier);
        self.array.counters.count_programs(cause, 1);
        if T::IS_OPEN {
            self.report_erase();
            self.tap.report(FlashOp::Program { page, logical, cause, from: None });
        }
        invalidated
    }

    /// Programs a page that was read from a collected block, at the frontier.
    #[inline(always)]
    pub fn migrate(&mut self, logical: u32, frontier: &mut Frontier, cause: Cause) {
        let from = self.array.logical_to_physical[logical as usize];
        let page = self.array.map_next(logical, frontier);
        self.array.counters.count_programs(cause, 1);
        if T::IS_OPEN {
            self.tap.report(FlashOp::Program { page, logical, cause, from: Some(from) });
        }
    }

    /// Reads the current version of `logical` for the host, if there is one.
    pub fn read(&mut self, logical: u32) {
        if T::IS_OPEN
            && let Some(page) = self.array.physical(logical)
        {
            self.report_erase();
            self.tap.report(FlashOp::Read { page, cause: Cause::Host });
        }
    }

    /// Closes a full block; returns it.
    pub fn close(&mut self, frontier: &Frontier) -> u32 {
        assert!(frontier.is_full(), "only a full block closes");
        let block = self.array.block_behind(frontier);
        debug_assert_eq!(self.array.states[block as usize], BlockState::Open);
        self.array.states[block as usize] = BlockState::Closed;
        self.array.blocks.change(block);
        block
    }

    /// Notes that a closed block changes now, as if it had just closed.
    pub fn touch(&mut self, block: u32) {
        self.array.blocks.change(block);
    }

    /// Skips the rest of a block: its free pages stay unprogrammed until the next erase.
    /// They count as invalid.
    pub fn skip(&mut self, frontier: &mut Frontier) {
        let array = &mut self.array;
        array.blocks.mark(frontier.next_page..frontier.end_page);
        array.counters.skipped_pages += u64::from(frontier.room_pages());
        frontier.next_page = frontier.end_page;
    }

    /// Pads a block: programs the next `pages` pages at the frontier with nothing.
    /// They are invalid from the start. They are what is left of a program unit that cannot wait
    /// for data.
    pub fn pad(&mut self, frontier: &mut Frontier, pages: u32) {
        assert!(pages <= frontier.room_pages(), "padding ends with the block");
        let padded = frontier.next_page..frontier.next_page + pages;
        self.array.blocks.mark(padded.clone());
        if T::IS_OPEN {
            for page in padded {
                let (logical, cause) = (NONE, Cause::Padding);
                self.tap.report(FlashOp::Program { page, logical, cause, from: None });
            }
        }
        self.array.counters.count_programs(Cause::Padding, u64::from(pages));
        frontier.next_page += pages;
    }

    /// Unmaps `logical`; returns the block in which it lay, or `None` if it was not mapped.
    pub fn trim(&mut self, logical: u32) -> Option<Loss> {
        let array = &mut self.array;
        let old = std::mem::replace(&mut array.logical_to_physical[logical as usize], NONE);
        if old == NONE {
            return None;
        }
        array.mapped_pages -= 1;
        array.counters.unmapped_pages += 1;
        let loss = array.blocks.invalidate(old);
        self.notify(&Notice::Unmap { logical });
        Some(loss)
    }

    /// Reads the valid pages of a closed block into `buffer`, which is cleared first, in physical
    /// order. The block must be erased, and the pages migrated, before anything else happens to
    /// them.
    pub fn read_valid(&mut self, block: u32, buffer: &mut Vec<u32>, cause: Cause) {
        let array = &mut self.array;
        keep_unmarked(array.held_by(block), array.blocks.marks(block), buffer);
        for &logical in &*buffer {
            prefetch(&array.logical_to_physical, logical as usize);
        }
        let pages_per_block = array.geometry.pages_per_block();
        debug_assert_eq!(buffer.len() as u32 + array.invalid_pages(block), pages_per_block);
        array.wear.migrated_pages[cause as usize] += buffer.len() as u64;
        if T::IS_OPEN {
            self.report_erase();
            for &logical in &*buffer {
                let page = self.array.logical_to_physical[logical as usize];
                self.tap.report(FlashOp::Read { page, cause });
            }
        }
    }

    /// Erases a closed block, whose valid pages have been read.
    /// It joins its free pool; once it is worn out, a spare block does in its place.
    pub fn erase(&mut self, block: u32, cause: Cause) {
        let array = &mut self.array;
        assert_eq!(
            array.states[block as usize],
            BlockState::Closed,
            "only a closed block is collected"
        );
        array.blocks.erase(block);
        array.erase_counts[block as usize] += 1;
        array.counters.erases += 1;
        array.states[block as usize] = BlockState::Free;
        let pool = array.pool_of(block);
        array.free[pool].push(block);
        if array.erase_counts[block as usize] >= array.wear.watched_erases {
            array.note_wear(block, pool);
        }
        if T::IS_OPEN {
            self.report_erase();
            self.unreported_erase = Some((block, cause));
        }
    }

    /// Reports what has been held back until the pages of a collected block are migrated: at the
    /// end of a request, they are.
    #[inline(always)]
    pub fn report_erase(&mut self) {
        if T::IS_OPEN
            && let Some((block, cause)) = self.unreported_erase.take()
        {
            self.tap.report(FlashOp::Erase { block, cause });
        }
    }
}

#[cfg(test)]
mod tests;
