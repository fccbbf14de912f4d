//! The flash drive in real time: requests are answered when the model of its times says so.
//!
//! The clock only decides at which virtual time a request comes. What follows is the engine's, so
//! that requests at these times, in this order, come to the same counts and latencies anywhere: all
//! that happens before a request has happened when it is taken, and nothing of its own time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use writeamp_engine::flash::{Array, Counters, Recorder};
use writeamp_engine::managers;
use writeamp_engine::request::Op;
use writeamp_engine::state;
use writeamp_engine::timing::{BlockDevice, Completion, Edge, IoRequest, Served, Ssd, Timing};

use crate::books::Requests;
use crate::config::Config;
use crate::error::Result;
use crate::record::Ask;

/// The longest wait of a thread, which then looks again whatever the clock says.
const LONGEST_WAIT_S: f64 = 60.0;

/// A timed drive and the clock that it follows.
pub struct Clocked {
    ssd: Ssd,
    started: Instant,
    /// Seconds of the host for a second of the drive.
    scale: f64,
    /// Virtual time up to which all has happened: requests come later.
    settled_ns: u64,
    /// Virtual time of the last request.
    submitted_ns: u64,
    next_id: u32,
    outstanding: HashMap<u32, (IoRequest, u64)>,
    done: HashMap<u32, u64>,
    completed: Vec<Completion>,
    /// Counts of requests.
    pub requests: Requests,
    /// Latencies of reads and of writes, in the drive's time.
    pub latencies: [Served; 2],
}

impl Clocked {
    /// A new drive, at time 0 now.
    pub fn new(config: &Config, packed: Option<&[u8]>) -> Result<Self> {
        let times = config.times.as_ref().map_or_else(|| "{}".into(), ToString::to_string);
        let timing = Timing::from_json(&times)?;
        let (flash, setup) = (&config.drive, config.drive.setup()?);
        let seed = setup.seed;
        let page_bytes = setup.geometry.page_bytes();
        let host_pages = (config.size_bytes / u64::from(page_bytes)) as u32;
        let mut drive =
            managers::build_observed(&flash.manager, setup, Box::new(Recorder::default()))?;
        if let Some(bytes) = packed {
            state::unpack(&mut *drive, bytes)?;
        }
        let mut ssd = Ssd::new(drive, timing, host_pages, seed)?;
        if config.ready_busy.is_some() {
            ssd.record_edges();
        }
        Ok(Clocked {
            ssd,
            started: Instant::now(),
            scale: config.time_scale,
            settled_ns: 0,
            submitted_ns: 0,
            next_id: 0,
            outstanding: HashMap::new(),
            done: HashMap::new(),
            completed: Vec::new(),
            requests: Requests::default(),
            latencies: [Served::new()?, Served::new()?],
        })
    }

    /// True if the drive takes no further request now.
    pub fn is_full(&self) -> bool {
        self.outstanding.len() >= self.ssd.depth() as usize
    }

    /// Takes a request; its number is what [`Self::take_done`] asks for.
    pub fn submit(&mut self, ask: &Ask, partly_held: u64) -> Result<u32> {
        let now_ns = self.now_ns().max(self.settled_ns + 1);
        self.catch_up_to(now_ns - 1)?;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let Ask { op, offset, length, fua } = *ask;
        let request = IoRequest { op, offset, length: u64::from(length), fua };
        self.ssd.submit(now_ns, &request, id)?;
        self.requests.count(op, partly_held);
        self.outstanding.insert(id, (request, now_ns));
        self.submitted_ns = now_ns;
        Ok(id)
    }

    /// True, once, if the request is done.
    pub fn take_done(&mut self, id: u32) -> bool {
        self.done.remove(&id).is_some()
    }

    /// Lets happen what has happened by now.
    /// True if requests were done by that.
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

    /// Time until the next event, in the host's time; `None` if there is none.
    pub fn until_next(&self) -> Option<Duration> {
        let at_s = self.ssd.next_event_ns()? as f64 * 1e-9 * self.scale;
        let left_s = at_s - self.started.elapsed().as_secs_f64();
        Some(Duration::from_secs_f64(left_s.clamp(0.0, LONGEST_WAIT_S)))
    }

    /// Takes the edges of Ready/Busy pins so far.
    pub fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        self.ssd.take_edges(edges);
    }

    /// Begins the latencies anew.
    pub fn forget_latencies(&mut self) {
        self.latencies.iter_mut().for_each(Served::clear);
    }

    /// Virtual time up to which all has happened.
    pub fn settled_ns(&self) -> u64 {
        self.settled_ns
    }

    /// Virtual time at which the last request came.
    pub fn submitted_ns(&self) -> u64 {
        self.submitted_ns
    }

    /// Requests that are taken and not answered.
    pub fn unanswered(&self) -> u64 {
        self.outstanding.len() as u64
    }

    /// The flash, to look at.
    pub fn flash(&self) -> &Array {
        self.ssd.drive().flash()
    }

    /// Counts of the device.
    pub fn counters(&self) -> Counters {
        self.ssd.counters().expect("a flash drive counts")
    }

    fn now_ns(&self) -> u64 {
        (self.started.elapsed().as_secs_f64() / self.scale * 1e9) as u64
    }
}

#[cfg(test)]
mod tests;
