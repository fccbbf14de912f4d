//! State of the flash array: readable by all code, changed only by [`super::Flash`].

use std::ops::Range;

use super::memory::{Table, filled, prefetch};
use super::{
    BlockState, Blocks, Counters, Frontier, Geometry, NONE, Pools, TagCounters, Tags, Wear, WearLog,
};
use crate::error::{Error, Result};
use crate::hints::UNTAGGED;

/// The flash array and its logical→physical map.
#[derive(Debug, Clone)]
pub struct Array {
    pub(super) geometry: Geometry,
    pub(super) logical_to_physical: Table<u32>,
    pub(super) physical_to_logical: Table<u32>,
    pub(super) blocks: Blocks,
    pub(super) erase_counts: Table<u32>,
    pub(super) states: Table<BlockState>,
    /// Free blocks of each pool, in the order in which they joined it.
    /// The last one is opened first unless a manager chooses another.
    pub(super) free: Vec<Vec<u32>>,
    pub(super) blocks_per_pool: u32,
    pub(super) mapped_pages: u32,
    pub(super) counters: Counters,
    pub(super) wear: WearLog,
    /// Tags of the data, if the drive counts by tag.
    pub(super) tags: Option<Box<Tags>>,
}

impl Array {
    pub(super) fn new(
        geometry: Geometry,
        logical_pages: u32,
        pools: Pools,
        wear: Wear,
    ) -> Result<Self> {
        let physical_pages = geometry.physical_pages();
        let usable_pages = pools.usable_blocks(&geometry, wear)? * geometry.pages_per_block();
        if logical_pages == 0 {
            return Err(Error::Geometry(
                "the drive would have no logical page; it must have at least 1".into(),
            ));
        }
        if logical_pages >= usable_pages && usable_pages < physical_pages {
            return Err(Error::Geometry(format!(
                "{logical_pages} logical pages on the {usable_pages} pages of the blocks that are \
                 not spare leave no over-provisioning; use fewer spare blocks or a larger op"
            )));
        }
        if logical_pages >= physical_pages {
            return Err(Error::Geometry(format!(
                "{logical_pages} logical pages on {physical_pages} physical pages leave no \
                 over-provisioning; op must be above 0 and fill below 1"
            )));
        }
        let blocks = geometry.blocks() as usize;
        let blocks_per_pool = pools.blocks_per_pool(&geometry);
        let mut free: Vec<Vec<u32>> = (0..geometry.blocks())
            .step_by(blocks_per_pool as usize)
            .map(|first| (first..first + blocks_per_pool).rev().collect())
            .collect();
        let wear = WearLog::new(wear, &mut free);
        let mut states = filled(BlockState::Free, blocks)?;
        for &spare in wear.spares().iter().flatten() {
            states[spare as usize] = BlockState::Spare;
        }
        Ok(Array {
            geometry,
            logical_to_physical: filled(NONE, logical_pages as usize)?,
            physical_to_logical: filled(NONE, physical_pages as usize)?,
            blocks: Blocks::new(geometry.blocks(), geometry.pages_per_block())?,
            erase_counts: filled(0, blocks)?,
            states,
            free,
            blocks_per_pool,
            mapped_pages: 0,
            counters: Counters::default(),
            wear,
            tags: None,
        })
    }

    /// Bytes of memory that a drive of this size needs, for a check before it is built.
    /// Besides the record of each block, the sum includes 29 bytes per block for the victim policy,
    /// which is enough for the largest one.
    pub fn bytes_needed(geometry: &Geometry, logical_pages: u32) -> u64 {
        let physical = u64::from(geometry.physical_pages());
        u64::from(logical_pages) * 4
            + physical * 4
            + Blocks::bytes_needed(geometry.blocks(), geometry.pages_per_block())
            + u64::from(geometry.blocks()) * 29
    }

    /// Geometry that the array was built with.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Number of logical pages, which the host sees.
    pub fn logical_pages(&self) -> u32 {
        self.logical_to_physical.len() as u32
    }

    /// Number of logical pages that hold data.
    pub fn mapped_pages(&self) -> u32 {
        self.mapped_pages
    }

    /// Counters since the drive was new.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counters by tag since the drive was new, if it counts by tag.
    pub fn tag_counters(&self) -> Option<TagCounters> {
        self.tags.as_ref().map(|tags| tags.counters(self.geometry.page_bytes()))
    }

    /// Tag of the data at a physical page; [`UNTAGGED`] if the drive does not count by tag.
    #[inline(always)]
    pub fn tag_at(&self, page: u32) -> u8 {
        self.tags.as_ref().map_or(UNTAGGED, |tags| tags.tag_of(page))
    }

    /// Erases of each block since the drive was new.
    pub fn erase_counts(&self) -> &[u32] {
        &self.erase_counts
    }

    /// State (free, open, closed, spare or retired) of each block.
    pub fn states(&self) -> &[BlockState] {
        &self.states
    }

    /// State (free, open, closed, spare or retired) of a block.
    #[inline(always)]
    pub fn state(&self, block: u32) -> BlockState {
        self.states[block as usize]
    }

