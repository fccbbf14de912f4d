//! The segments of the mapping table that are in memory, where not all of it is.

use std::collections::HashSet;

use super::lru::{Hashing, Lru};
use super::params;

/// Segment that was pushed out: its page of the table is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Page of the table, counted from its first.
    pub table_page: u32,
    /// True if other segments of that page must be read for it.
    pub is_partial: bool,
}

/// Least recently used segments go first; a dirty one takes the dirty ones of its page along.
#[derive(Debug)]
pub struct MapCache {
    entries_per_segment: u32,
    segments_per_page: u32,
    /// Bytes that are read for a segment: at least a sector.
    pub read_bytes: u32,
    /// Whether each segment in memory is dirty.
    segments: Lru<bool>,
    /// Segments whose pages were copied while they were not in memory.
    owed: HashSet<u32, Hashing>,
    capacity: usize,
}

impl MapCache {
    /// An empty cache; `None` if the whole table is in memory.
    pub fn new(params: &params::MapCache, page_bytes: u32) -> Option<Self> {
        let params::MapCache { bytes, entry_bytes, .. } = *params;
        let segment_bytes = params.segment_bytes_of(page_bytes);
        (bytes > 0).then(|| MapCache {
            entries_per_segment: segment_bytes / entry_bytes,
            segments_per_page: page_bytes / segment_bytes,
            read_bytes: segment_bytes.max(params::SECTOR_BYTES),
            segments: Lru::default(),
            owed: HashSet::default(),
            capacity: (bytes / u64::from(segment_bytes)).min(u64::from(u32::MAX - 1)) as usize,
        })
    }

    /// Pages that the table takes on flash, for so many logical pages.
    pub fn table_pages(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> u32 {
        if params.bytes == 0 {
            return 0;
        }
        let (segments, segment_bytes) = Self::segments(params, logical_pages, page_bytes);
        segments.div_ceil(page_bytes / segment_bytes)
    }

    /// True if it has room for the whole table, which then leaves it never again.
    pub fn holds_all(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> bool {
        let (segments, segment_bytes) = Self::segments(params, logical_pages, page_bytes);
        u64::from(segments) <= params.bytes / u64::from(segment_bytes)
    }

    /// Segments of the whole table, and the bytes of each.
    fn segments(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> (u32, u32) {
        // Asked before the sizes are checked.
        let segment_bytes = params.segment_bytes_of(page_bytes).max(1);
        let entries_per_segment = segment_bytes / params.entry_bytes.clamp(1, segment_bytes);
        (logical_pages.div_ceil(entries_per_segment), segment_bytes)
    }

    /// Page of the table in which the entry of a logical page stands.
    pub fn table_page(&self, logical: u32) -> u32 {
        logical / self.entries_per_segment / self.segments_per_page
    }

    /// Uses the entry of a logical page, and changes it if it `is_dirty`.
    /// True if it was in memory. What must leave for it goes to `evicted`.
    pub fn touch(&mut self, logical: u32, is_dirty: bool, evicted: &mut Vec<Evicted>) -> bool {
        let segment = logical / self.entries_per_segment;
        if let Some(was_dirty) = self.segments.use_mut(segment) {
            *was_dirty |= is_dirty;
            return true;
        }
        if self.segments.len() >= self.capacity {
            self.evict_oldest(evicted);
        }
        let is_dirty = self.owed.remove(&segment) | is_dirty;
        self.segments.insert(segment, is_dirty);
        false
    }

    /// Changes the entry of a page that was copied: now if it is in memory, else once it is (lazy
    /// copying; Gupta, Kim and Urgaonkar 2009, section 3.2). If copies pushed segments out, whose
    /// writes need copies in turn, a table of which little is in memory would never be written out.
    pub fn change_lazily(&mut self, logical: u32) {
        let segment = logical / self.entries_per_segment;
        match self.segments.get_mut(segment) {
            Some(is_dirty) => *is_dirty = true,
            None => {
                self.owed.insert(segment);
            }
        }
    }

    fn evict_oldest(&mut self, evicted: &mut Vec<Evicted>) {
        let Some((segment, true)) = self.segments.pop_oldest() else { return };
        let table_page = segment / self.segments_per_page;
        let first = table_page * self.segments_per_page;
        let mut known = 1;
        for other in first..first + self.segments_per_page {
            if let Some(is_dirty) = self.segments.get_mut(other) {
                *is_dirty = false;
                known += 1;
            }
        }
        evicted.push(Evicted { table_page, is_partial: known < self.segments_per_page });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(entry_bytes: u32, segment_bytes: u32) -> params::MapCache {
        params::MapCache {
            bytes: 1 << 20,
            entry_bytes,
            segment_bytes,
            ..params::MapCache::default()
        }
    }

    #[test]
    fn a_page_smaller_than_a_segment_is_replaced_alone() {
        assert_eq!(MapCache::table_pages(&sizes(8, 4096), 1000, 1024), 8);
        let cache = MapCache::new(&sizes(8, 4096), 1024).expect("a part of it is in memory");
        assert_eq!([0, 127, 128, 999].map(|page| cache.table_page(page)), [0, 0, 1, 7]);
        assert_eq!(cache.read_bytes, 1024);
    }

    #[test]
    fn sizes_that_will_be_refused_are_asked_without_a_panic() {
        assert_eq!(MapCache::table_pages(&sizes(0, 512), 1024, 512), 2);
        assert_eq!(MapCache::table_pages(&sizes(9999, 4096), 10, 512), 10);
        assert_eq!(MapCache::table_pages(&sizes(8, 0), 10, 512), 1);
    }
}
