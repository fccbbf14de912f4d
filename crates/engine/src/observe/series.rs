//! Time series of the counters, at equal distances in host page writes.

use crate::flash::{Array, Cause, Counters};
use crate::state::state;

/// Cumulative counters at one moment of a run.
pub type Sample = Counters;

/// Samples at equal distances in host pages, counted from the start of the series.
#[derive(Debug, Clone)]
pub struct Series {
    interval_pages: u64,
    next_at: u64,
    samples: Vec<Sample>,
    tags: Option<TagSeries>,
}

/// Counters by tag at each sample, as [`crate::flash::TagCounters::row`], one after another.
#[derive(Debug, Clone)]
struct TagSeries(Vec<u64>);

state!(TagSeries { value 0 });

// The sampling interval is set during a run, so it is part of the saved state.
state! {
    Series {
        value interval_pages,
        value next_at,
        value samples,
        nested tags,
    } where is_sound
}

impl Series {
    /// Starts a series with the sample `start`, sampled every `interval_pages` host pages.
    pub fn new(start: Sample, interval_pages: u64) -> Self {
        assert!(interval_pages > 0, "interval_pages must be at least 1");
        let next_at = start.host.written_pages.saturating_add(interval_pages);
        Series { interval_pages, next_at, samples: vec![start], tags: None }
    }

    /// Also samples the counters by tag from now on, if the drive counts by tag.
    #[must_use]
    pub fn with_tags(self, drive: &Array) -> Self {
        let mut series =
            Series { tags: drive.tag_counters().map(|_| TagSeries(Vec::new())), ..self };
        series.observe_tags(drive);
        series
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

    /// Takes a sample if one is due, and returns true if it does.
    /// If a request has passed several sampling times, only one sample is taken for all of them.
    /// The next sample is due at the first sampling time after the request.
    pub fn observe(&mut self, now: &Counters) -> bool {
        let written_pages = now.host.written_pages;
        if written_pages < self.next_at {
            return false;
        }
        self.samples.push(*now);
        let passed = (written_pages - self.next_at) / self.interval_pages + 1;
        self.next_at = self.next_at.saturating_add(passed * self.interval_pages);
        true
    }

    /// True if there are counters by tag for each sample, if the drive counts by tag.
    pub fn has_tags_of(&self, drive: &Array) -> bool {
        let row = drive.tag_counters().map_or(0, |now| now.row(&Cause::WITHOUT_TIME).len());
        self.tag_samples().len() == row * self.samples.len()
    }

    /// Adds the counters by tag to the last sample, if the drive counts by tag.
    pub fn observe_tags(&mut self, drive: &Array) {
        if let (Some(TagSeries(rows)), Some(now)) = (&mut self.tags, drive.tag_counters()) {
            rows.extend(now.row(&Cause::WITHOUT_TIME));
        }
    }

    /// Counters by tag of all samples, one after another: for each sample,
    /// [`crate::flash::TagCounters::row`] of [`Cause::WITHOUT_TIME`].
    /// Empty if the drive does not count by tag.
    pub fn tag_samples(&self) -> &[u64] {
        self.tags.as_ref().map_or(&[], |TagSeries(rows)| rows)
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
