//! Late work: programs and erases that the writes of an interval cause after it.
//!
//! A write cache answers now and programs later, so that the counters of an interval hold pages that
//! were written before it. What a write takes later belongs to the interval of the write: else the
//! write amplification of a run would hold the pages of its warm-up.

use crate::flash::{Cause, Counters};

/// Shift of programs and erases to the interval of the writes that caused them.
/// It is what was programmed and erased after an interval for writes in it, less what was done in
/// it for writes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shift {
    programs: [i64; Cause::ALL.len()],
    erases: i64,
}

impl Shift {
    /// Difference of two states of the counters.
    fn between(before: &Counters, after: &Counters) -> Shift {
        let risen = |cause| (after.programs(cause) - before.programs(cause)).cast_signed();
        Shift {
            programs: Cause::ALL.map(risen),
            erases: (after.erases - before.erases).cast_signed(),
        }
    }

    /// Adds another.
    pub fn add(&mut self, other: &Shift) {
        self.programs.iter_mut().zip(other.programs).for_each(|(own, its)| *own += its);
        self.erases += other.erases;
    }

    fn subtract(&mut self, other: &Shift) {
        self.programs.iter_mut().zip(other.programs).for_each(|(own, its)| *own -= its);
        self.erases -= other.erases;
    }

    /// Counters that are shifted so.
    pub fn applied_to(&self, counters: &Counters) -> Counters {
        counters.shifted(&self.programs, self.erases)
    }
}

/// The intervals of a device's host, between marks, and what was shifted to each.
#[derive(Debug, Default)]
pub struct Lateness {
    /// The number of the interval that has begun last.
    now: u32,
    shifts: Vec<Shift>,
}

impl Lateness {
    /// The interval under way.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// Ends the interval under way, and begins the next.
    pub fn mark(&mut self) {
        self.now += 1;
    }

    /// Counts what was done now, between two states of the counters, for a write in `interval`.
    pub fn count(&mut self, interval: u32, before: &Counters, after: &Counters) {
        let shift = Shift::between(before, after);
        self.shifts.resize(self.now as usize + 1, Shift::default());
        self.shifts[interval as usize].add(&shift);
        self.shifts[self.now as usize].subtract(&shift);
    }

    /// Shifts to each interval; none to those after the last.
    pub fn shifts(&self) -> &[Shift] {
        &self.shifts
    }
}
