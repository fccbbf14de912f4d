//! Workloads: which logical pages the host writes. One file each.
//!
//! A workload has a size in logical pages, not in time. To add one, write its file and add a line
//! to `workloads!` below.

mod activities;
mod age_list;
mod alias;
mod btree;
mod built;
mod cachelib;
mod columns;
mod database;
mod drift;
mod fio_jobs;
mod fio_skew;
mod groups;
mod hot_cold;
mod io;
mod kv_offload;
mod log_rewrite;
mod lsm;
mod mix;
mod permutation;
mod phases;
mod schedule;
mod section;
mod sequential;
mod shares;
mod tpcc;
mod trace;
mod trimming;
mod uniform;
mod units;
mod zipf;
mod zones;

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
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered, Registry, dispatch, entries};
use crate::request::{Op, Request};
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, State};

/// Most groups, so that the number of a group fits in a byte.
const MOST_GROUPS: usize = 256;

/// Next step of the host, with consecutive writes merged into batches of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Writes of this number of pages, at least one, from the start of the buffer.
    Writes(usize),
    /// Request that is not a write, such as a TRIM.
    Request(Request),
    /// End of the workload.
    End,
}

/// Reads and flushes, which have no effect on the drive's state and are skipped between
/// batches of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unserved {
    /// Number of pages read.
    pub read_pages: u64,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Bytes of the written pages that lie outside the write requests, because a request covered
    /// the page only in part.
    pub partial_bytes: u64,
    /// Number of written pages that a request covered only in part.
    pub partial_pages: u64,
}

impl Unserved {
    /// True if a host can reach these counts, so that sums of them cannot overflow.
    pub(crate) fn is_plausible(&self) -> bool {
        let Unserved { read_pages, read_bytes, flushes, partial_bytes, partial_pages } = *self;
        let counts = [read_pages, read_bytes, flushes, partial_bytes, partial_pages];
        counts.iter().all(|&n| n < MOST_PLAUSIBLE)
    }

    /// Counts a read or a flush, on pages of `page_bytes`.
    #[inline(always)]
    fn skip(&mut self, request: &Request, page_bytes: u32) {
        if request.op == Op::Flush {
            self.flushes += 1;
        } else {
            self.read_pages += u64::from(request.pages);
            self.read_bytes += request.bytes(page_bytes);
        }
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
            partial_pages: self.partial_pages + other.partial_pages,
        }
    }
}

/// Pacing: the times at which a host issues its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// Closed loop: each request is issued when an earlier one completes.
    Closed {
        /// Number of outstanding requests.
        queue_depth: u32,
    },
    /// Open loop: each request has its own time, [`Request::at_ns`].
    Open,
}

impl Default for Pacing {
    fn default() -> Self {
        Pacing::Closed { queue_depth: 1 }
    }
}

/// Stream of host requests.
pub trait Workload: State + Send {
    /// Writes the next pages of the host to the start of `buffer`, or returns its next other
    /// request.
    /// Writes may fill only a part of the buffer. The sequence of pages does not depend on buffer
    /// sizes. [`Self::groups`] changes only between two calls. The buffer must not be empty, except
    /// for a trace: an empty buffer serves the requests before its next write.
    fn next(&mut self, buffer: &mut [u32]) -> Step;

    /// Next request as issued by the host, or None at the end.
    /// A workload of page writes issues each page as a separate request.
    fn next_request(&mut self) -> Option<Request> {
        let mut page = [0];
        match self.next(&mut page) {
            Step::Writes(_) => Some(Request::of_pages(Op::Write, page[0]..page[0] + 1)),
            Step::Request(request) => Some(request),
            Step::End => None,
        }
    }

    /// Returns and clears the counts of the reads and flushes that [`Self::next`] skipped.
    fn take_unserved(&mut self) -> Unserved {
        Unserved::default()
    }

    /// True if the host gives its writes tags.
    fn has_tags(&self) -> bool {
        false
    }

    /// Tags of the pages that [`Self::next`] returned last; empty if they have none.
    fn tags(&self) -> &[u8] {
        &[]
    }

