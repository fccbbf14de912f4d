//! Generic manager, which combines a placement with a victim policy.
//!
//! A collection reads a victim's valid pages into the controller's buffer, erases it, and writes
//! the pages to the frontiers chosen by the placement, on the victim's own LUN. The erased block is
//! the first that is opened for these pages, unless a wear leveller chooses another block or the
//! erased block is worn out. A drive therefore needs no reserved free block for collection if
//! migrated pages go to one stream (paper 4, §2.1–2.2), and one reserved block per further stream.
//! The host writes to a pool only while all reserved blocks are free.

mod assembly;
mod runs;
mod state;
mod table;

pub(super) use assembly::{build_custom, custom_declared, self_declared};

use super::core::{Core, Exchange, PAGE_LOOKAHEAD};
use super::served::{Policy, by_fields, shortest};
use super::{Layout, Needs};
use crate::error::Result;
use crate::flash::{Cause, NONE, Table, Tap};
use crate::hints::{Hints, NEVER, RequiredHints, UNTAGGED};
use crate::observe::Report;
use crate::placements::{HostPage, Placement, Victim};
use crate::state::elements;
use crate::victims::VictimPolicy;
use table::{Apart, is_of_table};

/// Time and stream of a block's opening, recorded for placements that use victims.
#[derive(Debug, Clone, Copy, Default)]
struct Opened {
    at: u64,
    stream: u8,
}

elements!(Opened { at: u64, stream: u8 });

struct Generic<P, V, T: Tap> {
    name: String,
    core: Core<V, T>,
    placement: P,
    required_hints: RequiredHints,
    needs: Needs,
    /// Time and stream of each block's opening. Empty if the drive needs neither.
    opened: Table<Opened>,
    /// Next pool to write to, for each stream.
    next_pool: Vec<usize>,
    layout: Layout,
    migrating: Vec<u32>,
    /// Mapping table on the flash, if the drive has one. It has its own frontiers.
    apart: Option<Apart>,
    /// True if flash operations are counted by placement handle.
    counts_handles: bool,
}

impl<P: Placement, V: VictimPolicy, T: Tap> Generic<P, V, T> {
    /// True if the placement or the victim policy may use a write history.
    const MAY_KEEP_HISTORY: bool = P::USES_WRITE_HISTORY || V::USES_WRITE_HISTORY;

    fn write_data(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        match self.layout {
            Layout::Flat => self.write_flat(pages, hints),
            Layout::Striped | Layout::StripedPerLun | Layout::Static => {
                self.write_spread(pages, hints)
            }
        }
    }

    fn write_flat(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        if let Some(always) = Self::RUNS {
            return self.write_run(pages, always.host);
        }
        if Self::AHEAD {
            return self.write_ahead(pages, hints);
        }
        for (at, &logical) in pages.iter().enumerate() {
            let stream = self.host_stream(pages, at, hints)?;
            // Idle-time collection may have left the reserve of free blocks incomplete.
            let is_short = at == 0 && !self.core.reserve_is_complete(0);
            if self.core.frontiers[stream].is_full() || is_short {
                self.make_room(stream, 0)?;
            }
            self.program(logical, stream);
        }
        Ok(())
    }

