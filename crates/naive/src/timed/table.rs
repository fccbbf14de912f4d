//! Segments of the mapping table that are in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::array::OpId;
use super::profile::Profile;

/// Location of an entry of the mapping table.
#[derive(Debug, Clone, Copy)]
pub enum EntryLocation {
    InMemory,
    /// The entry is not in memory yet; this unfinished read fetches it.
    InRead(OpId),
    NotInMemory,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    number: u32,
    is_changed: bool,
    /// Read that fetches or fetched the segment, if any.
    read: Option<OpId>,
}

/// Page of the table that must be written.
#[derive(Debug, Clone, Copy)]
pub struct Evicted {
    pub table_page: u32,
    /// True if not all segments of the page are in memory.
    pub is_partial: bool,
}

#[derive(Debug)]
pub struct Table {
    /// Segments in memory, in the order of last use; the most recent is last.
    segments: Vec<Segment>,
    /// Segments whose entries change once they are in memory.
    pending_changes: BTreeSet<u32>,
    most_segments: usize,
    entries_per_segment: u32,
    segments_per_page: u32,
    pub evicted: Vec<Evicted>,
    /// Unfinished reads of pages of the table.
    pub reads: BTreeMap<u32, OpId>,
}

impl Table {
    pub fn new(profile: &Profile) -> Option<Self> {
        let Profile { map_bytes, map_entry_bytes, map_segment_bytes, page_bytes, .. } = *profile;
        (map_bytes > 0).then(|| Table {
            segments: Vec::new(),
            pending_changes: BTreeSet::new(),
            most_segments: (map_bytes / u64::from(map_segment_bytes)) as usize,
            entries_per_segment: map_segment_bytes / map_entry_bytes,
            segments_per_page: page_bytes / map_segment_bytes,
            evicted: Vec::new(),
            reads: BTreeMap::new(),
        })
    }

    pub fn page_of(&self, logical: u32) -> u32 {
        logical / self.entries_per_segment / self.segments_per_page
    }

    /// Returns the location of a page's entry, and makes its segment the one used last.
    pub fn touch(&mut self, logical: u32, is_changed: bool) -> EntryLocation {
        let number = logical / self.entries_per_segment;
        let under_way = self.reads.get(&self.page_of(logical)).copied();
        let position = self.segments.iter().position(|segment| segment.number == number);
        if let Some(at) = position {
            let mut segment = self.segments.remove(at);
            segment.is_changed |= is_changed;
            self.segments.push(segment);
            return match under_way {
                Some(read) if segment.read == Some(read) => EntryLocation::InRead(read),
                _ => EntryLocation::InMemory,
            };
        }
        if self.segments.len() == self.most_segments {
            let oldest = self.segments.remove(0);
            if oldest.is_changed {
                self.evict(oldest);
            }
        }
        let is_changed = self.pending_changes.remove(&number) || is_changed;
        self.segments.push(Segment { number, is_changed, read: under_way });
        under_way.map_or(EntryLocation::NotInMemory, EntryLocation::InRead)
    }

    /// Records `read` as the read that fetches the entry used last.
    pub fn read_last(&mut self, logical: u32, read: OpId) {
        self.reads.insert(self.page_of(logical), read);
        self.segments.last_mut().expect("the segment used last").read = Some(read);
    }

    /// Changes the entry of a page as soon as it is in memory.
    pub fn change_lazily(&mut self, logical: u32) {
        let number = logical / self.entries_per_segment;
        match self.segments.iter_mut().find(|segment| segment.number == number) {
            Some(segment) => segment.is_changed = true,
            None => {
                self.pending_changes.insert(number);
            }
        }
    }

    fn evict(&mut self, oldest: Segment) {
        let table_page = oldest.number / self.segments_per_page;
        let mut in_memory = 1;
        for segment in &mut self.segments {
            if segment.number / self.segments_per_page == table_page {
                segment.is_changed = false;
                in_memory += 1;
            }
        }
        self.evicted.push(Evicted { table_page, is_partial: in_memory < self.segments_per_page });
    }
}
