//! Flash: blocks, pages and the operations on them, without policies and without timing.
//!
//! A block is free, open or closed. Opening removes it from its free pool (one pool per drive or
//! per LUN), programming fills it page by page through a [`Frontier`], and a full block closes. To
//! collect it, a manager reads its valid pages into the controller's buffer
//! ([`Flash::read_valid`]), erases it, and migrates the pages to frontiers before the host's next
//! request ([`Flash::migrate`]).
//!
//! The state ([`Array`]) is a structure of arrays of 8.1 bytes per physical page. It is allocated
//! at construction; only the wear log of a drive with a wear limit grows later.

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
mod tag_counters;
mod tags;
mod wear;

use std::ops::Deref;

pub use array::Array;
pub use blocks::{Blocks, Loss};
use compaction::keep_unmarked;
pub use counters::{Cause, Counters, HostCounters};
pub(crate) use divider::Divider;
pub use geometry::{Address, EraseUnit, Geometry, Shape};
pub use memory::{Table, filled, prefetch, prefetch_address};
pub use observer::{FlashOp, Notice, Observed, Observer, Recorder, Score, Silent, Tap};
pub use runs::{Director, Each, MAP_LOOKAHEAD, NextPage, Stop};
pub use tag_counters::TagCounters;
pub use tags::Tags;
pub use wear::{EndOfLife, Moment, Wear, WearLog};

use crate::error::Result;
use crate::hints::OF_DRIVE;

/// "No page": value of unmapped entries in both maps.
pub const NONE: u32 = u32::MAX;

/// Division of the free blocks into pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pools {
    /// One pool for the whole drive.
    Drive,
    /// One pool of free blocks per LUN (die).
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

/// State of a block, which cycles through free, open and closed.
/// A block may be spare (held back) before it is first used, and retired (worn out) at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// Free: erased, and not open for writing.
    Free,
    /// Open for writing at a write frontier.
    Open,
    /// Full: no page can be programmed before an erase. Only closed blocks are collected.
    Closed,
    /// Spare: replaces a block that is worn out.
    Spare,
    /// Retired: worn out and replaced by a spare block.
    Retired,
}

/// Write frontier: the next page to program in an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frontier {
    next_page: u32,
    end_page: u32,
}

impl Frontier {
    /// True if the open block of the frontier is full, or the frontier has no block yet.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.next_page == self.end_page
    }

    /// Next physical page to program.
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

/// Flash array with its operations, and the observer that is notified of them.
#[derive(Debug, Clone)]
pub struct Flash<T: Tap = Silent> {
    array: Array,
    tap: T,
    /// Erase that is not reported to the observer yet, if any: pages of the block are still to be
    /// migrated.
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
    /// Builds a new, erased drive that never wears out and has no observer.
    pub fn new(geometry: Geometry, logical_pages: u32, pools: Pools) -> Result<Self> {
        Self::with_tap(geometry, logical_pages, pools, Wear::default(), Silent)
    }
}

impl<T: Tap> Flash<T> {
    /// Builds a new, erased drive whose operations are reported to `tap`.
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

