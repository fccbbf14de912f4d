//! Memory of a disk: sectors that were read, and writes that are not on the medium yet.

use std::collections::VecDeque;
use std::ops::Range;

/// Largest number of ranges of read sectors in memory, because the table of a real disk has a
/// fixed length.
const MOST_RANGES: usize = 32;
/// Largest number of sectors that one pass of the heads writes to the medium.
const MOST_MERGED_SECTORS: u64 = 2048;

/// Acknowledged write that is not on the medium yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirty {
    pub sectors: Range<u64>,
    /// Arrival number of the oldest request of this write. Consecutive writes are merged.
    pub number: u64,
}

/// Memory of a disk: ranges of sectors that were read, and writes not on the medium yet.
#[derive(Debug)]
pub struct Cache {
    read_sectors: u64,
    write_sectors: u64,
    most_segments: usize,
    /// Ranges of read sectors, the most recently used last.
    ranges: VecDeque<Range<u64>>,
    pub dirty: Vec<Dirty>,
    /// Number of sectors in `dirty` and in the write in progress.
    held_sectors: u64,
}

impl Cache {
    pub fn new(read_sectors: u64, write_sectors: u64, most_segments: usize) -> Self {
        Cache {
            read_sectors,
            write_sectors,
            most_segments,
            ranges: VecDeque::with_capacity(MOST_RANGES + 1),
            dirty: Vec::new(),
            held_sectors: 0,
        }
    }

    /// True if a single write or range in memory contains all of `sectors`.
    /// A range of read sectors then becomes the most recently used one.
    pub fn hits(&mut self, sectors: &Range<u64>) -> bool {
        if self.dirty.iter().any(|dirty| contains(&dirty.sectors, sectors)) {
            return true;
        }
        let Some(at) = self.ranges.iter().position(|range| contains(range, sectors)) else {
            return false;
        };
        let range = self.ranges.remove(at).expect("the range was found at this index");
        self.ranges.push_back(range);
        true
    }

    /// Stores read sectors, replacing the least recently used ones.
    pub fn keep(&mut self, sectors: Range<u64>) {
        let first = sectors.start.max(sectors.end.saturating_sub(self.read_sectors));
        if first >= sectors.end {
            return;
        }
        self.ranges.push_back(first..sectors.end);
        let mut cached_sectors: u64 = self.ranges.iter().map(|range| range.end - range.start).sum();
        while cached_sectors > self.read_sectors || self.ranges.len() > MOST_RANGES {
            let oldest = self
                .ranges
                .pop_front()
                .expect("read sectors are cached, so there is a range to remove");
            cached_sectors -= oldest.end - oldest.start;
        }
    }

    /// True if a write of this size can be stored at all.
    pub fn is_large_enough(&self, sectors: &Range<u64>) -> bool {
        sectors.end - sectors.start <= self.write_sectors
    }

    /// Stores a write if there is space. Returns false if it must wait.
    pub fn take_write(&mut self, sectors: &Range<u64>, number: u64) -> bool {
        let length = sectors.end - sectors.start;
        if self.dirty.iter().any(|dirty| contains(&dirty.sectors, sectors)) {
            return true;
        }
        if self.held_sectors + length > self.write_sectors {
            return false;
        }
        let goes_on = |dirty: &&mut Dirty| {
            dirty.sectors.end == sectors.start
                && sectors.end - dirty.sectors.start <= MOST_MERGED_SECTORS
        };
        let is_full = self.dirty.len() >= self.most_segments;
        match self.dirty.iter_mut().find(goes_on) {
            Some(dirty) => dirty.sectors.end = sectors.end,
            None if is_full => return false,
            None => self.dirty.push(Dirty { sectors: sectors.clone(), number }),
        }
        self.held_sectors += length;
        true
    }

    /// Frees the space of sectors that are on the medium.
    pub fn release(&mut self, sectors: &Range<u64>) {
        self.held_sectors -= sectors.end - sectors.start;
    }
}

fn contains(outer: &Range<u64>, inner: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
