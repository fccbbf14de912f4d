//! A workload driving a drive.

use crate::error::{Error, Result};
use crate::flash::{Counters, Observer};
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
        let buffer = vec![0; batch_pages.clamp(1, MAX_BATCH_PAGES)];
        Ok(Simulation { drive, workload, buffer, series })
    }

    /// Writes logical pages `first` to `end` − 1 once, in order: (a part of) the initial fill.
    /// A series that is to count only what follows must be started afterwards.
    pub fn fill(&mut self, first: u32, end: u32) -> Result<()> {
        let step = self.buffer.len();
        for first in (first..end).step_by(step) {
            let count = step.min((end - first) as usize);
            let batch = &mut self.buffer[..count];
            for (slot, page) in batch.iter_mut().zip(first..) {
                *slot = page;
            }
            self.drive.write(batch)?;
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
            match self.workload.next(&mut self.buffer[..most]) {
                Step::Write(count) => {
                    self.drive.write(&self.buffer[..count])?;
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
