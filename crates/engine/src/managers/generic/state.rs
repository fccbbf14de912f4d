//! Saved state of a generic manager, and the checks after it is restored.

use super::{Generic, Layout, Needs, Opened};
use crate::error::Result;
use crate::flash::{Array, BlockState, Frontier, NONE, Tap};
use crate::placements::{Closed, Placement, Restored};
use crate::state::{require, state};
use crate::victims::VictimPolicy;

state! {
    Generic<P: Placement, V: VictimPolicy, T: Tap> {
        fixed name,
        nested core,
        nested placement,
        fixed required_hints,
        fixed needs,
        table opened,
        table next_pool,
        fixed layout,
        scratch migrating,
        fixed apart,
        fixed counts_handles,
    } where check
}

impl<P: Placement, V: VictimPolicy, T: Tap> Generic<P, V, T> {
    /// Checks that the restored data is consistent.
    fn check(&self) -> Result<()> {
        let state = PolicyFreeState {
            flash: &self.core.flash,
            frontiers: &self.core.frontiers,
            needs: &self.needs,
            opened: &self.opened,
            next_pool: &self.next_pool,
            layout: self.layout,
        };
        state.check(self.core.now())?;
        let domain = |block| self.core.domain_of(block);
        let mut closed = state.closed(&domain, &|block| self.core.is_held(block));
        closed.retain(|closed| !self.holds_table(closed.block));
        let map = self.core.flash.map();
        self.placement.check(&Restored { now: self.core.now(), map, closed: &closed })
    }
}

/// State of a generic manager that does not depend on its policies.
struct PolicyFreeState<'a> {
    flash: &'a Array,
    frontiers: &'a [Frontier],
    needs: &'a Needs,
    opened: &'a [Opened],
    next_pool: &'a [usize],
    layout: Layout,
}

impl PolicyFreeState<'_> {
    /// Checks that the data is consistent.
    fn check(&self, now: u64) -> Result<()> {
        let flash = self.flash;
        let pools = flash.pools();
        require(self.next_pool.iter().all(|&pool| pool < pools), "the next LUN of a stream")?;
        let &Needs { most_streams: streams, reserve_blocks, .. } = self.needs;
        let is_known = |opened: &Opened| opened.at <= now && u32::from(opened.stream) < streams;
        require(self.opened.iter().all(is_known), "the opening time or stream of a block")?;
        // The free blocks and the room on all frontiers must hold as many pages as the reserve,
        // because a collection may fill any of these frontiers.
        let block_pages = u64::from(flash.geometry().pages_per_block());
        for pool in 0..pools {
            let room_pages = (0..streams as usize)
                .map(|stream| u64::from(self.frontiers[stream * pools + pool].room_pages()));
            let free_pages = u64::from(flash.free_blocks(pool)) * block_pages;
            let kept_pages = u64::from(reserve_blocks) * block_pages;
            let enough = free_pages + room_pages.sum::<u64>() >= kept_pages;
            require(enough, "the reserved free blocks")?;
        }
        if self.layout == Layout::Static {
            let is_own = |(logical, &page): (usize, &u32)| {
                page == NONE || flash.pool_of(flash.block_of(page)) == logical % pools
            };
            require(flash.map().iter().enumerate().all(is_own), "the LUN of a page")?;
        }
        Ok(())
    }

    /// Closed blocks, each with the stream that it was opened for.
    fn closed(
        &self,
        domain_of: &dyn Fn(u32) -> usize,
        is_held: &dyn Fn(u32) -> bool,
    ) -> Vec<Closed> {
        let stream_of = |block: u32| {
            self.opened.get(block as usize).map_or(0, |opened| usize::from(opened.stream))
        };
        let blocks = 0..self.flash.geometry().blocks();
        blocks
            .filter(|&block| self.flash.state(block) == BlockState::Closed)
            .map(|block| Closed {
                block,
                stream: stream_of(block),
                domain: domain_of(block),
                is_held: is_held(block),
            })
            .collect()
    }
}
