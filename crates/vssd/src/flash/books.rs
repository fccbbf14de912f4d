//! Untimed flash drive behind the data, which takes one request at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use writeamp_engine::flash::{Array, Counters};
use writeamp_engine::hints::Hears;
use writeamp_engine::managers::{self, BlockManager};
use writeamp_engine::request::{Op, Request};
use writeamp_engine::state::{self, Reader, State, Writer};

use crate::config::Flash;
use crate::error::{Error, Result};
use crate::held::Held;
use crate::record::Ask;

/// Counts of requests since the drive was new, which the engine has in pages and bytes only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requests {
    /// All of them.
    pub served: u64,
    /// Writes, and zeroing that takes space.
    pub writes: u64,
    /// Reads.
    pub reads: u64,
    /// Trims.
    pub trims: u64,
    /// Pages of which a part was written, and that held data.
    pub read_modify_write_pages: u64,
}

/// A flash drive and the counts of what it was asked.
pub struct Books {
    drive: Box<dyn BlockManager>,
    requests: Requests,
}

impl State for Books {
    fn save(&self, to: &mut Writer) {
        to.value(&self.requests);
        self.drive.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        self.requests = from.value("its count of requests")?;
        self.drive.restore(from)
    }
}

impl Books {
    /// A new drive; `state` is that of a flash drive as the engine has packed it.
    pub fn new(flash: &Flash, state: Option<&[u8]>) -> Result<Self> {
        let mut drive = managers::build(&flash.manager, flash.setup()?)?;
        refuse_hints(&*drive, &flash.manager)?;
        if let Some(bytes) = state {
            state::unpack(&mut *drive, bytes)?;
        }
        Ok(Books { drive, requests: Requests::default() })
    }

    /// Serves a request that lies on the drive. After an error, the counters are exact too.
    pub fn serve(&mut self, ask: &Ask) -> Result<()> {
        let pages = Pages::of(ask, self.page_bytes());
        let flash = self.drive.flash();
        let partly_held = pages.partial().filter(|&page| flash.physical(page as u32).is_some());
        self.requests.count(ask.op, partly_held.count() as u64);
        Ok(self.drive.serve(&pages.request(ask.op), None)?)
    }

    /// The flash, to look at.
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

/// Refuses a manager that must be told more than a host tells.
pub fn refuse_hints(drive: &dyn BlockManager, manager: &str) -> Result<()> {
    if drive.hears() == Hears::Nothing {
        return Ok(());
    }
    let hints = drive.hears().name();
    Err(Error::invalid(format!(
        "{manager} needs hints on {hints}, which no program gives; use a manager that needs none"
    )))
}

impl Requests {
    /// Counts a request that writes so many pages in part that hold data.
    pub fn count(&mut self, op: Op, partly_held: u64) {
        self.served += 1;
        match op {
            Op::Write => {
                self.writes += 1;
                self.read_modify_write_pages += partly_held;
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
    /// All of them.
    pub range: Range<u64>,
    head_bytes: u64,
    tail_bytes: u64,
}

impl Pages {
    /// Returns the pages of a request, each of `page_bytes`.
    pub fn of(ask: &Ask, page_bytes: u64) -> Self {
        let end = ask.offset + u64::from(ask.length);
        let range = ask.offset / page_bytes..end.div_ceil(page_bytes);
        if ask.length == 0 {
            return Pages { range: range.start..range.start, head_bytes: 0, tail_bytes: 0 };
        }
        let head_bytes = ask.offset - range.start * page_bytes;
        let tail_bytes = range.end * page_bytes - end;
        Pages { range, head_bytes, tail_bytes }
    }

    /// Pages of which it touches a part.
    pub fn partial(&self) -> impl Iterator<Item = u64> + use<> {
        let first = (self.head_bytes > 0).then_some(self.range.start);
        let last = self.range.end.wrapping_sub(1);
        let last = (self.tail_bytes > 0 && first != Some(last)).then_some(last);
        first.into_iter().chain(last)
    }

    /// Notes which pages hold data once they are written or trimmed.
    /// Returns the number of those that held some before, and of which a part is written.
    pub fn hold(&self, op: Op, held: &Held) -> u64 {
        let partly_held = match op {
            Op::Write => self.partial().filter(|page| held.holds(*page)).count(),
            Op::Trim | Op::Read | Op::Flush => 0,
        };
        match op {
            Op::Write | Op::Trim => held.set(self.range.clone(), op == Op::Write),
            Op::Read | Op::Flush => {}
        }
        partly_held as u64
    }

    /// The request for these pages, which lie on the drive.
    pub fn request(&self, op: Op) -> Request {
        let whole = Request::of_pages(op, self.range.start as u32..self.range.end as u32);
        let (head_bytes, tail_bytes) = (self.head_bytes as u32, self.tail_bytes as u32);
        if op == Op::Flush { whole } else { Request { head_bytes, tail_bytes, ..whole } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(offset: u64, length: u32) -> Vec<u64> {
        Pages::of(&Ask::new(Op::Write, offset, length), 4096).partial().collect()
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
        let request = Pages::of(&Ask::new(Op::Write, 4000, 200), 4096).request(Op::Write);
        assert_eq!((request.first_page, request.pages, request.bytes(4096)), (0, 2, 200));
    }
}
