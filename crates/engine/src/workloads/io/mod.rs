//! Requests in bytes: reads and writes with given sizes, positions and times, flushes and
//! TRIMs.
//!
//! Each property of a request (kind, position, time) has its own random stream, so that changing
//! one parameter does not affect the others.

mod accesses;
mod chance;
mod characteristics;
mod jesd219;
mod merger;
mod nested;
mod places;
mod skew;
mod timetable;

pub use accesses::Accesses;
pub use characteristics::{Arrivals, Characteristics, IO, JESD219, RANDOM, SEQUENTIAL_PARAMS};

pub use nested::NestedOrRequests;

use chance::Chance;
pub(super) use merger::Merger;
use places::Places;
use skew::{Skew, Slots};
use timetable::Timetable;

use super::{Pacing, Site, Step, Unserved, Workload, one_group};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::request::{Op, Request};
use crate::state::state;

/// Host with given characteristics. Its requests never end.
pub struct Io {
    characteristics: Characteristics,
    pages: u32,
    page_bytes: u32,
    is_flush: Chance,
    is_trim: Chance,
    is_write: Chance,
    is_fua: Chance,
    /// Positions of writes and TRIMs, if there are any.
    writes: Option<Places>,
    /// Positions of reads, if there are any.
    reads: Option<Places>,
    skew: Option<Skew>,
    /// Groups of pages, if requests have several sizes.
    zones: Option<Vec<Group>>,
    timetable: Option<Timetable>,
    merger: Merger,
}

state! {
    Io {
        fixed characteristics,
        fixed pages,
        fixed page_bytes,
        nested is_flush,
        nested is_trim,
        nested is_write,
        nested is_fua,
        nested writes,
        nested reads,
        nested skew,
        fixed zones,
        nested timetable,
        nested merger,
    } where is_sound
}

impl Io {
    /// Builds a host with these characteristics on the pages of a site.
    pub fn new(characteristics: Characteristics, site: &Site) -> Result<Self> {
        let Site { pages, page_bytes, ref context } = *site;
        let Characteristics { write, flush, trim, fua, .. } = characteristics;
        let bytes = u64::from(pages) * u64::from(page_bytes);
        let offset_bytes = characteristics.offset_bytes;
        let space_bytes = bytes.checked_sub(offset_bytes).ok_or_else(|| {
            Error::Spec(format!(
                "an offset of {offset_bytes} bytes is beyond the drive's {bytes} bytes"
            ))
        })?;
        if trim > 0.0 {
            check_trims(&characteristics, u64::from(page_bytes))?;
        }
        let places = |accesses, name| Places::new(accesses, space_bytes, context, name);
        let writes = characteristics.has_changes().then(|| places(characteristics.writes, "write"));
        let reads = (write < 1.0).then(|| places(characteristics.reads, "read"));
        let (writes, reads) = (writes.transpose()?, reads.transpose()?);
        let directions: Vec<_> =
            writes.iter().chain(&reads).map(Places::accesses_and_starts).collect();
        let skew = (!characteristics.is_uniform())
            .then(|| Skew::new(&characteristics.access, &directions, site))
            .transpose()?;
        let zones = match (&skew, characteristics.sizes) {
            (Some(skew), Some(sizes)) => skew.groups_of_zones(sizes, offset_bytes, site),
            _ => None,
        };
        let chance = |share, name| Chance::new(share, context.stream(name));
        let timetable = characteristics
            .rate_per_s
            .map(|rate| Timetable::new(rate, characteristics.arrivals, context.stream("arrivals")));
        Ok(Io {
            pages,
            page_bytes,
            is_flush: chance(flush, "flush"),
            is_trim: chance(trim / (1.0 - flush), "trim"),
            is_write: chance(write, "write"),
            is_fua: chance(fua, "fua"),
            writes,
            reads,
            skew,
            zones,
            timetable,
            merger: Merger::default(),
            characteristics,
        })
    }

    fn draw(&mut self) -> Request {
        let at_ns = self.timetable.as_mut().map_or(0, Timetable::take_ns);
        if self.is_flush.happens() {
            return Request { at_ns, ..Request::flush() };
        }
        let op = if self.is_trim.happens() {
            Op::Trim
        } else if self.is_write.happens() {
            Op::Write
        } else {
            Op::Read
        };
        let places = if op == Op::Read { &mut self.reads } else { &mut self.writes };
        let places =
            places.as_mut().expect("positions were built for each direction that has requests");
        let start_bytes = self.characteristics.offset_bytes + places.take(self.skew.as_mut());
        let end_bytes = start_bytes + places.take_size(self.characteristics.sizes);
        let fua = op == Op::Write && self.is_fua.happens();
        let request = if op == Op::Trim {
            whole_pages(start_bytes, end_bytes, self.page_bytes)
        } else {
            touched_pages(op, start_bytes, end_bytes, self.page_bytes)
        };
        Request { at_ns, fua, ..request }
    }

