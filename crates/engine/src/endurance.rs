//! The lives of drives: replicas of a run until the end of life, and what they did by then
//! (paper 4, §5–6).
//!
//! A replica is single-threaded and has a seed of its own, so that the number of threads, and the
//! order in which they finish, change nothing.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::flash::{EndOfLife, Moment, Wear};
use crate::managers::{self, Setup};
use crate::simulation::Simulation;
use crate::workloads::Workload;

/// Host pages between two looks at the end of life, the progress and the wish to stop: hundredths
/// of a second at most. A life is recorded where it ended, however far beyond the drive was driven.
const CHUNK_PAGES: u64 = 1 << 14;

/// Drives that differ only by their seed.
#[derive(Debug, Clone)]
pub struct Study {
    /// The spec of the block manager.
    pub manager: String,
    /// The drive, with a wear limit, and the seed of replica 0; replica i has seed + i.
    pub setup: Setup,
    /// Logical pages that are written once, in order, before the workload begins.
    pub fill: Vec<Range<u32>>,
    /// Drives that are worn out, each with a seed of its own.
    pub replicas: u32,
    /// Pages that the host hands over at a time.
    pub batch_pages: usize,
    /// Replicas that run at the same time; beyond their number threads are of no use.
    pub threads: usize,
}

/// The life of one replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Which replica it is, from 0.
    pub replica: u32,
    /// The drive when a block was worn out and no spare block of its pool was left after that.
    pub end: EndOfLife,
    /// The moment when the first block was erased for the w-th time, for w = 1 … wear limit.
    pub first_to_reach: Vec<Moment>,
}

/// How far the replicas are, and whether they should stop: for another thread to look at.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    reached_erases: AtomicU64,
    ended: Mutex<Vec<Life>>,
}

impl Watch {
    /// Stops the replicas soon; [`lives`] then returns [`Error::Cancelled`], and [`Self::ended`]
    /// has those that were finished.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The most erases of any block, at most the wear limit, summed over the replicas.
    pub fn reached_erases(&self) -> u64 {
        self.reached_erases.load(Ordering::Relaxed)
    }

    /// The lives that have come to their end so far, by replica.
    pub fn ended(&self) -> Vec<Life> {
        let mut ended = self.lock().clone();
        ended.sort_unstable_by_key(|life| life.replica);
        ended
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Life>> {
        self.ended.lock().expect("nothing panics while it is held")
    }
}

/// Drives every replica to its end of life, under the workload that `load` gives for its seed; each
/// study needs a watch of its own.
pub fn lives<L>(study: &Study, load: L, watch: &Watch) -> Result<Vec<Life>>
where
    L: Fn(u64) -> Result<Box<dyn Workload>> + Sync,
{
    if study.setup.wear.limit == Wear::NO_LIMIT {
        return Err(Error::Spec("a drive without a wear limit has no end of life".into()));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(study.threads.clamp(1, study.replicas.max(1) as usize))
        .build()
        .map_err(|error| Error::Threads { threads: study.threads, why: error.to_string() })?;
    let outcomes: Vec<Result<()>> = pool.install(|| {
        (0..study.replicas)
            .into_par_iter()
            .with_max_len(1) // lives take long, and not equally long
            .map(|replica| {
                let life = life(study, replica, &load, watch)?;
                watch.lock().push(life);
                Ok(())
            })
            .collect()
    });
    // The error of the first replica that has one, whichever thread came to one first.
    outcomes.into_iter().collect::<Result<()>>()?;
    Ok(watch.ended())
}

fn life<L>(study: &Study, replica: u32, load: &L, watch: &Watch) -> Result<Life>
where
    L: Fn(u64) -> Result<Box<dyn Workload>>,
{
    stop_if_cancelled(watch)?; // before what may be seconds of building the drive
    let seed = study.setup.seed.wrapping_add(u64::from(replica));
    let drive = managers::build(&study.manager, Setup { seed, ..study.setup.clone() })?;
    let mut simulation = Simulation::new(drive, load(seed)?, study.batch_pages)?;
    let mut reached = 0;
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
        let now = simulation.drive().flash().wear().first_to_reach().len() as u64;
        watch.reached_erases.fetch_add(now - reached, Ordering::Relaxed);
        reached = now;
    }
    ended(&simulation, replica).ok_or_else(|| {
        Error::Spec("the workload ended before the drive's life; use one without end".into())
    })
}

fn stop_if_cancelled(watch: &Watch) -> Result<()> {
    if watch.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}

fn ended(simulation: &Simulation, replica: u32) -> Option<Life> {
    let log = simulation.drive().flash().wear();
    let end = log.end_of_life()?.clone();
    Some(Life { replica, end, first_to_reach: log.first_to_reach().to_vec() })
}

#[cfg(test)]
mod tests;
