//! The segments of the mapping table that are in memory, where not all of it is.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use super::params;
use super::write_cache::Fibonacci;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Slot {
    segment: u32,
    is_dirty: bool,
    newer: u32,
    older: u32,
}

/// What a segment that was pushed out leaves to be done: its page of the table is written.
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
    slots: Vec<Slot>,
    places: HashMap<u32, u32, BuildHasherDefault<Fibonacci>>,
    /// Segments whose pages were copied while they were not in memory.
    owed: HashSet<u32, BuildHasherDefault<Fibonacci>>,
    capacity: usize,
    newest: u32,
    oldest: u32,
}

impl MapCache {
    /// An empty cache; `None` if the whole table is in memory.
    pub fn new(params: &params::MapCache, page_bytes: u32) -> Option<Self> {
        let params::MapCache { bytes, entry_bytes, segment_bytes } = *params;
        (bytes > 0).then(|| MapCache {
            entries_per_segment: segment_bytes / entry_bytes,
            segments_per_page: page_bytes / segment_bytes,
            read_bytes: segment_bytes.max(params::SECTOR_BYTES),
            slots: Vec::new(),
            places: HashMap::default(),
            owed: HashSet::default(),
            capacity: (bytes / u64::from(segment_bytes)).min(u64::from(u32::MAX - 1)) as usize,
            newest: NONE,
            oldest: NONE,
        })
    }

    /// Pages that the table takes on flash, for so many logical pages.
    pub fn table_pages(params: &params::MapCache, logical_pages: u32, page_bytes: u32) -> u32 {
        if params.bytes == 0 {
            return 0;
        }
        let segments = logical_pages.div_ceil(params.segment_bytes / params.entry_bytes);
        segments.div_ceil(page_bytes / params.segment_bytes)
    }

    /// Page of the table in which the entry of a logical page stands.
    pub fn table_page(&self, logical: u32) -> u32 {
        logical / self.entries_per_segment / self.segments_per_page
    }

    /// Uses the entry of a logical page, and changes it if it `is_dirty`: true if it was in memory.
    /// What must leave for it goes to `evicted`.
    pub fn touch(&mut self, logical: u32, is_dirty: bool, evicted: &mut Vec<Evicted>) -> bool {
        let segment = logical / self.entries_per_segment;
        if let Some(&at) = self.places.get(&segment) {
            self.slots[at as usize].is_dirty |= is_dirty;
            if at != self.newest {
                self.unlink(at);
                self.link_newest(at);
            }
            return true;
        }
        let is_dirty = self.owed.remove(&segment) | is_dirty;
        let slot = Slot { segment, is_dirty, newer: NONE, older: NONE };
        let at = if self.slots.len() < self.capacity {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let at = self.oldest;
            self.evict(at, evicted);
            self.slots[at as usize] = slot;
            at
        };
        self.places.insert(segment, at);
        self.link_newest(at);
        false
    }

    /// Changes the entry of a page that was copied: now if it is in memory, else once it is (lazy
    /// copying; Gupta, Kim and Urgaonkar 2009, section 3.2). If copies pushed segments out, whose
    /// writes need copies in turn, a table of which little is in memory would never be written out.
    pub fn change_lazily(&mut self, logical: u32) {
        let segment = logical / self.entries_per_segment;
        match self.places.get(&segment) {
            Some(&at) => self.slots[at as usize].is_dirty = true,
            None => {
                self.owed.insert(segment);
            }
        }
    }

    fn evict(&mut self, at: u32, evicted: &mut Vec<Evicted>) {
        self.unlink(at);
        let Slot { segment, is_dirty, .. } = self.slots[at as usize];
        self.places.remove(&segment);
        if !is_dirty {
            return;
        }
        let table_page = segment / self.segments_per_page;
        let first = table_page * self.segments_per_page;
        let mut known = 1;
        for other in first..first + self.segments_per_page {
            if let Some(&at) = self.places.get(&other) {
                self.slots[at as usize].is_dirty = false;
                known += 1;
            }
        }
        evicted.push(Evicted { table_page, is_partial: known < self.segments_per_page });
    }

    fn link_newest(&mut self, at: u32) {
        let older = std::mem::replace(&mut self.newest, at);
        self.slots[at as usize].newer = NONE;
        self.slots[at as usize].older = older;
        match older {
            NONE => self.oldest = at,
            older => self.slots[older as usize].newer = at,
        }
    }

    fn unlink(&mut self, at: u32) {
        let Slot { newer, older, .. } = self.slots[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}
