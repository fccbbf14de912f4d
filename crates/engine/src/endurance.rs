//! Drive life: a run until the drive is worn out, and what it did by then (paper 4, §5–6).
//!
//! Replicas of a study share nothing but its settings, so that they may live beside each other, in
//! any order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::flash::{EndOfLife, Moment, Wear};
use crate::managers::{self, Setup};
use crate::simulation::Simulation;
use crate::workloads::Workload;

/// Host pages between two looks at the end of life, the progress and the wish to stop.
/// It is hundredths of a second at most. A life is recorded where it ended, however far beyond the
/// drive was driven.
const CHUNK_PAGES: u64 = 1 << 14;

/// Drives that differ only by their seed.
#[derive(Debug, Clone)]
pub struct Study {
    /// The spec of the block manager.
    pub manager: String,
    /// The drive, with a wear limit; each life has a seed of its own in place of its seed.
    pub setup: Setup,
    /// Logical pages that are written once, in order, before the workload begins.
    pub fill: Vec<Range<u32>>,
    /// Pages that the host hands over at a time.
    pub batch_pages: usize,
}

/// The life of one replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// The drive when a block was worn out and no spare block of its pool was left after that.
    pub end: EndOfLife,
    /// The moment when the first block was erased for the w-th time, for w = 1 … wear limit.
    pub first_to_reach: Vec<Moment>,
}

/// Progress of a life, and the wish to stop it: for another thread to look at and to set.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    reached_erases: AtomicU64,
}

impl Watch {
    /// Stops the life soon; [`life`] then returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The most erases of any block, at most the wear limit.
    pub fn reached_erases(&self) -> u64 {
        self.reached_erases.load(Ordering::Relaxed)
    }
}

/// Life of the drive of a seed, under the workload that `load` gives for it.
pub fn life<L>(study: &Study, seed: u64, load: L, watch: &Watch) -> Result<Life>
where
    L: FnOnce(u64) -> Result<Box<dyn Workload>>,
{
    if study.setup.wear.limit == Wear::NO_LIMIT {
        return Err(Error::Spec("a drive without a wear limit has no end of life".into()));
    }
    stop_if_cancelled(watch)?; // before what may be seconds of building the drive
    let drive = managers::build(&study.manager, Setup { seed, ..study.setup.clone() })?;
    let mut simulation = Simulation::new(drive, load(seed)?, study.batch_pages)?;
    for pages in &study.fill {
        for first in pages.clone().step_by(CHUNK_PAGES as usize) {
            stop_if_cancelled(watch)?;
            simulation.fill(first, pages.end.min(first.saturating_add(CHUNK_PAGES as u32)))?;
        }
    }
    while simulation.drive().flash().wear().end_of_life().is_none() {
        stop_if_cancelled(watch)?;
        if simulation.run(CHUNK_PAGES)? < CHUNK_PAGES {
            break;
        }
        let reached = simulation.drive().flash().wear().first_to_reach().len() as u64;
        watch.reached_erases.store(reached, Ordering::Relaxed);
    }
    ended(&simulation).ok_or_else(|| {
        Error::Spec("the workload ended before the drive's life; use one without end".into())
    })
}

fn stop_if_cancelled(watch: &Watch) -> Result<()> {
    if watch.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

fn ended(simulation: &Simulation) -> Option<Life> {
    let log = simulation.drive().flash().wear();
    let end = log.end_of_life()?.clone();
    Some(Life { end, first_to_reach: log.first_to_reach().to_vec() })
}

#[cfg(test)]
mod tests;
