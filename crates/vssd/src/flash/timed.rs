//! Timed flash drive: requests complete at the times of the timing model.
//!
//! The clock only sets the virtual arrival time of a request. Everything else is deterministic: the
//! same requests at the same times give the same counts and latencies on any machine. Before a
//! request is accepted, the model has processed all events before its arrival time, but no event at
//! that time.
//!
//! A timed drive can be stored in files. Turning it off completes all operations and writes the
//! contents of its memory to flash ([`Ssd::turn_off`]), so that a snapshot is complete. Until then,
//! a replay of its requests at their times restores the same state.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use writeamp_engine::flash::{Array, Counters, Recorder};
use writeamp_engine::managers;
use writeamp_engine::request::Op;
use writeamp_engine::state::{self, Reader, State, Writer, require};
use writeamp_engine::timing::{
    BlockDevice, Completion, Edge, IoRequest, Served, SlcWear, Ssd, Timing,
};

use super::untimed::{Pages, Requests, refuse_hints};
use crate::allocation_bitmap::AllocationBitmap;
use crate::config::Config;
use crate::error::Result;
use crate::record::{Record, Request};

/// Longest time that a thread waits before it checks for events again.
const LONGEST_WAIT_S: f64 = 60.0;

/// A timed drive and its clock.
pub struct TimedFlash {
    config: Config,
    ssd: Ssd,
    /// Pages that hold data of the host, in flash, in a cache, or still in transfer.
    pub allocated: Arc<AllocationBitmap>,
    /// Time when the drive was turned on, by the host's clock.
    started: Instant,
    /// Virtual time when the drive was turned on.
    on_ns: u64,
    /// Virtual time up to which all events are processed. Every new request arrives after it.
    settled_ns: u64,
    /// Virtual time of the last request.
    submitted_ns: u64,
    next_id: u32,
    outstanding: HashMap<u32, (IoRequest, u64)>,
    done: HashMap<u32, u64>,
    completed: Vec<Completion>,
    /// Counts of requests, by kind.
    pub requests: Requests,
    /// Latencies of reads and of writes, in the drive's time.
    pub latencies: [Served; 2],
}

impl TimedFlash {
    /// Creates a drive whose virtual time is 0 now.
    ///
    /// `packed` is a packed state of an untimed flash drive, or None.
    pub fn new(config: &Config, packed: Option<&[u8]>) -> Result<Self> {
        let ssd = new_ssd(config, packed)?;
        let allocated = AllocationBitmap::of(ssd.drive().flash(), host_pages(config).into());
        let mut timed = TimedFlash {
            config: config.clone(),
            ssd,
            allocated: Arc::new(allocated),
            started: Instant::now(),
            on_ns: 0,
            settled_ns: 0,
            submitted_ns: 0,
            next_id: 0,
            outstanding: HashMap::new(),
            done: HashMap::new(),
            completed: Vec::new(),
            requests: Requests::default(),
            latencies: [Served::new()?, Served::new()?],
        };
        timed.turn_on();
        Ok(timed)
    }

    /// Starts the clock at the drive's virtual time, without outstanding requests.
    fn turn_on(&mut self) {
        self.on_ns = self.ssd.now_ns();
        (self.settled_ns, self.submitted_ns) = (self.on_ns, self.on_ns);
        self.outstanding.clear();
        self.done.clear();
        self.forget_latencies();
        if self.config.ready_busy.is_some() {
            self.ssd.record_edges();
        }
        self.started = Instant::now();
    }

    /// Turns the drive off: writes the contents of its memory to flash, and completes all
    /// operations.
    pub fn turn_off(&mut self) -> Result<()> {
        Ok(self.ssd.turn_off(self.settled_ns)?)
    }

    /// Turns the drive off and on again, as a restart of the server does.
    pub fn restart(&mut self) -> Result<()> {
        self.turn_off()?;
        let packed = state::pack(&self.ssd);
        self.ssd = new_ssd(&self.config, None)?;
        state::unpack(&mut self.ssd, &packed)?;
        self.turn_on();
        Ok(())
    }

