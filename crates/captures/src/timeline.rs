//! Timeline: counts of durations and busy time, in buckets that double when they run out.

/// Buckets of time.
pub const BUCKETS: usize = 256;
/// Bins of a duration in an octave: 9% wide, enough to tell the classes over time.
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
    /// Counts an operation where it begins.
    pub fn add(&mut self, start_ps: u64, duration_ps: u64) {
        let bucket = self.bucket(start_ps);
        self.counts[bucket * DURATION_BINS + duration_bin(duration_ps)] += 1;
    }

    /// Shares out the time from `start_ps` to `end_ps` in which a channel was busy.
    pub fn busy(&mut self, start_ps: u64, end_ps: u64) {
        // First the end, which may make the buckets wider.
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

    /// The moment at which the first bucket begins.
    pub fn begin(&mut self, time_ps: u64) {
        self.origin_ps.get_or_insert(time_ps);
    }

    /// Lets the buckets reach to the end of the capture, after which nothing may have happened.
    pub fn end(&mut self, time_ps: u64) {
        if self.origin_ps.is_some() {
            self.bucket(time_ps.saturating_sub(1));
        }
    }

    /// The beginning of the first bucket, if anything was heard.
    pub fn origin_ps(&self) -> u64 {
        self.origin_ps.unwrap_or(0)
    }

    /// Width of every bucket.
    pub fn width_ps(&self) -> u64 {
        self.width_ps
    }

    /// Counts, [`BUCKETS`] rows of [`Timeline::duration_edges_ps`] less one.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Time in which channels were busy, summed over them, for each bucket.
    pub fn busy_ps(&self) -> &[u64] {
        &self.busy_ps
    }

    /// The edges of the bins of durations.
    pub fn duration_edges_ps() -> Vec<f64> {
        let per_octave = f64::from(1u32 << BINS_AN_OCTAVE_BITS);
        (0..=DURATION_BINS)
            .map(|edge| {
                let (octave, part) =
                    (edge >> BINS_AN_OCTAVE_BITS, edge & ((1 << BINS_AN_OCTAVE_BITS) - 1));
                (octave as f64).exp2() * (1.0 + part as f64 / per_octave)
            })
            .collect()
    }

    fn bucket(&mut self, time_ps: u64) -> usize {
        // A channel with a file of its own may begin a little before the first one did.
        let since_ps = time_ps.saturating_sub(self.origin_ps.unwrap_or(0));
        while since_ps / self.width_ps >= BUCKETS as u64 {
            self.double();
        }
        (since_ps / self.width_ps) as usize
    }

    fn double(&mut self) {
        for bucket in 0..BUCKETS {
            let (one, other) = (2 * bucket, 2 * bucket + 1);
            let in_use = other < BUCKETS;
            self.busy_ps[bucket] = if in_use { self.busy_ps[one] + self.busy_ps[other] } else { 0 };
            for bin in 0..DURATION_BINS {
                self.counts[bucket * DURATION_BINS + bin] = if in_use {
                    self.counts[one * DURATION_BINS + bin]
                        + self.counts[other * DURATION_BINS + bin]
                } else {
                    0
                };
            }
        }
        self.width_ps *= 2;
    }
}

/// The octave of a duration, and its three bits after the leading one.
fn duration_bin(duration_ps: u64) -> usize {
    let duration_ps = duration_ps.max(1);
    let octave = u64::BITS - 1 - duration_ps.leading_zeros();
    let aligned = duration_ps << (u64::BITS - 1 - octave);
    let part = (aligned << 1) >> (u64::BITS - BINS_AN_OCTAVE_BITS);
    ((octave << BINS_AN_OCTAVE_BITS) as usize) | part as usize
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