    /// Tags and partial bytes of the requests that [`Self::next`] completed last, of those with
    /// tags that cover a page only in part. [`Unserved::partial_bytes`] has their sum.
    fn partials(&self) -> &[(u8, u64)] {
        &[]
    }

    /// Discards the rest of a write request of which [`Self::next`] has returned only some pages.
    fn cut_request(&mut self) {}

    /// Pacing of the requests, for runs with timing.
    fn pacing(&self) -> Pacing {
        Pacing::default()
    }

    /// True if the workload sets its pacing, so that its run needs a timed drive.
    fn is_timed(&self) -> bool {
        false
    }

    /// False if the workload never writes.
    /// [`Self::next`] then ends immediately, but [`Self::next_request`] does not.
    fn writes(&self) -> bool {
        true
    }

    /// Number of logical pages, from 0, that the workload may access.
    fn pages(&self) -> u32;

    /// Number of writes that a placement with foresight looks ahead.
    /// Nearly every page that is ever written again is written again within this number of writes.
    fn horizon_writes(&self) -> u64 {
        4 * u64::from(self.pages())
    }

    /// Number of bytes that the application has written, whose data the host's writes store.
    /// None if the workload has no application above the host's writes.
    fn application_bytes(&self) -> Option<u64> {
        None
    }

    /// Changes of the workload that are known in advance.
    fn schedule(&self) -> Schedule {
        Schedule::default()
    }

    /// Groups of pages with similar update frequency, at most 256, or None if unknown.
    /// They are valid for the pages that were returned last.
    fn groups(&self) -> Option<Vec<Group>> {
        None
    }

    /// Returns an error with the reason if the groups are unknown although the pages have groups.
    fn check_groups(&self) -> Result<()> {
        Ok(())
    }

    /// True if each group always has one range of pages, in the order of the groups.
    fn has_fixed_ranges(&self) -> bool {
        false
    }

    /// Stores the group of each of `pages` in `group_of`. Called only if there are groups.
    fn find_groups(&self, _pages: &[u32], group_of: &mut [u8]) {
        group_of.fill(0);
    }
}

/// Single group of a workload that writes all pages equally often.
fn one_group(pages: u32) -> Vec<Group> {
    vec![Group { pages, write_share: 1.0 }]
}

/// Site of a workload: its logical pages from 0, and its source of randomness.
#[derive(Debug, Clone)]
pub struct Site {
    /// Number of logical pages that it may access.
    pub pages: u32,
    /// Bytes of a logical page, the drive's mapping unit.
    pub page_bytes: u32,
    /// Source of randomness: seed and path.
    pub context: Context,
}

/// Source of a workload's randomness: the seed of a run, and a path.
/// The path distinguishes the components of a composed workload.
#[derive(Debug, Clone)]
pub struct Context {
    /// Seed of the run.
    pub seed: u64,
    /// Path of the component in a composed workload.
    pub path: String,
}

impl Context {
    /// Context of a whole workload.
    pub fn root(seed: u64) -> Self {
        Context { seed, path: "workload".into() }
    }

    /// Context of the component at `index` of a composed workload, with random streams of its
    /// own.
    fn child(&self, index: usize) -> Self {
        Context { seed: self.seed, path: format!("{}/{index}", self.path) }
    }

    fn random(&self) -> Stream {
        Stream::new(self.seed, &self.path)
    }

    /// Random stream `name` of this workload.
    fn stream(&self, name: &str) -> Stream {
        Stream::new(self.seed, &format!("{}/{name}", self.path))
    }
}

/// Parameter that every workload has.
const TRIM: Param = Param::new(
    "trim",
    "0",
    Domain::Number(Included(0.0), Included(0.99)),
    "share of the page writes that are replaced by TRIMs of the page",
);

/// Registry entry of a workload.
const fn entry(name: &'static str, summary: &'static str) -> Entry {
    Entry::new(name, summary).common(&[TRIM])
}

macro_rules! workloads {
    ($then:ident! $with:tt) => {
        $then! { $with
            uniform::Uniform,
            hot_cold::HotCold,
            zipf::Zipf,
            fio_skew::FioZipf,
            fio_skew::FioPareto,
            sequential::Sequential,
            permutation::Permutation,
            mix::Mix,
            phases::Phases,
            groups::StaticGroups,
            drift::Drift,
            database::Database,
            tpcc::Tpcc,
            zones::ZonesSequential,
            zones::Nowa,
            cachelib::Cachelib,
            lsm::Lsm,
            btree::Btree,
            log_rewrite::LogRewrite,
            kv_offload::KvOffload,
            fio_jobs::FioJobs,
        }
    };
}

