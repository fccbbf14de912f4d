//! Simulation: a workload that drives a drive.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::flash::Counters;
use crate::foresight::Foresight;
use crate::hints::{Hints, NEVER, RequiredHints, UNTAGGED, hottest_group};
use crate::managers::BlockManager;
use crate::observe::Series;
use crate::request::{Op, Request};
use crate::state::{self, state};
use crate::workloads::{Schedule, Step, Unserved, Workload};

/// Default pages per batch: enough for prefetching, and few enough for the processor's
/// first-level cache.
pub const DEFAULT_BATCH_PAGES: usize = 1024;

/// Most pages of a batch.
/// Larger batches are not faster, and the limit bounds the memory of the buffer.
const MAX_BATCH_PAGES: usize = 1 << 20;

/// Drive and its workload.
pub struct Simulation {
    drive: Box<dyn BlockManager>,
    workload: Box<dyn Workload>,
    buffer: Vec<u32>,
    hinted: Hinted,
    series: Series,
}

// The batch size does not change the result, so a state may be restored with another one.
state! {
    Simulation {
        nested drive,
        nested workload,
        scratch buffer,
        nested hinted,
        nested series,
    } where is_sound
}

impl Simulation {
    /// Combines a drive with a workload, and starts the series.
    /// Pages are passed to the drive in batches of `batch_pages`, which does not change the result.
    pub fn new(
        drive: Box<dyn BlockManager>,
        workload: Box<dyn Workload>,
        batch_pages: usize,
    ) -> Result<Self> {
        let logical_pages = drive.flash().logical_pages();
        if workload.pages() > logical_pages {
            return Err(Error::OffTheEnd { page: workload.pages() - 1, logical_pages });
        }
        let series = Series::unsampled(*drive.flash().counters()).with_tags(drive.flash());
        let buffer = vec![0; batch_pages.clamp(1, MAX_BATCH_PAGES)];
        if drive.required_hints() == RequiredHints::Groups {
            workload.check_groups()?;
        }
        let hinted = Hinted::new(drive.required_hints(), &*workload)?;
        Ok(Simulation { drive, workload, buffer, hinted, series })
    }

    /// Saves the run. A restored run continues bit for bit, in any process.
    pub fn save(&self) -> Vec<u8> {
        state::pack(self)
    }

    /// Restores the run saved as `bytes` into one that was built in the same way.
    /// Any progress of this run is overwritten. Returns an error if `bytes` are not a state of such
    /// a run.
    pub fn restored(mut self, bytes: &[u8]) -> Result<Self> {
        state::unpack(&mut self, bytes)?;
        Ok(self)
    }

    fn is_sound(&self) -> bool {
        let flash = self.drive.flash();
        self.series.precedes_next_sample(flash.counters()) && self.series.has_tags_of(flash)
    }

    /// Initial fill: writes the logical pages `first` to `end` − 1 once, in order.
    /// The invalidation times of these pages are unknown. The fill ends the current series: call
    /// [`Self::start_series`] afterwards.
    pub fn fill(&mut self, first: u32, end: u32) -> Result<()> {
        let step = self.buffer.len();
        for first in (first..end).step_by(step) {
            let count = step.min((end - first) as usize);
            for (slot, page) in self.buffer.iter_mut().zip(first..).take(count) {
                *slot = page;
            }
            self.hinted.forget_next(count);
            self.write_in_order(count)?;
        }
        // The clock has passed sampling points of the old series during the fill, so a new series
        // begins.
        self.series = self.series_from_now(u64::MAX);
        Ok(())
    }

    /// Preconditions the drive with another host before the workload begins.
    /// That host writes `pages` pages, or fewer if its workload ends. It also issues its other
    /// requests between the writes. Returns the number of pages written. For the drive these are
    /// pages of the workload with the same numbers, and with unknown invalidation times. This ends
    /// the current series: call [`Self::start_series`] afterwards.
    pub fn precondition(&mut self, host: &mut dyn Workload, pages: u64) -> Result<u64> {
        self.check_fits(host)?;
        let mut left = pages;
        while left > 0 {
            let most = left.min(self.buffer.len() as u64) as usize;
            match host.next(&mut self.buffer[..most]) {
                Step::Writes(count) => {
                    self.hinted.forget_next(count);
                    self.write(count)?;
                    left -= count as u64;
                }
                Step::Request(request) => self.drive.serve(&request, None)?,
                Step::End => break,
            }
        }
        // Reads and flushes that the other host has skipped are discarded, so that a later series
        // does not count them.
        host.take_unserved();
        self.series = self.series_from_now(u64::MAX);
        self.assert_invariants();
        Ok(pages - left)
    }

