//! A workload driving a drive.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::flash::Counters;
use crate::foresight::Foresight;
use crate::hints::{Hears, Hints, NEVER, hottest_group};
use crate::managers::BlockManager;
use crate::observe::Series;
use crate::request::{Op, Request};
use crate::state::{self, state};
use crate::workloads::{Schedule, Step, Unserved, Workload};

/// Pages handed to the drive at once.
/// They are enough for look-ahead, few enough for the first-level cache.
pub const DEFAULT_BATCH_PAGES: usize = 1024;

/// Most pages of a batch: larger ones gain nothing, and the bound keeps the buffer small.
const MAX_BATCH_PAGES: usize = 1 << 20;

/// A drive and what the host does to it.
pub struct Simulation {
    drive: Box<dyn BlockManager>,
    workload: Box<dyn Workload>,
    buffer: Vec<u32>,
    hinted: Hinted,
    series: Series,
}

// How many pages are handed over at once changes nothing, so a state may be restored with others.
state! {
    Simulation {
        part drive,
        part workload,
        scratch buffer,
        part hinted,
        part series,
    } where is_sound
}

impl Simulation {
    /// A drive with a workload; pages are handed over `batch_pages` at a time, which does not
    /// change the outcome. The series starts here.
    pub fn new(
        drive: Box<dyn BlockManager>,
        workload: Box<dyn Workload>,
        batch_pages: usize,
    ) -> Result<Self> {
        let logical_pages = drive.flash().logical_pages();
        if workload.pages() > logical_pages {
            return Err(Error::OffTheEnd { page: workload.pages() - 1, logical_pages });
        }
        let series = Series::unsampled(*drive.flash().counters());
        let buffer = vec![0; batch_pages.clamp(1, MAX_BATCH_PAGES)];
        let hinted = Hinted::new(drive.hears(), &*workload)?;
        Ok(Simulation { drive, workload, buffer, hinted, series })
    }

    /// Saves all that is needed to go on from here in another process, bit for bit as here.
    pub fn save(&self) -> Vec<u8> {
        state::pack(self)
    }

    /// Restores the run that was saved as `bytes`, from one that was built in the same way.
    /// It does not matter how far this one has come. What is not such a state is refused.
    pub fn restored(mut self, bytes: &[u8]) -> Result<Self> {
        state::unpack(&mut self, bytes)?;
        Ok(self)
    }

    fn is_sound(&self) -> bool {
        self.series.goes_on_from(self.drive.flash().counters())
    }

    /// Writes logical pages `first` to `end` − 1 once, in order: (a part of) the initial fill.
    /// The time at which these pages will be invalid is not foreseen. A series that is to count
    /// only what follows must be started afterwards.
    pub fn fill(&mut self, first: u32, end: u32) -> Result<()> {
        let step = self.buffer.len();
        for first in (first..end).step_by(step) {
            let count = step.min((end - first) as usize);
            for (slot, page) in self.buffer.iter_mut().zip(first..).take(count) {
                *slot = page;
            }
            self.hinted.forget_times(count);
            self.write_in_order(count)?;
        }
        // Samples are due at fixed distances from the start, which the fill has passed by.
        self.series = Series::unsampled(*self.drive.flash().counters());
        Ok(())
    }

    /// Preconditions the drive: another host uses it before the workload begins.
    /// That host writes `pages` pages, or fewer if it ends, and issues what lies between; returns
    /// how many it wrote. The drive takes its pages for those of the same numbers of the workload,
    /// and does not foresee when they will be invalid. A series that is to count only what follows
    /// must be started afterwards.
    pub fn precondition(&mut self, host: &mut dyn Workload, pages: u64) -> Result<u64> {
        self.check_fits(host)?;
        let mut left = pages;
        while left > 0 {
            let most = left.min(self.buffer.len() as u64) as usize;
            match host.next(&mut self.buffer[..most]) {
                Step::Writes(count) => {
                    self.hinted.forget_times(count);
                    self.write(count)?;
                    left -= count as u64;
                }
                Step::Request(request) => self.drive.serve(&request, None)?,
                Step::End => break,
            }
        }
        // Nobody asks for these counts: the series that is to come begins without them.
        host.take_unserved();
        self.series = Series::unsampled(*self.drive.flash().counters());
        self.assert_invariants();
        Ok(pages - left)
    }

