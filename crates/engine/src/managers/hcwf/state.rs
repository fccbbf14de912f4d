//! Saved state of HCWF, and the checks of its block kinds after a restore.

use super::{HotCold, STREAMS, Swap};
use crate::error::Result;
use crate::flash::{BlockState, Tap};
use crate::state::{require, state};
use crate::victims::VictimPolicy;

state! {
    HotCold<V: VictimPolicy, T: Tap> {
        fixed name,
        nested core,
        nested detector,
        nested swap,
        table label,
        fixed layout,
        table next_pool,
        scratch streams,
        scratch hot_groups,
        scratch migrating,
    } where check
}

state!(Swap { fixed d, nested closed });

impl<V: VictimPolicy, T: Tap> HotCold<V, T> {
    /// Checks that the restored data is consistent.
    fn check(&self) -> Result<()> {
        let flash = &self.core.flash;
        require(
            self.next_pool.iter().all(|&pool| pool < flash.pools()),
            "the next LUN of a stream",
        )?;
        let is_stream = |&label: &u8| usize::from(label) < STREAMS;
        require(self.label.iter().all(is_stream), "the kind (hot or cold) of a block")?;
        for (index, frontier) in self.core.frontiers.iter().enumerate() {
            let is_own = frontier.is_full() || self.bag(flash.block_behind(frontier)) == index;
            require(is_own, "the kind (hot or cold) of an open block")?;
        }
        let Some(swap) = &self.swap else { return Ok(()) };
        let mut places: Vec<Option<usize>> = (0..flash.geometry().blocks())
            .map(|block| (flash.state(block) == BlockState::Closed).then(|| self.bag(block)))
            .collect();
        for (index, bag) in swap.closed.iter().enumerate() {
            for &block in bag.blocks() {
                require(
                    places[block as usize].take() == Some(index),
                    "the closed blocks of a kind (hot or cold)",
                )?;
            }
        }
        require(places.iter().all(Option::is_none), "the closed blocks of a kind (hot or cold)")
    }
}