    /// Checks that the host's pages are within the workload's pages if the drive needs hints on
    /// groups. Groups are known for these pages only. Otherwise, the drive's pages are the limit.
    fn check_fits(&self, host: &dyn Workload) -> Result<()> {
        let logical_pages = match self.hinted.required_hints {
            RequiredHints::Groups | RequiredHints::Handles if self.workload.groups().is_some() => {
                self.workload.pages()
            }
            _ => self.drive.flash().logical_pages(),
        };
        if host.pages() > logical_pages {
            return Err(Error::OffTheEnd { page: host.pages() - 1, logical_pages });
        }
        Ok(())
    }

    /// Starts a new series, sampled every `interval_pages` host pages.
    pub fn start_series(&mut self, interval_pages: u64) {
        self.series = self.series_from_now(interval_pages);
    }

    fn series_from_now(&self, interval_pages: u64) -> Series {
        let flash = self.drive.flash();
        Series::new(*flash.counters(), interval_pages).with_tags(flash)
    }

    /// Takes a sample of the series if one is due.
    fn observe(&mut self) {
        let flash = self.drive.flash();
        if self.series.observe(flash.counters()) {
            self.series.observe_tags(flash);
        }
    }

    /// Lets the host write `pages` more pages, or fewer if the workload ends. Returns the number.
    /// Requests are merged and split into batches of page writes, which is faster and equivalent
    /// without timing.
    pub fn run(&mut self, pages: u64) -> Result<u64> {
        let mut left = pages;
        while left > 0 {
            let most = left
                .min(self.series.until_next(self.drive.flash().counters()))
                .min(self.buffer.len() as u64) as usize;
            let now = self.now();
            let step = self.hinted.next(&mut *self.workload, &mut self.buffer[..most], now);
            match step {
                Step::Writes(count) => {
                    self.write(count)?;
                    left -= count as u64;
                }
                Step::Request(request) => self.drive.serve(&request, None)?,
                Step::End => {}
            }
            self.count_unserved();
            self.observe();
            if step == Step::End {
                break;
            }
        }
        self.assert_invariants();
        Ok(pages - left)
    }

    /// Lets the host issue its requests up to its next write, but not beyond the current pass
    /// over its trace. If writes are drawn ahead, the ends of passes are unknown, and the next pass
    /// may begin.
    pub fn run_to_write(&mut self) -> Result<()> {
        loop {
            let now = self.now();
            let step = self.hinted.next(&mut *self.workload, &mut [], now);
            if let Step::Request(request) = step {
                self.drive.serve(&request, None)?;
            }
            self.count_unserved();
            if !matches!(step, Step::Request(_)) {
                return Ok(());
            }
        }
    }

    /// Counts the skipped requests (reads and flushes).
    /// They change no state, so batches of writes are not split at them.
    fn count_unserved(&mut self) {
        let unserved = self.hinted.take_unserved(&mut *self.workload);
        if let Some(tags) = self.drive.tags_mut() {
            let partials = self.hinted.partials(&*self.workload);
            for &(tag, bytes) in partials {
                tags.count_partial(tag, bytes);
            }
        }
        let host = self.drive.host_mut();
        host.read_pages += unserved.read_pages;
        host.read_bytes += unserved.read_bytes;
        host.flushes += unserved.flushes;
        host.partial_pages += unserved.partial_pages;
        // In a forged saved state, more bytes may be skipped than were written; the subtraction
        // must not overflow.
        host.written_bytes = host.written_bytes.saturating_sub(unserved.partial_bytes);
    }

