//! Requests merged into batches of page writes.

use super::super::{Step, Unserved};
use crate::request::{Op, Request};
use crate::state::state;

/// Request that waits for the next batch, and counts of skipped reads and flushes.
#[derive(Debug, Clone, Default)]
pub struct Merger {
    /// Request that is issued next: the rest of a write, or a TRIM that had to wait for the
    /// writes drawn before it.
    pub pending: Option<Request>,
    /// Number of pages of that write that were issued.
    pub issued: u32,
    pub unserved: Unserved,
}

state!(Merger { value pending, value issued, value unserved });

impl Merger {
    /// Fills the buffer with the pages of the next writes, across the reads and flushes between
    /// them, or returns a TRIM.
    pub fn next(
        &mut self,
        buffer: &mut [u32],
        page_bytes: u32,
        mut draw: impl FnMut() -> Option<Request>,
    ) -> Step {
        let mut filled = 0;
        while filled < buffer.len() {
            let Some(request) = self.pending.take().or_else(&mut draw) else {
                return if filled > 0 { Step::Writes(filled) } else { Step::End };
            };
            match request.op {
                Op::Flush => self.unserved.flushes += 1,
                Op::Read => {
                    self.unserved.read_pages += u64::from(request.pages);
                    self.unserved.read_bytes += request.bytes(page_bytes);
                }
                Op::Trim if filled > 0 => {
                    self.pending = Some(request);
                    break;
                }
                Op::Trim => return Step::Request(request),
                Op::Write => {
                    let left = request.range().skip(self.issued as usize);
                    let count = left.len().min(buffer.len() - filled);
                    for (slot, page) in buffer[filled..].iter_mut().zip(left) {
                        *slot = page;
                    }
                    filled += count;
                    self.issued += count as u32;
                    if self.issued < request.pages {
                        self.pending = Some(request);
                        break;
                    }
                    self.unserved.partial_bytes += request.partial_bytes();
                    self.unserved.partial_pages += request.partial_pages();
                    self.issued = 0;
                }
            }
        }
        Step::Writes(filled)
    }

    /// Takes the waiting request, of which nothing counts as issued.
    pub fn take_pending(&mut self) -> Option<Request> {
        self.issued = 0;
        self.pending.take()
    }

    /// Discards the rest of a write of which some pages were issued.
    pub fn cut(&mut self) {
        if self.issued > 0 {
            let cut = self.pending.take().map_or(0, |request| request.head_bytes);
            self.unserved.partial_bytes += u64::from(cut);
            self.unserved.partial_pages += u64::from(cut > 0);
            self.issued = 0;
        }
    }

    /// True if the waiting request can be one of a drive with so many pages.
    pub fn is_sound(&self, pages_of_drive: u32, page_bytes: u32) -> bool {
        let Some(request) = self.pending else { return self.issued == 0 };
        let Request { op, first_page, pages, head_bytes, tail_bytes, .. } = request;
        let is_pending = match op {
            Op::Write => self.issued < pages,
            Op::Trim => self.issued == 0 && request.partial_bytes() == 0,
            Op::Read | Op::Flush => false,
        };
        is_pending
            && first_page.checked_add(pages).is_some_and(|end| end <= pages_of_drive)
            && head_bytes.max(tail_bytes) < page_bytes
            && request.partial_bytes() < u64::from(pages.max(1)) * u64::from(page_bytes)
            && self.unserved.is_plausible()
    }
}
