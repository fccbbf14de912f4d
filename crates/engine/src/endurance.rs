//! Drive life: run a workload until the drive is worn out, and record its wear (paper 4,
//! §5–6).
//!
//! An endurance study runs replicas: drives that differ only by their seed. Replicas share no
//! state, so they can run in any order or in parallel.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::flash::{EndOfLife, HostCounters, Moment, Wear};
use crate::managers::{self, Setup};
use crate::simulation::Simulation;
use crate::workloads::Workload;

/// Host pages between two checks for the end of life, progress and cancellation.
/// Writing these pages (a chunk) takes at most a few hundredths of a second. The drive records the
/// exact moment at which its life ended, although the run continues to the end of the chunk.
const CHUNK_PAGES: u64 = 1 << 14;

/// Settings of an endurance study, whose drives differ only by their seed.
#[derive(Debug, Clone)]
pub struct Study {
    /// The spec of the block manager.
    pub manager: String,
    /// Setup of the drive, with a wear limit. Each life replaces the setup's seed by its own.
    pub setup: Setup,
    /// Ranges of logical pages that are written once, in order, before the workload begins.
    pub fill: Vec<Range<u32>>,
    /// Pages per batch that the host passes to the drive.
    pub batch_pages: usize,
}

/// Result of one replica, which is a drive that was run until it was worn out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// State of the drive when its life ended.
    /// This is when a block was worn out and its pool had no spare block left.
    pub end: EndOfLife,
    /// For each w from 1 to the wear limit: the moment at which the first block reached w erases.
    pub first_to_reach: Vec<Moment>,
    /// Requests of the host up to the end of the chunk in which the life ended, with the fill.
    pub host: HostCounters,
}

/// Progress and cancellation of a life, shared with another thread.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    reached_erases: AtomicU64,
}

impl Watch {
    /// Requests cancellation of the life; [`life`] soon returns [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Highest erase count of any block so far, at most the wear limit; it shows the progress.
    pub fn reached_erases(&self) -> u64 {
        self.reached_erases.load(Ordering::Relaxed)
    }
}

/// Simulates the life of the drive with this seed. `load` returns the workload for the seed.
pub fn life<L>(study: &Study, seed: u64, load: L, watch: &Watch) -> Result<Life>
where
    L: FnOnce(u64) -> Result<Box<dyn Workload>>,
{
    if study.setup.wear.limit == Wear::NO_LIMIT {
        return Err(Error::Spec(
            "the drive has no wear limit; a run to the end of its life needs one".into(),
        ));
    }
    stop_if_cancelled(watch)?; // building the drive may take seconds
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
        Error::Spec(
            "the workload ended before the drive was worn out; use a workload that does not end"
                .into(),
        )
    })
}

fn stop_if_cancelled(watch: &Watch) -> Result<()> {
    if watch.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

fn ended(simulation: &Simulation) -> Option<Life> {
    let log = simulation.drive().flash().wear();
    let end = log.end_of_life()?.clone();
    let host = simulation.drive().flash().counters().host;
    Some(Life { end, first_to_reach: log.first_to_reach().to_vec(), host })
}

#[cfg(test)]
mod tests;
