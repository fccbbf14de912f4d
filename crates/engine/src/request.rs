//! Requests of the host, as a block device gets them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::state::{Element, elements};

/// Kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Data of the pages.
    Read,
    /// New data for the pages.
    Write,
    /// The pages hold no data any more.
    Trim,
    /// Flush: what was written before must survive a loss of power.
    Flush,
}

/// One request of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Time at which the host issues it, in nanoseconds since the first request.
    /// It is 0 where time plays no part.
    pub at_ns: u64,
    /// Kind of the request.
    pub op: Op,
    /// The first logical page that it touches.
    pub first_page: u32,
    /// Logical pages that it touches; 0 for a flush.
    pub pages: u32,
    /// Bytes of the first page that lie before the request.
    pub head_bytes: u32,
    /// Bytes of the last page that lie behind the request.
    pub tail_bytes: u32,
    /// True of a write that is complete only once it would survive a loss of power.
    pub fua: bool,
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
    }
}

impl Request {
    /// A request for whole pages, without a time.
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
        }
    }

    /// A flush, without a time.
    pub fn flush() -> Self {
        Request::of_pages(Op::Flush, 0..0)
    }

    /// The logical pages that it touches.
    pub fn range(&self) -> Range<u32> {
        self.first_page..self.first_page + self.pages
    }

    /// Bytes of its first and last page that it leaves alone.
    pub fn partial_bytes(&self) -> u64 {
        u64::from(self.head_bytes) + u64::from(self.tail_bytes)
    }

    /// Bytes that it reads, writes or trims on pages of `page_bytes`.
    pub fn bytes(&self, page_bytes: u32) -> u64 {
        u64::from(self.pages) * u64::from(page_bytes) - self.partial_bytes()
    }
}
