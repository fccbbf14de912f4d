//! Workloads: which logical pages the host writes. One file each.
//!
//! A workload has a size in logical pages, not in time. To add one, write its file and add its line
//! to `workloads!` below.

mod alias;
mod built;
mod columns;
mod database;
mod drift;
mod groups;
mod hot_cold;
mod io;
mod mix;
mod permutation;
mod phases;
mod schedule;
mod sequential;
mod shares;
mod tpcc;
mod trace;
mod trimming;
mod uniform;
mod zipf;

pub use columns::{Column, Columns, Values, number_of};
pub use io::{Accesses, Arrivals, Characteristics};
pub use schedule::Schedule;
pub use trace::Trace;

use std::ops::Add;
use std::ops::Bound::Included;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flash::Geometry;
use crate::hints::Group;
use crate::params::{Domain, Param};
use crate::registry::{Entry, Registered, Registry, dispatch, entries};
use crate::request::{Op, Request};
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, State};

/// Most groups: as many as fit a byte.
const MOST_GROUPS: usize = 256;

/// Next step of the host, when its writes may be merged to batches of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It writes the first so many pages of the buffer, at least one.
    Writes(usize),
    /// It issues a request of another kind.
    Request(Request),
    /// It has no more to do.
    End,
}

/// Requests that changed nothing on the drive, passed over between batches of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unserved {
    /// Pages read.
    pub read_pages: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes of pages written that their requests left as they were.
    pub partial_bytes: u64,
}

impl Unserved {
    /// True of counts that a host can come to.
    pub(crate) fn is_plausible(&self) -> bool {
        let Unserved { read_pages, read_bytes, flushes, partial_bytes } = *self;
        [read_pages, read_bytes, flushes, partial_bytes].iter().all(|&n| n < MOST_PLAUSIBLE)
    }
}

impl Add for Unserved {
    type Output = Unserved;

    fn add(self, other: Unserved) -> Unserved {
        Unserved {
            read_pages: self.read_pages + other.read_pages,
            read_bytes: self.read_bytes + other.read_bytes,
            flushes: self.flushes + other.flushes,
            partial_bytes: self.partial_bytes + other.partial_bytes,
        }
    }
}

/// Pacing of a host's requests: the times at which it issues them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Each as soon as an earlier one is complete, so many at a time.
    Closed {
        /// Requests under way at once.
        queue_depth: u32,
    },
    /// Each at its own time, [`Request::at_ns`].
    Open,
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing::Closed { queue_depth: 1 }
    }
}

/// A stream of host requests.
pub trait Workload: State + Send {
    /// Fills `buffer`, which is never empty, from the front. What comes does not depend on how
    /// large the buffers are. A change of [`Self::groups`] comes between two calls, never inside
    /// one.
    fn next(&mut self, buffer: &mut [u32]) -> Step;

    /// The next request as the host issues it; `None` if it has no more to do. A workload of page
    /// writes issues each as a request of its own.
    fn next_request(&mut self) -> Option<Request> {
        let mut page = [0];
        match self.next(&mut page) {
            Step::Writes(_) => Some(Request::of_pages(Op::Write, page[0]..page[0] + 1)),
            Step::Request(request) => Some(request),
            Step::End => None,
        }
    }

    /// Takes the requests that [`Self::next`] has passed over since this was asked last.
    fn take_unserved(&mut self) -> Unserved {
        Unserved::default()
    }

    /// Leaves out what is left of a request of which [`Self::next`] wrote a part.
    fn cut_request(&mut self) {}

    /// Pacing of the requests, where time plays a part.
    fn pacing(&self) -> Pacing {
        Pacing::default()
    }

    /// True if the workload says how its requests are paced, so that a run of it is timed.
    fn is_timed(&self) -> bool {
        false
    }

    /// False if the workload never writes: then [`Self::next`] is at its end at once, while
    /// [`Self::next_request`] has none.
    fn writes(&self) -> bool {
        true
    }

    /// Logical pages from 0 that the workload may touch.
    fn pages(&self) -> u32;

    /// Number of writes ahead that a placement with foreknowledge looks.
    /// It is enough for nearly every page that is written again at all.
    fn horizon_writes(&self) -> u64 {
        4 * u64::from(self.pages())
    }

    /// The changes of the workload that are known beforehand.
    fn schedule(&self) -> Schedule {
        Schedule::default()
    }

    /// The groups of pages of like update frequency that the pages returned last belong to, at
    /// most 256 of them; `None` if the workload cannot tell.
    fn groups(&self) -> Option<Vec<Group>> {
        None
    }

    /// Puts the group of each of `pages` into `group_of`. Called only if there are groups.
    fn find_groups(&self, _pages: &[u32], group_of: &mut [u8]) {
        group_of.fill(0);
    }
}

