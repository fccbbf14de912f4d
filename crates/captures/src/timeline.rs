//! Timeline: counts of durations and busy time, in buckets whose width doubles when needed.

/// Number of buckets into which the time of a capture is divided.
pub const BUCKETS: usize = 256;
/// Bits that select a bin of durations within an octave, which has eight bins.
/// Bins are 7% to 13% wide, narrow enough to separate operations of different kinds.
const BINS_AN_OCTAVE_BITS: u32 = 3;
const DURATION_BINS: usize = (u64::BITS as usize) << BINS_AN_OCTAVE_BITS;
const FIRST_WIDTH_PS: u64 = 1 << 30; // about a millisecond

/// Counts by time and duration, and busy time, over all channels.
#[derive(Debug, Clone)]
pub struct Timeline {
    origin_ps: Option<u64>,
    width_ps: u64,
    counts: Vec<u64>,
    busy_ps: Vec<u64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline {
            origin_ps: None,
            width_ps: FIRST_WIDTH_PS,
            counts: vec![0; BUCKETS * DURATION_BINS],
            busy_ps: vec![0; BUCKETS],
        }
    }
}

impl Timeline {
    /// Counts an operation in the bucket of its start.
    pub fn add(&mut self, start_ps: u64, duration_ps: u64) {
        let bucket = self.bucket(start_ps);
        self.counts[bucket * DURATION_BINS + duration_bin(duration_ps)] += 1;
    }

    /// Adds the busy time from `start_ps` to `end_ps` to the buckets.
    pub fn busy(&mut self, start_ps: u64, end_ps: u64) {
        // The end comes first, because it may widen the buckets and so change the index of the
        // start.
        let (last, first) = (self.bucket(end_ps), self.bucket(start_ps));
        let origin_ps = self.origin_ps.unwrap_or(0);
        let mut from_ps = start_ps;
        for bucket in first..=last {
            let bucket_end_ps = (bucket as u64 + 1)
                .checked_mul(self.width_ps)
                .and_then(|length_ps| length_ps.checked_add(origin_ps))
                .unwrap_or(u64::MAX);
            let until_ps = end_ps.min(bucket_end_ps).max(from_ps);
            self.busy_ps[bucket] += until_ps - from_ps;
            from_ps = until_ps;
        }
    }

    /// Sets the start of the first bucket.
    pub fn begin(&mut self, time_ps: u64) {
        self.origin_ps.get_or_insert(time_ps);
    }

    /// Extends the buckets to the end of the capture.
    pub fn end(&mut self, time_ps: u64) {
        if self.origin_ps.is_some() {
            self.bucket(time_ps.saturating_sub(1));
        }
    }

    /// Start of the first bucket; 0 without changes.
    pub fn origin_ps(&self) -> u64 {
        self.origin_ps.unwrap_or(0)
    }

    /// Width of every bucket.
    pub fn width_ps(&self) -> u64 {
        self.width_ps
    }

    /// Number of operations by time and duration.
    /// It has [`BUCKETS`] rows, and one column per bin between [`Timeline::duration_edges_ps`].
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Busy time in each bucket, summed over channels, in ps.
    pub fn busy_ps(&self) -> &[u64] {
        &self.busy_ps
    }

    /// Edges of the bins of durations, in ps.
    pub fn duration_edges_ps() -> Vec<f64> {
        let per_octave = f64::from(1u32 << BINS_AN_OCTAVE_BITS);
        (0..=DURATION_BINS)
            .map(|edge| {
                let (octave, step) =
                    (edge >> BINS_AN_OCTAVE_BITS, edge & ((1 << BINS_AN_OCTAVE_BITS) - 1));
                (octave as f64).exp2() * (1.0 + step as f64 / per_octave)
            })
            .collect()
    }

    fn bucket(&mut self, time_ps: u64) -> usize {
        // Where each channel has a file of its own, a channel may start slightly before the first
        // one. Such times count for the first bucket.
        let since_ps = time_ps.saturating_sub(self.origin_ps.unwrap_or(0));
        while since_ps / self.width_ps >= BUCKETS as u64 {
            self.double();
        }
        (since_ps / self.width_ps) as usize
    }

    fn double(&mut self) {
        for bucket in 0..BUCKETS {
            let (left, right) = (2 * bucket, 2 * bucket + 1);
            let in_use = right < BUCKETS;
            self.busy_ps[bucket] =
                if in_use { self.busy_ps[left] + self.busy_ps[right] } else { 0 };
            for bin in 0..DURATION_BINS {
                self.counts[bucket * DURATION_BINS + bin] = if in_use {
                    self.counts[left * DURATION_BINS + bin]
                        + self.counts[right * DURATION_BINS + bin]
                } else {
                    0
                };
            }
        }
        self.width_ps *= 2;
    }
}

/// Bin of a duration: its octave, and the three bits after the leading bit.
fn duration_bin(duration_ps: u64) -> usize {
    let duration_ps = duration_ps.max(1);
    let octave = u64::BITS - 1 - duration_ps.leading_zeros();
    let aligned = duration_ps << (u64::BITS - 1 - octave);
    let step = (aligned << 1) >> (u64::BITS - BINS_AN_OCTAVE_BITS);
    ((octave << BINS_AN_OCTAVE_BITS) as usize) | step as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_buckets_double() {
        let mut line = Timeline::default();
        line.begin(5);
        let mut busy_ps = 0;
        for step in 0..40 {
            let start_ps = 5 + (1u64 << step);
            line.add(start_ps, 300_000_000);
            line.busy(start_ps, start_ps + (1 << step));
            busy_ps += 1u64 << step;
        }
        assert_eq!(line.counts().iter().sum::<u64>(), 40);
        assert_eq!(line.busy_ps().iter().sum::<u64>(), busy_ps);
        assert!(line.width_ps() * BUCKETS as u64 > 1 << 40);
    }

    #[test]
    fn busy_time_lies_in_the_buckets_that_it_spans() {
        let mut line = Timeline::default();
        line.begin(0);
        line.busy(FIRST_WIDTH_PS / 2, FIRST_WIDTH_PS * 3);
        let half = FIRST_WIDTH_PS / 2;
        assert_eq!(line.busy_ps()[..4], [half, FIRST_WIDTH_PS, FIRST_WIDTH_PS, 0]);
    }

    #[test]
    fn a_duration_lies_between_the_edges_of_its_bin() {
        let edges = Timeline::duration_edges_ps();
        for duration_ps in [1u64, 2, 3, 15, 16, 17, 300_000_000, 2_000_000_123, 1 << 50] {
            let bin = duration_bin(duration_ps);
            let duration = duration_ps as f64;
            assert!(edges[bin] <= duration && duration < edges[bin + 1], "{duration_ps}");
        }
    }
}
