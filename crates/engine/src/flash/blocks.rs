//! Block records: invalid pages and last change of each block, in one cache line.
//! Invalidating a page changes only the record of its block.
//!
//! A record consists of 64-bit words: the number of invalid pages, the sequence number of the last
//! change, and one mark bit per page (1 = invalid). Its length is a power of two, so that the
//! record of a block of up to 384 pages lies in one cache line and an invalidation costs one cache
//! miss.

#![allow(unsafe_code)]

use std::ops::Range;

use super::divider::Divider;
use super::memory::{Table, filled, prefetch};
use crate::error::Result;
use crate::state::{MOST_PLAUSIBLE, state};

/// Number of 64-bit words of a record that precede the marks.
const INVALID_PAGES: usize = 0;
const CHANGED: usize = 1;
const MARKS: usize = 2;

/// Number of 64-bit words in a cache line.
const LINE_WORDS: u32 = 8;

/// Result of an invalidation: the block that lost a valid page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Number of the block that lost a valid page.
    pub block: u32,
    /// Invalid pages of the block after the invalidation.
    pub invalid_pages: u32,
}

/// Records of all blocks of a drive, with their invalid pages and last changes.
#[derive(Debug, Clone)]
pub struct Blocks {
    records: Table<u64>,
    /// log₂ of the number of 64-bit words in a record.
    log_words: u32,
    pages_per_block: u32,
    physical_pages: u32,
    block_of: Divider,
    /// Number of changes of all blocks so far, which is the sequence number of the last change.
    changes: u64,
}

state! {
    Blocks {
        table records,
        fixed log_words,
        fixed pages_per_block,
        fixed physical_pages,
        fixed block_of,
        value changes,
    } where is_sound
}

/// log₂ of the number of 64-bit words in a record.
fn log_words(pages_per_block: u32) -> u32 {
    (MARKS as u32 + pages_per_block.div_ceil(64)).next_power_of_two().ilog2()
}

impl Blocks {
    pub(super) fn new(blocks: u32, pages_per_block: u32) -> Result<Self> {
        let log_words = log_words(pages_per_block);
        Ok(Blocks {
            records: filled(0, (blocks as usize) << log_words)?,
            log_words,
            pages_per_block,
            physical_pages: blocks * pages_per_block,
            block_of: Divider::new(pages_per_block),
            changes: 0,
        })
    }

    /// Memory of the records of `blocks` blocks, in bytes.
    pub(super) fn bytes_needed(blocks: u32, pages_per_block: u32) -> u64 {
        u64::from(blocks) * (8 << log_words(pages_per_block))
    }

    /// Number of blocks of the drive.
    pub fn count(&self) -> u32 {
        (self.records.len() >> self.log_words) as u32
    }

    /// Block that contains a physical page.
    #[inline(always)]
    pub fn holding(&self, page: u32) -> u32 {
        self.block_of.divide(page)
    }

    /// Number of invalid pages of `block`.
    #[inline(always)]
    pub fn invalid_pages(&self, block: u32) -> u32 {
        self.records[self.record(block) + INVALID_PAGES] as u32
    }

    /// Sequence number of the last change of `block`: an invalidation, or the block's closing.
    #[inline(always)]
    pub fn changed(&self, block: u32) -> u64 {
        self.records[self.record(block) + CHANGED]
    }

    /// Index of the first word of a block's record.
    #[inline(always)]
    fn record(&self, block: u32) -> usize {
        (block as usize) << self.log_words
    }

    /// Prefetches the record that [`Self::invalidate`] changes. Returns the block of the page.
    #[inline(always)]
    pub(super) fn prefetch(&self, page: u32) -> u32 {
        let block = self.holding(page);
        let record = self.record(block);
        prefetch(&self.records, record);
        if 1 << self.log_words > LINE_WORDS {
            prefetch(
                &self.records,
                record + MARKS + (page - block * self.pages_per_block) as usize / 64,
            );
        }
        block
    }