    /// True if the queue of the drive is full.
    pub fn is_full(&self) -> bool {
        self.outstanding.len() >= self.ssd.depth() as usize
    }

    /// Accepts a request; returns its id for [`Self::take_done`].
    pub fn submit(&mut self, request: &Request, partly_allocated: u64) -> Result<u32> {
        self.submit_at(self.now_ns(), request, partly_allocated)
    }

    /// Accepts a recorded request at its recorded time.
    pub fn replay(&mut self, record: &Record) -> Result<()> {
        let Record { at_ns, request, .. } = record;
        let pages = Pages::of(request, u64::from(self.config.drive.geometry.page_bytes));
        let partly_allocated = pages.mark(request.op, &self.allocated);
        let taken = self.submit_at(self.on_ns.saturating_add(*at_ns), request, partly_allocated);
        self.done.clear();
        taken.map(drop)
    }

    /// Accepts a request at a virtual time, or right after the processed events if that is later.
    fn submit_at(&mut self, at_ns: u64, request: &Request, partly_allocated: u64) -> Result<u32> {
        let now_ns = at_ns.max(self.settled_ns + 1);
        let Request { op, offset, length, fua } = *request;
        let request = IoRequest { fua, ..IoRequest::new(op, offset, length.into()) };
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        // A failed request has a row in the journal. A replay repeats it, so its count and time are
        // updated here too.
        self.requests.count(op, partly_allocated);
        self.submitted_ns = now_ns;
        self.catch_up_to(now_ns - 1)?;
        self.ssd.submit(now_ns, &request, id)?;
        self.outstanding.insert(id, (request, now_ns));
        Ok(id)
    }

    /// True if the request is done. Later calls for the same request return false.
    pub fn take_done(&mut self, id: u32) -> bool {
        self.done.remove(&id).is_some()
    }

    /// Advances the model to the current time.
    ///
    /// Returns true if any completed request was not yet taken by [`Self::take_done`].
    pub fn catch_up(&mut self) -> Result<bool> {
        self.catch_up_to(self.now_ns())
    }

    fn catch_up_to(&mut self, until_ns: u64) -> Result<bool> {
        self.settled_ns = self.settled_ns.max(until_ns);
        while self.ssd.next_event_ns().is_some_and(|at_ns| at_ns <= until_ns) {
            self.ssd.step(&mut self.completed)?;
        }
        for Completion { id, at_ns } in self.completed.drain(..) {
            let Some((request, from_ns)) = self.outstanding.remove(&id) else { continue };
            let IoRequest { op, length, .. } = request;
            match op {
                Op::Read => self.latencies[0].record(length, at_ns - from_ns),
                Op::Write => self.latencies[1].record(length, at_ns - from_ns),
                Op::Trim | Op::Flush => {}
            }
            self.done.insert(id, at_ns);
        }
        Ok(!self.done.is_empty())
    }

    /// Time until the next event by the host's clock, or None if no event is scheduled.
    ///
    /// The time is at most `LONGEST_WAIT_S`.
    pub fn until_next(&self) -> Option<Duration> {
        let after_ns = self.ssd.next_event_ns()?.saturating_sub(self.on_ns);
        let at_s = after_ns as f64 * 1e-9 * self.config.time_scale;
        let left_s = at_s - self.started.elapsed().as_secs_f64();
        Some(Duration::from_secs_f64(left_s.clamp(0.0, LONGEST_WAIT_S)))
    }

