//! Event queue in order of time.
//! Simultaneous events keep the order in which they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Clock of a device, and its future events.
#[derive(Debug)]
pub struct Events<E> {
    now_ns: u64,
    scheduled: u64,
    queue: BinaryHeap<Reverse<(u64, u64, E)>>,
}

impl<E: Ord> Default for Events<E> {
    fn default() -> Self {
        Events { now_ns: 0, scheduled: 0, queue: BinaryHeap::new() }
    }
}

impl<E: Ord> Events<E> {
    /// Time of the last event.
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Schedules an event at `at_ns`, which must not be in the past.
    #[inline(always)]
    pub fn at(&mut self, at_ns: u64, event: E) {
        debug_assert!(at_ns >= self.now_ns);
        self.queue.push(Reverse((at_ns, self.scheduled, event)));
        self.scheduled += 1;
    }

    /// Time of the next event.
    #[inline(always)]
    pub fn next_ns(&self) -> Option<u64> {
        self.queue.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }

    /// Removes the next event and advances the clock to its time.
    #[inline(always)]
    pub fn next(&mut self) -> Option<E> {
        let Reverse((at_ns, _, event)) = self.queue.pop()?;
        self.now_ns = at_ns;
        Some(event)
    }
}
