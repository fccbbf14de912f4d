//! The flash drive in real time: requests are answered when the model of its times says so.
//!
//! The clock only decides at which virtual time a request comes. What follows is the engine's, so
//! that requests at these times, in this order, come to the same counts and latencies anywhere: all
//! that happens before a request has happened when it is taken, and nothing of its own time.
//!
//! It can be kept. Turned off, all that it has begun comes to its end, and what its memory holds is
//! written ([`Ssd::turn_off`]); the flash, the counts and the time then stand for all of it. Until
//! that, its requests and their times do: served anew, they come to what they came to.

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

use super::books::{Pages, Requests, refuse_hints};
use crate::config::Config;
use crate::error::Result;
use crate::held::Held;
use crate::record::{Ask, Record};

/// The longest wait of a thread, which then looks again whatever the clock says.
const LONGEST_WAIT_S: f64 = 60.0;

/// A timed drive and the clock that it follows.
pub struct Clocked {
    /// All that it is built from.
    config: Config,
    ssd: Ssd,
    /// Pages that hold data of the host, whatever the drive has made of it by now.
    pub held: Arc<Held>,
    /// Moment at which it was turned on, by the clock and in its own time.
    started: Instant,
    on_ns: u64,
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
    /// `packed` is the state of a flash drive without time, as the engine packed it.
    pub fn new(config: &Config, packed: Option<&[u8]>) -> Result<Self> {
        let ssd = new_ssd(config, packed)?;
        let held = Held::of(ssd.drive().flash(), host_pages(config).into());
        let mut clocked = Clocked {
            config: config.clone(),
            ssd,
            held: Arc::new(held),
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
        clocked.turn_on();
        Ok(clocked)
    }

    /// Begins to follow the clock, from where the drive is, with nothing under way.
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

    /// Turns it off: what waits in memory is written, and what was begun comes to its end.
    pub fn turn_off(&mut self) -> Result<()> {
        Ok(self.ssd.turn_off(self.settled_ns)?)
    }

    /// Turns it off and on again, as if its server had ended and another one begun.
    pub fn restart(&mut self) -> Result<()> {
        self.turn_off()?;
        let packed = state::pack(&self.ssd);
        self.ssd = new_ssd(&self.config, None)?;
        state::unpack(&mut self.ssd, &packed)?;
        self.turn_on();
        Ok(())
    }

    /// True if the drive takes no further request now.
    pub fn is_full(&self) -> bool {
        self.outstanding.len() >= self.ssd.depth() as usize
    }

    /// Takes a request; its number is what [`Self::take_done`] asks for.
    pub fn submit(&mut self, ask: &Ask, partly_held: u64) -> Result<u32> {
        self.submit_at(self.now_ns(), ask, partly_held)
    }

    /// Takes a request at the time at which it came before.
    pub fn replay(&mut self, record: &Record) -> Result<()> {
        let Record { at_ns, ask, .. } = record;
        let pages = Pages::of(ask, u64::from(self.config.drive.geometry.page_bytes));
        let partly_held = pages.hold(ask.op, &self.held);
        let taken = self.submit_at(self.on_ns.saturating_add(*at_ns), ask, partly_held);
        self.done.clear();
        taken.map(drop)
    }

    /// Takes a request at a time, or just after what has happened.
    fn submit_at(&mut self, at_ns: u64, ask: &Ask, partly_held: u64) -> Result<u32> {
        let now_ns = at_ns.max(self.settled_ns + 1);
        let Ask { op, offset, length, fua } = *ask;
        let request = IoRequest { op, offset, length: u64::from(length), fua };
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        // Also of one that fails, the count and the time are those of its row.
        self.requests.count(op, partly_held);
        self.submitted_ns = now_ns;
        self.catch_up_to(now_ns - 1)?;
        self.ssd.submit(now_ns, &request, id)?;
        self.outstanding.insert(id, (request, now_ns));
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
        let after_ns = self.ssd.next_event_ns()?.saturating_sub(self.on_ns);
        let at_s = after_ns as f64 * 1e-9 * self.config.time_scale;
        let left_s = at_s - self.started.elapsed().as_secs_f64();
        Some(Duration::from_secs_f64(left_s.clamp(0.0, LONGEST_WAIT_S)))
    }

    /// Takes the edges of Ready/Busy pins so far; they have times since it was turned on.
    pub fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        let before = edges.len();
        self.ssd.take_edges(edges);
        edges[before..].iter_mut().for_each(|edge| edge.at_ns -= self.on_ns);
    }

    /// Begins the latencies anew.
    pub fn forget_latencies(&mut self) {
        self.latencies.iter_mut().for_each(Served::clear);
    }

    /// Virtual time, since it was turned on, up to which all has happened.
    pub fn settled_ns(&self) -> u64 {
        self.settled_ns - self.on_ns
    }

    /// Virtual time, since it was turned on, at which the last request came.
    pub fn submitted_ns(&self) -> u64 {
        self.submitted_ns - self.on_ns
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

    /// Wear of its SLC cache, if it has one.
    pub fn slc_wear(&self) -> Option<SlcWear> {
        self.ssd.slc_wear()
    }

    fn now_ns(&self) -> u64 {
        self.on_ns + (self.started.elapsed().as_secs_f64() / self.config.time_scale * 1e9) as u64
    }
}

/// The state of a drive that is turned off; once restored, it is turned on.
impl State for Clocked {
    fn save(&self, to: &mut Writer) {
        to.value(&times(&self.config).to_string());
        to.value(&self.requests);
        to.table(&self.held.words());
        self.ssd.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        let made_with: String = from.value("its times")?;
        let made_with = serde_json::from_str(&made_with).unwrap_or(Value::Null);
        if let Some(change) = first_change("", &made_with, &times(&self.config)) {
            let why = format!("the drive was made with other times: {change}");
            return Err(writeamp_engine::Error::State(why));
        }
        self.requests = from.value("its count of requests")?;
        let mut words = self.held.words();
        from.table(&mut words, "the pages that hold data")?;
        let pages = u64::from(host_pages(&self.config));
        let is_beyond =
            |bit: u64| bit >= pages && words[(bit / 64) as usize] >> (bit % 64) & 1 == 1;
        let bits = words.len() as u64 * 64;
        require(!(pages..bits).any(is_beyond), "the pages that hold data")?;
        self.held.set_words(&words);
        self.ssd.restore(from)?;
        self.turn_on();
        Ok(())
    }
}

/// A new flash drive in time.
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

/// Pages that the host sees.
fn host_pages(config: &Config) -> u32 {
    (config.size_bytes / u64::from(config.drive.geometry.page_bytes)) as u32
}

/// The tables of times of a profile.
fn times(config: &Config) -> Value {
    config.times.clone().unwrap_or_else(|| json!({}))
}

/// Says where two values differ first, by the names that lead there; `None` if they do not.
fn first_change(name: &str, before: &Value, now: &Value) -> Option<String> {
    let (Value::Object(was), Value::Object(is)) = (before, now) else {
        return (before != now).then(|| format!("{name} was {before} and is {now} now"));
    };
    let names = was.keys().chain(is.keys().filter(|name| !was.contains_key(*name)));
    names.into_iter().find_map(|inner| {
        let part = |of: &Map<String, Value>| of.get(inner).cloned().unwrap_or(Value::Null);
        let name = if name.is_empty() { inner.clone() } else { format!("{name}.{inner}") };
        first_change(&name, &part(was), &part(is))
    })
}

#[cfg(test)]
mod tests;
