//! Interface of a device in time to its host: requests, completions, events and counters.
//! A device is whatever serves requests, be it flash, a disk or several.

use super::errors::ReadErrors;
use super::late::Shift;
use crate::error::Result;
use crate::flash::Counters;
use crate::hints::{Hears, Hints};
use crate::request::Op;

/// A request in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Kind of the request.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u64,
    /// True if a write is to be durable when it is complete.
    pub fua: bool,
}

/// A request that was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The number under which it was submitted.
    pub id: u32,
    /// Time at which it was complete.
    pub at_ns: u64,
}

/// An edge of a Ready/Busy pin, in the order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the edge.
    pub at_ns: u64,
    /// Die whose pin it is: channel + channels · (chip + chips per channel · die).
    pub die: u32,
    /// True if the die becomes busy, and its pin low.
    pub busy: bool,
}

/// Time that a part of a device was busy, of all that there are of its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// Kind of the part: "channel", "die", "link", "controller", "head".
    pub level: &'static str,
    /// Parts of this kind.
    pub parts: u32,
    /// Busy time, summed over them.
    pub busy_ns: u64,
}

/// Erases of the SLC caches and the pages that hold data in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcWear {
    /// Erases of its blocks, since the device was new.
    pub erases: u64,
    /// Its blocks.
    pub blocks: u64,
    /// Mapping units of the blocks that were erased, each time.
    pub erased_pages: u64,
    /// Mapping units that hold data now.
    pub valid_pages: u64,
}

/// Events that a device has gone through at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ran {
    /// Events.
    pub events: u64,
    /// Time of the last of them.
    pub last_ns: u64,
}

/// A device in virtual time: it is given requests and goes from event to event.
pub trait BlockDevice: Send {
    /// Bytes that the host sees.
    fn capacity_bytes(&self) -> u64;

    /// Requests that it takes at once; the host keeps the others.
    fn depth(&self) -> u32;

    /// Takes a request at `now_ns`, which no event precedes. Its completion bears `id`.
    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()>;

    /// Kind of hint that must come with each write.
    fn hears(&self) -> Hears {
        Hears::Nothing
    }

    /// Takes a write with the hints on its pages, where the device hears hints.
    /// Times of invalidation are by the clock of the pages that the host has written.
    fn submit_hinted(
        &mut self,
        now_ns: u64,
        request: &IoRequest,
        id: u32,
        _hints: &Hints,
    ) -> Result<()> {
        self.submit(now_ns, request, id)
    }

    /// Time of its next event, if it has anything left to do.
    fn next_event_ns(&self) -> Option<u64>;

    /// Lets the next event happen; what is complete then goes to `completed`, in order.
    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()>;

    /// Goes from event to event until one completes something, as [`Self::step`] does.
    /// It stops before events of `before_ns` and later, and after so many events.
    fn run(
        &mut self,
        before_ns: u64,
        most_events: u64,
        completed: &mut Vec<Completion>,
    ) -> Result<Ran> {
        let mut ran = Ran::default();
        while completed.is_empty()
            && ran.events < most_events
            && let Some(at_ns) = self.next_event_ns()
            && at_ns < before_ns
        {
            self.step(completed)?;
            ran = Ran { events: ran.events + 1, last_ns: at_ns };
        }
        Ok(ran)
    }

    /// Fetches what a request will need of the host's memory that is simulated; it comes soon, or
    /// next to nothing before it. It changes nothing.
    fn prefetch(&self, _request: &IoRequest, _is_near: bool) {}

    /// Writes out whatever is held in volatile memory; done when no event is left.
    fn sync(&mut self, now_ns: u64) -> Result<()>;

    /// Busy time of each kind of part up to `now_ns`.
    fn busy(&self, now_ns: u64) -> Vec<Busy>;

    /// Counts of flash operations by cause since the device was new; `None` of what is no flash.
    fn counters(&self) -> Option<Counters>;

    /// Ends an interval of the host's, and begins the next; the first has begun with the device.
    fn mark(&mut self) {}

    /// By interval between marks, what the writes in it took of the flash after it: see
    /// [`super::late`]. None of those after the last.
    fn shifts(&self) -> Vec<Shift> {
        Vec::new()
    }

    /// Wear of SLC caches; `None` without one.
    fn slc_wear(&self) -> Option<SlcWear> {
        None
    }

    /// Program operations of the flash.
    fn program_operations(&self) -> u64 {
        0
    }

    /// Reads that bit errors made it try again; `None` of a device without such errors.
    fn read_errors(&self) -> Option<ReadErrors> {
        None
    }

    /// Page reads of the flash, for whatever cause, each try of them.
    fn read_operations(&self) -> u64 {
        0
    }

    /// Takes the edges of Ready/Busy pins since this was asked last, if they are recorded.
    fn take_edges(&mut self, _edges: &mut Vec<Edge>) {}
}
