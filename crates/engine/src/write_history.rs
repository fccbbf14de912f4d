//! How often the host wrote each page, and when last; and what that makes of the blocks in which
//! the pages lie. Kept for the policies that ask for it, once for all of them. A write counts as it
//! arrives, before room is made for it.

use crate::error::Result;
use crate::flash::{NONE, Table, filled, prefetch};
use crate::state::{elements, require, state};

const WRITES_BITS: u32 = 16;
const MOST_WRITES: u64 = (1 << WRITES_BITS) - 1;

/// Eight bytes a page and sixteen a block. Writes are counted up to 65,535, and clocks have 48 bits.
#[derive(Debug, Clone)]
pub struct WriteHistory {
    /// Of each page, its writes in the low bits and above them the clock before the last of them.
    pages: Table<u64>,
    /// Of each block, the sums over its valid pages.
    blocks: Table<Sums>,
}

state!(WriteHistory { table pages, table blocks });

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    writes: u64,
    written_at: u64,
}

elements!(Sums { writes: u64, written_at: u64 });

/// What is known of a page that the host has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageHistory {
    /// Times that the host wrote it, up to 65,535.
    pub writes: u64,
    /// Host pages written since the last of them.
    pub age: u64,
}

/// What is known of the valid pages of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHistory {
    /// The sum of their writes.
    pub writes: u64,
    /// The sum of their ages.
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
    /// Of a drive that has not been written.
    pub fn new(logical_pages: u32, blocks: u32) -> Result<Self> {
        Ok(WriteHistory {
            pages: filled(0, logical_pages as usize)?,
            blocks: filled(Sums::default(), blocks as usize)?,
        })
    }

    /// What is known of a page when the host has written `now` pages; `None` of one that it has not
    /// written, or trimmed since.
    #[inline(always)]
    pub fn page(&self, logical: u32, now: u64) -> Option<PageHistory> {
        let page = self.pages[logical as usize];
        let history = PageHistory { writes: page & MOST_WRITES, age: now - (page >> WRITES_BITS) };
        (page != 0).then_some(history)
    }

    /// What is known of a block with so many valid pages.
    #[inline(always)]
    pub fn block(&self, block: u32, valid_pages: u32, now: u64) -> BlockHistory {
        let Sums { writes, written_at } = self.blocks[block as usize];
        BlockHistory { writes, ages: u64::from(valid_pages) * now - written_at }
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.pages[..]) + size_of_val(&self.blocks[..])) as u64
    }

    /// The host is about to write `logical`, whose present version lies in `holder`.
    #[inline(always)]
    pub(crate) fn count_write(&mut self, logical: u32, holder: Option<u32>, now: u64) {
        let before = self.pages[logical as usize];
        let writes = ((before & MOST_WRITES) + 1).min(MOST_WRITES);
        let after = now << WRITES_BITS | writes;
        self.pages[logical as usize] = after;
        if let Some(block) = holder {
            self.blocks[block as usize].subtract(before);
            self.blocks[block as usize].add(after);
        }
    }

    /// The valid version of `logical` lies in `to` from now on, and in no other block.
    #[inline(always)]
    pub(crate) fn move_page(&mut self, logical: u32, from: Option<u32>, to: u32) {
        let page = self.pages[logical as usize];
        if let Some(from) = from {
            self.blocks[from as usize].subtract(page);
        }
        self.blocks[to as usize].add(page);
    }

    /// The data of `logical`, which lay in `holder`, is gone: its next write is its first.
    pub(crate) fn forget(&mut self, logical: u32, holder: u32) {
        let page = std::mem::take(&mut self.pages[logical as usize]);
        self.blocks[holder as usize].subtract(page);
    }

    /// `block` was erased; its pages are yet to be moved.
    pub(crate) fn erase(&mut self, block: u32) {
        self.blocks[block as usize] = Sums::default();
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, logical: u32) {
        prefetch(&self.pages, logical as usize);
    }

    /// An error unless what was restored is that of a drive with such a map, at such a clock.
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