/// The groups of a workload that writes each of its `pages` as often as the next.
fn one_group(pages: u32) -> Vec<Group> {
    vec![Group { pages, write_share: 1.0 }]
}

/// Site that a workload is built for: logical pages from 0, and the source of its randomness.
#[derive(Debug, Clone)]
pub struct Site {
    /// Logical pages that it may touch.
    pub pages: u32,
    /// Bytes of a logical page, the drive's mapping unit.
    pub page_bytes: u32,
    /// Source of its randomness.
    pub context: Context,
}

/// Source of a workload's randomness: a run's seed, and a path.
/// The path tells the parts of a composed workload from each other.
#[derive(Debug, Clone)]
pub struct Context {
    /// Seed of the run.
    pub seed: u64,
    /// Path of the part in a composed workload.
    pub path: String,
}

impl Context {
    /// The context of a whole workload.
    pub fn root(seed: u64) -> Self {
        Context { seed, path: "workload".into() }
    }

    /// The context of one part of a composed workload, or of a further random stream.
    fn part(&self, index: usize) -> Self {
        Context { seed: self.seed, path: format!("{}/{index}", self.path) }
    }

    fn random(&self) -> Stream {
        Stream::new(self.seed, &self.path)
    }

    /// A further random stream, by its name.
    fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, &format!("{}/{name}", self.path))
    }
}

/// A parameter of every workload.
const TRIM: Param = Param::new(
    "trim",
    "0",
    Domain::Number(Included(0.0), Included(0.99)),
    "share of the page writes that are TRIMs of their page instead",
);

/// The entry of a workload.
const fn entry(name: &'static str, summary: &'static str) -> Entry {
    Entry::new(name, summary).common(&[TRIM])
}

macro_rules! workloads {
    ($then:ident! $with:tt) => {
        $then! { $with
            uniform::Uniform,
            hot_cold::HotCold,
            zipf::Zipf,
            sequential::Sequential,
            permutation::Permutation,
            mix::Mix,
            phases::Phases,
            groups::StaticGroups,
            drift::Drift,
            database::Database,
            tpcc::Tpcc,
        }
    };
}

/// The workloads that write pages.
const OF_PAGES: &[Entry] = workloads!(entries! { Registered<Site> });

/// Every registered workload.
pub static WORKLOADS: Registry = Registry {
    name: "workloads",
    noun: "workload",
    plural: "workloads",
    entries: &{
        let mut all = [io::IO; OF_PAGES.len() + 2];
        let (of_pages, _) = all.split_at_mut(OF_PAGES.len());
        of_pages.copy_from_slice(OF_PAGES);
        all[OF_PAGES.len() + 1] = io::RANDOM;
        all
    },
};

/// The domain of parameters that name a workload.
const NESTED: Domain = Domain::Spec(|| &WORKLOADS);

/// The domain of the parts of a whole workload that may be requests too.
const NESTED_OR_REQUESTS: Domain = Domain::Spec(|| &io::NestedOrRequests);

/// The requests that a workload's spec asks for; `None` if it writes pages.
pub fn characteristics(text: &str) -> Result<Option<Characteristics>> {
    Characteristics::of(&WORKLOADS.read(text)?)
}

/// The page writes after which the workload that a spec names ends; `None` if it does not.
pub fn writes_in_all(text: &str) -> Result<Option<u64>> {
    let params = WORKLOADS.read(text)?;
    let is_phases = params.entry().name == phases::Phases::ENTRY.name;
    Ok(if is_phases { phases::writes_in_all(&params) } else { None })
}

/// Builds the workload that `text` names over `pages` logical pages of the usual size.
pub fn build(text: &str, pages: u32, context: Context) -> Result<Box<dyn Workload>> {
    build_for(text, &Site { pages, page_bytes: Geometry::PAGE_BYTES, context })
}

/// Builds the workload that `text` names for a site.
pub fn build_for(text: &str, site: &Site) -> Result<Box<dyn Workload>> {
    if site.pages == 0 {
        return Err(Error::Spec(format!("workload {text} has no page to write")));
    }
    let params = WORKLOADS.read(text)?;
    if let Some(characteristics) = Characteristics::of(&params)? {
        let io = io::Io::new(characteristics, site)?;
        return Ok(Box::new(built::Built::new(&params, site, io)));
    }
    workloads!(dispatch! {
        Registered<Site>, params, Found => {
            let workload = Found::build(&params, site)?;
            let share = params.number(TRIM.name);
            if share > 0.0 {
                let random = site.context.stream(TRIM.name);
                let trimming = trimming::Trimming::new(Box::new(workload), share, random);
                return Ok(Box::new(built::Built::new(&params, site, trimming)));
            }
            Ok(Box::new(built::Built::new(&params, site, workload)))
        }
    })
}

#[cfg(test)]
mod tests;
