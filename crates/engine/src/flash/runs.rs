//! Writes of runs of pages to one frontier.
//! The bookkeeping is updated once per run, which is faster.
//!
//! A run is a sequence of pages that are written one after another. Counters, the order of the
//! events reported to a policy, and saved states equal those of page-by-page writes (tested).
//! Decisions that depend on the drive's state before each page use the page-by-page loop.

#![allow(unsafe_code)]

use super::{Array, Cause, Flash, FlashOp, Frontier, Loss, NONE, Tap};

/// Prefetch distance for map entries of writes, in pages.
/// It hides a memory access, and the prefetched lines still fit in the first-level cache.
pub const MAP_LOOKAHEAD: usize = 24;

/// Pages of a run are mapped in sections of this many pages.
/// The previous versions of a section are marked invalid after all its pages are mapped. By then
/// the block records have been prefetched, and the records of the whole section fit in the
/// first-level cache. While the marks are set, map entries of the pages after the run are
/// prefetched.
const RUN_PAGES: usize = 64;

/// Chooses the frontier of each page of a run, and is notified of the results.
/// The run passes a frontier as its index in the drive's list of frontiers.
pub trait Director {
    /// Chooses the frontier to which a page is written, and returns its index.
    /// Not called for the first page, whose frontier the caller of [`Flash::program_each`] passes.
    fn target(&mut self, page: &NextPage) -> usize;

    /// Prefetches the data of a block that [`Self::on_invalidate`] changes.
    fn prefetch(&self, block: u32);

    /// Called after a page was mapped to the frontier with index `frontier`, for each page in
    /// order.
    fn on_program(&mut self, _frontier: usize) {}

    /// Called for each block that lost a valid page, once all pages of the run are mapped.
    /// `now` is the number of host pages written up to and including the page that replaced it.
    fn on_invalidate(&mut self, loss: Loss, now: u64);
}

/// Host page that is about to be programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPage {
    /// Index of the page in the run.
    pub at: usize,
    /// Number of the logical page.
    pub logical: u32,
    /// Host pages written before this one.
    pub now: u64,
    /// Block that holds the current version, or None if unmapped.
    pub holder: Option<u32>,
}

/// Progress of [`Flash::program_each`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Each {
    /// Number of pages programmed by the call.
    pub pages: usize,
    /// Reason why the call stopped.
    pub stop: Stop,
}

/// Reason why [`Flash::program_each`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// All pages are done, or the limit for one call was reached.
    End,
    /// The last page filled this frontier.
    Full(usize),
    /// The next page belongs to this frontier, which is full.
    NoRoom(usize),
}

impl<T: Tap> Flash<T> {
    /// Prefetches the map entries that [`Self::program_run`] reads first for `pages`.
    #[inline(always)]
    pub fn prefetch_run(&self, pages: &[u32]) {
        for &logical in pages.iter().take(RUN_PAGES) {
            self.array.prefetch_map(logical);
        }
    }

    /// Programs host `pages` in order until the frontier is full or all pages are programmed.
    /// Returns how many were programmed. Calls `on_invalidate` for each page that becomes invalid,
    /// with its block and the clock (host pages written). The result equals
    /// [`Self::count_host_page`] and [`Self::program`] for each page.
    pub fn program_run(
        &mut self,
        pages: &[u32],
        frontier: &mut Frontier,
        mut on_invalidate: impl FnMut(Loss, u64),
    ) -> usize {
        assert!(
            !T::IS_OPEN,
            "runs of pages cannot be reported to an observer; write them one by one"
        );
        let count = pages.len().min(frontier.room_pages() as usize);
        let array = &mut self.array;
        let mut replaced = [NONE; RUN_PAGES];
        for first in (0..count).step_by(RUN_PAGES) {
            let run = &pages[first..count.min(first + RUN_PAGES)];
            let ahead = &pages[pages.len().min(first + RUN_PAGES)..];
            let map = &mut array.logical_to_physical;
            let highest = run.iter().copied().max().unwrap_or(0);
            assert!((highest as usize) < map.len(), "every logical page must be on the drive");
            for ((at, &logical), replaced) in run.iter().enumerate().zip(&mut replaced) {
                // SAFETY: no page of the run exceeds the highest one, which is within the map.
                let entry = unsafe { map.get_unchecked_mut(logical as usize) };
                *replaced = std::mem::replace(entry, frontier.next_page + at as u32);
                if *replaced != NONE {
                    array.blocks.prefetch(*replaced);
                }
            }
            let place = frontier.next_page as usize;
            array.physical_to_logical[place..place + run.len()].copy_from_slice(run);
            if let Some(tags) = &mut array.tags {
                tags.program_run(frontier.next_page, run.len());
            }
            frontier.next_page += run.len() as u32;
            array.invalidate_run(&replaced[..run.len()], ahead, &mut on_invalidate);
        }
        count
    }

