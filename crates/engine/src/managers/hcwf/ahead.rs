//! Writes of whole runs of pages whose streams are known in advance.

use super::HotCold;
use crate::error::Result;
use crate::flash::{Director, Loss, NextPage, Stop, Tap};
use crate::victims::VictimPolicy;

impl<V: VictimPolicy, T: Tap> HotCold<V, T> {
    /// Writes pages to their streams, run by run. Called only on drives without an observer.
    pub(super) fn write_ahead(&mut self, pages: &[u32]) -> Result<()> {
        self.core.flash.prefetch_run(pages);
        let mut at = 0;
        while at < pages.len() {
            let streams = &self.streams[at..];
            let director = |policy| Decided { streams, policy };
            let each = self.core.program_each(&pages[at..], usize::from(streams[0]), director);
            at += each.pages;
            match each.stop {
                Stop::End => continue,
                Stop::Full(stream) => self.close(stream),
                Stop::NoRoom(_) => {}
            }
            self.refill(0)?;
        }
        Ok(())
    }
}

/// Choice of streams for `Core::program_each`: returns the known stream of each page.
struct Decided<'a, V> {
    streams: &'a [u8],
    policy: &'a mut V,
}

impl<V: VictimPolicy> Director for Decided<'_, V> {
    #[inline(always)]
    fn target(&mut self, page: &NextPage) -> usize {
        usize::from(self.streams[page.at])
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
