//! Schedule of a flash drive: future events in order of time.
//!
//! Each source of events produces them in order: servers, fixed delays, and channels and arrays
//! with one task at a time. Each source therefore has its own queue, and a tournament among the
//! sources selects the next event, which is cheaper than a heap of all events. Simultaneous events
//! occur in the order in which they were scheduled.

mod tournament;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tournament::{Due, Entrant, NO_EVENT, Tournament};

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

/// Source of events, which schedules its events in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Reads that reach the host link, after a fixed delay.
    ReadAtLink,
    /// Other requests that reach the host link, after another fixed delay.
    OtherAtLink,
    /// Requests whose data has crossed the link, which serves one at a time.
    AtController,
    /// Requests that the controller starts, one at a time.
    Serve,
    /// Requests that finish their access to the write cache's memory, one at a time.
    MemoryDone,
    /// Responses to reads: after the link and a fixed delay.
    ReadAnswered,
    /// Responses to other requests: after a fixed delay.
    OtherAnswered,
    /// Checks whether the device is still idle, after a fixed delay.
    Idle,
    /// Checks whether the device is still idle, for moving data out of the SLC cache; after
    /// another fixed delay.
    SlcIdle,
}

impl Source {
    const ALL: [Source; 9] = [
        Source::ReadAtLink,
        Source::OtherAtLink,
        Source::AtController,
        Source::Serve,
        Source::MemoryDone,
        Source::ReadAnswered,
        Source::OtherAnswered,
        Source::Idle,
        Source::SlcIdle,
    ];

    fn event(self, of: u64) -> Event {
        match self {
            Source::ReadAtLink | Source::OtherAtLink => Event::AtLink(of as u32),
            Source::AtController => Event::AtController(of as u32),
            Source::Serve => Event::Serve(of as u32),
            Source::MemoryDone => Event::MemoryDone(of as u32),
            Source::ReadAnswered | Source::OtherAnswered => Event::Answered(of as u32),
            Source::Idle => Event::Idle(of),
            Source::SlcIdle => Event::SlcIdle(of),
        }
    }
}

/// Index of the source of cancelled array events.
/// The sources of channels and arrays have higher indices.
const CALLED_OFF: usize = Source::ALL.len();
const FIRST_CHANNEL: usize = CALLED_OFF + 1;

/// Clock of a drive, and its future events.
#[derive(Debug)]
pub struct Schedule {
    now_ns: u64,
    scheduled: u64,
    /// Queue of each source: its future events. The number of each event is its request, or for
    /// [`Source::Idle`] and [`Source::SlcIdle`] the number of requests submitted so far.
    queues: [VecDeque<(Due, u64)>; Source::ALL.len()],
    called_off: BinaryHeap<Reverse<Due>>,
    first_unit: usize,
    tournament: Tournament,
    /// Source of the current event, if its queue is empty. It often schedules its next event
    /// immediately, so it keeps its place in the tournament until [`Self::happened`], which saves
    /// an update.
    vacated: Option<usize>,
}

impl Schedule {
    /// Builds an empty schedule at time 0, for a drive with these channels and units.
    pub fn new(channels: u32, units: u32) -> Self {
        let first_unit = FIRST_CHANNEL + channels as usize;
        Schedule {
            now_ns: 0,
            scheduled: 0,
            queues: Default::default(),
            called_off: BinaryHeap::new(),
            first_unit,
            tournament: Tournament::new(first_unit + units as usize),
            vacated: None,
        }
    }

    /// Current time: that of the last event, or a later one set by [`Self::advance`].
    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Advances the clock to `to_ns`, unless it is already later.
    /// The caller must process all earlier events first; only debug builds check this.
    pub fn advance(&mut self, to_ns: u64) {
        debug_assert!(self.next_ns().is_none_or(|next| next >= to_ns));
        self.now_ns = self.now_ns.max(to_ns);
    }

    /// Schedules an event of `source`, one of the drive's kinds of internal events.
    /// The caller must pass a time that is not before the clock or the source's last scheduled
    /// event; only debug builds check this. `of` is the number of a request. For [`Source::Idle`]
    /// and [`Source::SlcIdle`] it is the number of requests submitted so far.
    #[inline(always)]
    pub fn at(&mut self, at_ns: u64, source: Source, of: u64) {
        let due = self.due(at_ns);
        let queue = &mut self.queues[source as usize];
        debug_assert!(queue.back().is_none_or(|(last, _)| last.at_ns <= at_ns));
        queue.push_back((due, of));
        if queue.len() == 1 {
            self.enter(source as usize, due);
        }
    }

    /// Schedules the end of a channel's transfer. A channel has one transfer at a time.
    #[inline(always)]
    pub fn channel_free(&mut self, at_ns: u64, channel: u32) {
        let due = self.due(at_ns);
        self.enter(FIRST_CHANNEL + channel as usize, due);
    }

    /// Schedules the end of a unit's array time. An array has one operation at a time.
    #[inline(always)]
    pub fn array_done(&mut self, at_ns: u64, unit: u32) {
        let due = self.due(at_ns);
        self.enter(self.first_unit + unit as usize, due);
    }

