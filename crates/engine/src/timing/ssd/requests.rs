//! The requests that a drive has taken and not answered.

use std::ops::Range;

use crate::request::Op;
use crate::timing::device::IoRequest;
use crate::timing::params::SECTOR_BYTES;
use crate::timing::write_cache::Sectors;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// The host's number for it.
    pub id: u32,
    /// Kind.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// True if a write is to be durable when it is answered.
    pub fua: bool,
    /// Number of things that it waits for; one of them is to be taken up whole.
    pub waits: u32,
    /// Pages of a write that the cache has taken.
    pub cached_pages: u32,
    /// The host's interval in which a write was counted.
    pub written_in: u32,
    /// True if its pages pass the SLC cache by.
    pub is_direct: bool,
}

impl Pending {
    /// A request that has just come.
    pub fn new(request: &IoRequest, id: u32) -> Self {
        let IoRequest { op, offset, length, fua } = *request;
        Pending {
            id,
            op,
            offset,
            length,
            fua,
            waits: 1,
            cached_pages: 0,
            written_in: 0,
            is_direct: false,
        }
    }

    /// The pages that it touches: none, if it has no length.
    pub fn pages(&self, page_bytes: u32) -> Range<u32> {
        let bytes = u64::from(page_bytes);
        if self.length == 0 {
            return 0..0;
        }
        (self.offset / bytes) as u32..(self.offset + self.length).div_ceil(bytes) as u32
    }

    /// The pages that it covers whole.
    pub fn whole_pages(&self, page_bytes: u32) -> Range<u32> {
        let bytes = u64::from(page_bytes);
        let (first, end) = (self.offset.div_ceil(bytes), (self.offset + self.length) / bytes);
        first as u32..end.max(first) as u32
    }

    /// The part of a page that it touches, in bytes from the page's first.
    pub fn part_of(&self, page: u32, page_bytes: u32) -> Range<u32> {
        let first = u64::from(page) * u64::from(page_bytes);
        let begin = self.offset.saturating_sub(first);
        let end = (self.offset + self.length - first).min(u64::from(page_bytes));
        begin as u32..end as u32
    }
}

/// Sectors that a part of a page touches.
/// A page of more than 128 sectors has larger ones.
pub fn sectors_of(part: &Range<u32>, page_bytes: u32) -> Sectors {
    let sector_bytes = sector_bytes(page_bytes);
    let (first, end) = (part.start / sector_bytes, part.end.div_ceil(sector_bytes));
    let below = |count: u32| if count >= 128 { Sectors::MAX } else { (1 << count) - 1 };
    below(end) & !below(first)
}

/// Bytes of the sectors.
pub fn bytes_of(sectors: Sectors, page_bytes: u32) -> u32 {
    (sectors.count_ones() * sector_bytes(page_bytes)).min(page_bytes)
}

fn sector_bytes(page_bytes: u32) -> u32 {
    SECTOR_BYTES.max(page_bytes.div_ceil(Sectors::BITS))
}
