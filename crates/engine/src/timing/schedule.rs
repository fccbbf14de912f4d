//! Schedule of a flash drive: future events in order of time.
//!
//! Simultaneous events occur in the order in which they were scheduled.

mod calendar;

use calendar::{Calendar, EntryId};

/// Event of a flash drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A transfer on a channel ends.
    ChannelFree(u32),
    /// The array of a unit completes or suspends an operation.
    ArrayDone(u32),
    /// The array of a unit would have completed now, but its operation was suspended.
    /// The event only triggers upkeep.
    CalledOff,
    /// A request reaches the host link.
    AtLink(u32),
    /// A request with its data has reached the controller.
    AtController(u32),
    /// The controller starts a request.
    Serve(u32),
    /// A request has finished its access to the write cache's memory.
    MemoryDone(u32),
    /// The host has received the response to a request.
    Answered(u32),
    /// Idle check with the number of requests submitted when it was scheduled.
    /// If that number is unchanged, the device was idle in the meantime.
    Idle(u64),
    /// Idle check for moving data out of the SLC cache, also with the number of requests
    /// submitted when it was scheduled.
    SlcIdle(u64),
}

/// Number of bits of an event's code that hold its kind.
const KIND_BITS: u32 = 4;

impl Event {
    /// Code of the event: its kind, and the number that it has.
    /// One number is stored and loaded faster than the parts of an enum, which are stored one by
    /// one and loaded together.
    #[inline(always)]
    fn code(self) -> u64 {
        let (kind, of) = match self {
            Event::ChannelFree(channel) => (0, channel.into()),
            Event::ArrayDone(unit) => (1, unit.into()),
            Event::CalledOff => (2, 0),
            Event::AtLink(request) => (3, request.into()),
            Event::AtController(request) => (4, request.into()),
            Event::Serve(request) => (5, request.into()),
            Event::MemoryDone(request) => (6, request.into()),
            Event::Answered(request) => (7, request.into()),
            Event::Idle(submitted) => (8, submitted),
            Event::SlcIdle(submitted) => (9, submitted),
        };
        of << KIND_BITS | kind
    }

    #[inline(always)]
    fn of_code(code: u64) -> Self {
        let of = code >> KIND_BITS;
        match code & ((1 << KIND_BITS) - 1) {
            0 => Event::ChannelFree(of as u32),
            1 => Event::ArrayDone(of as u32),
            2 => Event::CalledOff,
            3 => Event::AtLink(of as u32),
            4 => Event::AtController(of as u32),
            5 => Event::Serve(of as u32),
            6 => Event::MemoryDone(of as u32),
            7 => Event::Answered(of as u32),
            8 => Event::Idle(of),
            _ => Event::SlcIdle(of),
        }
    }
}

/// Clock of a drive, and its future events.
#[derive(Debug)]
pub struct Schedule {
    calendar: Calendar,
    /// Last scheduled end of the array time of each unit.
    array_ends: Vec<EntryId>,
}

impl Schedule {
    /// Builds an empty schedule at time 0, for a drive with this number of arrays.
    pub fn new(arrays: u32) -> Self {
        Schedule { calendar: Calendar::new(), array_ends: vec![0; arrays as usize] }
    }

    /// Current time: that of the last event, or a later one set by [`Self::advance`].
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.calendar.now_ns()
    }

    /// Advances the clock to `to_ns`, unless it is already later.
    /// The caller must process all earlier events first; only debug builds check this.
    pub fn advance(&mut self, to_ns: u64) {
        self.calendar.advance(to_ns);
    }

    /// Schedules an event at `at_ns`, which must not be in the past.
    #[inline(always)]
    pub fn at(&mut self, at_ns: u64, event: Event) {
        self.calendar.insert(at_ns, event.code());
    }

    /// Schedules the end of a unit's array time. An array has one operation at a time.
    #[inline(always)]
    pub fn array_done(&mut self, at_ns: u64, unit: u32) {
        let id = self.calendar.insert(at_ns, Event::ArrayDone(unit).code());
        self.array_ends[unit as usize] = id;
    }

    /// Cancels the end of a unit's array time.
    /// An event still occurs at that time, because the drive performs its upkeep at each event.
    pub fn call_off_array(&mut self, unit: u32) {
        self.calendar.replace(self.array_ends[unit as usize], Event::CalledOff.code());
    }

    /// Time of the next event.
    #[inline(always)]
    pub fn next_ns(&self) -> Option<u64> {
        self.calendar.next_ns()
    }

    /// Removes the next event if it is due before `before_ns`, and advances the clock to it.
    #[inline(always)]
    pub fn next_before(&mut self, before_ns: u64) -> Option<Event> {
        self.calendar.take_before(before_ns).map(Event::of_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn events_happen_in_the_order_of_time_and_then_of_scheduling() {
        let units = 70;
        let mut schedule = Schedule::new(units);
        let mut random = Stream::new(1, "test");
        // A sorted list predicts the events, because it orders simultaneous events in an obvious
        // way.
        let mut expected: Vec<(u64, u64, Event)> = Vec::new();
        for number in 0..30_000 {
            let of = random.below(1000);
            // Delays within a day, within the near future, near its end, and beyond it.
            let delay_ns = match random.below(40) {
                0..16 => random.below(4),
                16..32 => random.below(3000),
                32..36 => (1 << 20) - 300 + random.below(600),
                36..39 => random.below(1 << 21),
                _ => random.below(1 << 31),
            };
            let at_ns = schedule.now_ns() + u64::from(delay_ns);
            let event = match random.below(10) {
                0..3 => {
                    let unit = of % units;
                    let event = Event::ArrayDone(unit);
                    if let Some(at) = expected.iter().position(|&(.., other)| other == event) {
                        schedule.call_off_array(unit);
                        expected[at].2 = Event::CalledOff;
                    }
                    schedule.array_done(at_ns, unit);
                    event
                }
                kind => {
                    let event = match kind {
                        3 => Event::ChannelFree(of),
                        4 => Event::AtLink(of),
                        5 => Event::AtController(of),
                        6 => Event::Serve(of),
                        7 => Event::MemoryDone(of),
                        8 => Event::Answered(of),
                        _ if of.is_multiple_of(2) => Event::Idle(u64::from(of) << 40),
                        _ => Event::SlcIdle(u64::from(of) << 40),
                    };
                    schedule.at(at_ns, event);
                    event
                }
            };
            expected.push((at_ns, number, event));
            expected.sort_by_key(|&(at_ns, number, _)| (at_ns, number));
            // Fewer events happen than are scheduled until many are waiting, and then more.
            for _ in 0..random.below(if number / 300 % 2 == 0 { 2 } else { 4 }) {
                let next = expected.first().copied();
                assert_eq!(schedule.next_ns(), next.map(|(at_ns, ..)| at_ns));
                let Some((next_ns, ..)) = next else { break };
                assert_eq!(schedule.next_before(next_ns), None);
                assert_eq!(schedule.next_before(next_ns + 1), next.map(|(.., event)| event));
                assert_eq!(schedule.now_ns(), next_ns);
                expected.remove(0);
            }
            if random.below(50) == 0 {
                let next_ns = expected.first().map_or(at_ns, |&(next_ns, ..)| next_ns);
                schedule.advance(next_ns.min(schedule.now_ns() + 2_000_000));
            }
        }
        assert!(expected.len() < 1000, "the lists must become short, so that days become empty");
    }
}
