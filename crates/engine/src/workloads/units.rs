//! Writes of pages on a drive that maps larger units, each of several of these pages.

use super::io::Merger;
use super::{Pacing, Schedule, Step, Unserved, Workload, one_group};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::request::{Op, Request};
use crate::state::state;

/// Workload of pages on a drive whose pages are mapping units of several of them.
///
/// A request that covers a unit in part writes the whole unit. A TRIM frees whole units only. A unit
/// belongs to the group of its first page, if groups are ranges of pages. Otherwise a unit may have
/// pages of many groups, so that its group is unknown.
pub struct Units {
    workload: Box<dyn Workload>,
    /// Pages of the workload in a unit.
    pages_per_unit: u32,
    page_bytes: u32,
    /// Groups of units; empty if they are unknown or one group.
    groups: Vec<Group>,
    merger: Merger,
}

state!(Units {
    nested workload, fixed pages_per_unit, fixed page_bytes, fixed groups, nested merger,
} where is_sound);

impl Units {
    /// Wraps a workload of pages of `page_bytes`, of which `pages_per_unit` are a unit.
    pub fn new(workload: Box<dyn Workload>, pages_per_unit: u32, page_bytes: u32) -> Self {
        let ranges = workload.groups().filter(|_| workload.has_fixed_ranges());
        let groups = in_units(&ranges.unwrap_or_default(), pages_per_unit);
        Units { workload, pages_per_unit, page_bytes, groups, merger: Merger::default() }
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
        if !self.groups.is_empty() {
            return Some(self.groups.clone());
        }
        let groups = self.workload.groups()?;
        (groups.len() == 1).then(|| one_group(self.pages()))
    }

    fn check_groups(&self) -> Result<()> {
        if self.groups().is_some() || self.workload.groups().is_none() {
            return Ok(());
        }
        Err(Error::Spec(
            "the block manager needs hints on the group of each page, but a mapping unit may have \
             pages of several groups of this workload; use a manager without hints, such as \
             sepbit, or a workload whose groups are fixed ranges of pages, such as hot-cold"
                .into(),
        ))
    }

    fn find_groups(&self, units: &[u32], group_of: &mut [u8]) {
        if self.groups.is_empty() {
            return group_of.fill(0);
        }
        for (group, &unit) in group_of.iter_mut().zip(units) {
            let first_page = unit * self.pages_per_unit;
            self.workload.find_groups(&[first_page], std::slice::from_mut(group));
        }
    }
}

/// Returns the groups of units, whose first pages decide, of groups that are ranges of pages.
fn in_units(groups: &[Group], pages_per_unit: u32) -> Vec<Group> {
    let mut end_page = 0;
    let in_units = groups.iter().map(|group| {
        let first_unit = u32::div_ceil(end_page, pages_per_unit);
        end_page += group.pages;
        Group { pages: end_page.div_ceil(pages_per_unit) - first_unit, ..*group }
    });
    in_units.collect()
}

#[cfg(test)]
mod tests;
