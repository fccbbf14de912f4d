//! Write history of the pages of a drive, kept if a policy uses it.

use super::Core;
use crate::error::Result;
use crate::flash::{BlockState, Tap};
use crate::victims::VictimPolicy;
use crate::write_history::{BlockHistory, PageHistory, WriteHistory};

impl<V: VictimPolicy, T: Tap> Core<V, T> {
    /// Enables the history of a new drive.
    /// The manager must then report each host write ([`Self::count_write`]) and each program
    /// ([`Self::follow`]).
    pub fn keep_history(&mut self) -> Result<()> {
        let blocks = self.flash.geometry().blocks();
        self.history = Some(WriteHistory::new(self.flash.logical_pages(), blocks)?);
        Ok(())
    }

    /// History of a page.
    /// None if the drive keeps no histories, or if the host has not written the page since its last
    /// TRIM.
    #[inline(always)]
    pub fn recall(&self, logical: u32) -> Option<PageHistory> {
        self.history.as_ref().and_then(|history| history.page(logical, self.now()))
    }

    /// Write histories of the closed blocks for which `is_asked` is true, by block number.
    pub fn closed_histories<'a>(
        &'a self,
        is_asked: impl Fn(&u32) -> bool + Copy + 'a,
    ) -> impl Iterator<Item = BlockHistory> + 'a {
        let flash = &self.flash;
        let pages_per_block = flash.geometry().pages_per_block();
        let of_history = move |history: &'_ WriteHistory, block: u32| {
            let valid_pages = pages_per_block - flash.invalid_pages(block);
            history.block(block, valid_pages, self.now())
        };
        let closed = move |&block: &u32| flash.state(block) == BlockState::Closed;
        self.history.iter().flat_map(move |history| {
            let blocks = (0..flash.geometry().blocks()).filter(closed).filter(is_asked);
            blocks.map(move |block| of_history(history, block))
        })
    }

    /// Memory of the history, in bytes.
    pub fn history_bytes(&self) -> u64 {
        self.history.as_ref().map_or(0, WriteHistory::bytes)
    }

    /// Records that the host is about to write `logical`.
    #[inline(always)]
    pub fn count_write(&mut self, logical: u32) {
        let now = self.now();
        if let Some(history) = &mut self.history {
            let holder = self.flash.physical(logical).map(|page| self.flash.block_of(page));
            history.count_write(logical, holder, now);
        }
    }

    /// Records that `logical` was programmed at `frontier`, and is no longer in block `from`.
    #[inline(always)]
    pub fn follow(&mut self, logical: u32, from: Option<u32>, frontier: usize) {
        if let Some(history) = &mut self.history {
            let to = self.flash.block_behind(&self.frontiers[frontier]);
            history.move_page(logical, from, to);
        }
    }

    #[inline(always)]
    pub fn prefetch_history(&self, logical: u32) {
        if let Some(history) = &self.history {
            history.prefetch(logical);
        }
    }
}
