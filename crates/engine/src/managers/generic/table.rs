//! Mapping table on flash, with its own frontiers on drives with timing.
//!
//! Pages of the table are written much more often than data. If the table and data shared blocks,
//! collection would copy data at the rate at which the table changes. Pages and blocks of the table
//! are not reported to the placement, which handles host pages only, and the drive's clock does not
//! count them.

use super::{Generic, Opened};
use crate::error::Result;
use crate::flash::Tap;
use crate::hints::Hints;
use crate::managers::Layout;
use crate::placements::Placement;
use crate::victims::VictimPolicy;

/// First logical page of the table, and the stream of the table's writes and copies.
#[derive(Debug, Clone, Copy)]
pub struct Apart {
    pub first_page: u32,
    pub stream: usize,
}

/// True if the block was opened for the table.
pub(super) fn is_of_table(apart: Option<Apart>, opened: &[Opened], block: u32) -> bool {
    apart.is_some_and(|apart| usize::from(opened[block as usize].stream) == apart.stream)
}

impl<P: Placement, V: VictimPolicy, T: Tap> Generic<P, V, T> {
    /// Writes pages in order, some of which may belong to the table.
    pub(super) fn write_beside_table(
        &mut self,
        Apart { first_page, stream }: Apart,
        pages: &[u32],
        hints: &Hints,
    ) -> Result<()> {
        let mut end = 0;
        for run in pages.chunk_by(|page, next| (*page < first_page) == (*next < first_page)) {
            let first = end;
            end += run.len();
            if run[0] < first_page {
                self.write_data(run, &hints.of(first..end))?;
            } else {
                run.iter().try_for_each(|&logical| self.write_table_page(logical, stream))?;
            }
        }
        Ok(())
    }

    fn write_table_page(&mut self, logical: u32, stream: usize) -> Result<()> {
        if Self::MAY_KEEP_HISTORY {
            self.core.count_write(logical);
        }
        let pool = match self.layout {
            Layout::Flat => 0,
            Layout::Static => logical as usize % self.core.flash.pools(),
            Layout::Striped | Layout::StripedPerLun => self.pool_with_room(stream)?,
        };
        let frontier = self.core.frontier(stream, pool);
        if self.core.frontiers[frontier].is_full() || !self.core.reserve_is_complete(pool) {
            self.make_room(stream, pool)?;
        }
        let from = self.core.program_table_page(logical, frontier);
        if Self::MAY_KEEP_HISTORY {
            self.core.follow(logical, from, frontier);
        }
        let frontier = self.core.frontiers[frontier];
        if frontier.is_full() {
            self.close(self.core.frontier(stream, pool));
        }
        let stripe_pages = self.core.flash.geometry().stripe_pages();
        if stripe_pages > 1 && !frontier.next_page().is_multiple_of(stripe_pages) {
            self.next_pool[stream] = pool;
        }
        Ok(())
    }

    /// True if the stream that each block was opened for is recorded.
    pub(super) fn remembers_blocks(&self) -> bool {
        P::USES_VICTIM || (T::IS_OPEN && self.apart.is_some())
    }

    /// True if the block was opened for the table.
    pub(super) fn holds_table(&self, block: u32) -> bool {
        T::IS_OPEN && is_of_table(self.apart, &self.opened, block)
    }

    /// Moves the valid pages of a victim that holds pages of the table.
    #[cold]
    pub(super) fn migrate_table(&mut self, pages: &[u32], pool: usize) {
        let Some(Apart { stream, .. }) = self.apart else { return };
        for &logical in pages {
            let frontier = self.core.frontier(stream, pool);
            if self.core.frontiers[frontier].is_full() {
                self.open(stream, frontier, pool);
            }
            self.core.migrate(&[logical], frontier);
            if !V::USES_WRITE_HISTORY && P::USES_WRITE_HISTORY {
                self.core.follow(logical, None, frontier);
            }
            if self.core.frontiers[frontier].is_full() {
                self.close(frontier);
            }
        }
    }
}
