//! Logs that grow by appends, and are rewritten without stale entries, as those of Redis.
//! (Redis documentation, "Redis persistence", "Log rewriting"; `redis.conf`,
//! `auto-aof-rewrite-percentage`.)
//!
//! The data of a log have a constant size, which is the size of the log after a rewrite. The new
//! log is written to free extents, and then the old log is deleted. Appends wait for a rewrite.

use std::ops::Bound::{Excluded, Included};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::activities::{Activities, Application, refuse_trim};
use super::zones::request_pages;
use super::{Site, Step, Workload, one_group};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::request::Request;
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, state};

/// File of a log: its extents in order, of which the last may be filled in part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Log {
    extents: Vec<u32>,
    pages: u32,
}

pub struct LogRewrite {
    pages: u32,
    page_bytes: u32,
    extent_pages: u32,
    /// Pages of a log after its rewrite, and pages appended until the next.
    live_pages: u32,
    growth_pages: u32,
    request_pages: u32,
    has_discard: bool,
    random: Stream,

    logs: Vec<Log>,
    free: Vec<u32>,
    /// Log of the current request, and pages that the request still has to append.
    current: u32,
    left: u32,
    activities: Activities,
    application_pages: u64,
}

state! {
    LogRewrite {
        fixed pages, fixed page_bytes, fixed extent_pages, fixed live_pages, fixed growth_pages,
        fixed request_pages, fixed has_discard, nested random,
        value logs, value free, value current, value left, value activities,
        value application_pages,
    } where is_sound
}

impl LogRewrite {
    fn is_sound(&self) -> bool {
        let mut is_used = vec![false; (self.pages / self.extent_pages) as usize];
        let mut is_new = |&extent: &u32| {
            is_used.get_mut(extent as usize).is_some_and(|used| !std::mem::replace(used, true))
        };
        let full_pages = self.live_pages + self.growth_pages;
        let extents_for = |pages: u32| pages.div_ceil(self.extent_pages) as usize;
        let needed = self.logs.len() * extents_for(full_pages) + extents_for(self.live_pages);
        let are_places = self.logs.iter().flat_map(|log| &log.extents).all(&mut is_new)
            && self.free.iter().all(&mut is_new)
            && is_used.iter().all(|&used| used);
        are_places
            && needed <= is_used.len()
            && self.logs.iter().all(|log| {
                (self.live_pages..full_pages).contains(&log.pages)
                    && log.extents.len() == extents_for(log.pages)
            })
            && (self.current as usize) < self.logs.len()
            && self.left <= self.request_pages
            && self.activities.are_inside(self.pages)
            && self.application_pages < MOST_PLAUSIBLE
    }

    /// Written pages of each extent of a log.
    fn ranges_of(&self, log: &Log) -> impl Iterator<Item = Range<u32>> {
        let starts = (0..log.pages).step_by(self.extent_pages as usize);
        let ranges = log.extents.iter().zip(starts);
        ranges.map(|(&extent, start)| {
            let first = extent * self.extent_pages;
            first..first + self.extent_pages.min(log.pages - start)
        })
    }

    fn take_extent(&mut self) -> u32 {
        let index = self.random.below(self.free.len() as u32) as usize;
        self.free.swap_remove(index)
    }

    fn new_log(&mut self, pages: u32) -> Log {
        let extents = (0..pages.div_ceil(self.extent_pages)).map(|_| self.take_extent()).collect();
        Log { extents, pages }
    }

    /// Logs before the run, each at a random time between two rewrites.
    fn load(&mut self, logs: u32) {
        for _ in 0..logs {
            let pages = self.live_pages + self.random.below(self.growth_pages);
            let log = self.new_log(pages);
            self.logs.push(log);
        }
        if !self.has_discard {
            return;
        }
        // The fill may have written pages that hold no data of a log.
        let mut is_held = vec![false; self.pages as usize];
        for range in self.logs.iter().flat_map(|log| self.ranges_of(log)) {
            is_held[range.start as usize..range.end as usize].fill(true);
        }
        let mut first = 0;
        for run in is_held.chunk_by(|a, b| a == b) {
            let end = first + run.len() as u32;
            if !run[0] {
                self.activities.trim(first..end);
            }
            first = end;
        }
    }

    /// Appends one page to the log of the current request, and returns the page.
    fn append(&mut self) -> u32 {
        let current = self.current as usize;
        let place = self.logs[current].pages % self.extent_pages;
        if place == 0 {
            let extent = self.take_extent();
            self.logs[current].extents.push(extent);
        }
        let log = &mut self.logs[current];
        log.pages += 1;
        let extent = log.extents[log.extents.len() - 1];
        extent * self.extent_pages + place
    }