    /// Lets the host issue its next request. Returns it, or None at the end of the workload.
    /// The drive reaches the same state as with [`Self::run`].
    pub fn serve_next(&mut self) -> Result<Option<Request>> {
        let now = self.now();
        let Some(request) = self.hinted.next_request(&mut *self.workload, now) else {
            return Ok(None);
        };
        if request.op == Op::Write {
            self.buffer.clear();
            self.buffer.extend(request.range());
            self.hinted.tag_all(request.tag, self.buffer.len());
            self.write(self.buffer.len())?;
            let host = self.drive.host_mut();
            host.written_bytes -= request.partial_bytes();
            host.partial_pages += request.partial_pages();
            if let Some(tags) = self.drive.tags_mut() {
                tags.count_partial(request.tag, request.partial_bytes());
            }
            self.observe();
        } else {
            self.drive.serve(&request, None)?;
        }
        Ok(Some(request))
    }

    /// Lets the host issue requests until it has written `pages` more pages, or the workload
    /// ends. Returns the pages written.
    pub fn run_requests(&mut self, pages: u64) -> Result<u64> {
        let start = self.now();
        while self.now() - start < pages && self.serve_next()?.is_some() {}
        self.assert_invariants();
        Ok(self.now() - start)
    }

    /// Writes the first `count` pages of the buffer.
    fn write(&mut self, count: usize) -> Result<()> {
        let pages = &self.buffer[..count];
        let hints = self.hinted.find(&*self.workload, pages);
        self.drive.write(pages, hints)
    }

    /// Writes pages in ascending order, the last of which may be beyond the workload's pages.
    fn write_in_order(&mut self, count: usize) -> Result<()> {
        let own_pages = self.workload.pages();
        let own = self.buffer[..count].partition_point(|&page| page < own_pages);
        if own > 0 {
            self.write(own)?;
        }
        let beyond = &self.buffer[own..count];
        if beyond.is_empty() {
            return Ok(());
        }
        let hints = self.hinted.find_beyond(&*self.workload, own..count);
        self.drive.write(beyond, hints)
    }

    fn now(&self) -> u64 {
        self.drive.flash().counters().host.written_pages
    }

    fn assert_invariants(&self) {
        if cfg!(any(debug_assertions, fuzzing)) && self.drive.flash().logical_pages() < 100_000 {
            self.drive.assert_invariants();
        }
    }

    /// Workload that drives the drive.
    pub fn workload(&self) -> &dyn Workload {
        &*self.workload
    }

    /// Times at which the workload changes, as far as they are known in advance.
    pub fn schedule(&self) -> Schedule {
        self.workload.schedule()
    }

    /// Returns the drive, for use with another host.
    pub fn into_drive(self) -> Box<dyn BlockManager> {
        self.drive
    }

    /// Drive that the workload writes to.
    pub fn drive(&self) -> &dyn BlockManager {
        &*self.drive
    }

    /// Mutable drive, for operations outside a workload.
    pub fn drive_mut(&mut self) -> &mut dyn BlockManager {
        &mut *self.drive
    }

    /// Kind of hints that the drive requires; for handles, the kind that the workload has.
    pub fn hints(&self) -> RequiredHints {
        match self.hinted.required_hints {
            RequiredHints::Handles if !self.hinted.are_tags_hints => RequiredHints::Groups,
            required_hints => required_hints,
        }
    }

    /// Counters since the drive was new.
    pub fn counters(&self) -> &Counters {
        self.drive.flash().counters()
    }

    /// Samples of the counters since the series was started.
    pub fn series(&self) -> &Series {
        &self.series
    }
}

/// Buffers for the hints that the drive requires, and their source.
struct Hinted {
    required_hints: RequiredHints,
    /// Group of each page of a batch.
    group_of: Vec<u8>,
    /// Groups as last returned by the workload.
    groups: Vec<crate::hints::Group>,
    foresight: Option<Foresight>,
    /// Invalidation time of each page of a batch.
    invalidation_times: Vec<u64>,
    /// Tag of each page of a batch; empty if the pages have no tags.
    tags: Vec<u8>,
    /// True if the tags are the placement hints that the drive requires.
    are_tags_hints: bool,
}

state! {
    Hinted {
        fixed required_hints,
        scratch group_of,
        scratch groups,
        nested foresight,
        scratch invalidation_times,
        scratch tags,
        fixed are_tags_hints,
    }
}

