//! The group of a page by the intervals between its writes: `detector=interval` of `docs/wolf.md`.

use std::collections::HashMap;

/// An octave is a factor of 2. Logarithms are whole numbers of such parts.
const OCTAVE: i64 = 256;

/// When the host wrote what, and which group that means.
pub(super) struct Intervals {
    /// Of each page: every clock (host pages written before) at which the host wrote it.
    written_at: HashMap<u32, Vec<u64>>,
    groups: i64,
    /// Pages with longer intervals are in group 0.
    longest: i64,
    /// From a group to the next.
    step: i64,
}

impl Intervals {
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Self {
        let parts = |value: f64| (libm::log2(value) * OCTAVE as f64).round() as i64;
        Intervals {
            written_at: HashMap::new(),
            groups: i64::try_from(groups).expect("few groups"),
            longest: parts(4.0 * f64::from(logical_pages)),
            step: parts(ratio).max(1),
        }
    }

    /// Hears that a page holds no data any more.
    pub(super) fn forgets(&mut self, page: u32) {
        self.written_at.remove(&page);
    }

    /// The group of a page that the host writes now, and `holder` holds. A page written for the
    /// first time is cold.
    pub fn group_of_write(&mut self, page: u32, holder: Option<usize>, now: u64) -> usize {
        self.written_at.entry(page).or_default().push(now);
        match (self.usual_interval(page), holder) {
            (None, _) => 0,
            (Some(usual), None) => self.group_of(usual),
            (Some(usual), Some(holder)) => self.group_nearby(usual, holder),
        }
    }

    /// The group of a page of `holder` that collection moves. One that has rested for more than 8
    /// times its usual interval, or has none, cools down to the group of twice its age.
    pub fn group_of_migration(&self, page: u32, holder: usize, now: u64) -> usize {
        let Some(last) = self.written_at.get(&page).and_then(|times| times.last()) else {
            return holder;
        };
        let rest = parts_of(now - last);
        match self.usual_interval(page) {
            Some(usual) if rest <= usual + 3 * OCTAVE => holder,
            _ => self.group_nearby(rest + OCTAVE, holder).min(holder),
        }
    }

    /// The moving average: each interval counts for one part in so many as have been averaged, its
    /// own included, but at least an eighth. One that is off by more than a factor of 4 halves how
    /// many those are.
    fn usual_interval(&self, page: u32) -> Option<i64> {
        let times = &self.written_at[&page];
        let mut intervals = times.windows(2).map(|pair| parts_of(pair[1] - pair[0]));
        let mut usual = intervals.next()?;
        let mut averaged = 1;
        for interval in intervals {
            if (interval - usual).abs() > 2 * OCTAVE {
                averaged /= 2;
            }
            averaged += 1;
            usual += (interval - usual) / averaged;
            averaged = averaged.min(7);
        }
        Some(usual)
    }

    fn group_of(&self, interval: i64) -> usize {
        let shorter = self.longest - interval;
        if shorter < 0 { 0 } else { (1 + shorter / self.step).min(self.groups - 1) as usize }
    }

    /// A page leaves `holder` only if it belongs elsewhere by half an octave.
    fn group_nearby(&self, interval: i64, holder: usize) -> usize {
        let if_longer = self.group_of(interval + OCTAVE / 2);
        let if_shorter = self.group_of(interval - OCTAVE / 2);
        holder.clamp(if_longer, if_shorter)
    }
}

/// Linear between powers of two; 0 counts as 1.
fn parts_of(interval: u64) -> i64 {
    let interval = u128::from(interval.max(1));
    let octaves = interval.ilog2();
    let power = 1 << octaves;
    let fraction = (interval - power) * OCTAVE.unsigned_abs() as u128 / power;
    i64::from(octaves) * OCTAVE + fraction as i64
}
