//! Saved state of a core, and the checks after it is restored.

use super::Core;
use crate::error::Result;
use crate::flash::{BlockState, Frontier, Tap};
use crate::state::{MOST_PLAUSIBLE, require, state};
use crate::victims::{Census, VictimPolicy};

state! {
    Core<V: VictimPolicy, T: Tap> {
        nested identity,
        nested flash,
        table frontiers,
        nested victims,
        nested random,
        value gainless,
        list held,
        nested levelers,
        fixed reserve_blocks,
        scratch exchanged,
        nested history,
    } where check
}

impl<V: VictimPolicy, T: Tap> Core<V, T> {
    /// Checks that the restored data is consistent.
    fn check(&self) -> Result<()> {
        let flash = &self.flash;
        let blocks = flash.geometry().blocks() as usize;
        require(self.gainless < MOST_PLAUSIBLE, "the number of victims without an invalid page")?;
        require(
            self.held.is_empty() || self.held.len() == blocks,
            "the blocks that no victim policy may choose",
        )?;
        flash.check(&self.frontiers)?;
        if let Some(history) = &self.history {
            history.check(flash.map(), |page| flash.block_of(page), self.now())?;
        }
        let is_own = |(index, frontier): (usize, &Frontier)| {
            frontier.is_full()
                || flash.pool_of(flash.block_behind(frontier)) == index % flash.pools()
        };
        require(self.frontiers.iter().enumerate().all(is_own), "the LUN of a frontier")?;
        for (domain, policy) in self.victims.iter().enumerate() {
            let is_candidate = |block: u32| {
                flash.state(block) == BlockState::Closed
                    && !self.is_held(block)
                    && self.domain_of(block) == domain
            };
            let candidates = (0..blocks as u32).map(is_candidate).collect();
            let mut census = Census::new(candidates, flash.blocks(), self.now());
            policy.check(&mut census)?;
            census.finish()?;
        }
        Ok(())
    }
}