/// Workloads that write pages.
const OF_PAGES: &[Entry] = workloads!(entries! { Registered<Site> });

/// Every registered workload.
pub static WORKLOADS: Registry = Registry {
    name: "workloads",
    noun: "workload",
    plural: "workloads",
    entries: &{
        let mut all = [io::IO; OF_PAGES.len() + 3];
        let (of_pages, _) = all.split_at_mut(OF_PAGES.len());
        of_pages.copy_from_slice(OF_PAGES);
        all[OF_PAGES.len() + 1] = io::RANDOM;
        all[OF_PAGES.len() + 2] = io::JESD219;
        all
    },
    absent: &[(
        "jesd219-client",
        "it is a trace of JEDEC's that is not public; give a trace of your own by --trace",
    )],
};

/// Domain of parameters whose value is the spec of a workload.
const NESTED: Domain = Domain::Spec(|| &WORKLOADS);

/// Domain of the components of a whole workload, which may also be requests.
const NESTED_OR_REQUESTS: Domain = Domain::Spec(|| &io::NestedOrRequests);

/// Characteristics of a workload's requests, or None if it writes pages.
pub fn characteristics(text: &str) -> Result<Option<Characteristics>> {
    Characteristics::of(&WORKLOADS.read(text)?)
}

/// Page writes after which the workload of a spec ends on a site, or None without an end.
pub fn writes_in_all(text: &str, site: &Site) -> Result<Option<u64>> {
    let params = WORKLOADS.read(text)?;
    match params.entry().name {
        name if name == phases::Phases::ENTRY.name => Ok(phases::writes_in_all(&params)),
        name if name == fio_jobs::FioJobs::ENTRY.name => fio_jobs::writes_in_all(&params, site),
        _ => Ok(None),
    }
}

/// True if the workload has requests in bytes, which may cover pages in part.
fn is_of_bytes(params: &Params) -> Result<bool> {
    let is_fio = params.entry().name == fio_jobs::FioJobs::ENTRY.name;
    Ok(is_fio || Characteristics::of(params)?.is_some())
}

/// True if each request of the workload of spec `text` covers whole pages.
pub fn writes_whole_pages(text: &str) -> Result<bool> {
    let params = WORKLOADS.read(text)?;
    if params.entry().name == phases::Phases::ENTRY.name {
        let phases = params.items("of");
        return phases.iter().try_fold(true, |all, phase| Ok(all && writes_whole_pages(phase)?));
    }
    Ok(!is_of_bytes(&params)?)
}

/// Builds the workload of spec `text` over `pages` logical pages of the usual size.
pub fn build(text: &str, pages: u32, context: Context) -> Result<Box<dyn Workload>> {
    build_for(text, &Site { pages, page_bytes: Geometry::PAGE_BYTES, context })
}

/// Builds the workload of spec `text` for a site whose pages are mapping units of the drive.
/// Each unit has several pages of `host_page_bytes`. A workload of pages writes pages of that size.
/// One of requests in bytes is independent of it.
pub fn build_in_units(text: &str, site: &Site, host_page_bytes: u32) -> Result<Box<dyn Workload>> {
    let pages_per_unit = site.page_bytes / host_page_bytes;
    let params = WORKLOADS.read(text)?;
    if pages_per_unit == 1 || is_of_bytes(&params)? {
        return build_for(text, site);
    }
    if params.entry().name == phases::Phases::ENTRY.name {
        phases::check_in_units(&params)?;
    }
    let pages = units::Units::pages_in(site.pages, pages_per_unit)?;
    let host_site = Site { pages, page_bytes: host_page_bytes, context: site.context.clone() };
    let workload = build_for(text, &host_site)?;
    Ok(Box::new(units::Units::new(workload, pages_per_unit, host_page_bytes)))
}

/// Builds the workload of spec `text` for a site.
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