    /// Observer of this drive, or None.
    pub fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        self.tap.observer_mut()
    }

    /// Notifies the observer, if any, of an event that is not a flash operation.
    #[inline(always)]
    pub fn notify(&mut self, notice: &Notice) {
        if T::IS_OPEN {
            self.tap.notify(notice);
        }
    }

    /// True if the observer needs the scores of the candidates whenever a victim is chosen.
    #[inline(always)]
    pub fn needs_scores(&self) -> bool {
        T::IS_OPEN && self.tap.needs_scores()
    }

    /// Counts a page that the host is about to write; this advances the drive's clock.
    #[inline(always)]
    pub fn count_host_page(&mut self) {
        self.array.counters.host.written_pages += 1;
    }

    /// Mutable counters of host requests.
    /// Written pages are counted individually by [`Self::count_host_page`].
    pub fn host_mut(&mut self) -> &mut HostCounters {
        &mut self.array.counters.host
    }

    /// Opens the free block of `pool` that joined the pool last.
    /// A block joins the pool when it is erased, or when it replaces a worn-out block as a spare
    /// block.
    ///
    /// # Panics
    /// If the pool has no free block. The manager must collect first.
    pub fn open(&mut self, pool: usize) -> Frontier {
        let last = self.array.free[pool]
            .len()
            .checked_sub(1)
            .expect("the pool must have a free block; collect first");
        self.open_at(pool, last)
    }

    /// Opens the block at index `at` of [`Array::free`].
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
    /// Returns the block that lost the previous version, or None if `logical` was unmapped.
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
        if let Some(tags) = &mut self.array.tags {
            tags.program(page, cause);
        }
        if T::IS_OPEN {
            self.report_erase();
            let tag = self.array.tag_at(page);
            self.tap.report(FlashOp::Program { page, logical, cause, from: None, tag });
        }
        invalidated
    }

    /// Programs a page of a collected block, which is in the controller's buffer, at the
    /// frontier.
    #[inline(always)]
    pub fn migrate(&mut self, logical: u32, frontier: &mut Frontier, cause: Cause) {
        let from = self.array.logical_to_physical[logical as usize];
        let page = self.array.map_next(logical, frontier);
        self.array.counters.count_programs(cause, 1);
        if let Some(tags) = &mut self.array.tags {
            tags.migrate(page);
        }
        if T::IS_OPEN {
            let tag = self.array.tag_at(page);
            self.tap.report(FlashOp::Program { page, logical, cause, from: Some(from), tag });
        }
    }

    /// Reads the current version of `logical` for the host, if it is mapped.
    pub fn read(&mut self, logical: u32) {
        if T::IS_OPEN
            && let Some(page) = self.array.physical(logical)
        {
            self.report_erase();
            self.tap.report(FlashOp::Read { page, cause: Cause::Host });
        }
    }

    /// Closes a full block and returns its number.
    pub fn close(&mut self, frontier: &Frontier) -> u32 {
        assert!(frontier.is_full(), "only a full block may be closed");
        let block = self.array.block_behind(frontier);
        debug_assert_eq!(self.array.states[block as usize], BlockState::Open);
        self.array.states[block as usize] = BlockState::Closed;
        self.array.blocks.change(block);
        block
    }

    /// Records now as the time of the last change of a closed block, as if it had just closed.
    pub fn touch(&mut self, block: u32) {
        self.array.blocks.change(block);
    }

    /// Skips the free pages of a block: they stay unprogrammed until the next erase.
    /// They count as invalid.
    pub fn skip(&mut self, frontier: &mut Frontier) {
        let array = &mut self.array;
        array.blocks.mark(frontier.next_page..frontier.end_page);
        array.counters.skipped_pages += u64::from(frontier.room_pages());
        frontier.next_page = frontier.end_page;
    }

    /// Pads a block: programs the next `pages` pages at the frontier without data.
    /// These pages are invalid from the start. They fill the rest of a program unit that must be
    /// programmed before more data arrives.
    pub fn pad(&mut self, frontier: &mut Frontier, pages: u32) {
        assert!(pages <= frontier.room_pages(), "padding must fit in the free pages of the block");
        let padded = frontier.next_page..frontier.next_page + pages;
        self.array.blocks.mark(padded.clone());
        if T::IS_OPEN {
            for page in padded {
                let (logical, cause, tag) = (NONE, Cause::Padding, OF_DRIVE);
                self.tap.report(FlashOp::Program { page, logical, cause, from: None, tag });
            }
        }
        self.array.counters.count_programs(Cause::Padding, u64::from(pages));
        if let Some(tags) = &mut self.array.tags {
            tags.pad(pages);
        }
        frontier.next_page += pages;
    }

    /// Unmaps `logical`. Returns the block that lost its page, or None if it was not mapped.
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

    /// Reads the valid pages of a closed block into `buffer`, in physical order.
    /// `buffer` is cleared first. The caller must then erase the block and migrate the pages,
    /// before any other operation on the block or the pages.
    pub fn read_valid(&mut self, block: u32, buffer: &mut Vec<u32>, cause: Cause) {
        let array = &mut self.array;
        let pages_per_block = array.geometry.pages_per_block();
        let first = block as usize * pages_per_block as usize;
        let pages = first..first + pages_per_block as usize;
        if let Some(tags) = &array.tags {
            tags.prefetch_block(pages.clone());
        }
        keep_unmarked(array.held_by(block), array.blocks.marks(block), buffer);
        for &logical in &*buffer {
            prefetch(&array.logical_to_physical, logical as usize);
        }
        debug_assert_eq!(buffer.len() as u32 + array.invalid_pages(block), pages_per_block);
        array.wear.migrated_pages[cause as usize] += buffer.len() as u64;
        if let Some(tags) = &mut array.tags {
            tags.read(pages, array.blocks.marks(block));
        }
        if T::IS_OPEN {
            self.report_erase();
            // The marks are in the cache already; the map entries are only being fetched.
            for page in self.array.blocks.valid_pages(block) {
                self.tap.report(FlashOp::Read { page, cause });
            }
        }
    }

    /// Erases a closed block after its valid pages were read.
    /// The block joins the free blocks of its pool. If it is worn out, a spare block joins them in
    /// its place.
    pub fn erase(&mut self, block: u32, cause: Cause) {
        let array = &mut self.array;
        assert_eq!(
            array.states[block as usize],
            BlockState::Closed,
            "only a closed block may be erased"
        );
        if let Some(tags) = &mut array.tags {
            let valid_pages = array.geometry.pages_per_block() - array.blocks.invalid_pages(block);
            tags.count_moved(valid_pages as usize, cause);
        }
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

    /// Reports an erase that was delayed until the pages of the collected block were migrated.
    /// It is also called at the end of each request, when all these pages have been migrated.
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
