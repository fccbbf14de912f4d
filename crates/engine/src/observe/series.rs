//! Time series of the counters, at equal distances in host page writes.

use crate::flash::Counters;
use crate::state::state;

/// Cumulative counters at one moment of a run.
pub type Sample = Counters;

/// Samples at equal distances in host pages, counted from the start of the series.
#[derive(Debug, Clone)]
pub struct Series {
    interval_pages: u64,
    next_at: u64,
    samples: Vec<Sample>,
}

// The sampling interval is set during a run, so it is part of the saved state.
state!(Series { value interval_pages, value next_at, value samples } where is_sound);

impl Series {
    /// Starts a series with the sample `start`, sampled every `interval_pages` host pages.
    pub fn new(start: Sample, interval_pages: u64) -> Self {
        assert!(interval_pages > 0, "interval_pages must be at least 1");
        let next_at = start.host.written_pages.saturating_add(interval_pages);
        Series { interval_pages, next_at, samples: vec![start] }
    }

    /// Starts a series that takes no samples after the first.
    pub fn unsampled(start: Sample) -> Self {
        Self::new(start, u64::MAX)
    }

    fn is_sound(&self) -> bool {
        let is_to_come = |last: &Sample| last.host.written_pages < self.next_at;
        self.interval_pages > 0 && self.samples.last().is_some_and(is_to_come)
    }

    /// True if the next sample is due after `now`.
    pub fn precedes_next_sample(&self, now: &Counters) -> bool {
        self.next_at > now.host.written_pages
    }

    /// Host pages until the next sample.
    pub fn until_next(&self, now: &Counters) -> u64 {
        self.next_at - now.host.written_pages
    }

    /// Takes a sample if one is due.
    /// If a request has passed several sampling times, only one sample is taken for all of them.
    /// The next sample is due at the first sampling time after the request.
    pub fn observe(&mut self, now: &Counters) {
        let written_pages = now.host.written_pages;
        if written_pages >= self.next_at {
            self.samples.push(*now);
            let passed = (written_pages - self.next_at) / self.interval_pages + 1;
            self.next_at = self.next_at.saturating_add(passed * self.interval_pages);
        }
    }

    /// Samples so far, beginning with the start.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(written_pages: u64) -> Counters {
        let mut counters = Counters::default();
        counters.host.written_pages = written_pages;
        counters
    }

    #[test]
    fn a_request_that_overshoots_a_point_is_sampled_where_it_ends() {
        let mut series = Series::new(at(5), 10);
        for now in [14, 15, 18, 26, 61, 64, 65] {
            series.observe(&at(now));
        }
        let sampled: Vec<u64> = series.samples().iter().map(|s| s.host.written_pages).collect();
        assert_eq!(sampled, [5, 15, 26, 61, 65]);
        assert_eq!(series.until_next(&at(70)), 5);
    }

    #[test]
    fn an_unsampled_series_never_samples() {
        let mut series = Series::unsampled(at(5));
        series.observe(&at(1 << 62));
        assert_eq!(series.samples().len(), 1);
    }
}
