//! Events in the order of time; those of one time in the order in which they were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Event of a flash drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A transfer on a channel ends.
    ChannelFree(u32),
    /// The array of a unit is done with an operation.
    /// It is void if the unit has begun or suspended one since.
    ArrayDone {
        /// The unit.
        unit: u32,
        /// Count of its begun operations.
        begun: u32,
    },
    /// A request reaches the link to the host.
    AtLink(u32),
    /// A request, and the data that it brings, have reached the controller.
    AtController(u32),
    /// The controller takes up a request.
    Serve(u32),
    /// A request is done with the memory of the write cache.
    MemoryDone(u32),
    /// The host has the answer to a request.
    Answered(u32),
    /// The device has been idle since its count of requests was so high.
    Idle(u64),
}

/// The clock of a device, and what is to come.
#[derive(Debug)]
pub struct Events<E = Event> {
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
    /// The time of the last event.
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Moves the clock to a time that no event precedes.
    pub fn advance(&mut self, to_ns: u64) {
        debug_assert!(self.next_ns().is_none_or(|next| next >= to_ns));
        self.now_ns = self.now_ns.max(to_ns);
    }

    /// Schedules an event, not before now.
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

    /// Takes the next event, whose time is now from then on.
    #[inline(always)]
    pub fn next(&mut self) -> Option<E> {
        let Reverse((at_ns, _, event)) = self.queue.pop()?;
        self.now_ns = at_ns;
        Some(event)
    }
}
