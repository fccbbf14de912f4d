//! Faster writes and migrations of many pages at once, for placements that allow them.

use super::{Generic, PAGE_LOOKAHEAD};
use crate::error::Result;
use crate::flash::{Director, Each, Loss, NextPage, Stop, Tap};
use crate::hints::Hints;
use crate::placements::{Always, Placement};
use crate::victims::VictimPolicy;

impl<P: Placement, V: VictimPolicy, T: Tap> Generic<P, V, T> {
    /// The two fixed streams of host pages and of migrated pages. None if the placement must be
    /// called for each page.
    pub(super) const RUNS: Option<Always> =
        if Self::MAY_KEEP_HISTORY || P::CHOOSES_VICTIMS || T::IS_OPEN { None } else { P::ALWAYS };

    /// True if the placement may choose streams for several pages in advance.
    /// The victim policy is then notified later of the pages that become invalid by these writes.
    pub(super) const AHEAD: bool = !Self::MAY_KEEP_HISTORY && !P::CAN_FAIL && !T::IS_OPEN;

    /// Writes host pages to the frontier of `stream`, and collects when that is necessary.
    pub(super) fn write_run(&mut self, pages: &[u32], stream: usize) -> Result<()> {
        self.core.flash.prefetch_run(pages);
        let mut rest = pages;
        while !rest.is_empty() {
            // Idle-time collection may have left the reserve of free blocks incomplete.
            let is_short = rest.len() == pages.len() && !self.core.reserve_is_complete(0);
            if self.core.frontiers[stream].is_full() || is_short {
                self.make_room(stream, 0)?;
            }
            let count = self.core.program_run(rest, stream);
            rest = &rest[count..];
            if self.core.frontiers[stream].is_full() {
                self.close(stream);
            }
        }
        Ok(())
    }

    /// Writes pages to the streams chosen by the placement.
    pub(super) fn write_ahead(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        self.core.flash.prefetch_run(pages);
        let mut decided = None;
        let mut at = 0;
        while at < pages.len() {
            let stream = match decided.take() {
                Some(stream) => stream,
                None => self.host_stream(pages, at, hints)?,
            };
            // Idle-time collection may have left the reserve of free blocks incomplete.
            let is_short = at == 0 && !self.core.reserve_is_complete(0);
            if self.core.frontiers[stream].is_full() || is_short {
                self.make_room(stream, 0)?;
            }
            let placement = &mut self.placement;
            let first = at;
            let Each { pages: count, stop } =
                self.core.program_each(&pages[at..], stream, |policy| PageByPage {
                    placement,
                    policy,
                    pages,
                    first,
                    hints,
                });
            at += count;
            match stop {
                Stop::End => {}
                Stop::Full(frontier) => self.close(frontier),
                Stop::NoRoom(stream) => decided = Some(stream),
            }
        }
        Ok(())
    }

    /// Moves the pages of a victim to the frontier of `stream`.
    pub(super) fn migrate_run(&mut self, pages: &[u32], stream: usize, pool: usize) {
        let frontier = self.core.frontier(stream, pool);
        let mut rest = pages;
        while !rest.is_empty() {
            if self.core.frontiers[frontier].is_full() {
                self.open(stream, frontier, pool);
            }
            let room_pages = self.core.frontiers[frontier].room_pages() as usize;
            let (run, after) = rest.split_at(rest.len().min(room_pages));
            self.core.migrate(run, frontier);
            if self.core.frontiers[frontier].is_full() {
                self.close(frontier);
            }
            rest = after;
        }
    }
}

/// Choice of streams for `Core::program_each`: asks the placement for the stream of each
/// page.
struct PageByPage<'a, P, V> {
    placement: &'a mut P,
    policy: &'a mut V,
    pages: &'a [u32],
    /// Index in `pages` of the first page of the run.
    first: usize,
    hints: &'a Hints<'a>,
}

impl<P: Placement, V: VictimPolicy> Director for PageByPage<'_, P, V> {
    #[inline(always)]
    fn target(&mut self, page: &NextPage) -> usize {
        let at = self.first + page.at;
        if let Some(&logical) = self.pages.get(at + PAGE_LOOKAHEAD) {
            self.placement.prefetch(logical);
        }
        self.placement.host_stream(super::host_page::<P>(self.pages, at, self.hints, page.now))
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        self.policy.prefetch(block);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, Loss { block, invalid_pages }: Loss, now: u64) {
        self.policy.on_invalidate(block, invalid_pages, now);
    }
}
