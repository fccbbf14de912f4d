//! Write history of each page: the number of host writes, and the time of the last one.
//! The history of a block follows from its pages. The drive keeps one history for all policies that
//! use it.

use crate::error::Result;
use crate::flash::{NONE, Table, filled, prefetch};
use crate::state::{elements, require, state};

const WRITES_BITS: u32 = 16;
const MOST_WRITES: u64 = (1 << WRITES_BITS) - 1;

/// Histories of all pages and blocks, in 8 bytes per page and 16 bytes per block.
/// Writes are counted up to 65,535, and clocks have 48 bits.
#[derive(Debug, Clone)]
pub struct WriteHistory {
    /// For each page: the number of writes in the low bits, and in the high bits the clock before
    /// the last write.
    pages: Table<u64>,
    /// For each block: sums of these two numbers over its valid pages.
    blocks: Table<Sums>,
    /// Block that held the last page counted by [`WriteHistory::count_write`].
    rewritten: Option<u32>,
}

state!(WriteHistory { table pages, table blocks, scratch rewritten });

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    writes: u64,
    written_at: u64,
}

elements!(Sums { writes: u64, written_at: u64 });

/// History of a page that the host has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageHistory {
    /// Number of host writes, up to 65,535.
    pub writes: u64,
    /// Host pages written since the last write of the page.
    pub age: u64,
}

/// History of the valid pages of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHistory {
    /// Sum of the pages' numbers of writes.
    pub writes: u64,
    /// Sum of the ages of the block's valid pages.
    pub ages: u64,
}

impl Sums {
    fn add(&mut self, page: u64) {
        self.writes += page & MOST_WRITES;
        self.written_at += page >> WRITES_BITS;
    }

    fn subtract(&mut self, page: u64) {
        self.writes -= page & MOST_WRITES;
        self.written_at -= page >> WRITES_BITS;
    }
}

impl WriteHistory {
    /// Builds the history of an unwritten drive.
    pub fn new(logical_pages: u32, blocks: u32) -> Result<Self> {
        Ok(WriteHistory {
            pages: filled(0, logical_pages as usize)?,
            blocks: filled(Sums::default(), blocks as usize)?,
            rewritten: None,
        })
    }

    /// History of a page at clock `now`.
    /// Returns None if the page was never written, or was trimmed since.
    #[inline(always)]
    pub fn page(&self, logical: u32, now: u64) -> Option<PageHistory> {
        let page = self.pages[logical as usize];
        let history = PageHistory { writes: page & MOST_WRITES, age: now - (page >> WRITES_BITS) };
        (page != 0).then_some(history)
    }

    /// History of a block with `valid_pages` valid pages.
    #[inline(always)]
    pub fn block(&self, block: u32, valid_pages: u32, now: u64) -> BlockHistory {
        let Sums { writes, written_at } = self.blocks[block as usize];
        BlockHistory { writes, ages: u64::from(valid_pages) * now - written_at }
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.pages[..]) + size_of_val(&self.blocks[..])) as u64
    }

    /// Records that the host is about to write `logical`, whose present version is in `holder`.
    #[inline(always)]
    pub(crate) fn count_write(&mut self, logical: u32, holder: Option<u32>, now: u64) {
        let previous = self.pages[logical as usize];
        let writes = ((previous & MOST_WRITES) + 1).min(MOST_WRITES);
        let after = now << WRITES_BITS | writes;
        self.pages[logical as usize] = after;
        if let Some(block) = holder {
            self.blocks[block as usize].subtract(previous);
            self.blocks[block as usize].add(after);
        }
        self.rewritten = holder;
    }

    /// Block that holds the old version of a page that is about to be programmed, or was just
    /// programmed. Other blocks' histories change only when a page becomes invalid, or while the
    /// block is open.
    pub(crate) fn rewritten(&self) -> Option<u32> {
        self.rewritten
    }

    /// Records that the valid version of `logical` has moved to block `to`.
    #[inline(always)]
    pub(crate) fn move_page(&mut self, logical: u32, from: Option<u32>, to: u32) {
        let page = self.pages[logical as usize];
        if let Some(from) = from {
            self.blocks[from as usize].subtract(page);
        }
        self.blocks[to as usize].add(page);
    }

    /// Forgets `logical`, which was unmapped from `holder`; its next write counts as its first.
    pub(crate) fn forget(&mut self, logical: u32, holder: u32) {
        let page = std::mem::take(&mut self.pages[logical as usize]);
        self.blocks[holder as usize].subtract(page);
    }

    /// Records the erase of `block`, whose pages will be moved.
    pub(crate) fn erase(&mut self, block: u32) {
        self.blocks[block as usize] = Sums::default();
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, logical: u32) {
        prefetch(&self.pages, logical as usize);
    }

    /// Checks that a restored history fits a drive with this map at this clock.
    pub(crate) fn check(&self, map: &[u32], block_of: impl Fn(u32) -> u32, now: u64) -> Result<()> {
        let mut blocks = vec![Sums::default(); self.blocks.len()];
        for (&physical, &page) in map.iter().zip(&self.pages) {
            let is_past = page >> WRITES_BITS < now;
            let is_known = is_past && page & MOST_WRITES > 0;
            require(if physical == NONE { page == 0 } else { is_known }, "WriteHistory.pages")?;
            if physical != NONE {
                blocks[block_of(physical) as usize].add(page);
            }
        }
        require(*blocks == *self.blocks, "WriteHistory.blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_block_are_those_of_its_valid_pages() {
        let mut history = WriteHistory::new(3, 2).unwrap();
        for (logical, now) in [(0, 0), (1, 1), (2, 2)] {
            history.count_write(logical, None, now);
            history.move_page(logical, None, 0);
        }
        assert_eq!(history.block(0, 3, 3), BlockHistory { writes: 3, ages: 3 + 2 + 1 });
        history.count_write(1, Some(0), 3);
        assert_eq!(history.block(0, 3, 3), BlockHistory { writes: 4, ages: 3 + 1 });
        history.move_page(1, Some(0), 1);
        history.forget(2, 0);
        assert_eq!(history.block(0, 1, 10), BlockHistory { writes: 1, ages: 10 });
        assert_eq!(history.block(1, 1, 10), BlockHistory { writes: 2, ages: 7 });
        assert_eq!(history.page(1, 10), Some(PageHistory { writes: 2, age: 7 }));
        assert_eq!(history.page(2, 10), None);
        let map = [0, 5, NONE];
        assert!(history.check(&map, |page| page / 4, 4).is_ok());
        assert!(history.check(&map, |page| page / 8, 4).is_err());
        assert!(history.check(&map, |page| page / 4, 3).is_err());
    }

    #[test]
    fn writes_beyond_the_most_are_not_counted() {
        let mut history = WriteHistory::new(1, 1).unwrap();
        for now in 0..70_000 {
            history.count_write(0, (now > 0).then_some(0), now);
            history.move_page(0, (now > 0).then_some(0), 0);
        }
        assert_eq!(history.page(0, 70_000), Some(PageHistory { writes: 65_535, age: 1 }));
        assert_eq!(history.block(0, 1, 70_000), BlockHistory { writes: 65_535, ages: 1 });
    }
}
