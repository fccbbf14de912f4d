//! The part of the mapping table that is in memory.

use std::collections::BTreeSet;

use super::profile::Profile;

#[derive(Debug, Clone, Copy)]
struct Segment {
    number: u32,
    is_changed: bool,
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
        })
    }

    pub fn page_of(&self, logical: u32) -> u32 {
        logical / self.entries_per_segment / self.segments_per_page
    }

    /// Uses the entry of a page: true if it was in memory.
    pub fn touch(&mut self, logical: u32, is_changed: bool) -> bool {
        let number = logical / self.entries_per_segment;
        let found = self.segments.iter().position(|segment| segment.number == number);
        if let Some(at) = found {
            let mut segment = self.segments.remove(at);
            segment.is_changed |= is_changed;
            self.segments.push(segment);
            return true;
        }
        if self.segments.len() == self.most_segments {
            let oldest = self.segments.remove(0);
            if oldest.is_changed {
                self.evict(oldest);
            }
        }
        let is_changed = self.owed.remove(&number) || is_changed;
        self.segments.push(Segment { number, is_changed });
        false
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
