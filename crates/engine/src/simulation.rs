//! A workload driving a drive.

use crate::error::{Error, Result};
use crate::flash::{Cause, Counters, Observer};
use crate::foresight::Foresight;
use crate::hints::{Hints, NEVER};
use crate::managers::BlockManager;
use crate::observe::Series;
use crate::workloads::{Step, Workload};

/// Pages handed to the drive at once: enough for look-ahead, few enough for the first-level cache.
pub const DEFAULT_BATCH_PAGES: usize = 1024;

/// Larger batches gain nothing; the bound keeps the buffer small.
const MAX_BATCH_PAGES: usize = 1 << 20;

/// A drive and what the host does to it.
pub struct Simulation<O: Observer> {
    drive: Box<dyn BlockManager<O>>,
    workload: Box<dyn Workload>,
    buffer: Vec<u32>,
    /// The group of each page of the buffer, for drives that want hints.
    group_of: Vec<u8>,
    /// For drives that want to know when pages will be invalid, with a slot for each of the buffer.
    foresight: Option<Foresight>,
    invalidation_times: Vec<u64>,
    series: Series,
}

impl<O: Observer> Simulation<O> {
    /// A drive with a workload; pages are handed over `batch_pages` at a time, which does not
    /// change the outcome. The series starts here.
    pub fn new(
        drive: Box<dyn BlockManager<O>>,
        workload: Box<dyn Workload>,
        batch_pages: usize,
    ) -> Result<Self> {
        let logical_pages = drive.flash().logical_pages();
        if workload.pages() > logical_pages {
            return Err(Error::OffTheEnd { page: workload.pages() - 1, logical_pages });
        }
        let series = Series::unsampled(*drive.flash().counters());
        let batch_pages = batch_pages.clamp(1, MAX_BATCH_PAGES);
        let (buffer, group_of) = (vec![0; batch_pages], vec![0; batch_pages]);
        let foresees = drive.needs_invalidation_times();
        let foresight = foresees.then(|| Foresight::new(&*workload)).transpose()?;
        let invalidation_times = if foresees { vec![NEVER; batch_pages] } else { Vec::new() };
        Ok(Simulation { drive, workload, buffer, group_of, foresight, invalidation_times, series })
    }

    /// Writes logical pages `first` to `end` − 1 once, in order: (a part of) the initial fill. What
    /// becomes of these pages is not foreseen.
    /// A series that is to count only what follows must be started afterwards.
    pub fn fill(&mut self, first: u32, end: u32) -> Result<()> {
        let step = self.buffer.len();
        for first in (first..end).step_by(step) {
            let count = step.min((end - first) as usize);
            let batch = &mut self.buffer[..count];
            for (slot, page) in batch.iter_mut().zip(first..) {
                *slot = page;
            }
            self.invalidation_times.fill(NEVER);
            self.write(count)?;
        }
        // Samples are due at fixed distances from the start, which the fill has passed by.
        self.series = Series::unsampled(*self.drive.flash().counters());
        Ok(())
    }

    /// Starts a new series here, sampled every `interval_pages` host pages.
    pub fn start_series(&mut self, interval_pages: u64) {
        self.series = Series::new(*self.drive.flash().counters(), interval_pages);
    }

    /// Lets the host write `pages` more pages, or fewer if the workload ends; returns how many.
    pub fn run(&mut self, pages: u64) -> Result<u64> {
        let mut left = pages;
        while left > 0 {
            let most = left
                .min(self.series.until_next(self.drive.flash().counters()))
                .min(self.buffer.len() as u64) as usize;
            match self.next(most) {
                Step::Write(count) => {
                    self.write(count)?;
                    left -= count as u64;
                    self.series.observe(self.drive.flash().counters());
                }
                Step::Trim(count) => self.drive.trim(&self.buffer[..count])?,
                Step::End => break,
            }
        }
        if cfg!(any(debug_assertions, fuzzing)) && self.drive.flash().logical_pages() < 100_000 {
            self.drive.assert_invariants();
        }
        Ok(pages - left)
    }

    /// The next step of the host, of at most `most` pages.
    fn next(&mut self, most: usize) -> Step {
        let pages = &mut self.buffer[..most];
        let Some(foresight) = &mut self.foresight else { return self.workload.next(pages) };
        let now = self.drive.flash().counters().programs(Cause::Host);
        foresight.next(&mut *self.workload, pages, &mut self.invalidation_times[..most], now)
    }

    /// Writes the first `count` pages of the buffer.
    fn write(&mut self, count: usize) -> Result<()> {
        let pages = &self.buffer[..count];
        if self.foresight.is_some() {
            let hints =
                Hints { invalidation_times: &self.invalidation_times[..count], ..Hints::default() };
            return self.drive.write(pages, Some(hints));
        }
        let groups = if self.drive.needs_hints() { self.workload.groups() } else { None };
        let hints = groups.as_ref().map(|groups| {
            let group_of = &mut self.group_of[..count];
            self.workload.find_groups(pages, group_of);
            Hints { groups, group_of, ..Hints::default() }
        });
        self.drive.write(pages, hints)
    }

    pub fn drive(&self) -> &dyn BlockManager<O> {
        &*self.drive
    }

    pub fn counters(&self) -> &Counters {
        self.drive.flash().counters()
    }

    pub fn series(&self) -> &Series {
        &self.series
    }
}
