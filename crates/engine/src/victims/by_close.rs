//! Candidates in buckets by number of invalid pages, in order of closing.

use std::collections::BTreeSet;

use super::Census;
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::state::{Reader, State, Writer, elements, require};

/// Buckets whose blocks are in order of closing, with O(log blocks) operations.
/// A queue, as in [`super::buckets::Buckets`], would not suffice: a block that moves to another
/// bucket may belong between the blocks there.
#[derive(Debug, Clone)]
pub struct ByClose {
    /// For each number of invalid pages: its blocks, ordered by their `closed_as`.
    buckets: Vec<BTreeSet<(u64, u32)>>,
    /// For each candidate, the sequence number of its closing (from 1 on); 0 for other blocks.
    closed_as: Table<u64>,
    closes: u64,
}

impl ByClose {
    pub fn new(blocks: u32, pages_per_block: u32) -> Result<Self> {
        Ok(ByClose {
            buckets: vec![BTreeSet::new(); pages_per_block as usize + 1],
            closed_as: filled(0, blocks as usize)?,
            closes: 0,
        })
    }

    /// Adds `block`, which has just closed.
    #[inline(never)]
    pub fn insert(&mut self, block: u32, invalid_pages: u32) {
        self.closes += 1;
        self.file(Filed { block, invalid_pages, closed_as: self.closes });
    }

    fn file(&mut self, Filed { block, invalid_pages, closed_as }: Filed) {
        self.closed_as[block as usize] = closed_as;
        self.buckets[invalid_pages as usize].insert((closed_as, block));
    }

    /// Removes `block` from the bucket of `invalid_pages`.
    #[inline(never)]
    pub fn remove(&mut self, block: u32, invalid_pages: u32) {
        let closed_as = std::mem::take(&mut self.closed_as[block as usize]);
        self.buckets[invalid_pages as usize].remove(&(closed_as, block));
    }

    /// Moves `block`, if it is a candidate, from the bucket below to that of `invalid_pages`.
    #[inline(never)]
    pub fn promote(&mut self, block: u32, invalid_pages: u32) {
        let closed_as = self.closed_as[block as usize];
        if closed_as != 0 {
            self.remove(block, invalid_pages - 1);
            self.file(Filed { block, invalid_pages, closed_as });
        }
    }

    /// For each bucket, the block that closed first; in descending order of invalid pages.
    pub fn oldest(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = |(bucket, at): (&BTreeSet<(u64, u32)>, u32)| {
            bucket.first().map(|&(_, block)| (block, at))
        };
        let last = self.buckets.len() as u32 - 1;
        self.buckets.iter().rev().zip((0..=last).rev()).filter_map(first)
    }

    fn filed(&self) -> impl Iterator<Item = Filed> + '_ {
        self.buckets.iter().zip(0..).flat_map(|(bucket, invalid_pages)| {
            bucket.iter().map(move |&(closed_as, block)| Filed { block, invalid_pages, closed_as })
        })
    }

    /// All blocks with their invalid pages, in descending order.
    /// Of equal blocks, the one that closed first comes first.
    pub fn most_invalid_first(&self) -> Vec<(u32, u32)> {
        let mut blocks: Vec<_> = self.filed().map(|of| (of.block, of.invalid_pages)).collect();
        blocks.sort_by_key(|&(_, invalid_pages)| std::cmp::Reverse(invalid_pages));
        blocks
    }

    /// Counts every block, to check a restored policy; see [`super::VictimPolicy::check`].
    pub fn check(&self, census: &mut Census) -> Result<()> {
        self.filed().try_for_each(|Filed { block, invalid_pages, .. }| {
            require(
                census.count(block)? == invalid_pages,
                "the number of invalid pages of a candidate",
            )
        })
    }
}

/// Block with its bucket and its position in the order of closing.
#[derive(Clone, Copy)]
struct Filed {
    block: u32,
    invalid_pages: u32,
    closed_as: u64,
}

elements!(Filed { block: u32, invalid_pages: u32, closed_as: u64 });

impl State for ByClose {
    fn save(&self, to: &mut Writer) {
        to.value(&self.closes);
        let filed: Vec<Filed> = self.filed().collect();
        to.list(&filed);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.closes = from.value("ByClose.closes")?;
        let mut all: Vec<Filed> = Vec::new();
        from.list(&mut all, "ByClose")?;
        self.buckets.iter_mut().for_each(BTreeSet::clear);
        self.closed_as.fill(0);
        let mut seen = BTreeSet::new();
        for filed in all {
            let Filed { block, invalid_pages, closed_as } = filed;
            let is_new = self.closed_as.get(block as usize) == Some(&0) && seen.insert(closed_as);
            let is_past = (1..=self.closes).contains(&closed_as);
            let has_bucket = (invalid_pages as usize) < self.buckets.len();
            require(is_new && is_past && has_bucket, "ByClose")?;
            self.file(filed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_bucket_stay_in_the_order_of_their_closes_whatever_changed_last() {
        let mut buckets = ByClose::new(4, 8).unwrap();
        for block in [2, 0, 3] {
            buckets.insert(block, 1);
        }
        for block in [3, 0, 2] {
            buckets.promote(block, 2);
        }
        buckets.promote(1, 3); // not a candidate: no effect
        assert_eq!(buckets.oldest().collect::<Vec<_>>(), [(2, 2)]);
        buckets.remove(2, 2);
        buckets.promote(3, 3);
        assert_eq!(buckets.oldest().collect::<Vec<_>>(), [(3, 3), (0, 2)]);
    }
}