    /// Takes the recorded Ready/Busy edges.
    /// Their times count from the moment when the drive was turned on.
    pub fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        let first = edges.len();
        self.ssd.take_edges(edges);
        edges[first..].iter_mut().for_each(|edge| edge.at_ns -= self.on_ns);
    }

    /// Resets the latencies.
    pub fn forget_latencies(&mut self) {
        self.latencies.iter_mut().for_each(Served::clear);
    }

    /// Virtual time since the drive was turned on, up to which all events are processed.
    pub fn settled_ns(&self) -> u64 {
        self.settled_ns - self.on_ns
    }

    /// Virtual arrival time of the last request, counted from when the drive was turned on.
    pub fn submitted_ns(&self) -> u64 {
        self.submitted_ns - self.on_ns
    }

    /// Number of requests that were accepted and are not answered yet.
    pub fn unanswered(&self) -> u64 {
        self.outstanding.len() as u64
    }

    /// The flash array.
    pub fn flash(&self) -> &Array {
        self.ssd.drive().flash()
    }

    /// Counters of the device.
    pub fn counters(&self) -> Counters {
        self.ssd.counters().expect("a flash drive counts")
    }

    /// Wear of its SLC cache, if it has one.
    pub fn slc_wear(&self) -> Option<SlcWear> {
        self.ssd.slc_wear()
    }

    fn now_ns(&self) -> u64 {
        self.on_ns + (self.started.elapsed().as_secs_f64() / self.config.time_scale * 1e9) as u64
    }
}

/// State of a drive that is turned off. Restoring the state turns the drive on.
impl State for TimedFlash {
    fn save(&self, to: &mut Writer) {
        to.value(&times(&self.config).to_string());
        to.value(&self.requests);
        to.table(&self.allocated.words());
        self.ssd.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        let made_with: String = from.value("its times")?;
        let made_with = serde_json::from_str(&made_with).unwrap_or(Value::Null);
        if let Some(change) = first_change("", &made_with, &times(&self.config)) {
            let why = format!("the drive was made with other timing values: {change}");
            return Err(writeamp_engine::Error::State(why));
        }
        self.requests = from.value("its count of requests")?;
        let mut words = self.allocated.words();
        from.table(&mut words, "the pages that hold data")?;
        let pages = u64::from(host_pages(&self.config));
        let is_beyond =
            |bit: u64| bit >= pages && words[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
        let bits = words.len() as u64 * 64;
        require(!(pages..bits).any(is_beyond), "the pages that hold data")?;
        self.allocated.set_words(&words);
        self.ssd.restore(from)?;
        self.turn_on();
        Ok(())
    }
}

/// Creates the timed flash drive.
fn new_ssd(config: &Config, packed: Option<&[u8]>) -> Result<Ssd> {
    let timing = Timing::from_json(&times(config).to_string())?;
    let (flash, setup) = (&config.drive, config.drive.setup()?);
    let seed = setup.seed;
    let recorder = Box::new(Recorder::default());
    let mut drive = managers::build_observed(&flash.manager, setup, recorder)?;
    refuse_hints(&*drive, &flash.manager)?;
    if let Some(bytes) = packed {
        state::unpack(&mut *drive, bytes)?;
    }
    Ok(Ssd::new(drive, timing, host_pages(config), seed)?)
}

/// Pages of the host.
fn host_pages(config: &Config) -> u32 {
    (config.size_bytes / u64::from(config.drive.geometry.page_bytes)) as u32
}

/// Timing tables of the profile.
fn times(config: &Config) -> Value {
    config.times.clone().unwrap_or_else(|| json!({}))
}

/// Describes the first key whose values differ, by its path; None if all values are equal.
fn first_change(name: &str, previous: &Value, now: &Value) -> Option<String> {
    let (Value::Object(was), Value::Object(is)) = (previous, now) else {
        return (previous != now).then(|| format!("{name} was {previous} and is {now} now"));
    };
    let names = was.keys().chain(is.keys().filter(|name| !was.contains_key(*name)));
    names.into_iter().find_map(|inner| {
        let value = |of: &Map<String, Value>| of.get(inner).cloned().unwrap_or(Value::Null);
        let name = if name.is_empty() { inner.clone() } else { format!("{name}.{inner}") };
        first_change(&name, &value(was), &value(is))
    })
}

#[cfg(test)]
mod tests;
