//! Distribution of update intervals, which decides the sizes of groups (`MiDAS`, "UID").

use crate::state::{MOST_PLAUSIBLE, state};

/// log₂ of the number of buckets per power of two.
/// Buckets count intervals of similar length; their widths double with each power of two.
const FINE_BITS: u32 = 3;
pub const BUCKETS: usize = (33 - FINE_BITS as usize) << FINE_BITS;

/// Counts of completed intervals by length.
pub struct Intervals {
    counts: Vec<u64>,
}

state! {
    Intervals {
        table counts,
    } where is_sound
}

impl Intervals {
    pub fn new() -> Self {
        Intervals { counts: vec![0; BUCKETS] }
    }

    fn is_sound(&self) -> bool {
        self.counts.iter().all(|&count| count < MOST_PLAUSIBLE / BUCKETS as u64)
    }

    #[inline(always)]
    pub fn add(&mut self, interval: u64) {
        self.counts[bucket(interval)] += 1;
    }

    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[inline(always)]
fn bucket(interval: u64) -> usize {
    let interval = interval.min(u64::from(u32::MAX)) as u32;
    if interval < 1 << FINE_BITS {
        return interval as usize;
    }
    let shift = interval.ilog2() - FINE_BITS;
    ((shift as usize) << FINE_BITS) + (interval >> shift) as usize
}

/// Shortest interval of a bucket, in host pages written.
/// For the number of buckets, returns the end of the counted range.
pub fn lower_edge(bucket: usize) -> u64 {
    let fine = 1 << FINE_BITS;
    if bucket < fine {
        return bucket as u64;
    }
    let shift = bucket / fine - 1;
    ((bucket - shift * fine) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_begins_where_the_one_before_ends() {
        assert!((0..2000).all(|n| lower_edge(bucket(n)) <= n && n < lower_edge(bucket(n) + 1)));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }
}