    /// Slots (positions of equal size) of a skewed pattern, if every write fills one slot of
    /// whole pages; else None.
    fn slots(&self) -> Option<Slots<'_>> {
        let (skew, writes) = (self.skew.as_ref()?, self.writes.as_ref()?);
        skew.filled_by(
            writes.accesses_and_starts(),
            self.characteristics.offset_bytes,
            u64::from(self.page_bytes),
        )
    }

    fn is_sound(&self) -> bool {
        self.merger.is_sound(self.pages, self.page_bytes)
    }
}

/// Checks that every TRIM covers at least one page, because it only frees whole pages.
fn check_trims(characteristics: &Characteristics, page_bytes: u64) -> Result<()> {
    let Accesses { size_bytes, random, stride_bytes, align_bytes } = characteristics.writes;
    let stride_bytes = if random < 1.0 { stride_bytes } else { 0 };
    let steps_bytes = [size_bytes, stride_bytes, align_bytes, characteristics.offset_bytes];
    if steps_bytes.iter().all(|step| step.is_multiple_of(page_bytes))
        || size_bytes >= 2 * page_bytes
    {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "TRIMs of {size_bytes} bytes may cover no whole page of {page_bytes}, and free nothing; give \
         sizes, strides, align and offset in whole pages, or a size of at least {} bytes",
        2 * page_bytes
    )))
}

pub(super) fn whole_pages(start_bytes: u64, end_bytes: u64, page_bytes: u32) -> Request {
    let page_bytes = u64::from(page_bytes);
    let first = start_bytes.div_ceil(page_bytes) as u32;
    Request::of_pages(Op::Trim, first..(end_bytes / page_bytes) as u32)
}

pub(super) fn touched_pages(op: Op, start_bytes: u64, end_bytes: u64, page_bytes: u32) -> Request {
    let page_bytes = u64::from(page_bytes);
    let (first, end) = (start_bytes / page_bytes, end_bytes.div_ceil(page_bytes));
    Request {
        head_bytes: (start_bytes - first * page_bytes) as u32,
        tail_bytes: (end * page_bytes - end_bytes) as u32,
        ..Request::of_pages(op, first as u32..end as u32)
    }
}

impl Workload for Io {
    /// Merges writes across the reads and flushes between them.
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if !self.writes() {
            return Step::End;
        }
        let (mut merger, page_bytes) = (std::mem::take(&mut self.merger), self.page_bytes);
        let step = merger.next(buffer, page_bytes, || Some(self.draw()));
        self.merger = merger;
        step
    }

    fn next_request(&mut self) -> Option<Request> {
        Some(self.merger.take_pending().unwrap_or_else(|| self.draw()))
    }

    fn take_unserved(&mut self) -> Unserved {
        std::mem::take(&mut self.merger.unserved)
    }

    fn cut_request(&mut self) {
        self.merger.cut();
    }

    fn pacing(&self) -> Pacing {
        self.characteristics.pacing()
    }

    fn is_timed(&self) -> bool {
        self.characteristics.is_timed()
    }

    fn writes(&self) -> bool {
        self.characteristics.write > 0.0
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    /// One group, or the groups of the skewed pattern.
    /// None if a write can touch pages of several groups.
    fn groups(&self) -> Option<Vec<Group>> {
        match (&self.skew, &self.zones) {
            (None, _) => Some(one_group(self.pages)),
            (Some(_), Some(zones)) => Some(zones.clone()),
            (Some(_), None) => self.slots().and_then(|slots| slots.groups(self.pages)),
        }
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        let offset_bytes = self.characteristics.offset_bytes;
        match (&self.skew, &self.zones, self.slots()) {
            (Some(skew), Some(_), _) => {
                skew.find_zones(pages, offset_bytes, self.page_bytes, group_of);
            }
            (_, _, Some(slots)) => slots.find_groups(pages, group_of),
            _ => group_of.fill(0),
        }
    }
}

#[cfg(test)]
mod tests;