    /// Cancels the end of a unit's array time.
    /// An event still occurs at that time, because the drive performs its upkeep at each event.
    pub fn call_off_array(&mut self, unit: u32) {
        let source = self.first_unit + unit as usize;
        self.called_off.push(Reverse(self.tournament.entrant(source).due()));
        self.tournament.set(source, NO_EVENT);
        self.set_called_off();
    }

    /// Adds a source to the tournament after its queue was empty.
    #[inline(always)]
    fn enter(&mut self, source: usize, due: Due) {
        if self.vacated == Some(source) {
            self.vacated = None;
        }
        self.tournament.set(source, Entrant::new(due, source));
    }

    fn set_called_off(&mut self) {
        let next = self.called_off.peek();
        let next = next.map_or(NO_EVENT, |Reverse(due)| Entrant::new(*due, CALLED_OFF));
        self.tournament.set(CALLED_OFF, next);
    }

    #[inline(always)]
    fn due(&mut self, at_ns: u64) -> Due {
        debug_assert!(at_ns >= self.now_ns);
        let number = self.scheduled;
        self.scheduled += 1;
        Due { at_ns, number }
    }

    /// Time of the next event.
    #[inline(always)]
    pub fn next_ns(&self) -> Option<u64> {
        let at_ns = self.tournament.winner().at_ns;
        (at_ns != NO_EVENT.at_ns).then_some(at_ns)
    }

    /// Removes the next event and advances the clock to its time. [`Self::happened`] must follow.
    #[inline(always)]
    pub fn next(&mut self) -> Option<Event> {
        let winner = self.tournament.winner();
        if winner.at_ns == NO_EVENT.at_ns {
            return None;
        }
        self.now_ns = winner.at_ns;
        let place = winner.source();
        if place >= FIRST_CHANNEL {
            self.vacated = Some(place);
            return Some(if place < self.first_unit {
                Event::ChannelFree((place - FIRST_CHANNEL) as u32)
            } else {
                Event::ArrayDone((place - self.first_unit) as u32)
            });
        }
        if place == CALLED_OFF {
            self.called_off.pop();
            self.set_called_off();
            return Some(Event::CalledOff);
        }
        let queue = &mut self.queues[place];
        let (_, of) = queue.pop_front()?;
        match queue.front() {
            Some(&(due, _)) => self.tournament.set(place, Entrant::new(due, place)),
            None => self.vacated = Some(place),
        }
        Some(Source::ALL[place].event(of))
    }

    /// Ends the handling of the current event.
    /// Call it after all events that follow immediately from it were scheduled.
    #[inline(always)]
    pub fn happened(&mut self) {
        if let Some(source) = self.vacated.take() {
            self.tournament.set(source, NO_EVENT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn events_happen_in_the_order_of_time_and_then_of_scheduling() {
        let (channels, units) = (3, 70);
        let mut schedule = Schedule::new(channels, units);
        let mut random = Stream::new(1, "test");
        // A sorted list predicts the events, because it orders simultaneous events in an obvious
        // way.
        let mut expected: Vec<(u64, u64, Event)> = Vec::new();
        let mut last_ns = [0; Source::ALL.len()];
        for number in 0..20_000 {
            let now_ns = schedule.now_ns();
            let soon_ns = now_ns + u64::from(random.below(4));
            let of = random.below(1000);
            let event = match random.below(10) {
                0..3 => {
                    let channel = of % channels;
                    let event = Event::ChannelFree(channel);
                    if expected.iter().any(|&(.., other)| other == event) {
                        continue;
                    }
                    schedule.channel_free(soon_ns, channel);
                    event
                }
                3..6 => {
                    let unit = of % units;
                    let event = Event::ArrayDone(unit);
                    if let Some(at) = expected.iter().position(|&(.., other)| other == event) {
                        schedule.call_off_array(unit);
                        expected[at].2 = Event::CalledOff;
                    }
                    schedule.array_done(soon_ns, unit);
                    event
                }
                kind => {
                    let source = Source::ALL[(kind as usize + of as usize) % Source::ALL.len()];
                    let last_ns = &mut last_ns[source as usize];
                    *last_ns = soon_ns.max(*last_ns);
                    schedule.at(*last_ns, source, u64::from(of));
                    expected.push((*last_ns, number, source.event(u64::from(of))));
                    continue;
                }
            };
            expected.push((soon_ns, number, event));
            // The event just processed may schedule further events, some of them from its own
            // source.
            schedule.happened();
            for _ in 0..random.below(3) {
                schedule.happened();
                expected.sort_by_key(|&(at_ns, number, _)| (at_ns, number));
                let next = (!expected.is_empty()).then(|| expected.remove(0));
                assert_eq!(schedule.next_ns(), next.map(|(at_ns, ..)| at_ns));
                assert_eq!(schedule.next(), next.map(|(.., event)| event));
            }
        }
    }
}