    /// Records of all blocks, with their invalid pages.
    #[inline(always)]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Number of invalid pages of a block.
    #[inline(always)]
    pub fn invalid_pages(&self, block: u32) -> u32 {
        self.blocks.invalid_pages(block)
    }

    /// Number of free blocks in `pool`: erased and not open. Spare blocks do not count.
    #[inline(always)]
    pub fn free_blocks(&self, pool: usize) -> u32 {
        self.free[pool].len() as u32
    }

    /// Number of pools of free blocks: 1, or the number of LUNs.
    pub fn pools(&self) -> usize {
        self.free.len()
    }

    /// The pool that `block` belongs to.
    #[inline(always)]
    pub fn pool_of(&self, block: u32) -> usize {
        if self.free.len() == 1 { 0 } else { (block / self.blocks_per_pool) as usize }
    }

    /// The blocks of `pool`, which are numbered consecutively.
    pub fn blocks_of(&self, pool: usize) -> Range<u32> {
        let first = pool as u32 * self.blocks_per_pool;
        first..first + self.blocks_per_pool
    }

    /// Block that contains physical page `page`.
    #[inline(always)]
    pub fn block_of(&self, page: u32) -> u32 {
        self.blocks.holding(page)
    }

    /// Physical page of the current version of a logical page, or None if it is unmapped.
    pub fn physical(&self, logical: u32) -> Option<u32> {
        let page = self.logical_to_physical[logical as usize];
        (page != NONE).then_some(page)
    }

    /// Logical page that was last programmed at a physical page, even if it is invalid now.
    /// Returns [`NONE`] for a page that was never programmed.
    pub fn logical_at(&self, page: u32) -> u32 {
        self.physical_to_logical[page as usize]
    }

    /// Checks that all pages of a request exist. The error names the first page that does not.
    pub fn check_range(&self, pages: &[u32]) -> Result<()> {
        let logical_pages = self.logical_pages();
        // Only the largest page number is compared, because a maximum uses vector instructions. The
        // first wrong page is searched for only after an error.
        if pages.iter().copied().max().is_none_or(|highest| highest < logical_pages) {
            return Ok(());
        }
        let page = *pages
            .iter()
            .find(|&&p| p >= logical_pages)
            .expect("the largest page is beyond the drive, so a page beyond the drive is found");
        Err(Error::OffTheEnd { page, logical_pages })
    }

    /// Checks that all pages of a range exist. The error names the first page that does not.
    pub fn check_extent(&self, pages: &Range<u32>) -> Result<()> {
        let logical_pages = self.logical_pages();
        if pages.end <= logical_pages || pages.is_empty() {
            return Ok(());
        }
        Err(Error::OffTheEnd { page: pages.start.max(logical_pages), logical_pages })
    }

    /// Free blocks of `pool`, in the order in which they joined it.
    pub fn free(&self, pool: usize) -> &[u32] {
        &self.free[pool]
    }

    /// Open block of a frontier.
    #[inline(always)]
    pub fn block_behind(&self, frontier: &Frontier) -> u32 {
        self.blocks.holding(frontier.end_page - 1)
    }

    /// Wear log: worn blocks, spare blocks and the end of life.
    pub fn wear(&self) -> &WearLog {
        &self.wear
    }

    /// Prefetches the map entry that [`super::Flash::program`] reads for `logical`.
    #[inline(always)]
    pub fn prefetch_map(&self, logical: u32) {
        prefetch(&self.logical_to_physical, logical as usize);
    }

    /// Prefetches the block record that invalidating `logical` changes. Returns the block that
    /// holds the page, or None if the page is unmapped.
    #[inline(always)]
    pub fn prefetch_invalidation(&self, logical: u32) -> Option<u32> {
        let page = self.logical_to_physical[logical as usize];
        if page == NONE {
            return None;
        }
        Some(self.blocks.prefetch(page))
    }

    /// For each page of a block, the logical page that was last programmed there.
    #[inline(always)]
    pub(super) fn held_by(&self, block: u32) -> &[u32] {
        let pages_per_block = self.geometry.pages_per_block() as usize;
        let first = block as usize * pages_per_block;
        &self.physical_to_logical[first..first + pages_per_block]
    }

    /// Prefetches the data of a block that [`super::Flash::read_valid`] reads.
    pub fn prefetch_block(&self, block: u32) {
        const LINE_ITEMS: usize = 16;
        let pages = self.held_by(block);
        (0..pages.len()).step_by(LINE_ITEMS).for_each(|page| prefetch(pages, page));
        prefetch(&self.states, block as usize);
        prefetch(&self.erase_counts, block as usize);
        if let Some(tags) = &self.tags {
            let first = block as usize * pages.len();
            tags.prefetch_block(first..first + pages.len());
        }
    }

    /// Maps `logical` to the page at the frontier, advances the frontier, and returns the page.
    #[inline(always)]
    pub(super) fn map_next(&mut self, logical: u32, frontier: &mut Frontier) -> u32 {
        debug_assert!(!frontier.is_full());
        let page = frontier.next_page;
        frontier.next_page += 1;
        self.logical_to_physical[logical as usize] = page;
        self.physical_to_logical[page as usize] = logical;
        page
    }
}
