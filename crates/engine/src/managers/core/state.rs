//! State of a core: how it is written, and the checks of one that was restored.

use super::Core;
use crate::error::Result;
use crate::flash::{BlockState, Frontier, Tap};
use crate::state::{MOST_PLAUSIBLE, require, state};
use crate::victims::{Census, VictimPolicy};

state! {
    Core<V: VictimPolicy, T: Tap> {
        part identity,
        part flash,
        table frontiers,
        part victims,
        part random,
        value gainless,
        list held,
        part levelers,
        fixed reserve_blocks,
        scratch exchanged,
        part history,
    } where check
}

impl<V: VictimPolicy, T: Tap> Core<V, T> {
    /// An error unless what was restored fits together.
    fn check(&self) -> Result<()> {
        let flash = &self.flash;
        let blocks = flash.geometry().blocks() as usize;
        require(self.gainless < MOST_PLAUSIBLE, "the victims that gained nothing")?;
        require(self.held.is_empty() || self.held.len() == blocks, "the blocks held back")?;
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
