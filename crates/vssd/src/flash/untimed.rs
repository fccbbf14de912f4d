//! Untimed flash drive, which serves one request at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use writeamp_engine::flash::{Array, Counters};
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::managers::{self, BlockManager};
use writeamp_engine::request::{Op, Request as PageRequest};
use writeamp_engine::state::{self, Reader, State, Writer};

use crate::allocation_bitmap::AllocationBitmap;
use crate::config::Flash;
use crate::error::{Error, Result};
use crate::record::Request;

/// Counts of requests since the drive was new; the engine counts pages and bytes only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requests {
    /// All requests.
    pub served: u64,
    /// Writes, including requests to write zeros without freeing space.
    pub writes: u64,
    /// Reads.
    pub reads: u64,
    /// Trims.
    pub trims: u64,
    /// Partly written pages that held data before, so that the drive must read, modify and write
    /// them.
    pub read_modify_write_pages: u64,
}

/// A flash drive and the counts of its requests.
pub struct UntimedFlash {
    drive: Box<dyn BlockManager>,
    requests: Requests,
}

impl State for UntimedFlash {
    fn save(&self, to: &mut Writer) {
        to.value(&self.requests);
        self.drive.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        self.requests = from.value("its count of requests")?;
        self.drive.restore(from)
    }
}

impl UntimedFlash {
    /// Creates a drive, from a packed state of the engine if `state` is given.
    pub fn new(flash: &Flash, state: Option<&[u8]>) -> Result<Self> {
        let mut drive = managers::build(&flash.manager, flash.setup()?)?;
        refuse_hints(&*drive, &flash.manager)?;
        if let Some(bytes) = state {
            state::unpack(&mut *drive, bytes)?;
        }
        Ok(UntimedFlash { drive, requests: Requests::default() })
    }

    /// Serves a request that lies on the drive. If it fails, the counters are still correct.
    pub fn serve(&mut self, request: &Request) -> Result<()> {
        let pages = Pages::of(request, self.page_bytes());
        let flash = self.drive.flash();
        let partly_allocated =
            pages.partial().filter(|&page| flash.physical(page as u32).is_some());
        self.requests.count(request.op, partly_allocated.count() as u64);
        Ok(self.drive.serve(&pages.request(request.op), None)?)
    }

    /// The flash array.
    pub fn flash(&self) -> &Array {
        self.drive.flash()
    }

    /// Counts of the engine.
    pub fn counters(&self) -> &Counters {
        self.drive.flash().counters()
    }

    /// Counts of requests.
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    fn page_bytes(&self) -> u64 {
        u64::from(self.flash().geometry().page_bytes())
    }
}

/// Rejects a manager that needs hints, which programs do not give.
pub fn refuse_hints(drive: &dyn BlockManager, manager: &str) -> Result<()> {
    if drive.required_hints() == RequiredHints::Nothing {
        return Ok(());
    }
    let hints = drive.required_hints().name();
    Err(Error::invalid(format!(
        "{manager} needs hints on {hints}, which programs do not give; use a manager without hints"
    )))
}

impl Requests {
    /// Counts a request. `partly_allocated` of its partly written pages held data before.
    pub fn count(&mut self, op: Op, partly_allocated: u64) {
        self.served += 1;
        match op {
            Op::Write => {
                self.writes += 1;
                self.read_modify_write_pages += partly_allocated;
            }
            Op::Read => self.reads += 1,
            Op::Trim => self.trims += 1,
            Op::Flush => {}
        }
    }
}

/// The pages that a request touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// First to last page that the request touches.
    pub range: Range<u64>,
    head_bytes: u64,
    tail_bytes: u64,
}

impl Pages {
    /// Returns the pages of a request, each of `page_bytes`.
    pub fn of(request: &Request, page_bytes: u64) -> Self {
        let end = request.offset + u64::from(request.length);
        let range = request.offset / page_bytes..end.div_ceil(page_bytes);
        if request.length == 0 {
            return Pages { range: range.start..range.start, head_bytes: 0, tail_bytes: 0 };
        }
        let head_bytes = request.offset - range.start * page_bytes;
        let tail_bytes = range.end * page_bytes - end;
        Pages { range, head_bytes, tail_bytes }
    }

    /// Pages that the request covers only in part.
    pub fn partial(&self) -> impl Iterator<Item = u64> + use<> {
        let first = (self.head_bytes > 0).then_some(self.range.start);
        let last = self.range.end.wrapping_sub(1);
        let last = (self.tail_bytes > 0 && first != Some(last)).then_some(last);
        first.into_iter().chain(last)
    }

    /// Marks written pages as allocated and trimmed pages as free.
    ///
    /// Returns the number of partly written pages that held data before.
    pub fn mark(&self, op: Op, allocated: &AllocationBitmap) -> u64 {
        let partly_allocated = match op {
            Op::Write => self.partial().filter(|page| allocated.holds(*page)).count(),
            Op::Trim | Op::Read | Op::Flush => 0,
        };
        match op {
            Op::Write | Op::Trim => allocated.set(self.range.clone(), op == Op::Write),
            Op::Read | Op::Flush => {}
        }
        partly_allocated as u64
    }

    /// The engine's request for these pages, which lie on the drive.
    pub fn request(&self, op: Op) -> PageRequest {
        let whole = PageRequest::of_pages(op, self.range.start as u32..self.range.end as u32);
        let (head_bytes, tail_bytes) = (self.head_bytes as u32, self.tail_bytes as u32);
        if op == Op::Flush { whole } else { PageRequest { head_bytes, tail_bytes, ..whole } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(offset: u64, length: u32) -> Vec<u64> {
        Pages::of(&Request::new(Op::Write, offset, length), 4096).partial().collect()
    }

    #[test]
    fn pages_that_a_request_covers_in_part_are_its_first_and_its_last() {
        assert_eq!(partial(0, 8192), [0; 0]);
        assert_eq!(partial(512, 512), [0]);
        assert_eq!(partial(512, 4096), [0, 1]);
        assert_eq!(partial(0, 4097), [1]);
        assert_eq!(partial(4095, 4097), [0]);
        assert_eq!(partial(100, 0), [0; 0]);
    }

    #[test]
    fn bytes_of_a_request_are_counted_as_they_are() {
        let request = Pages::of(&Request::new(Op::Write, 4000, 200), 4096).request(Op::Write);
        assert_eq!((request.first_page, request.pages, request.bytes(4096)), (0, 2, 200));
    }
}
