//! Naive drive that maps units of several pages of the host.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::drive::{Counters, NaiveDrive};
use crate::setup::{Hint, HostGroup, Setup};
use crate::tags::UNTAGGED;

/// Naive drive whose pages are mapping units; the host writes smaller pages.
pub struct UnitDrive {
    drive: NaiveDrive,
    pages_per_unit: u32,
    partial_units: u64,
    host_pages: u64,
}

impl UnitDrive {
    /// Returns a new, erased drive. The pages of the setup are units of `pages_per_unit` pages.
    pub fn new(setup: Setup, pages_per_unit: u32) -> Self {
        UnitDrive { drive: NaiveDrive::new(setup), pages_per_unit, partial_units: 0, host_pages: 0 }
    }

    /// Serves one write request of these pages of the host.
    ///
    /// A unit of which the request has some pages is written as a whole. `group_of` is the group of
    /// a page, and that of a unit's first page is the group of the unit.
    pub fn write(&mut self, pages: Range<u32>, group_of: impl Fn(u32) -> u8) {
        self.host_pages += u64::from(pages.end - pages.start);
        for (unit, written) in self.units(pages) {
            self.partial_units += u64::from(written < self.pages_per_unit);
            let group = group_of(unit * self.pages_per_unit);
            let hint = Hint { group, invalidation_time: None, tag: UNTAGGED, handle: None };
            self.drive.write(unit, hint);
        }
    }

    /// Sets the host's groups of units.
    pub fn set_host_groups(&mut self, groups: &[HostGroup]) {
        self.drive.set_host_groups(groups);
    }

    /// Serves a TRIM of these pages of the host, which frees the units of which it has all pages.
    pub fn trim(&mut self, pages: Range<u32>) {
        for (unit, trimmed) in self.units(pages) {
            if trimmed == self.pages_per_unit {
                self.drive.trim(unit);
            }
        }
    }

    /// Returns the units of these pages, and how many of the pages each has.
    fn units(&self, pages: Range<u32>) -> BTreeMap<u32, u32> {
        let mut units = BTreeMap::new();
        for page in pages {
            *units.entry(page / self.pages_per_unit).or_default() += 1;
        }
        units
    }

    /// Returns the counters; programs are units.
    pub fn counters(&self) -> Counters {
        self.drive.counters()
    }

    /// Returns how many units were written of which a request had only some pages.
    pub fn partial_units(&self) -> u64 {
        self.partial_units
    }

    /// Returns how many pages the host wrote.
    pub fn host_pages(&self) -> u64 {
        self.host_pages
    }
}