    /// Groups are known of the workload's own pages only.
    fn check_fits(&self, host: &dyn Workload) -> Result<()> {
        let logical_pages = match self.hinted.hears {
            Hears::Groups if self.workload.groups().is_some() => self.workload.pages(),
            _ => self.drive.flash().logical_pages(),
        };
        if host.pages() > logical_pages {
            return Err(Error::OffTheEnd { page: host.pages() - 1, logical_pages });
        }
        Ok(())
    }

    /// Starts a new series here, sampled every `interval_pages` host pages.
    pub fn start_series(&mut self, interval_pages: u64) {
        self.series = Series::new(*self.drive.flash().counters(), interval_pages);
    }

    /// Lets the host write `pages` more pages, or fewer if the workload ends; returns how many.
    /// Requests are merged and cut to batches of page writes, as is good for speed where time plays
    /// no part.
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
            self.series.observe(self.drive.flash().counters());
            if step == Step::End {
                break;
            }
        }
        self.assert_invariants();
        Ok(pages - left)
    }

    /// Lets the host issue its requests before its next write, within the pass over its trace.
    /// Where writes are foreseen passes have no ends, and the next one may begin.
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

    /// Counts the requests that were passed over: they change nothing, so they break no batch.
    fn count_unserved(&mut self) {
        let unserved = self.hinted.take_unserved(&mut *self.workload);
        let host = self.drive.host_mut();
        host.read_pages += unserved.read_pages;
        host.read_bytes += unserved.read_bytes;
        host.flushes += unserved.flushes;
        // A state that somebody made up may have passed over more than was written.
        host.written_bytes = host.written_bytes.saturating_sub(unserved.partial_bytes);
    }

    /// Lets the host issue its next request; returns it, or `None` at the workload's end.
    /// The drive comes to the same state as under [`Self::run`].
    pub fn serve_next(&mut self) -> Result<Option<Request>> {
        let now = self.now();
        let Some(request) = self.hinted.next_request(&mut *self.workload, now) else {
            return Ok(None);
        };
        if request.op == Op::Write {
            self.buffer.clear();
            self.buffer.extend(request.range());
            self.write(self.buffer.len())?;
            self.drive.host_mut().written_bytes -= request.partial_bytes();
            self.series.observe(self.drive.flash().counters());
        } else {
            self.drive.serve(&request, None)?;
        }
        Ok(Some(request))
    }

    /// Lets the host issue requests until it has written at least `pages` more pages, or has no
    /// more; returns how many it wrote.
    pub fn run_requests(&mut self, pages: u64) -> Result<u64> {
        let before = self.now();
        while self.now() - before < pages && self.serve_next()?.is_some() {}
        self.assert_invariants();
        Ok(self.now() - before)
    }

    /// Writes the first `count` pages of the buffer.
    fn write(&mut self, count: usize) -> Result<()> {
        let pages = &self.buffer[..count];
        let hints = self.hinted.find(&*self.workload, pages);
        self.drive.write(pages, hints)
    }

    /// Writes pages in ascending order, of which the last may lie beyond the workload's.
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

    /// The workload.
    pub fn workload(&self) -> &dyn Workload {
        &*self.workload
    }

    /// The changes of the workload that are known beforehand.
    pub fn schedule(&self) -> Schedule {
        self.workload.schedule()
    }

    /// The drive alone, for another host.
    pub fn into_drive(self) -> Box<dyn BlockManager> {
        self.drive
    }

    /// The drive.
    pub fn drive(&self) -> &dyn BlockManager {
        &*self.drive
    }

    /// The drive, for what no workload does.
    pub fn drive_mut(&mut self) -> &mut dyn BlockManager {
        &mut *self.drive
    }

    /// Counts since the drive was new.
    pub fn counters(&self) -> &Counters {
        self.drive.flash().counters()
    }

    /// Counts at equal distances since the series was started.
    pub fn series(&self) -> &Series {
        &self.series
    }
}