impl Hinted {
    fn new(required_hints: RequiredHints, workload: &dyn Workload) -> Result<Self> {
        // A workload without writes has no invalidation times to search for.
        let foresees = required_hints == RequiredHints::InvalidationTimes && workload.writes();
        let foresight = foresees.then(|| Foresight::new(workload)).transpose()?;
        Ok(Hinted {
            required_hints,
            group_of: Vec::new(),
            groups: Vec::new(),
            foresight,
            invalidation_times: Vec::new(),
            tags: Vec::new(),
            are_tags_hints: required_hints == RequiredHints::Handles && workload.has_tags(),
        })
    }

    /// Marks the invalidation times of the next `count` pages as unknown, and leaves these pages
    /// without tags.
    fn forget_next(&mut self, count: usize) {
        self.invalidation_times.clear();
        self.invalidation_times.resize(count, NEVER);
        self.tags.clear();
        if self.are_tags_hints {
            self.tags.resize(count, UNTAGGED);
        }
    }

    /// Gives all of the next `count` pages the same tag.
    fn tag_all(&mut self, tag: u8, count: usize) {
        self.tags.clear();
        self.tags.resize(count, tag);
    }

    fn next(&mut self, workload: &mut dyn Workload, pages: &mut [u32], now: u64) -> Step {
        self.tags.clear();
        let Some(foresight) = &mut self.foresight else {
            let step = workload.next(pages);
            self.tags.extend_from_slice(workload.tags());
            return step;
        };
        let step = foresight.next(workload, pages, &mut self.invalidation_times, now);
        self.tags.extend_from_slice(foresight.tags());
        step
    }

    fn next_request(&mut self, workload: &mut dyn Workload, now: u64) -> Option<Request> {
        let Some(foresight) = &mut self.foresight else { return workload.next_request() };
        foresight.next_request(workload, &mut self.invalidation_times, now)
    }

    /// Returns the skipped reads and flushes before the last issued write, each only once.
    fn take_unserved(&mut self, workload: &mut dyn Workload) -> Unserved {
        match &mut self.foresight {
            None => workload.take_unserved(),
            Some(foresight) => foresight.take_unserved(),
        }
    }

    /// Tags and bytes of the partial pages of the requests that were issued last.
    fn partials<'a>(&'a mut self, workload: &'a dyn Workload) -> &'a [(u8, u64)] {
        match &mut self.foresight {
            None => workload.partials(),
            Some(foresight) => foresight.partials(),
        }
    }

    /// Hints on pages beyond the workload's, such as those of a mapping table.
    /// These pages are assigned to the most often written group.
    fn find_beyond(&mut self, workload: &dyn Workload, places: Range<usize>) -> Option<Hints<'_>> {
        match self.required_hints {
            RequiredHints::Nothing => None,
            RequiredHints::InvalidationTimes => {
                let invalidation_times = &self.invalidation_times[places];
                Some(Hints { invalidation_times, ..Hints::default() })
            }
            RequiredHints::Handles if self.are_tags_hints => {
                Some(Hints { placement: &self.tags[places], ..Hints::default() })
            }
            RequiredHints::Groups | RequiredHints::Handles => {
                self.groups = workload.groups()?;
                self.group_of.clear();
                self.group_of.resize(places.len(), hottest_group(&self.groups));
                Some(Hints { groups: &self.groups, group_of: &self.group_of, ..Hints::default() })
            }
        }
    }

    /// Hints on the pages that the workload returned last.
    fn find(&mut self, workload: &dyn Workload, pages: &[u32]) -> Option<Hints<'_>> {
        let tags = self.tags.get(..pages.len()).unwrap_or_default();
        match self.required_hints {
            RequiredHints::Nothing => Some(Hints { tags, ..Hints::default() }),
            RequiredHints::InvalidationTimes => {
                let invalidation_times = &self.invalidation_times[..pages.len()];
                Some(Hints { invalidation_times, tags, ..Hints::default() })
            }
            RequiredHints::Handles if self.are_tags_hints => {
                Some(Hints { placement: tags, ..Hints::default() })
            }
            RequiredHints::Groups | RequiredHints::Handles => {
                self.groups = workload.groups()?;
                self.group_of.resize(pages.len(), 0);
                workload.find_groups(pages, &mut self.group_of);
                let (groups, group_of) = (&self.groups, &self.group_of);
                Some(Hints { groups, group_of, tags, ..Hints::default() })
            }
        }
    }
}