    /// Writes pages to the LUNs: to the fixed LUN of each page, or striped over LUNs with room.
    fn write_spread(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        let pools = self.core.flash.pools() as u32;
        let stripe_pages = self.core.flash.geometry().stripe_pages();
        for (at, &logical) in pages.iter().enumerate() {
            let stream = self.host_stream(pages, at, hints)?;
            let is_own = self.layout == Layout::Static;
            let pool =
                if is_own { (logical % pools) as usize } else { self.pool_with_room(stream)? };
            let frontier = self.core.frontier(stream, pool);
            // Idle-time collection may have left the reserve of free blocks incomplete.
            if is_own
                && (self.core.frontiers[frontier].is_full() || !self.core.reserve_is_complete(pool))
            {
                self.make_room(stream, pool)?;
            }
            self.program(logical, frontier);
            let next_page = self.core.frontiers[frontier].next_page();
            if !is_own && stripe_pages > 1 && !next_page.is_multiple_of(stripe_pages) {
                self.next_pool[stream] = pool;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn host_stream(&mut self, pages: &[u32], at: usize, hints: &Hints) -> Result<usize> {
        self.core.prefetch(pages, at);
        if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD) {
            self.prefetch_page(logical);
        }
        let page = host_page::<P>(pages, at, hints, self.core.now());
        if P::USES_WRITE_HISTORY {
            if self.placement.is_survey_due() {
                let apart = self.apart.filter(|_| T::IS_OPEN);
                let is_data = |block: &u32| !is_of_table(apart, &self.opened, *block);
                self.placement.survey(&mut self.core.closed_histories(is_data));
            }
            self.placement.recall(self.core.recall(page.logical));
        }
        let stream = self.placement.host_stream(page);
        if Self::MAY_KEEP_HISTORY {
            self.core.count_write(page.logical);
        }
        if P::CAN_FAIL {
            self.placement.failure()?;
        }
        Ok(stream)
    }

    /// Prefetches the data from which the placement chooses the stream of a page.
    #[inline(always)]
    fn prefetch_page(&self, logical: u32) {
        self.placement.prefetch(logical);
        if Self::MAY_KEEP_HISTORY {
            self.core.prefetch_history(logical);
        }
    }

    #[inline(always)]
    fn program(&mut self, logical: u32, frontier: usize) {
        let from = self.core.program(logical, frontier);
        if Self::MAY_KEEP_HISTORY {
            self.core.follow(logical, from, frontier);
        }
        if self.core.frontiers[frontier].is_full() {
            self.close(frontier);
        }
    }

    #[inline(always)]
    fn close(&mut self, frontier: usize) {
        if P::CHOOSES_VICTIMS {
            let block = self.core.flash.block_behind(&self.core.frontiers[frontier]);
            let stream = usize::from(self.opened[block as usize].stream);
            let domain = self.core.domain_of(block);
            let is_held =
                !self.holds_table(block) && self.placement.on_close(block, stream, domain);
            self.core.hold(block, is_held);
        }
        self.core.close(frontier);
    }

    /// Gives `stream` a frontier with room on a pool that collects its own blocks, or on the only
    /// pool. Collects until the pool's reserved blocks are free again, because host writes may fill
    /// the frontiers of migrated pages before the next collection.
    #[cold]
    fn make_room(&mut self, stream: usize, pool: usize) -> Result<()> {
        let frontier = self.core.frontier(stream, pool);
        while !self.core.can_open(pool) {
            self.collect(pool)?;
            if !self.core.frontiers[frontier].is_full() && self.core.reserve_is_complete(pool) {
                return Ok(());
            }
        }
        if self.core.frontiers[frontier].is_full() {
            self.open(stream, frontier, pool);
        }
        Ok(())
    }

    /// Pool for the next page of `stream`: the next pool in turn that has room.
    fn pool_with_room(&mut self, stream: usize) -> Result<usize> {
        let pools = self.core.flash.pools();
        loop {
            for step in 0..pools {
                let pool = (self.next_pool[stream] + step) % pools;
                if self.has_room(stream, pool)? {
                    self.next_pool[stream] = (pool + 1) % pools;
                    return Ok(pool);
                }
            }
            // Only a drive that collects over all LUNs gets here. If LUNs collect for themselves,
            // at least one LUN can make room: the size of the drive guarantees that a LUN has an
            // invalid page.
            assert_eq!(
                self.layout,
                Layout::Striped,
                "the size of the drive was checked, but no LUN has room or an invalid page"
            );
            self.collect(0)?;
        }
    }

    fn has_room(&mut self, stream: usize, pool: usize) -> Result<bool> {
        let frontier = self.core.frontier(stream, pool);
        while self.core.frontiers[frontier].is_full() || !self.core.reserve_is_complete(pool) {
            if self.core.can_open(pool) {
                self.open(stream, frontier, pool);
            } else if self.layout == Layout::StripedPerLun && self.core.has_invalid(pool) {
                self.collect(pool)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn open(&mut self, stream: usize, frontier: usize, pool: usize) {
        let block = self.core.open(frontier, pool);
        if self.remembers_blocks() {
            self.opened[block as usize] = Opened { at: self.core.now(), stream: stream as u8 };
        }
    }

    fn choose_victim(&mut self, domain: usize) -> Result<u32> {
        if !P::CHOOSES_VICTIMS {
            return self.core.choose_victim(domain);
        }
        let own = self.own_victim(domain, false);
        let block = match own {
            Some(block) => {
                self.core.take_victim(block);
                self.core.count_gain(block);
                block
            }
            None => self.core.choose_victim(domain)?,
        };
        if !self.holds_table(block) {
            self.placement.on_collect(block);
        }
        Ok(block)
    }

    /// Victim chosen by the placement itself, if any.
    /// Afterwards the victim policy may also choose the blocks that the placement has released.
    fn own_victim(&mut self, domain: usize, is_idle: bool) -> Option<u32> {
        let own = self.placement.victim(domain, is_idle);
        self.placement.take_released().into_iter().for_each(|block| self.core.release(block));
        own
    }

    fn collect(&mut self, domain: usize) -> Result<()> {
        let block = self.choose_victim(domain)?;
        self.collect_block(block)
    }

    /// Victim with an invalid page, chosen while the host is idle, or None if none is chosen.
    fn choose_idle_victim(&mut self, domain: usize) -> Result<Option<u32>> {
        if !P::CHOOSES_VICTIMS {
            return self.core.choose_idle_victim(domain);
        }
        let own = self.own_victim(domain, true);
        let own = own.filter(|&block| self.core.flash.invalid_pages(block) > 0);
        let chosen = match own {
            Some(block) => {
                self.core.take_victim(block);
                own
            }
            None => self.core.choose_idle_victim(domain)?,
        };
        if let Some(block) = chosen
            && !self.holds_table(block)
        {
            self.placement.on_collect(block);
        }
        Ok(chosen)
    }

    fn collect_block(&mut self, block: u32) -> Result<()> {
        let pool = self.core.flash.pool_of(block);
        let mut victim = Victim { now: self.core.now(), ..Victim::default() };
        if P::USES_VICTIM {
            let opened = self.opened[block as usize];
            victim = Victim { stream: usize::from(opened.stream), opened: opened.at, ..victim };
        }
        let is_table = self.holds_table(block);
        if !is_table {
            self.placement.on_victim(&victim);
        }
        let mut migrating = std::mem::take(&mut self.migrating);
        self.core.read_victim(block, &mut migrating);
        if !is_table {
            for &logical in &migrating {
                self.prefetch_page(logical);
            }
        }
        if P::CAN_FAIL && !is_table {
            self.placement.on_pages(&migrating, &victim)?;
        }
        if P::HAS_HANDLES
            && self.counts_handles
            && !is_table
            && let Some(tags) = self.core.flash.tags_mut()
        {
            // All pages of a victim move to one stream, whose blocks may belong to another handle.
            let into = self.placement.migration_stream(NONE, &victim);
            let [from, into] =
                [victim.stream, into].map(|stream| self.placement.handle_of_stream(stream));
            tags.count_transfer(from, into, migrating.len() as u64);
        }
        let exchange = self.core.erase_read(block);
        if self.remembers_blocks()
            && let Some(Exchange { young, worn }) = exchange
        {
            self.opened[worn as usize] = self.opened[young as usize];
            if P::CHOOSES_VICTIMS && !self.holds_table(young) {
                self.placement.on_exchange(young, worn);
            }
        }
        match Self::RUNS {
            _ if is_table => self.migrate_table(&migrating, pool),
            Some(always) => self.migrate_run(&migrating, always.migration, pool),
            None => self.migrate_each(&migrating, &victim, pool),
        }
        self.migrating = migrating;
        Ok(())
    }

    fn migrate_each(&mut self, pages: &[u32], victim: &Victim, pool: usize) {
        for &logical in pages {
            if P::USES_WRITE_HISTORY {
                self.placement.recall(self.core.recall(logical));
            }
            let stream = self.placement.migration_stream(logical, victim);
            let frontier = self.core.frontier(stream, pool);
            if self.core.frontiers[frontier].is_full() {
                self.open(stream, frontier, pool);
            }
            let core = &mut self.core;
            core.flash.migrate(logical, &mut core.frontiers[frontier], Cause::Gc);
            if Self::MAY_KEEP_HISTORY {
                core.follow(logical, None, frontier);
            }
            if core.frontiers[frontier].is_full() {
                self.close(frontier);
            }
        }
    }
}

/// Host page to place, with the hints that the placement uses.
#[inline(always)]
fn host_page<P: Placement>(pages: &[u32], at: usize, hints: &Hints, now: u64) -> HostPage {
    let mut page =
        HostPage { logical: pages[at], now, group: 0, hint: UNTAGGED, invalidation_time: NEVER };
    if P::USES_PLACEMENT_HINTS {
        page.hint = hints.placement.get(at).copied().unwrap_or(UNTAGGED);
    }
    if P::USES_HOST_HINTS {
        page.group = hints.group_of.get(at).copied().unwrap_or(0);
        page.invalidation_time = hints.invalidation_times.get(at).copied().unwrap_or(NEVER);
    }
    page
}

impl<P: Placement, V: VictimPolicy, T: Tap> Policy for Generic<P, V, T> {
    by_fields!(V, T);

    fn write_pages(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        match self.apart {
            Some(apart) if T::IS_OPEN => self.write_beside_table(apart, pages, hints),
            _ => self.write_data(pages, hints),
        }
    }

    fn required_hints(&self) -> RequiredHints {
        self.required_hints
    }

    fn handles(&self, pages: &[u32], hints: &Hints) -> Option<Vec<u8>> {
        if !P::HAS_HANDLES || !self.counts_handles {
            return None;
        }
        let now = self.core.now();
        let page = |at| host_page::<P>(pages, at, hints, now);
        Some((0..pages.len()).map(|at| self.placement.handle(page(at))).collect())
    }

    fn without_hints(&self) -> &'static str {
        if self.required_hints == RequiredHints::Handles {
            return "a trace provides them with hints_by (docs/placements.md#handles)";
        }
        "docs/placements.md lists the workloads that provide them"
    }

    fn forget(&mut self, logical: u32) {
        self.placement.forget(logical);
    }

    fn failure(&mut self) -> Result<()> {
        self.placement.failure()
    }

    fn steer(&mut self, queues: &[u32]) {
        if !matches!(self.layout, Layout::Striped | Layout::StripedPerLun) {
            return;
        }
        let stripe_pages = self.core.flash.geometry().stripe_pages();
        for stream in 0..self.next_pool.len() {
            let next = self.next_pool[stream];
            let frontier = self.core.frontier(stream, next);
            if self.core.frontiers[frontier].next_page().is_multiple_of(stripe_pages) {
                self.next_pool[stream] = shortest(queues, next);
            }
        }
    }

    fn collect_idle(&mut self, pool: usize) -> Result<bool> {
        let domain = if self.core.domains() == 1 { 0 } else { pool };
        if !self.core.pools_of(domain).all(|pool| self.core.reserve_is_complete(pool)) {
            return Ok(false);
        }
        let victim = self.choose_idle_victim(domain)?;
        if let Some(block) = victim {
            self.collect_block(block)?;
        }
        Ok(victim.is_some())
    }

    fn on_padded(&mut self) -> Option<fn(&mut Self, usize)> {
        Some(Self::close)
    }

    fn collect_closed(&mut self, block: u32) -> Result<bool> {
        // A placement that chooses its own victims collects them in its own order, so the request
        // to collect this block is refused.
        if P::CHOOSES_VICTIMS || !self.core.reserve_is_complete(self.core.flash.pool_of(block)) {
            return Ok(false);
        }
        self.core.take_victim(block);
        self.collect_block(block)?;
        Ok(true)
    }

    fn report(&self) -> Report<'_> {
        let history = if P::USES_WRITE_HISTORY { self.core.history_bytes() } else { 0 };
        let remembered = if P::USES_VICTIM { self.opened.len() } else { 0 };
        let scheme_bytes =
            self.placement.bytes() + history + (remembered * size_of::<Opened>()) as u64;
        let predicted_wa = self.placement.predicted_wa();
        Report { predicted_wa, scheme_bytes, ..Report::default() }
    }
}
