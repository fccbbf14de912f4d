//! Late work: programs and erases caused by writes of an earlier interval.
//!
//! A write cache acknowledges a write now and programs its pages later, so the counters of an
//! interval contain pages that the host wrote before it. This module assigns such late work to the
//! interval of the write. Otherwise, the write amplification of a run would contain pages of its
//! warm-up.

use std::collections::BTreeMap;

use crate::flash::{Cause, Counters};

/// Correction of the counters by tag, for each place in [`crate::flash::TagCounters::row`].
pub type TagShift = BTreeMap<usize, i64>;

/// Correction of programs and erases that assigns them to the interval of their writes.
/// It adds the work done after an interval for its writes, and subtracts the work done in it for
/// earlier writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shift {
    programs: [i64; Cause::ALL.len()],
    erases: i64,
}

impl Shift {
    /// Difference between two states of the counters, the later minus the earlier.
    fn between(earlier: &Counters, later: &Counters) -> Shift {
        let risen = |cause| (later.programs(cause) - earlier.programs(cause)).cast_signed();
        Shift {
            programs: Cause::ALL.map(risen),
            erases: (later.erases - earlier.erases).cast_signed(),
        }
    }

    /// Adds another correction to this one.
    pub fn add(&mut self, other: &Shift) {
        self.programs.iter_mut().zip(other.programs).for_each(|(own, its)| *own += its);
        self.erases += other.erases;
    }

    fn subtract(&mut self, other: &Shift) {
        self.programs.iter_mut().zip(other.programs).for_each(|(own, its)| *own -= its);
        self.erases -= other.erases;
    }

    /// Applies the correction to counters.
    pub fn applied_to(&self, counters: &Counters) -> Counters {
        counters.shifted(&self.programs, self.erases)
    }
}

/// Correction of each interval of a load. The host marks the ends of intervals.
#[derive(Debug, Default)]
pub struct Lateness {
    /// Number of the current interval since the device was new.
    now: u32,
    /// Interval of the first correction. It also has those of all earlier intervals.
    first: u32,
    shifts: Vec<Shift>,
}

impl Lateness {
    /// Current interval.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Ends the current interval and begins the next.
    pub fn mark(&mut self) {
        self.now += 1;
    }

    /// Begins the corrections of a new load. Those of all earlier intervals, whose sum is 0 until
    /// now, become its first one.
    pub fn begin_load(&mut self) {
        self.first = self.now.saturating_sub(1);
        self.shifts.clear();
    }

    /// Place of an interval's correction.
    pub fn place(&self, interval: u32) -> usize {
        interval.saturating_sub(self.first) as usize
    }

    /// Counts the work between two states of the counters, caused by a write in `interval`.
    pub fn count(&mut self, interval: u32, earlier: &Counters, later: &Counters) {
        let shift = Shift::between(earlier, later);
        let (place, now) = (self.place(interval), self.place(self.now));
        self.shifts.resize(now + 1, Shift::default());
        self.shifts[place].add(&shift);
        self.shifts[now].subtract(&shift);
    }

    /// Correction of each interval. Later intervals, which have no entry, need no correction.
    pub fn shifts(&self) -> &[Shift] {
        &self.shifts
    }
}
