//! The flash behind the data, without time or in it, its counters and its pins.

pub mod books;
pub mod clocked;
mod edges;
pub mod report;

use std::sync::Arc;

use serde_json::{Value, json};
use writeamp_engine::flash::{Array, Cause, Counters};
use writeamp_engine::state::{Reader, State, Writer};
use writeamp_engine::timing::SlcWear;

use crate::config::Config;
use crate::error::Result;
use crate::held::Held;
use crate::record::Record;
use books::{Books, Requests};
use clocked::Clocked;
use edges::Edges;

/// The flash, without time or in it.
pub enum Flash {
    Counted(Books),
    Clocked(Box<Clocked>, Option<Edges>),
}

impl Flash {
    pub fn new(config: &Config, state: Option<&[u8]>) -> Result<Self> {
        if config.times.is_none() {
            return Books::new(&config.drive, state).map(Flash::Counted);
        }
        let edges = config.ready_busy.as_deref().map(Edges::new).transpose()?;
        Ok(Flash::Clocked(Box::new(Clocked::new(config, state)?), edges))
    }

    /// Serves a request again that was served before, after those before it.
    pub fn replay(&mut self, record: &Record) -> Result<()> {
        match self {
            Flash::Counted(books) => books.serve(&record.ask),
            Flash::Clocked(clocked, _) => clocked.replay(record),
        }
    }

    /// Lets happen what has happened to a timed drive by now.
    pub fn catch_up(&mut self) -> Result<()> {
        let Flash::Clocked(clocked, _) = self else { return Ok(()) };
        clocked.catch_up().map(drop)
    }

    /// Writes the edges of its pins; an error if any are missing.
    pub fn write_edges(&mut self) -> Result<()> {
        let Flash::Clocked(clocked, Some(edges)) = self else { return Ok(()) };
        edges.take(clocked)
    }

    pub fn is_timed(&self) -> bool {
        matches!(self, Flash::Clocked(..))
    }

    /// The first so many pages that hold data of the host.
    pub fn held(&self, pages: u64) -> Arc<Held> {
        match self {
            Flash::Counted(books) => Arc::new(Held::of(books.flash(), pages)),
            Flash::Clocked(clocked, _) => clocked.held.clone(),
        }
    }

    pub fn flash(&self) -> &Array {
        match self {
            Flash::Counted(books) => books.flash(),
            Flash::Clocked(clocked, _) => clocked.flash(),
        }
    }

    pub fn counters(&self) -> Counters {
        match self {
            Flash::Counted(books) => *books.counters(),
            Flash::Clocked(clocked, _) => clocked.counters(),
        }
    }

    pub fn requests(&self) -> &Requests {
        match self {
            Flash::Counted(books) => books.requests(),
            Flash::Clocked(clocked, _) => &clocked.requests,
        }
    }

    pub fn causes(&self) -> &'static [Cause] {
        match self {
            Flash::Counted(_) => &Cause::WITHOUT_TIME,
            Flash::Clocked(..) => &Cause::ALL,
        }
    }

    pub fn latencies(&self) -> Value {
        match self {
            Flash::Counted(_) => Value::Null,
            Flash::Clocked(clocked, _) => {
                let [reads, writes] = &clocked.latencies;
                json!({"read": report::latencies(reads), "write": report::latencies(writes)})
            }
        }
    }

    /// Wear of its SLC cache, if it has one.
    pub fn slc_wear(&self) -> Option<SlcWear> {
        match self {
            Flash::Counted(_) => None,
            Flash::Clocked(clocked, _) => clocked.slc_wear(),
        }
    }

    /// The drive's own time, and what it has not answered then; null of one without time.
    pub fn moment(&self) -> Value {
        match self {
            Flash::Counted(_) => Value::Null,
            Flash::Clocked(clocked, _) => json!({
                "time_ns": clocked.settled_ns(),
                "unanswered": clocked.unanswered(),
            }),
        }
    }

    pub fn is_full(&self) -> bool {
        matches!(self, Flash::Clocked(clocked, _) if clocked.is_full())
    }
}

impl State for Flash {
    fn save(&self, to: &mut Writer) {
        match self {
            Flash::Counted(books) => books.save(to),
            Flash::Clocked(clocked, _) => clocked.save(to),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        match self {
            Flash::Counted(books) => books.restore(from),
            Flash::Clocked(clocked, _) => clocked.restore(from),
        }
    }
}
