//! Writes of runs of pages to one frontier, with the bookkeeping done once for each run.
//!
//! Counters, the order of all events that a policy hears, and saved states are those of one page after
//! the other (a test). What decides on the state of the drive before each page stays on that loop.

#![allow(unsafe_code)]

use super::{Array, Cause, Flash, FlashOp, Frontier, Loss, NONE, Tap};

/// Distance ahead of a write, in pages, at which its map entry is fetched.
/// It is far enough to hide a memory access, near enough to stay in the first-level cache.
pub const MAP_LOOKAHEAD: usize = 24;

/// Pages that are mapped before the first of their previous versions is marked.
/// By then its record has been fetched, and those of all of them fit the first-level cache. Map
/// entries of pages that come so many places later are fetched while the marks are set.
const RUN_PAGES: usize = 64;

/// Says where the pages of a run go, and hears what that does.
pub trait Director {
    /// The frontier of a page.
    fn target(&mut self, page: &NextPage) -> usize;

    /// Fetches what [`Self::on_invalidate`] will touch of a block.
    fn prefetch(&self, block: u32);

    /// A page was programmed at `frontier`.
    fn on_program(&mut self, _frontier: usize) {}

    /// A block lost a page, when the host had written `now` pages.
    fn on_invalidate(&mut self, loss: Loss, now: u64);
}

/// A page of the host that is about to be programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPage {
    /// Its place among the pages of the run.
    pub at: usize,
    /// Its number.
    pub logical: u32,
    /// Host pages written before it.
    pub now: u64,
    /// The block that holds its current version.
    pub holder: Option<u32>,
}

/// Progress of [`Flash::program_each`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Each {
    /// Pages programmed.
    pub pages: usize,
    /// Reason for which it stopped there.
    pub stop: Stop,
}

/// Reason for which [`Flash::program_each`] stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// There was no further page, or enough of them for once.
    End,
    /// The last page filled this frontier.
    Full(usize),
    /// The next page goes to this frontier, which has no room.
    NoRoom(usize),
}

impl<T: Tap> Flash<T> {
    /// Fetches what [`Self::program_run`] reads first of `pages`.
    #[inline(always)]
    pub fn prefetch_run(&self, pages: &[u32]) {
        for &logical in pages.iter().take(RUN_PAGES) {
            self.array.prefetch_map(logical);
        }
    }

    /// Programs `pages` of the host in order, as far as the frontier has room; returns how many.
    /// `on_invalidate` hears of each block that loses a page, and of the host pages written by
    /// then. The same as [`Self::count_host_page`] and [`Self::program`] for each.
    pub fn program_run(
        &mut self,
        pages: &[u32],
        frontier: &mut Frontier,
        mut on_invalidate: impl FnMut(Loss, u64),
    ) -> usize {
        assert!(!T::IS_OPEN, "an observer hears of one page after the other");
        let count = pages.len().min(frontier.room_pages() as usize);
        let array = &mut self.array;
        let mut replaced = [NONE; RUN_PAGES];
        for first in (0..count).step_by(RUN_PAGES) {
            let run = &pages[first..count.min(first + RUN_PAGES)];
            let ahead = &pages[pages.len().min(first + RUN_PAGES)..];
            let map = &mut array.logical_to_physical;
            let highest = run.iter().copied().max().unwrap_or(0);
            assert!((highest as usize) < map.len(), "every page exists");
            for ((at, &logical), replaced) in run.iter().enumerate().zip(&mut replaced) {
                // SAFETY: no page of the run is above the highest, which is in the map.
                let entry = unsafe { map.get_unchecked_mut(logical as usize) };
                *replaced = std::mem::replace(entry, frontier.next_page + at as u32);
                if *replaced != NONE {
                    array.blocks.prefetch(*replaced);
                }
            }
            let place = frontier.next_page as usize;
            array.physical_to_logical[place..place + run.len()].copy_from_slice(run);
            frontier.next_page += run.len() as u32;
            array.invalidate_run(&replaced[..run.len()], ahead, &mut on_invalidate);
        }
        count
    }

    /// Programs `pages` of the host in order, each at the frontier that `director` names.
    /// `first`, which has room, is that of the first page. Ends with the page that fills a
    /// frontier, before one that finds none, or when it has looked far enough ahead. The same as
    /// [`Self::count_host_page`] and [`Self::program`] for each, but that the director hears of the
    /// losses at the end.
    #[inline(always)]
    pub fn program_each(
        &mut self,
        pages: &[u32],
        frontiers: &mut [Frontier],
        first: usize,
        mut director: impl Director,
    ) -> Each {
        assert!(!T::IS_OPEN, "an observer hears of one page after the other");
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
        let ahead = &pages[pages.len().min(RUN_PAGES)..];
        let mut on_invalidate = |loss, now| director.on_invalidate(loss, now);
        array.invalidate_run(&replaced[..each.pages], ahead, &mut on_invalidate);
        each
    }

    /// Programs the pages read from a collected block, at a frontier with room for all of them.
    #[inline(always)]
    pub fn migrate_all(&mut self, pages: &[u32], frontier: &mut Frontier, cause: Cause) {
        let array = &mut self.array;
        let first = frontier.next_page;
        assert!(pages.len() as u32 <= frontier.room_pages(), "a run ends with the block");
        for (page, &logical) in (first..).zip(pages) {
            let from = std::mem::replace(&mut array.logical_to_physical[logical as usize], page);
            if T::IS_OPEN {
                self.tap.report(FlashOp::Program { page, logical, cause, from: Some(from) });
            }
        }
        let first = first as usize;
        array.physical_to_logical[first..first + pages.len()].copy_from_slice(pages);
        frontier.next_page += pages.len() as u32;
        array.counters.count_programs(cause, pages.len() as u64);
    }
}

impl Array {
    /// Counts pages that the host has written, and invalidates the versions that they `replaced`.
    /// Meanwhile the map entries of pages that come later are fetched: so the memory is never idle.
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
