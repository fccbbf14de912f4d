//! The part of the mapping table that is in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::array::OpId;
use super::profile::Profile;

/// Place of an entry.
#[derive(Debug, Clone, Copy)]
pub enum Found {
    InMemory,
    /// A read that is not done brings it.
    Comes(OpId),
    Nowhere,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    number: u32,
    is_changed: bool,
    /// The read that brings it or has brought it, if one had to.
    read: Option<OpId>,
}

/// A page of the table that must be written.
#[derive(Debug, Clone, Copy)]
pub struct Evicted {
    pub table_page: u32,
    /// True if not all of it is known.
    pub is_partial: bool,
}

#[derive(Debug)]
pub struct Table {
    /// The segment used last comes last.
    segments: Vec<Segment>,
    /// Segments with changes that wait for them to be in memory.
    owed: BTreeSet<u32>,
    most_segments: usize,
    entries_per_segment: u32,
    segments_per_page: u32,
    pub evicted: Vec<Evicted>,
    /// Reads of pages of the table that are not done.
    pub reads: BTreeMap<u32, OpId>,
}

impl Table {
    pub fn new(profile: &Profile) -> Option<Self> {
        let Profile { map_bytes, map_entry_bytes, map_segment_bytes, page_bytes, .. } = *profile;
        (map_bytes > 0).then(|| Table {
            segments: Vec::new(),
            owed: BTreeSet::new(),
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

    /// Uses the entry of a page, and tells where it is.
    pub fn touch(&mut self, logical: u32, is_changed: bool) -> Found {
        let number = logical / self.entries_per_segment;
        let under_way = self.reads.get(&self.page_of(logical)).copied();
        let found = self.segments.iter().position(|segment| segment.number == number);
        if let Some(at) = found {
            let mut segment = self.segments.remove(at);
            segment.is_changed |= is_changed;
            self.segments.push(segment);
            return match under_way {
                Some(read) if segment.read == Some(read) => Found::Comes(read),
                _ => Found::InMemory,
            };
        }
        if self.segments.len() == self.most_segments {
            let oldest = self.segments.remove(0);
            if oldest.is_changed {
                self.evict(oldest);
            }
        }
        let is_changed = self.owed.remove(&number) || is_changed;
        self.segments.push(Segment { number, is_changed, read: under_way });
        under_way.map_or(Found::Nowhere, Found::Comes)
    }

    /// The entry used last is being read.
    pub fn read_last(&mut self, logical: u32, read: OpId) {
        self.reads.insert(self.page_of(logical), read);
        self.segments.last_mut().expect("it was used").read = Some(read);
    }

    /// Changes the entry of a page as soon as it is in memory.
    pub fn change_lazily(&mut self, logical: u32) {
        let number = logical / self.entries_per_segment;
        match self.segments.iter_mut().find(|segment| segment.number == number) {
            Some(segment) => segment.is_changed = true,
            None => {
                self.owed.insert(number);
            }
        }
    }

    fn evict(&mut self, oldest: Segment) {
        let table_page = oldest.number / self.segments_per_page;
        let mut known = 1;
        for segment in &mut self.segments {
            if segment.number / self.segments_per_page == table_page {
                segment.is_changed = false;
                known += 1;
            }
        }
        self.evicted.push(Evicted { table_page, is_partial: known < self.segments_per_page });
    }
}
