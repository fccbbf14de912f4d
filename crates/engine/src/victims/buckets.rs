//! Candidates in buckets by number of invalid pages, in order of their last change.

use std::hint::select_unpredictable;

use super::Census;
use crate::error::Result;
use crate::links::Links;
use crate::state::{Reader, State, Writer, elements, require};

/// Queues (buckets), one per number of invalid pages.
/// All operations are O(1), except the search for the highest non-empty bucket.
#[derive(Debug, Clone)]
pub struct Buckets {
    links: Links,
    /// Upper bound of the numbers of the non-empty buckets.
    highest: u32,
}

impl Buckets {
    pub fn new(blocks: u32, pages_per_block: u32) -> Result<Self> {
        Ok(Buckets { links: Links::new(blocks, pages_per_block as usize + 1)?, highest: 0 })
    }

    /// Appends `block` to the bucket of `invalid_pages`.
    #[inline(always)]
    pub fn insert(&mut self, block: u32, invalid_pages: u32) {
        self.links.append(block, invalid_pages as usize);
        self.highest = self.highest.max(invalid_pages);
    }

    /// Removes `block` from its bucket.
    #[inline(always)]
    pub fn remove(&mut self, block: u32) {
        self.links.remove(block);
    }

    /// Moves `block`, if it is a candidate, from the bucket below to that of `invalid_pages`.
    #[inline(always)]
    pub fn promote(&mut self, block: u32, invalid_pages: u32) {
        let is_candidate = self.links.move_to(block, invalid_pages as usize);
        let bucket = select_unpredictable(is_candidate, invalid_pages, 0);
        self.highest = self.highest.max(bucket);
    }

    #[inline(always)]
    pub fn contains(&self, block: u32) -> bool {
        self.links.contains(block)
    }

    /// Oldest block of the highest non-empty bucket, and its number of invalid pages.
    pub fn most_invalid(&mut self) -> Option<(u32, u32)> {
        loop {
            if let Some(block) = self.first_of_highest() {
                return Some((block, self.highest));
            }
            self.highest = self.highest.checked_sub(1)?;
        }
    }

    /// Block that [`Self::most_invalid`] would return, or None if that would take a search.
    #[inline(always)]
    pub fn first_of_highest(&self) -> Option<u32> {
        self.links.first(self.highest as usize)
    }

    /// Oldest block of each non-empty bucket, from the most invalid pages down.
    pub fn oldest(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..=self.highest).rev().filter_map(|invalid_pages| {
            Some((self.links.first(invalid_pages as usize)?, invalid_pages))
        })
    }

    /// Removes all blocks from the buckets below `invalid_pages`.
    pub fn empty_below(&mut self, invalid_pages: u32) {
        for bucket in 0..invalid_pages as usize {
            while let Some(block) = self.links.first(bucket) {
                self.links.remove(block);
            }
        }
    }

    /// All blocks with their buckets, in ascending order of invalid pages.
    /// Within a bucket, the block whose last change is oldest comes first.
    pub fn filed(&self) -> impl Iterator<Item = Filed> + '_ {
        let buckets = (0..).take(self.links.queues());
        buckets.flat_map(|invalid_pages: u32| {
            let blocks = self.links.of_queue(invalid_pages as usize);
            blocks.map(move |block| Filed { block, invalid_pages })
        })
    }

    /// All blocks with their invalid pages, in descending order.
    /// Of equal blocks, the one whose last change is oldest comes first.
    pub fn most_invalid_first(&self) -> Vec<(u32, u32)> {
        let mut blocks: Vec<_> = self.filed().map(|of| (of.block, of.invalid_pages)).collect();
        blocks.sort_by_key(|&(_, invalid_pages)| std::cmp::Reverse(invalid_pages));
        blocks
    }

    /// Counts every block, to check a restored policy; see [`super::VictimPolicy::check`].
    pub fn check(&self, census: &mut Census) -> Result<()> {
        self.filed().try_for_each(|Filed { block, invalid_pages }| {
            require(
                census.count(block)? == invalid_pages,
                "the number of invalid pages of a candidate",
            )
        })
    }

    #[inline(always)]
    pub fn prefetch(&self, block: u32) {
        self.links.prefetch(block);
    }
}

/// Block, and the number of invalid pages of its bucket.
#[derive(Debug, Clone, Copy)]
pub struct Filed {
    pub block: u32,
    pub invalid_pages: u32,
}

elements!(Filed { block: u32, invalid_pages: u32 });

/// Saves the blocks in order of their buckets; the links follow.
impl State for Buckets {
    fn save(&self, to: &mut Writer) {
        let filed: Vec<Filed> = self.filed().collect();
        to.list(&filed);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let mut filed: Vec<Filed> = Vec::new();
        from.list(&mut filed, "Buckets")?;
        self.links.clear();
        self.highest = 0;
        for Filed { block, invalid_pages } in filed {
            let is_new = (block as usize) < self.links.bound() && !self.contains(block);
            require(is_new && (invalid_pages as usize) < self.links.queues(), "Buckets")?;
            self.insert(block, invalid_pages);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_invalid_block_comes_first_and_the_oldest_among_equals() {
        let mut buckets = Buckets::new(4, 8).unwrap();
        assert_eq!(buckets.most_invalid(), None);
        for block in [2, 0, 3] {
            buckets.insert(block, 1);
        }
        assert_eq!(buckets.most_invalid(), Some((2, 1)));
        buckets.promote(2, 2);
        buckets.promote(0, 2);
        assert_eq!(buckets.most_invalid(), Some((2, 2)));
        assert_eq!(buckets.oldest().collect::<Vec<_>>(), [(2, 2), (3, 1)]);
        buckets.remove(2);
        assert_eq!(buckets.most_invalid(), Some((0, 2)));
        buckets.remove(0);
        buckets.promote(1, 3); // not a candidate: no effect
        assert_eq!(buckets.most_invalid(), Some((3, 1)));
    }
}
