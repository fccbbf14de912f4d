//! Cachelib: the writes of a flash cache, as `CacheLib` divides its drive.
//! The small-object cache rewrites its buckets in place, uniformly. The large-object cache is a log
//! that wraps around over the rest of the space. (`EuroSys` '25, `CacheLib` on FDP.)

use std::ops::Bound::Excluded;

use super::hot_cold::hot_and_cold;
use super::{Site, Step, Workload};
use crate::error::Result;
use crate::hints::Group;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::{Stream, threshold};
use crate::state::state;

/// Cachelib workload. The small-object cache comes first in the address space.
#[derive(Debug, Clone)]
pub struct Cachelib {
    pages: u32,
    soc_pages: u32,
    soc_write_share: f64,
    soc_threshold: u64,
    next_of_log: u32,
    random: Stream,
}

state! {
    Cachelib {
        fixed pages,
        fixed soc_pages,
        fixed soc_write_share,
        fixed soc_threshold,
        value next_of_log,
        nested random,
    } where is_sound
}

impl Cachelib {
    fn is_sound(&self) -> bool {
        (self.soc_pages..self.pages).contains(&self.next_of_log)
    }
}

impl Workload for Cachelib {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for page in buffer.iter_mut() {
            if self.random.chance(self.soc_threshold) {
                *page = self.random.below(self.soc_pages);
                continue;
            }
            *page = self.next_of_log;
            self.next_of_log += 1;
            if self.next_of_log == self.pages {
                self.next_of_log = self.soc_pages;
            }
        }
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    /// The small-object cache and the log, so that each has a placement handle of its own.
    fn groups(&self) -> Option<Vec<Group>> {
        Some(hot_and_cold(self.pages, self.soc_pages, self.soc_write_share))
    }

    fn has_fixed_ranges(&self) -> bool {
        true
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, page) in group_of.iter_mut().zip(pages) {
            *group = u8::from(*page >= self.soc_pages);
        }
    }
}

impl Registered<Site> for Cachelib {
    const ENTRY: Entry = super::entry(
        "cachelib",
        "a flash cache: uniform writes to its small-object part, and a log that wraps around",
    )
    .example("cachelib:soc=4%,soc_writes=33%")
    .params(&[
        Param::new(
            "soc",
            "0.04",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "small-object cache, as a share of all pages",
        )
        .stated(),
        Param::new(
            "soc_writes",
            "0.33",
            Domain::SHARE,
            "writes to the small-object cache, as a share of all writes",
        )
        .stated(),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let soc_pages = (params.number("soc") * f64::from(pages)).round() as u32;
        if soc_pages == 0 || soc_pages == pages {
            let domain = format!(
                "a share that leaves the small-object cache and the log at least one page each of \
                 {pages}"
            );
            return Err(params.outside("soc", params.text("soc"), domain));
        }
        let soc_write_share = params.number("soc_writes");
        Ok(Cachelib {
            pages,
            soc_pages,
            soc_write_share,
            soc_threshold: threshold(soc_write_share),
            next_of_log: soc_pages,
            random: context.random(),
        })
    }
}
