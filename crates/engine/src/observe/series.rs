//! The counters at equal distances in host page writes.

use crate::flash::Counters;

/// Cumulative counters at one point of a run.
pub type Sample = Counters;

/// Samples every so many host pages, counted from the start of the series.
#[derive(Debug, Clone)]
pub struct Series {
    interval_pages: u64,
    next_at: u64,
    samples: Vec<Sample>,
}

impl Series {
    /// A series that begins with `start` and samples every `interval_pages` host pages.
    pub fn new(start: Sample, interval_pages: u64) -> Self {
        assert!(interval_pages > 0, "an interval has at least one page");
        let next_at = start.host_pages() + interval_pages;
        Series { interval_pages, next_at, samples: vec![start] }
    }

    /// A series that takes no sample after `start`.
    pub fn unsampled(start: Sample) -> Self {
        Self::new(start, u64::MAX >> 1)
    }

    /// Host pages until the next sample is due.
    pub fn until_next(&self, now: &Counters) -> u64 {
        self.next_at - now.host_pages()
    }

    /// Takes the sample if it is due.
    pub fn observe(&mut self, now: &Counters) {
        if now.host_pages() == self.next_at {
            self.samples.push(*now);
            self.next_at += self.interval_pages;
        }
    }

    /// The samples so far, the start first.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}
