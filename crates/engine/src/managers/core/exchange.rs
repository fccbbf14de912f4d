//! Wear levelling after an erase: pages of a rarely erased block move onto the erased block.
//!
//! The erased block then closes, with its free pages skipped instead of programmed. Programs that
//! move these pages have their own cause.

use super::Core;
use crate::flash::{BlockState, Cause, Notice, Tap};
use crate::leveling::PoolWear;
use crate::victims::VictimPolicy;

/// Exchange of blocks by a wear leveller.
/// `young` was erased; the pages that it held are now in `worn`, which is closed.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    pub young: u32,
    pub worn: u32,
}

impl<V: VictimPolicy, T: Tap> Core<V, T> {
    /// Lets the wear leveller move the pages of a rarely erased block onto `worn`, just erased.
    #[cold]
    pub(super) fn level(&mut self, worn: u32) -> Option<Exchange> {
        let pool = self.flash.pool_of(worn);
        if self.has_retired(worn, pool) {
            return None;
        }
        let wear = PoolWear { blocks: self.flash.blocks_of(pool), array: &self.flash };
        let young = self.levelers[pool].exchange(worn, &wear)?;
        self.forget(young);
        self.hold(worn, self.is_held(young));
        let place = self.flash.free(pool).iter().rposition(|block| *block == worn);
        let mut frontier =
            self.flash.open_at(pool, place.expect("the erased worn block must be free"));
        self.flash.notify(&Notice::Open { block: worn, frontier: None });
        self.flash.read_valid(young, &mut self.exchanged, Cause::WearLeveling);
        self.flash.erase(young, Cause::WearLeveling);
        self.has_retired(young, pool);
        self.flash.migrate_all(&self.exchanged, &mut frontier, Cause::WearLeveling);
        if let Some(history) = &mut self.history {
            history.erase(young);
            self.exchanged.iter().for_each(|&page| history.move_page(page, None, worn));
        }
        self.flash.skip(&mut frontier);
        self.close_behind(frontier);
        Some(Exchange { young, worn })
    }

    /// True if a spare block has replaced the block that was just erased.
    fn has_retired(&mut self, block: u32, pool: usize) -> bool {
        let retired = self.flash.state(block) == BlockState::Retired;
        if retired {
            let spare = *self
                .flash
                .free(pool)
                .last()
                .expect("the spare block that replaces a worn-out block is free");
            let erases = self.flash.erase_counts()[spare as usize];
            self.levelers[pool].on_spare_used(spare, erases);
        }
        retired
    }
}
