//! Set of 64-bit page numbers, with the rank of each member.

use std::collections::HashMap;

const WORDS: usize = 512;
const SEGMENT_PAGES: u64 = 64 * WORDS as u64;

/// Set of pages, stored as bitmaps of the segments that contain members.
///
/// Memory depends on the number of such segments, not on the number of insertions or the highest
/// page.
#[derive(Debug, Default)]
pub struct PageSet {
    places: HashMap<u64, usize>,
    segments: Vec<Box<Segment>>,
    /// Segment numbers in ascending order, each with the number of members before it.
    ranked: Vec<(u64, u64)>,
    total: u64,
}

#[derive(Debug)]
struct Segment {
    words: [u64; WORDS],
    /// For each word: the number of members of the segment before it.
    ranks: [u16; WORDS],
}

impl PageSet {
    /// Adds `count` pages from `first` on. The last page must be within 64 bits.
    pub fn insert(&mut self, first: u64, count: u32) {
        let mut page = first;
        let end = first + u64::from(count);
        while page < end {
            let number = page / SEGMENT_PAGES;
            let to = end.min((number + 1).saturating_mul(SEGMENT_PAGES));
            let place = *self.places.entry(number).or_insert_with(|| {
                self.segments.push(Box::new(Segment { words: [0; WORDS], ranks: [0; WORDS] }));
                self.segments.len() - 1
            });
            let segment = &mut self.segments[place];
            while page < to {
                let bit = page % 64;
                let taken = (64 - bit).min(to - page);
                let ones = if taken == 64 { u64::MAX } else { (1 << taken) - 1 };
                segment.words[(page % SEGMENT_PAGES / 64) as usize] |= ones << bit;
                page += taken;
            }
        }
        self.ranked.clear();
    }

    /// Counts the members and assigns their ranks, which are valid until the next insertion.
    /// Returns the number of members.
    pub fn rank_all(&mut self) -> u64 {
        self.ranked = self.places.keys().map(|&number| (number, 0)).collect();
        self.ranked.sort_unstable();
        self.total = 0;
        for (number, segment_rank) in &mut self.ranked {
            *segment_rank = self.total;
            let segment = &mut self.segments[self.places[number]];
            let mut inside = 0;
            for (word, ranks) in segment.words.iter().zip(&mut segment.ranks) {
                *ranks = inside as u16;
                inside += word.count_ones();
            }
            self.total += u64::from(inside);
        }
        self.total
    }

    /// Rank of a page, which is the number of smaller members. Members have the ranks 0, 1, 2, …
    pub fn rank(&self, page: u64) -> u64 {
        let number = page / SEGMENT_PAGES;
        let at = self.ranked.partition_point(|&(number_here, _)| number_here < number);
        let Some(&(segment_number, segment_rank)) = self.ranked.get(at) else { return self.total };
        if segment_number != number {
            return segment_rank;
        }
        let segment = &self.segments[self.places[&number]];
        let word = (page % SEGMENT_PAGES / 64) as usize;
        let lower = segment.words[word] & ((1 << (page % 64)) - 1);
        segment_rank + u64::from(segment.ranks[word]) + u64::from(lower.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ranks_are_those_of_a_sorted_set() {
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for base in [0, 1 << 20, u64::MAX - 300_000] {
            let (mut set, mut expected) = (PageSet::default(), BTreeSet::new());
            for _ in 0..200 {
                let (first, count) = (base + draw(200_000), draw(300));
                set.insert(first, count as u32);
                expected.extend((0..count).map(|page| first + page));
            }
            assert_eq!(set.rank_all(), expected.len() as u64);
            for (rank, page) in expected.iter().enumerate() {
                assert_eq!(set.rank(*page), rank as u64);
            }
            for _ in 0..1_000 {
                let page = base + draw(300_000);
                assert_eq!(set.rank(page), expected.range(..page).count() as u64);
            }
            for page in [0, u64::MAX] {
                assert_eq!(set.rank(page), expected.range(..page).count() as u64);
            }
        }
    }
}
