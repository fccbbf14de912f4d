//! Cache of the mapping table: the segments (parts) of the table that are in memory, if the
//! whole table does not fit.

use std::collections::{HashMap, HashSet};

use super::lru::{Hashing, Lru};
use super::nand::OpId;
use super::params;

/// Evicted segment. The page of the table that contains it must be written to flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Number of the page of the table, counted from the table's first page.
    pub table_page: u32,
    /// True if other segments of the page are not in memory.
    /// They must then be read first, because a whole page is written.
    pub is_partial: bool,
}

/// State of the mapping-table entry that was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// The segment with the entry is in memory.
    InMemory,
    /// The segment is being read by this operation.
    OnItsWay(OpId),
    /// The segment is neither in memory nor being read.
    Missing,
}

/// Segment of the mapping table that is in memory or being read.
#[derive(Debug, Clone, Copy)]
struct Segment {
    is_dirty: bool,
    /// Number of the read that loads it. When that read has completed, the segment is in memory.
    brought_by: u64,
}

/// Read of a page of the table.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    op: OpId,
    number: u64,
}

/// Least-recently-used cache. A dirty segment is evicted with all dirty segments of its page.
#[derive(Debug)]
pub struct MapCache {
    entries_per_segment: u32,
    segments_per_page: u32,
    /// Bytes read to load a segment: at least one sector.
    pub read_bytes: u32,
    segments: Lru<Segment>,
    /// Reads in progress, by page of the table.
    arrivals: HashMap<u32, Arrival, Hashing>,
    /// Number of reads of table pages so far.
    reads: u64,
    /// Segments that must be updated when they are loaded, because pages that they map were
    /// copied while the segments were not in memory.
    owed: HashSet<u32, Hashing>,
    capacity: usize,
}

impl MapCache {
    /// Builds an empty cache. Returns None if the whole table fits in memory.
    pub fn new(params: &params::MapCache, page_bytes: u32) -> Option<Self> {
        let params::MapCache { bytes, entry_bytes, .. } = *params;
        let segment_bytes = params.segment_bytes_of(page_bytes);
        (bytes > 0).then(|| MapCache {
            entries_per_segment: segment_bytes / entry_bytes,
            segments_per_page: page_bytes / segment_bytes,
            read_bytes: segment_bytes.max(params::SECTOR_BYTES),
            segments: Lru::default(),
            arrivals: HashMap::default(),
            reads: 0,
            owed: HashSet::default(),
            capacity: (bytes / u64::from(segment_bytes)).min(u64::from(u32::MAX - 1)) as usize,
        })
    }

    /// Pages of flash that the table needs for this number of logical pages.
    pub fn table_pages(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> u32 {
        if params.bytes == 0 {
            return 0;
        }
        let (segments, segment_bytes) = Self::segments(params, logical_pages, page_bytes);
        segments.div_ceil(page_bytes / segment_bytes)
    }

    /// True if the whole table fits in memory.
    pub fn holds_all(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> bool {
        let (segments, segment_bytes) = Self::segments(params, logical_pages, page_bytes);
        u64::from(segments) <= params.bytes / u64::from(segment_bytes)
    }

    /// Number of segments of the whole table, and bytes of each segment.
    fn segments(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> (u32, u32) {
        // This may be called before the sizes are checked, so the divisors are at least 1.
        let segment_bytes = params.segment_bytes_of(page_bytes).max(1);
        let entries_per_segment = segment_bytes / params.entry_bytes.clamp(1, segment_bytes);
        (logical_pages.div_ceil(entries_per_segment), segment_bytes)
    }

    /// Page of the table that contains the entry of a logical page.
    pub fn table_page(&self, logical: u32) -> u32 {
        logical / self.entries_per_segment / self.segments_per_page
    }

    /// Looks up the table entry of a logical page, and marks its segment as changed if
    /// `is_dirty`. Evicted segments are appended to `evicted`. If the entry is not in memory but
    /// its page is being read, the result is that read. If the page is not being read either, the
    /// caller must begin a read, because afterwards the entry counts as in memory.
    pub fn touch(
        &mut self,
        logical: u32,
        is_dirty: bool,
        evicted: &mut Vec<Evicted>,
    ) -> EntryState {
        let number = logical / self.entries_per_segment;
        let arrival = self.arrivals.get(&self.table_page(logical)).copied();
        if let Some(segment) = self.segments.use_mut(number) {
            segment.is_dirty |= is_dirty;
            return match arrival {
                Some(Arrival { op, number }) if number == segment.brought_by => {
                    EntryState::OnItsWay(op)
                }
                _ => EntryState::InMemory,
            };
        }
        if self.segments.len() >= self.capacity {
            self.evict_oldest(evicted);
        }
        let is_dirty = self.owed.remove(&number) | is_dirty;
        let brought_by = arrival.map_or(0, |arrival| arrival.number);
        self.segments.insert(number, Segment { is_dirty, brought_by });
        arrival.map_or(EntryState::Missing, |Arrival { op, .. }| EntryState::OnItsWay(op))
    }

    /// Begins the read of a missing entry.
    pub fn begin_read(&mut self, logical: u32, op: OpId) {
        self.reads += 1;
        let number = self.reads;
        self.arrivals.insert(self.table_page(logical), Arrival { op, number });
        if let Some(segment) = self.segments.get_mut(logical / self.entries_per_segment) {
            segment.brought_by = number;
        }
    }

    /// Ends the read of a page of the table.
    pub fn end_read(&mut self, table_page: u32) {
        self.arrivals.remove(&table_page);
    }

    /// Updates the entry of a copied page: now if it is in memory, else when it is loaded.
    /// This is lazy copying (Gupta, Kim and Urgaonkar 2009, section 3.2). Otherwise copies could
    /// evict segments, and the writes of these segments could need copies again: writing out a
    /// table with a small cache would never end.
    pub fn change_lazily(&mut self, logical: u32) {
        let segment = logical / self.entries_per_segment;
        match self.segments.get_mut(segment) {
            Some(segment) => segment.is_dirty = true,
            None => {
                self.owed.insert(segment);
            }
        }
    }

    /// Removes all segments. Pages of the table with changed entries are appended to `evicted`.
    /// Pending changes by copies are discarded.
    pub fn empty(&mut self, evicted: &mut Vec<Evicted>) {
        while self.segments.len() > 0 {
            self.evict_oldest(evicted);
        }
        self.owed.clear();
    }

    fn evict_oldest(&mut self, evicted: &mut Vec<Evicted>) {
        let Some((oldest, Segment { is_dirty: true, .. })) = self.segments.pop_oldest() else {
            return;
        };
        let table_page = oldest / self.segments_per_page;
        let first = table_page * self.segments_per_page;
        let mut segments = 1;
        for other in first..first + self.segments_per_page {
            if let Some(segment) = self.segments.get_mut(other) {
                segment.is_dirty = false;
                segments += 1;
            }
        }
        evicted.push(Evicted { table_page, is_partial: segments < self.segments_per_page });
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