    /// Programs host `pages` in order, each at the frontier that `director` chooses.
    /// `first` is the frontier of the first page and has room. Stops after the page that fills a
    /// frontier, before a page whose frontier is full, or when the number of pages for one call is
    /// reached. The result equals [`Self::count_host_page`] and [`Self::program`] for each page,
    /// except that the director is notified of invalidations at the end.
    #[inline(always)]
    pub fn program_each(
        &mut self,
        pages: &[u32],
        frontiers: &mut [Frontier],
        first: usize,
        mut director: impl Director,
    ) -> Each {
        assert!(
            !T::IS_OPEN,
            "runs of pages cannot be reported to an observer; write them one by one"
        );
        let array = &mut self.array;
        let mut replaced = [NONE; RUN_PAGES];
        let mut each = Each { pages: 0, stop: Stop::End };
        let (mut target, mut now) = (first, array.counters.host.written_pages);
        for (&logical, replaced) in pages.iter().zip(&mut replaced) {
            let old = array.logical_to_physical[logical as usize];
            let holder = (old != NONE).then(|| array.blocks.prefetch(old));
            if let Some(block) = holder {
                director.prefetch(block);
            }
            if each.pages > 0 {
                target = director.target(&NextPage { at: each.pages, logical, now, holder });
            }
            let frontier = &mut frontiers[target];
            if frontier.is_full() {
                each.stop = Stop::NoRoom(target);
                break;
            }
            *replaced = old;
            array.map_next(logical, frontier);
            director.on_program(target);
            (each.pages, now) = (each.pages + 1, now + 1);
            if frontier.is_full() {
                each.stop = Stop::Full(target);
                break;
            }
        }
        if let Some(tags) = &mut array.tags {
            tags.program_each(&pages[..each.pages], &array.logical_to_physical);
        }
        let ahead = &pages[pages.len().min(RUN_PAGES)..];
        let mut on_invalidate = |loss, now| director.on_invalidate(loss, now);
        array.invalidate_run(&replaced[..each.pages], ahead, &mut on_invalidate);
        each
    }

    /// Programs the pages of a collected block at a frontier with room for all of them.
    #[inline(always)]
    pub fn migrate_all(&mut self, pages: &[u32], frontier: &mut Frontier, cause: Cause) {
        let array = &mut self.array;
        let first = frontier.next_page;
        assert!(
            pages.len() as u32 <= frontier.room_pages(),
            "the pages must fit in the free pages of the block"
        );
        if let Some(tags) = &mut array.tags {
            tags.migrate_all(first, pages.len());
        }
        for (page, &logical) in (first..).zip(pages) {
            let from = std::mem::replace(&mut array.logical_to_physical[logical as usize], page);
            if T::IS_OPEN {
                let tag = array.tag_at(page);
                self.tap.report(FlashOp::Program { page, logical, cause, from: Some(from), tag });
            }
        }
        let first = first as usize;
        array.physical_to_logical[first..first + pages.len()].copy_from_slice(pages);
        frontier.next_page += pages.len() as u32;
        array.counters.count_programs(cause, pages.len() as u64);
    }
}

impl Array {
    /// Counts the pages of a section as written by the host, and invalidates the versions that
    /// they replaced. Meanwhile it prefetches the map entries of later pages, to keep the memory
    /// busy.
    #[inline(always)]
    fn invalidate_run(
        &mut self,
        replaced: &[u32],
        ahead: &[u32],
        on_invalidate: &mut impl FnMut(Loss, u64),
    ) {
        let mut now = self.counters.host.written_pages;
        for (at, &old) in replaced.iter().enumerate() {
            now += 1;
            if let Some(&ahead) = ahead.get(at) {
                self.prefetch_map(ahead);
            }
            if old == NONE {
                self.mapped_pages += 1;
            } else {
                on_invalidate(self.blocks.invalidate(old), now);
            }
        }
        self.counters.host.written_pages = now;
        self.counters.count_programs(Cause::Host, replaced.len() as u64);
    }
}
