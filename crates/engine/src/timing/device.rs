//! Interface of a timed device to its host: requests, completions, events and counters.
//! The device may be flash, a disk or an array of devices.

use super::errors::ReadErrors;
use super::late::{Shift, TagShift};
use crate::error::Result;
use crate::flash::{Counters, TagCounters};
use crate::hints::{Hints, RequiredHints, UNTAGGED};
use crate::request::Op;

/// Request of the host, with its position and length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRequest {
    /// Kind of the request.
    pub op: Op,
    /// Position of the first byte on the device.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub length: u64,
    /// True if a write must be durable when it completes.
    pub fua: bool,
    /// Tag of a write, for drives that count by tag, or [`UNTAGGED`].
    pub tag: u8,
}

impl IoRequest {
    /// Request without a tag that need not be durable when it completes.
    pub const fn new(op: Op, offset: u64, length: u64) -> Self {
        IoRequest { op, offset, length, fua: false, tag: UNTAGGED }
    }
}

/// Completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Number (`id`) with which the request was submitted.
    pub id: u32,
    /// Time in ns at which the host receives the completion.
    pub at_ns: u64,
}

/// Edge of a Ready/Busy pin. Edges are recorded in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the edge in ns.
    pub at_ns: u64,
    /// Die of the pin: channel + channels · (chip + chips per channel · die).
    pub die: u32,
    /// True if the die becomes busy, which pulls its pin low; false if it becomes ready.
    pub busy: bool,
}

/// Busy time of all device parts of one kind, such as all channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Busy {
    /// Kind of part: "channel", "die", "link", "controller" or "head".
    pub level: &'static str,
    /// Number of device parts of this kind.
    pub parts: u32,
    /// Busy time in ns, summed over all parts of this kind.
    pub busy_ns: u64,
}

/// Wear of the SLC caches of a device, and the amount of data in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlcWear {
    /// Number of block erases of the caches since the device was new.
    pub erases: u64,
    /// Number of blocks of the caches.
    pub blocks: u64,
    /// Number of erased mapping units (pages of the map), summed over all erases.
    pub erased_pages: u64,
    /// Number of mapping units that hold data now.
    pub valid_pages: u64,
}

/// Number of events that one call processed, and the time of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ran {
    /// Number of processed events.
    pub events: u64,
    /// Time in ns of the last processed event.
    pub last_ns: u64,
}

/// Device in virtual time, which receives requests and processes events.
pub trait BlockDevice: Send {
    /// Capacity visible to the host, in bytes.
    fn capacity_bytes(&self) -> u64;

    /// Most outstanding requests of the device; the host queues further requests.
    fn depth(&self) -> u32;

    /// Submits a request at `now_ns`.
    /// No unprocessed event may have an earlier time. The completion of the request will have the
    /// same `id`.
    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()>;

    /// Kind of hint that must accompany each write.
    fn required_hints(&self) -> RequiredHints {
        RequiredHints::Nothing
    }

    /// Submits a write with the hints on its pages. Devices that require no hints ignore them.
    /// The clock of invalidation times is the number of host pages written.
    fn submit_hinted(
        &mut self,
        now_ns: u64,
        request: &IoRequest,
        id: u32,
        _hints: &Hints,
    ) -> Result<()> {
        self.submit(now_ns, request, id)
    }

    /// Time of the next event, or None if the device has no work left.
    fn next_event_ns(&self) -> Option<u64>;

    /// Processes the next event. Appends completed requests to `completed`, in order.
    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()>;

    /// Processes events like repeated [`Self::step`], until an event completes a request.
    /// It also stops before an event at or after `before_ns`, and after `most_events` events.
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

    /// Loads simulator data for a request that will be submitted soon into the processor's cache.
    /// `is_near` is true if it is one of the next few requests. The state of the device does not
    /// change.
    fn prefetch(&self, _request: &IoRequest, _is_near: bool) {}

    /// Starts to write all volatile data to the medium. All of it is written once no event is
    /// left.
    fn sync(&mut self, now_ns: u64) -> Result<()>;

    /// Busy time of each kind of part up to `now_ns`.
    fn busy(&self, now_ns: u64) -> Vec<Busy>;

    /// Flash operations by cause since the device was new, without its initial fill.
    /// None for devices without flash.
    fn counters(&self) -> Option<Counters>;

    /// Counters by tag since the device was new, if it counts by tag.
    fn tag_counters(&self) -> Option<TagCounters> {
        None
    }

    /// Corrections of the counters by tag, like [`Self::shifts`].
    fn tag_shifts(&self) -> Vec<TagShift> {
        Vec::new()
    }

    /// Ends an interval of the host and begins the next one.
    /// The first interval begins when the device is new.
    fn mark(&mut self) {}

    /// Begins another load of the host, with new corrections by interval.
    /// The first of them is that of all earlier intervals.
    fn begin_load(&mut self) {}

    /// Corrections of the load's completed intervals.
    /// For each interval: flash operations for its writes that were done after its end,
    /// minus those done in it for earlier writes. See [`super::late`].
    fn shifts(&self) -> Vec<Shift> {
        Vec::new()
    }

    /// Wear of SLC caches, or None without one.
    fn slc_wear(&self) -> Option<SlcWear> {
        None
    }

    /// Number of program operations of the flash.
    fn program_operations(&self) -> u64 {
        0
    }

    /// Read retries caused by bit errors, or None for a device without bit errors.
    fn read_errors(&self) -> Option<ReadErrors> {
        None
    }

    /// Number of flash page reads for any cause. Each retry counts as a read.
    fn read_operations(&self) -> u64 {
        0
    }

    /// Moves the edges of Ready/Busy pins since the last call to the end of `edges`.
    /// Does nothing if edges are not recorded.
    fn take_edges(&mut self, _edges: &mut Vec<Edge>) {}
}
