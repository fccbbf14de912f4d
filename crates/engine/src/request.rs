//! Host requests, as a block device receives them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::hints::UNTAGGED;
use crate::state::{Element, elements};

/// Kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Read the data of the pages.
    Read,
    /// Write new data to the pages.
    Write,
    /// TRIM: unmap the pages, whose data the host no longer needs.
    Trim,
    /// Flush: earlier writes must survive a power loss.
    Flush,
}

/// Host request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Time of issue, in nanoseconds since the first request.
    /// It is 0 for runs without timing.
    pub at_ns: u64,
    /// Kind of the request.
    pub op: Op,
    /// Number of the first logical page.
    pub first_page: u32,
    /// Number of logical pages; 0 for a flush.
    pub pages: u32,
    /// Number of bytes of the first page that lie before the start of the request.
    pub head_bytes: u32,
    /// Number of bytes of the last page that lie after the end of the request.
    pub tail_bytes: u32,
    /// FUA (force unit access): true for a write that completes only when it would survive a
    /// power loss.
    pub fua: bool,
    /// Tag of a write, for drives that count by tag, or [`UNTAGGED`].
    #[serde(skip, default = "untagged")]
    pub tag: u8,
}

fn untagged() -> u8 {
    UNTAGGED
}

impl Element for Op {
    const BYTES: usize = 1;

    fn put(self, bytes: &mut [u8]) {
        (self as u8).put(bytes);
    }

    fn get(bytes: &[u8]) -> Option<Self> {
        [Op::Read, Op::Write, Op::Trim, Op::Flush].into_iter().find(|op| *op as u8 == bytes[0])
    }
}

elements! {
    Request {
        at_ns: u64,
        op: Op,
        first_page: u32,
        pages: u32,
        head_bytes: u32,
        tail_bytes: u32,
        fua: bool,
        tag: u8,
    }
}

impl Request {
    /// Request for whole pages, without a time.
    pub fn of_pages(op: Op, pages: Range<u32>) -> Self {
        let count = pages.end.saturating_sub(pages.start);
        Request {
            at_ns: 0,
            op,
            first_page: pages.start,
            pages: count,
            head_bytes: 0,
            tail_bytes: 0,
            fua: false,
            tag: UNTAGGED,
        }
    }

    /// Flush without a time.
    pub fn flush() -> Self {
        Request::of_pages(Op::Flush, 0..0)
    }

    /// Logical pages of the request.
    pub fn range(&self) -> Range<u32> {
        self.first_page..self.first_page + self.pages
    }

    /// Total bytes of the first and last page that are outside the request.
    pub fn partial_bytes(&self) -> u64 {
        u64::from(self.head_bytes) + u64::from(self.tail_bytes)
    }

    /// Number of pages that the request covers only in part.
    pub fn partial_pages(&self) -> u64 {
        let ends = u64::from(self.head_bytes > 0) + u64::from(self.tail_bytes > 0);
        ends.min(u64::from(self.pages))
    }

    /// Number of bytes that the request reads, writes or trims, with pages of `page_bytes` bytes.
    pub fn bytes(&self, page_bytes: u32) -> u64 {
        u64::from(self.pages) * u64::from(page_bytes) - self.partial_bytes()
    }
}