/// The source of the hints that a drive hears.
struct Hinted {
    hears: Hears,
    /// The group of each page of a batch.
    group_of: Vec<u8>,
    /// The groups as the workload gave them last.
    groups: Vec<crate::hints::Group>,
    foresight: Option<Foresight>,
    /// Time at which each page of a batch will be invalid.
    invalidation_times: Vec<u64>,
}

state! {
    Hinted {
        fixed hears,
        scratch group_of,
        scratch groups,
        part foresight,
        scratch invalidation_times,
    }
}

impl Hinted {
    fn new(hears: Hears, workload: &dyn Workload) -> Result<Self> {
        // Who never writes gives nothing to foresee, however far one looks.
        let foresees = hears == Hears::InvalidationTimes && workload.writes();
        let foresight = foresees.then(|| Foresight::new(workload)).transpose()?;
        Ok(Hinted {
            hears,
            group_of: Vec::new(),
            groups: Vec::new(),
            foresight,
            invalidation_times: Vec::new(),
        })
    }

    /// Gives the pages that come next no invalidation times: they are not foreseen.
    fn forget_times(&mut self, count: usize) {
        self.invalidation_times.clear();
        self.invalidation_times.resize(count, NEVER);
    }

    fn next(&mut self, workload: &mut dyn Workload, pages: &mut [u32], now: u64) -> Step {
        let Some(foresight) = &mut self.foresight else { return workload.next(pages) };
        foresight.next(workload, pages, &mut self.invalidation_times, now)
    }

    fn next_request(&mut self, workload: &mut dyn Workload, now: u64) -> Option<Request> {
        let Some(foresight) = &mut self.foresight else { return workload.next_request() };
        foresight.next_request(workload, &mut self.invalidation_times, now)
    }

    /// Takes what was passed over of the requests issued so far.
    fn take_unserved(&mut self, workload: &mut dyn Workload) -> Unserved {
        match &mut self.foresight {
            None => workload.take_unserved(),
            Some(foresight) => foresight.take_unserved(),
        }
    }

    /// The hints on pages beyond the workload's, in those places of the batch: a mapping table's.
    /// They are said to be of the group that is written most often.
    fn find_beyond(&mut self, workload: &dyn Workload, places: Range<usize>) -> Option<Hints<'_>> {
        match self.hears {
            Hears::Nothing => None,
            Hears::InvalidationTimes => {
                let invalidation_times = &self.invalidation_times[places];
                Some(Hints { invalidation_times, ..Hints::default() })
            }
            Hears::Groups => {
                self.groups = workload.groups()?;
                self.group_of.clear();
                self.group_of.resize(places.len(), hottest_group(&self.groups));
                Some(Hints { groups: &self.groups, group_of: &self.group_of, ..Hints::default() })
            }
        }
    }

    /// The hints on pages that the workload returned last.
    fn find(&mut self, workload: &dyn Workload, pages: &[u32]) -> Option<Hints<'_>> {
        match self.hears {
            Hears::Nothing => None,
            Hears::InvalidationTimes => {
                let invalidation_times = &self.invalidation_times[..pages.len()];
                Some(Hints { invalidation_times, ..Hints::default() })
            }
            Hears::Groups => {
                self.groups = workload.groups()?;
                self.group_of.resize(pages.len(), 0);
                workload.find_groups(pages, &mut self.group_of);
                Some(Hints { groups: &self.groups, group_of: &self.group_of, ..Hints::default() })
            }
        }
    }
}
