//! The flash behind the data, untimed or timed, with its counters and Ready/Busy pins.

mod edges;
pub mod report;
pub mod timed;
pub mod untimed;

use std::sync::Arc;

use serde_json::{Value, json};
use writeamp_engine::flash::{Array, Cause, Counters};
use writeamp_engine::state::{Reader, State, Writer};
use writeamp_engine::timing::SlcWear;

use crate::allocation_bitmap::AllocationBitmap;
use crate::config::Config;
use crate::error::Result;
use crate::record::Record;
use edges::Edges;
use timed::TimedFlash;
use untimed::{Requests, UntimedFlash};

/// The flash: untimed or timed.
pub enum Flash {
    Untimed(UntimedFlash),
    Timed(Box<TimedFlash>, Option<Edges>),
}

impl Flash {
    pub fn new(config: &Config, state: Option<&[u8]>) -> Result<Self> {
        if config.times.is_none() {
            return UntimedFlash::new(&config.drive, state).map(Flash::Untimed);
        }
        let edges = config.ready_busy.as_deref().map(Edges::new).transpose()?;
        Ok(Flash::Timed(Box::new(TimedFlash::new(config, state)?), edges))
    }

    /// Serves a recorded request again. Requests must be replayed in the recorded order.
    pub fn replay(&mut self, record: &Record) -> Result<()> {
        match self {
            Flash::Untimed(untimed) => untimed.serve(&record.request),
            Flash::Timed(timed, _) => timed.replay(record),
        }
    }

    /// Advances a timed drive to the current time.
    pub fn catch_up(&mut self) -> Result<()> {
        let Flash::Timed(timed, _) = self else { return Ok(()) };
        timed.catch_up().map(drop)
    }

    /// Appends the Ready/Busy edges since the last call to their file.
    /// After a failed write, this and all later calls return its error, and the file ends before
    /// the lost edges.
    pub fn write_edges(&mut self) -> Result<()> {
        let Flash::Timed(timed, Some(edges)) = self else { return Ok(()) };
        edges.take(timed)
    }

    pub fn is_timed(&self) -> bool {
        matches!(self, Flash::Timed(..))
    }

    /// Bitmap of the host's `pages` that hold data.
    pub fn allocated(&self, pages: u64) -> Arc<AllocationBitmap> {
        match self {
            Flash::Untimed(untimed) => Arc::new(AllocationBitmap::of(untimed.flash(), pages)),
            Flash::Timed(timed, _) => timed.allocated.clone(),
        }
    }

    pub fn flash(&self) -> &Array {
        match self {
            Flash::Untimed(untimed) => untimed.flash(),
            Flash::Timed(timed, _) => timed.flash(),
        }
    }

    pub fn counters(&self) -> Counters {
        match self {
            Flash::Untimed(untimed) => *untimed.counters(),
            Flash::Timed(timed, _) => timed.counters(),
        }
    }

    pub fn requests(&self) -> &Requests {
        match self {
            Flash::Untimed(untimed) => untimed.requests(),
            Flash::Timed(timed, _) => &timed.requests,
        }
    }

    pub fn causes(&self) -> &'static [Cause] {
        match self {
            Flash::Untimed(_) => &Cause::WITHOUT_TIME,
            Flash::Timed(..) => &Cause::ALL,
        }
    }

    pub fn latencies(&self) -> Value {
        match self {
            Flash::Untimed(_) => Value::Null,
            Flash::Timed(timed, _) => {
                let [reads, writes] = &timed.latencies;
                json!({"read": report::latencies(reads), "write": report::latencies(writes)})
            }
        }
    }

    /// Wear of the drive's SLC cache, if it has one.
    pub fn slc_wear(&self) -> Option<SlcWear> {
        match self {
            Flash::Untimed(_) => None,
            Flash::Timed(timed, _) => timed.slc_wear(),
        }
    }

    /// Virtual time and unanswered requests; null if untimed.
    pub fn moment(&self) -> Value {
        match self {
            Flash::Untimed(_) => Value::Null,
            Flash::Timed(timed, _) => json!({
                "time_ns": timed.settled_ns(),
                "unanswered": timed.unanswered(),
            }),
        }
    }

    pub fn is_full(&self) -> bool {
        matches!(self, Flash::Timed(timed, _) if timed.is_full())
    }
}

impl State for Flash {
    fn save(&self, to: &mut Writer) {
        match self {
            Flash::Untimed(untimed) => untimed.save(to),
            Flash::Timed(timed, _) => timed.save(to),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        match self {
            Flash::Untimed(untimed) => untimed.restore(from),
            Flash::Timed(timed, _) => timed.restore(from),
        }
    }
}