    /// Marks a physical page as invalid.
    #[inline(always)]
    pub(super) fn invalidate(&mut self, page: u32) -> Loss {
        assert!(page < self.physical_pages, "the physical page must exist");
        let block = self.holding(page);
        let place = page - block * self.pages_per_block;
        self.changes += 1;
        let (record, marks) = (self.record(block), MARKS + place as usize / 64);
        // SAFETY: the page exists, so its block exists, and each block has a record with a mark for
        // each of its pages. The assertion above covers all three accesses.
        let (invalid_pages, changed, marks) = unsafe {
            let record = self.records.as_mut_ptr().add(record);
            (&mut *record.add(INVALID_PAGES), &mut *record.add(CHANGED), &mut *record.add(marks))
        };
        *changed = self.changes;
        *invalid_pages += 1;
        debug_assert_eq!(*marks >> (place % 64) & 1, 0);
        *marks |= 1 << (place % 64);
        Loss { block, invalid_pages: *invalid_pages as u32 }
    }

    /// Marks unprogrammed pages of one block as invalid.
    pub(super) fn mark(&mut self, pages: Range<u32>) {
        for page in pages {
            self.invalidate(page);
        }
    }

    /// Records a change of `block`, with the next sequence number.
    #[inline(always)]
    pub(super) fn change(&mut self, block: u32) {
        self.changes += 1;
        let record = self.record(block);
        self.records[record + CHANGED] = self.changes;
    }

    /// Marks of a block, one bit per page; 1 means invalid.
    #[inline(always)]
    pub(super) fn marks(&self, block: u32) -> &[u64] {
        let first = self.record(block) + MARKS;
        &self.records[first..first + self.pages_per_block.div_ceil(64) as usize]
    }

    /// Valid pages of a block, in physical order.
    #[inline(always)]
    pub(super) fn valid_pages(&self, block: u32) -> impl Iterator<Item = u32> {
        let count = self.pages_per_block;
        let starts = (0..count).step_by(64);
        starts.zip(self.marks(block)).flat_map(move |(start, &marks)| {
            let mut valid = !marks & (u64::MAX >> (64 - (count - start).min(64)));
            std::iter::from_fn(move || {
                let at = (valid != 0).then(|| valid.trailing_zeros())?;
                valid &= valid - 1;
                Some(block * count + start + at)
            })
        })
    }

    /// Clears the record of an erased block.
    pub(super) fn erase(&mut self, block: u32) {
        let first = self.record(block);
        self.records[first + INVALID_PAGES] = 0;
        let end = first + MARKS + self.pages_per_block.div_ceil(64) as usize;
        for marks in &mut self.records[first + MARKS..end] {
            *marks = 0;
        }
    }

    fn is_sound(&self) -> bool {
        let marks = self.pages_per_block.div_ceil(64) as usize;
        let last = (u64::MAX << ((self.pages_per_block - 1) % 64)) << 1;
        let is_sound = |record: &[u64]| {
            record[INVALID_PAGES] <= u64::from(self.pages_per_block)
                && record[CHANGED] <= self.changes
                && record[MARKS + marks - 1] & last == 0
                && record[MARKS + marks..].iter().all(|word| *word == 0)
        };
        self.changes < MOST_PLAUSIBLE
            && self.records.chunks_exact(1 << self.log_words).all(is_sound)
    }

    /// Builds records for blocks with these numbers of invalid pages.
    #[cfg(test)]
    pub fn of_invalid_pages(invalid_pages: &[u32]) -> Self {
        let pages_per_block = invalid_pages.iter().copied().max().unwrap_or(0).max(2);
        let mut blocks = Self::new(invalid_pages.len() as u32, pages_per_block).unwrap();
        for (block, &invalid_pages) in (0..).zip(invalid_pages) {
            let first = block * pages_per_block;
            blocks.mark(first..first + invalid_pages);
        }
        blocks
    }
}
