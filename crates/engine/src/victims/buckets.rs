//! Candidates in buckets by number of invalid pages, in order of their last change.

use super::Census;
use crate::error::Result;
use crate::flash::{NONE, Table, filled, prefetch};
use crate::state::{Reader, State, Writer, elements, require};

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

/// Link of a block that is in no bucket: a link to itself, which cannot occur inside a
/// bucket.
const fn unlinked(block: u32) -> Link {
    Link { previous: block, next: block }
}

/// Doubly linked queues (buckets), one per number of invalid pages. All operations are O(1),
/// except the search for the highest non-empty bucket.
#[derive(Debug, Clone)]
pub struct Buckets {
    links: Table<Link>,
    heads: Table<u32>,
    tails: Table<u32>,
    /// Upper bound of the numbers of the non-empty buckets.
    highest: u32,
}

impl Buckets {
    pub fn new(blocks: u32, pages_per_block: u32) -> Result<Self> {
        let mut links = filled(unlinked(0), blocks as usize)?;
        links.iter_mut().zip(0..).for_each(|(link, block)| *link = unlinked(block));
        let buckets = pages_per_block as usize + 1;
        Ok(Buckets {
            links,
            heads: filled(NONE, buckets)?,
            tails: filled(NONE, buckets)?,
            highest: 0,
        })
    }

    /// Appends `block` to the bucket of `invalid_pages`.
    #[inline(always)]
    pub fn insert(&mut self, block: u32, invalid_pages: u32) {
        let last = std::mem::replace(&mut self.tails[invalid_pages as usize], block);
        if last == NONE {
            self.heads[invalid_pages as usize] = block;
        } else {
            self.links[last as usize].next = block;
        }
        self.links[block as usize] = Link { previous: last, next: NONE };
        self.highest = self.highest.max(invalid_pages);
    }

    /// Removes `block` from the bucket of `invalid_pages`.
    #[inline(always)]
    pub fn remove(&mut self, block: u32, invalid_pages: u32) {
        let link = std::mem::replace(&mut self.links[block as usize], unlinked(block));
        if link.previous == NONE {
            self.heads[invalid_pages as usize] = link.next;
        } else {
            self.links[link.previous as usize].next = link.next;
        }
        if link.next == NONE {
            self.tails[invalid_pages as usize] = link.previous;
        } else {
            self.links[link.next as usize].previous = link.previous;
        }
    }

    /// Moves `block`, if it is a candidate, from the bucket below to that of `invalid_pages`.
    #[inline(always)]
    pub fn promote(&mut self, block: u32, invalid_pages: u32) {
        if self.contains(block) {
            self.remove(block, invalid_pages - 1);
            self.insert(block, invalid_pages);
        }
    }

    #[inline(always)]
    pub fn contains(&self, block: u32) -> bool {
        self.links[block as usize].next != block
    }

    /// Oldest block of the highest non-empty bucket, and its number of invalid pages.
    pub fn most_invalid(&mut self) -> Option<(u32, u32)> {
        loop {
            let head = self.heads[self.highest as usize];
            if head != NONE {
                return Some((head, self.highest));
            }
            if self.highest == 0 {
                return None;
            }
            self.highest -= 1;
        }
    }

    /// Block that [`Self::most_invalid`] would return, or None if that would take a search.
    #[inline(always)]
    pub fn first_of_highest(&self) -> Option<u32> {
        let head = self.heads[self.highest as usize];
        (head != NONE).then_some(head)
    }

    /// Oldest block of each non-empty bucket, from the most invalid pages down.
    pub fn oldest(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..=self.highest)
            .rev()
            .map(|invalid_pages| (self.heads[invalid_pages as usize], invalid_pages))
            .filter(|(head, _)| *head != NONE)
    }

    /// Removes all blocks from the buckets below `invalid_pages`.
    pub fn empty_below(&mut self, invalid_pages: u32) {
        for bucket in 0..invalid_pages as usize {
            let mut block = std::mem::replace(&mut self.heads[bucket], NONE);
            self.tails[bucket] = NONE;
            while block != NONE {
                let link = std::mem::replace(&mut self.links[block as usize], unlinked(block));
                block = link.next;
            }
        }
    }

    /// All blocks with their buckets, in ascending order of invalid pages.
    /// Within a bucket, the block whose last change is oldest comes first.
    pub fn filed(&self) -> impl Iterator<Item = Filed> + '_ {
        let some = |block: u32| (block != NONE).then_some(block);
        let queue = move |head: u32| {
            std::iter::successors(some(head), move |&block| some(self.links[block as usize].next))
        };
        (0..).zip(&self.heads).flat_map(move |(invalid_pages, &head)| {
            queue(head).map(move |block| Filed { block, invalid_pages })
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
        prefetch(&self.links, block as usize);
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
        self.links.iter_mut().zip(0..).for_each(|(link, block)| *link = unlinked(block));
        self.heads.fill(NONE);
        self.tails.fill(NONE);
        self.highest = 0;
        for Filed { block, invalid_pages } in filed {
            let is_new = (block as usize) < self.links.len() && !self.contains(block);
            require(is_new && (invalid_pages as usize) < self.heads.len(), "Buckets")?;
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
        buckets.remove(2, 2);
        assert_eq!(buckets.most_invalid(), Some((0, 2)));
        buckets.remove(0, 2);
        buckets.promote(1, 3); // not a candidate: no effect
        assert_eq!(buckets.most_invalid(), Some((3, 1)));
    }
}
