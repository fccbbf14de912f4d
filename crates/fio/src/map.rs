//! fio's map of written blocks: random I/O touches each block once in a pass.

/// Set of blocks, with levels of words: a bit of a level is set if the word below is full.
#[derive(Debug, Clone)]
pub struct BlockMap {
    levels: Vec<Vec<u64>>,
    blocks: u64,
}

impl BlockMap {
    /// Empty map of a number of blocks.
    pub fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks.max(1);
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words == 1 {
                let mut map = BlockMap { levels, blocks };
                map.clear();
                return map;
            }
            bits = words;
        }
    }

    /// Removes all blocks.
    pub fn clear(&mut self) {
        let mut bits = self.blocks.max(1);
        for level in &mut self.levels {
            level.fill(0);
            // Bits beyond the end count as set, so that they are never found free.
            if !bits.is_multiple_of(64) {
                *level.last_mut().expect("a level has a word") = !0 << (bits % 64);
            }
            bits = bits.div_ceil(64);
        }
    }

    /// True if the map has a block; also for blocks beyond the end.
    pub fn has(&self, block: u64) -> bool {
        block >= self.blocks || self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Adds consecutive blocks up to the first one that the map already has, and returns their
    /// number.
    pub fn add(&mut self, first: u64, count: u64) -> u64 {
        let mut added = 0;
        while added < count && !self.has(first + added) {
            let mut bit = first + added;
            for level in &mut self.levels {
                let word = &mut level[(bit / 64) as usize];
                *word |= 1 << (bit % 64);
                if *word != !0 {
                    break;
                }
                bit /= 64;
            }
            added += 1;
        }
        added
    }

    /// First free block after `block`, or else before it; None if the map is full.
    pub fn next_free(&self, block: u64) -> Option<u64> {
        self.free_from(block.saturating_add(1)).or_else(|| self.free_from(0))
    }

    fn free_from(&self, from: u64) -> Option<u64> {
        // Upwards to the first word with a free bit at or after the place, then down to the block.
        let (mut bit, mut height) = (from, 0);
        loop {
            let word = *self.levels.get(height)?.get((bit / 64) as usize)?;
            let free = !word & (!0 << (bit % 64));
            if free != 0 {
                bit = bit / 64 * 64 + u64::from(free.trailing_zeros());
                break;
            }
            (bit, height) = (bit / 64 + 1, height + 1);
        }
        for level in self.levels[..height].iter().rev() {
            bit = bit * 64 + u64::from((!level[bit as usize]).trailing_zeros());
        }
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_block_is_that_of_a_scan() {
        for blocks in [1u64, 63, 64, 65, 5000] {
            let (mut map, mut written) = (BlockMap::new(blocks), vec![false; blocks as usize]);
            let mut place = 7 % blocks;
            for _ in 0..blocks {
                let scan = (place..blocks).chain(0..blocks);
                let expected = scan.into_iter().find(|&block| !written[block as usize]);
                let free = if map.has(place) { map.next_free(place) } else { Some(place) };
                assert_eq!(free, expected, "{blocks} {place}");
                let free = free.unwrap();
                assert_eq!(map.add(free, 1), 1);
                written[free as usize] = true;
                place = (place * 31 + 17) % blocks;
            }
            assert_eq!(map.next_free(0), None);
            map.clear();
            assert_eq!(map.add(0, blocks + 5), blocks);
        }
    }
}
