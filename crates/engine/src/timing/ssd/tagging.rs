//! Counters by tag of a drive with timing.
//!
//! A page in the write cache has the tag of its last write, and its earlier version on flash keeps
//! its own tag until the new version is programmed: a collection meanwhile moves the old data.
//! Pages that the host writes count when their request is served, as the host's counters do.

use super::{Ssd, TagShift};
use crate::error::Result;
use crate::flash::{Array, Cause, Table, TagCounters, filled};
use crate::hints::UNTAGGED;

/// Counters by tag, and the tags of pages in the SLC cache.
#[derive(Debug)]
pub struct Tagging {
    counters: TagCounters,
    /// Tag of each host page that is in the SLC cache; empty if there is no SLC cache.
    in_slc: Table<u8>,
    /// Programs by tag and cause since the start of late work, if such work is being done.
    late: Option<Vec<(u8, Cause)>>,
    shifts: Vec<TagShift>,
}

impl Tagging {
    /// Builds the counters of a drive. Returns None if it does not count by tag.
    pub fn new(flash: &Array, has_slc: bool, host_pages: u32) -> Result<Option<Box<Self>>> {
        let Some(counted) = flash.tag_counters() else { return Ok(None) };
        let slc_pages = if has_slc { host_pages as usize } else { 0 };
        Ok(Some(Box::new(Tagging {
            counters: TagCounters::new(counted.number()),
            in_slc: filled(UNTAGGED, slc_pages)?,
            late: None,
            shifts: Vec::new(),
        })))
    }

    /// Counters by tag since the device was new.
    pub fn counters(&self) -> &TagCounters {
        &self.counters
    }

    /// Corrections of the counters of each interval; see [`crate::timing::late`].
    pub fn shifts(&self) -> &[TagShift] {
        &self.shifts
    }

    /// Counts a write of the host.
    pub fn count_host(&mut self, tag: u8, pages: u64, bytes: u64) {
        self.counters.count_host(tag, pages, bytes);
    }

    /// Begins work for a write of an earlier interval of the host.
    pub fn begin_late(&mut self) {
        self.late = Some(Vec::new());
    }

    /// Ends work for a write of one interval, which was done in the interval `now`.
    /// Both are places of corrections.
    pub fn end_late(&mut self, interval: usize, now: usize) {
        self.shifts.resize_with(now + 1, TagShift::new);
        for (tag, cause) in self.late.take().into_iter().flatten() {
            let place = self.counters.place_of(tag, cause);
            *self.shifts[interval].entry(place).or_default() += 1;
            *self.shifts[now].entry(place).or_default() -= 1;
        }
    }

    /// Begins the corrections of a new load; see [`super::Lateness::begin_load`].
    pub fn begin_load(&mut self) {
        self.shifts.clear();
    }
}

impl Ssd {
    /// Counts a program of a page with this tag.
    #[inline(always)]
    pub(super) fn count_program(&mut self, cause: Cause, tag: u8) {
        self.counters.count_programs(cause, 1);
        if let Some(tagging) = &mut self.tagging {
            tagging.counters.count_programs(tag, cause, 1);
            if let Some(late) = &mut tagging.late {
                late.push((tag, cause));
            }
        }
    }

    /// Tag of a page in the SLC cache.
    pub(super) fn slc_tag(&self, page: u32) -> u8 {
        self.tagging.as_ref().map_or(UNTAGGED, |tagging| tagging.in_slc[page as usize])
    }

    /// Sets the tag of a page in the SLC cache.
    pub(super) fn tag_in_slc(&mut self, page: u32, tag: u8) {
        if let Some(tagging) = &mut self.tagging {
            tagging.in_slc[page as usize] = tag;
        }
    }
}
