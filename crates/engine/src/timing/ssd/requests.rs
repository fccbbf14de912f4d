//! Requests that a drive has accepted and not answered.

use std::ops::Range;

use crate::request::Op;
use crate::timing::device::IoRequest;
use crate::timing::params::SECTOR_BYTES;
use crate::timing::write_cache::Sectors;

/// Request that the drive has accepted and not answered.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// Number of the request, from the host.
    pub id: u32,
    /// Kind of the request.
    pub op: Op,
    /// Position of the first byte of the request.
    pub offset: u64,
    /// Number of bytes of the request.
    pub length: u64,
    /// True if a write must be durable when it is answered.
    pub fua: bool,
    /// Number of events for which the request waits; its own submission counts as one.
    pub waits: u32,
    /// Number of pages of a write that are in the cache.
    pub cached_pages: u32,
    /// Host interval in which a write was counted.
    pub written_in: u32,
    /// True if its pages bypass the SLC cache.
    pub is_direct: bool,
    /// Tag of a write.
    pub tag: u8,
}

impl Pending {
    /// Builds the state of a new request.
    pub fn new(request: &IoRequest, id: u32) -> Self {
        let IoRequest { op, offset, length, fua, tag } = *request;
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
            tag,
        }
    }

    /// Number of pages that the request covers only in part.
    pub fn partial_pages(&self, page_bytes: u32) -> u64 {
        let ends = [self.offset, self.offset + self.length];
        let cuts = ends.iter().filter(|end| !end.is_multiple_of(u64::from(page_bytes))).count();
        cuts.min(self.pages(page_bytes).len()) as u64
    }

    /// Pages of the request; empty for length 0.
    pub fn pages(&self, page_bytes: u32) -> Range<u32> {
        let bytes = u64::from(page_bytes);
        if self.length == 0 {
            return 0..0;
        }
        (self.offset / bytes) as u32..(self.offset + self.length).div_ceil(bytes) as u32
    }

    /// Pages that the request covers completely.
    pub fn whole_pages(&self, page_bytes: u32) -> Range<u32> {
        let bytes = u64::from(page_bytes);
        let (first, end) = (self.offset.div_ceil(bytes), (self.offset + self.length) / bytes);
        first as u32..end.max(first) as u32
    }

    /// Bytes of a page within the request, counted from the page's start.
    pub fn part_of(&self, page: u32, page_bytes: u32) -> Range<u32> {
        let first = u64::from(page) * u64::from(page_bytes);
        let begin = self.offset.saturating_sub(first);
        let end = (self.offset + self.length - first).min(u64::from(page_bytes));
        begin as u32..end as u32
    }
}

/// Sectors that contain a range of bytes of a page.
/// A page is divided into at most 128 sectors, so in larger pages a sector is larger than 512
/// bytes.
pub fn sectors_of(byte_range: &Range<u32>, page_bytes: u32) -> Sectors {
    let sector_bytes = sector_bytes(page_bytes);
    let (first, end) = (byte_range.start / sector_bytes, byte_range.end.div_ceil(sector_bytes));
    let below = |count: u32| if count >= 128 { Sectors::MAX } else { (1 << count) - 1 };
    below(end) & !below(first)
}

/// Total size of the sectors, in bytes.
pub fn bytes_of(sectors: Sectors, page_bytes: u32) -> u32 {
    (sectors.count_ones() * sector_bytes(page_bytes)).min(page_bytes)
}

fn sector_bytes(page_bytes: u32) -> u32 {
    SECTOR_BYTES.max(page_bytes.div_ceil(Sectors::BITS))
}