    fn rewrite(&mut self) {
        let new = self.new_log(self.live_pages);
        let written: Vec<_> = self.ranges_of(&new).collect();
        let old = std::mem::replace(&mut self.logs[self.current as usize], new);
        for range in written {
            self.activities.write(range);
        }
        if self.has_discard {
            let deleted: Vec<_> = self.ranges_of(&old).collect();
            for range in deleted {
                self.activities.trim(range);
            }
        }
        self.free.extend(old.extents);
    }
}

impl Application for LogRewrite {
    fn activities(&mut self) -> &mut Activities {
        &mut self.activities
    }

    /// Appends pages, and then rewrites the log if it has grown enough.
    fn plan(&mut self, buffer: &mut [u32]) -> usize {
        if self.left == 0 {
            self.current = self.random.below(self.logs.len() as u32);
            self.left = self.request_pages;
        }
        let full_pages = self.live_pages + self.growth_pages;
        let log_pages = self.logs[self.current as usize].pages;
        // Pages of different extents are not consecutive.
        let in_extent = self.extent_pages - log_pages % self.extent_pages;
        let room = in_extent.min(full_pages - log_pages);
        let count = buffer.len().min(self.left.min(room) as usize);
        buffer[..count].iter_mut().for_each(|page| *page = self.append());
        self.left -= count as u32;
        self.application_pages += count as u64;
        if self.logs[self.current as usize].pages == full_pages {
            self.rewrite();
        }
        count
    }
}

impl Workload for LogRewrite {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.next_step(buffer)
    }

    fn next_request(&mut self) -> Option<Request> {
        Some(self.next_whole())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn application_bytes(&self) -> Option<u64> {
        Some(self.application_pages * u64::from(self.page_bytes))
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(one_group(self.pages))
    }
}

impl Registered<Site> for LogRewrite {
    const ENTRY: Entry = super::entry(
        "log-rewrite",
        "logs that grow by appends and are rewritten without stale entries, as those of Redis",
    )
    .example("log-rewrite")
    .variants(&["log-rewrite:logs=3,growth=0.6,used=50%,extent=1%,bs=8k,discard=off"])
    .params(&[
        Param::new("logs", "8", Domain::Whole(1, 1 << 16), "number of logs").stated(),
        Param::new(
            "growth",
            "1",
            Domain::Number(Excluded(0.0), Included(1000.0)),
            "growth of a log since its last rewrite that starts the next one, as a share of its \
             size then",
        ),
        Param::new(
            "used",
            "0.8",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "pages of all logs before their rewrites and of one rewritten log, as a share of all \
             pages",
        )
        .stated(),
        Param::new(
            "extent",
            "0.001",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "pages that a log is given at a time, as a share of all pages, rounded to whole pages",
        )
        .stated(),
        Param::new(
            "bs",
            "512k",
            super::zones::REQUEST_BYTES,
            "bytes appended to a log before another log is drawn, rounded to whole pages, at least \
             one",
        )
        .extent(Extent::EraseUnits),
        Param::new(
            "discard",
            "on",
            Domain::Word(&["on", "off"]),
            "on: deleted logs are trimmed; off: their pages are only overwritten",
        ),
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        refuse_trim(params)?;
        let &Site { pages, page_bytes, .. } = site;
        let (logs, growth): (u32, f64) = (params.integer("logs"), params.number("growth"));
        let share = |name: &str| params.number(name) * f64::from(pages);
        let extent_pages = share("extent").round().max(1.0) as u32;
        let live_pages = (share("used") / (f64::from(logs) * (1.0 + growth) + 1.0)) as u32;
        let growth_pages = (growth * f64::from(live_pages)).round().max(1.0) as u32;
        let extents_for = |pages: u32| u64::from(pages.div_ceil(extent_pages));
        let needed =
            u64::from(logs) * extents_for(live_pages + growth_pages) + extents_for(live_pages);
        let extents = pages / extent_pages;
        if live_pages == 0 || needed > u64::from(extents) {
            return Err(Error::Spec(format!(
                "log-rewrite: {pages} pages are {extents} extents of {extent_pages} pages, too few \
                 for {logs} logs with used={} and growth={}; give fewer logs, or a smaller extent \
                 or used",
                params.text("used"),
                params.text("growth"),
            )));
        }
        let mut workload = LogRewrite {
            pages,
            page_bytes,
            extent_pages,
            live_pages,
            growth_pages,
            request_pages: request_pages(params, site),
            has_discard: params.choice("discard", &[("on", true), ("off", false)]),
            random: site.context.random(),
            logs: Vec::new(),
            free: (0..extents).collect(),
            current: 0,
            left: 0,
            activities: Activities::default(),
            application_pages: 0,
        };
        workload.load(logs);
        Ok(workload)
    }
}

#[cfg(test)]
mod tests;
