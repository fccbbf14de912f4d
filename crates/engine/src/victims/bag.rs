//! Unordered set of candidates: each operation is O(1), including a random draw.

use super::ranked;
use crate::error::Result;
use crate::flash::{Blocks, NONE, Score, Table, filled};
use crate::rng::Stream;
use crate::state::{Reader, State, Writer, require};

/// Unordered set of blocks in a vector.
/// Adding a block appends it; removing a block moves the last block to its place.
#[derive(Debug, Clone)]
pub struct Bag {
    blocks: Vec<u32>,
    /// Index in `blocks` of each block of the drive.
    places: Table<u32>,
}

impl Bag {
    /// Builds an empty bag for blocks 0 to `blocks` − 1.
    pub fn new(blocks: u32) -> Result<Self> {
        let capacity = blocks as usize;
        Ok(Bag { blocks: Vec::with_capacity(capacity), places: filled(NONE, capacity)? })
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        ((self.blocks.capacity() + self.places.len()) * size_of::<u32>()) as u64
    }

    /// True if the bag is empty.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Index of `block` in [`Self::blocks`], or None if it is not in the bag.
    /// The last block of the bag takes the index of a block that is removed.
    #[inline(always)]
    pub fn place(&self, block: u32) -> Option<usize> {
        let place = self.places[block as usize];
        (place != NONE).then_some(place as usize)
    }

    /// Adds `block`, which must not be in the bag.
    #[inline(always)]
    pub fn add(&mut self, block: u32) {
        self.places[block as usize] = self.blocks.len() as u32;
        self.blocks.push(block);
    }

    /// Removes `block`, which must be in the bag.
    #[inline(always)]
    pub fn remove(&mut self, block: u32) {
        let place = std::mem::replace(&mut self.places[block as usize], NONE);
        self.blocks.swap_remove(place as usize);
        if let Some(&moved) = self.blocks.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    /// Blocks in the bag.
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Draws `d` blocks with replacement, and returns the one with the most invalid pages.
    /// Of equal blocks, the one drawn first is returned. The block stays in the bag. Returns None
    /// if the bag is empty.
    pub fn most_invalid_of(&self, d: u32, blocks: &Blocks, random: &mut Stream) -> Option<u32> {
        let count = self.blocks.len() as u32;
        if count == 0 {
            return None;
        }
        let mut best = self.blocks[random.below(count) as usize];
        let mut most = blocks.invalid_pages(best);
        for _ in 1..d {
            let block = self.blocks[random.below(count) as usize];
            let invalid_pages = blocks.invalid_pages(block);
            if invalid_pages > most {
                (best, most) = (block, invalid_pages);
            }
        }
        Some(best)
    }
}

/// Explanation of a choice, for observers.
impl Bag {
    /// Name of the measure of [`Self::most_invalid_of`].
    pub const MEASURE: &str = "invalid pages (only blocks that were drawn)";

    /// Blocks that [`Self::most_invalid_of`] draws, without repetition, in order of drawing.
    pub fn drawn(&self, d: u32, random: &mut Stream) -> Vec<u32> {
        let count = self.blocks.len() as u32;
        let mut drawn = Vec::new();
        for _ in 0..if count == 0 { 0 } else { d } {
            let block = self.blocks[random.below(count) as usize];
            if !drawn.contains(&block) {
                drawn.push(block);
            }
        }
        drawn
    }

    /// Scores of the blocks that [`Self::most_invalid_of`] draws.
    /// The score of the block that it returns comes first.
    pub fn scores_of(&self, d: u32, blocks: &Blocks, mut random: Stream) -> Vec<Score> {
        let score = |block| Score { block, score: blocks.invalid_pages(block).into() };
        ranked(self.drawn(d, &mut random).into_iter().map(score).collect())
    }
}

/// Saves the blocks in order, from which their indices are restored.
impl State for Bag {
    fn save(&self, to: &mut Writer) {
        to.list(&self.blocks);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.list(&mut self.blocks, "Bag.blocks")?;
        self.places.fill(NONE);
        for (place, &block) in (0..).zip(&self.blocks) {
            let of_block = self.places.get_mut(block as usize).filter(|place| **place == NONE);
            require(of_block.is_some(), "Bag.blocks")?;
            self.places[block as usize] = place;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(pages: [u32; 4]) -> Blocks {
        Blocks::of_invalid_pages(&pages)
    }

    #[test]
    fn a_block_taken_out_is_never_drawn_and_the_others_are() {
        let mut bag = Bag::new(4).unwrap();
        for block in [3, 0, 2] {
            bag.add(block);
        }
        bag.remove(3);
        let mut random = Stream::new(1, "test");
        let mut drawn: Vec<u32> =
            (0..50).filter_map(|_| bag.most_invalid_of(1, &invalid([0; 4]), &mut random)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, [0, 2]);
        bag.remove(2);
        bag.remove(0);
        assert!(bag.is_empty());
        assert_eq!(bag.most_invalid_of(3, &invalid([0; 4]), &mut random), None);
    }

    #[test]
    fn many_draws_find_the_most_invalid_block() {
        let mut bag = Bag::new(4).unwrap();
        for block in 0..4 {
            bag.add(block);
        }
        let mut random = Stream::new(1, "test");
        assert_eq!(bag.most_invalid_of(1000, &invalid([1, 5, 7, 6]), &mut random), Some(2));
    }
}
