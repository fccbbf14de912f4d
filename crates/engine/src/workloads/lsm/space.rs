//! Free pages of the tables, as a file system without fragments would keep them.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::rng::Stream;

/// Free extents: pages by first page. Neighbouring extents are always joined.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FreeSpace {
    extents: BTreeMap<u32, u32>,
    pages: u32,
}

impl FreeSpace {
    pub fn pages(&self) -> u32 {
        self.pages
    }

    pub fn extents(&self) -> impl Iterator<Item = Range<u32>> {
        self.extents.iter().map(|(&first, &pages)| first..first + pages)
    }

    /// Takes pages from the first extent behind a random page that is large enough.
    /// If none is, takes several extents. At least `pages` pages must be free.
    pub fn take(&mut self, pages: u32, random: &mut Stream) -> Vec<Range<u32>> {
        let end = self.extents.last_key_value().map_or(0, |(first, pages)| first + pages);
        let start = random.below(end);
        let from_start = || self.extents.range(start..).chain(self.extents.range(..start));
        let is_enough = |&(_, &free): &(&u32, &u32)| free >= pages;
        let mut missing = pages;
        let mut taken = Vec::new();
        if let Some((&first, _)) = from_start().find(is_enough) {
            taken.push(first..first + pages);
        } else {
            for (&first, &free) in from_start() {
                let extent_pages = free.min(missing);
                taken.push(first..first + extent_pages);
                missing -= extent_pages;
                if missing == 0 {
                    break;
                }
            }
        }
        for range in &taken {
            let free = self.extents.remove(&range.start).unwrap_or(0);
            let end = range.start + free;
            if range.end < end {
                self.extents.insert(range.end, end - range.end);
            }
        }
        self.pages -= pages;
        taken
    }

    /// Frees pages that are not free.
    pub fn release(&mut self, range: &Range<u32>) {
        self.pages += range.end - range.start;
        let mut joined = range.clone();
        if let Some(pages) = self.extents.remove(&range.end) {
            joined.end += pages;
        }
        if let Some((&first, &pages)) = self.extents.range(..range.start).next_back()
            && first + pages == range.start
        {
            joined.start = first;
        }
        self.extents.insert(joined.start, joined.end - joined.start);
    }

    /// Whether the count of pages is that of the extents, which do not touch.
    pub fn is_sound(&self) -> bool {
        let ends: Vec<Range<u64>> = self
            .extents
            .iter()
            .map(|(&first, &pages)| u64::from(first)..u64::from(first) + u64::from(pages))
            .collect();
        ends.windows(2).all(|pair| pair[0].end < pair[1].start)
            && ends.iter().all(|range| range.start < range.end && u32::try_from(range.end).is_ok())
            && ends.iter().map(|range| range.end - range.start).sum::<u64>()
                == u64::from(self.pages)
    }
}
