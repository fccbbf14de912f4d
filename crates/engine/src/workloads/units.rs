//! Writes of pages on a drive that maps larger units, each of several of these pages.

use super::io::Merger;
use super::{Pacing, Schedule, Step, Unserved, Workload, one_group};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::request::{Op, Request};
use crate::state::state;

/// Workload of pages on a drive whose pages are mapping units of several of them.
///
/// A request that covers a unit in part writes the whole unit. A TRIM frees whole units only. If the
/// workload has several groups of pages, those of units are unknown, as a unit may have pages of
/// several groups.
pub struct Units {
    workload: Box<dyn Workload>,
    /// Pages of the workload in a unit.
    pages_per_unit: u32,
    page_bytes: u32,
    merger: Merger,
}

state!(Units {
    nested workload, fixed pages_per_unit, fixed page_bytes, nested merger,
} where is_sound);

impl Units {
    /// Wraps a workload of pages of `page_bytes`, of which `pages_per_unit` are a unit.
    pub fn new(workload: Box<dyn Workload>, pages_per_unit: u32, page_bytes: u32) -> Self {
        Units { workload, pages_per_unit, page_bytes, merger: Merger::default() }
    }

    /// Number of pages in `units` units. Returns an error if page numbers do not reach them.
    pub fn pages_in(units: u32, pages_per_unit: u32) -> Result<u32> {
        units.checked_mul(pages_per_unit).ok_or_else(|| {
            Error::Spec(format!(
                "{units} mapping units of {pages_per_unit} pages are more than {} pages; use a \
                 smaller drive",
                u32::MAX
            ))
        })
    }

    fn unit_bytes(&self) -> u32 {
        self.pages_per_unit * self.page_bytes
    }

    fn draw(&mut self) -> Option<Request> {
        loop {
            let request = self.workload.next_request()?;
            let request = self.in_units(&request);
            // A TRIM of less than a unit frees nothing.
            if request.op != Op::Trim || request.pages > 0 {
                return Some(request);
            }
        }
    }

    fn in_units(&self, request: &Request) -> Request {
        let (per_unit, pages) = (self.pages_per_unit, request.range());
        if request.op == Op::Flush {
            return *request;
        }
        if request.op == Op::Trim {
            let units = pages.start.div_ceil(per_unit)..pages.end / per_unit;
            return Request { at_ns: request.at_ns, ..Request::of_pages(Op::Trim, units) };
        }
        let units = pages.start / per_unit..pages.end.div_ceil(per_unit);
        let outside = |pages: u32| pages * self.page_bytes;
        Request {
            first_page: units.start,
            pages: units.end - units.start,
            head_bytes: request.head_bytes + outside(pages.start - units.start * per_unit),
            tail_bytes: request.tail_bytes
                + outside(units.end.saturating_mul(per_unit) - pages.end),
            ..*request
        }
    }

    fn is_sound(&self) -> bool {
        self.merger.is_sound(self.pages(), self.unit_bytes())
    }
}

impl Workload for Units {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let (mut merger, unit_bytes) = (std::mem::take(&mut self.merger), self.unit_bytes());
        let step = merger.next(buffer, unit_bytes, || self.draw());
        self.merger = merger;
        step
    }

    fn next_request(&mut self) -> Option<Request> {
        self.merger.take_pending().or_else(|| self.draw())
    }

    fn take_unserved(&mut self) -> Unserved {
        std::mem::take(&mut self.merger.unserved)
    }

    fn cut_request(&mut self) {
        self.merger.cut();
    }

    fn pacing(&self) -> Pacing {
        self.workload.pacing()
    }

    fn is_timed(&self) -> bool {
        self.workload.is_timed()
    }

    fn writes(&self) -> bool {
        self.workload.writes()
    }

    fn pages(&self) -> u32 {
        self.workload.pages() / self.pages_per_unit
    }

    fn horizon_writes(&self) -> u64 {
        self.workload.horizon_writes()
    }

    fn application_bytes(&self) -> Option<u64> {
        self.workload.application_bytes()
    }

    fn schedule(&self) -> Schedule {
        self.workload.schedule()
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let groups = self.workload.groups()?;
        (groups.len() == 1).then(|| one_group(self.pages()))
    }
}
