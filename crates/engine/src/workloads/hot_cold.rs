//! Rosenblum's hot and cold data: share r of the writes goes to share f of the pages.
//! (Rosenblum & Ousterhout 1992; paper 4, §3.1.)

use std::ops::Bound::Excluded;

use super::{Site, Step, Workload};
use crate::error::Result;
use crate::hints::Group;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::{Stream, threshold};
use crate::state::state;

/// Hot/cold workload. The hot pages come first in the address space; writes are uniform
/// within each part.
#[derive(Debug, Clone)]
pub struct HotCold {
    pages: u32,
    hot_pages: u32,
    hot_write_share: f64,
    hot_threshold: u64,
    random: Stream,
}

state! {
    HotCold {
        fixed pages,
        fixed hot_pages,
        fixed hot_write_share,
        fixed hot_threshold,
        nested random,
    }
}

impl Workload for HotCold {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for page in buffer.iter_mut() {
            let (first, count) = if self.random.chance(self.hot_threshold) {
                (0, self.hot_pages)
            } else {
                (self.hot_pages, self.pages - self.hot_pages)
            };
            *page = first + self.random.below(count);
        }
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(hot_and_cold(self.pages, self.hot_pages, self.hot_write_share))
    }

    fn has_fixed_ranges(&self) -> bool {
        true
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, page) in group_of.iter_mut().zip(pages) {
            *group = u8::from(*page >= self.hot_pages);
        }
    }
}

/// Groups of hot and of cold pages.
pub fn hot_and_cold(pages: u32, hot_pages: u32, hot_write_share: f64) -> Vec<Group> {
    let hot = Group { pages: hot_pages, write_share: hot_write_share };
    let cold = Group { pages: pages - hot_pages, write_share: 1.0 - hot_write_share };
    vec![hot, cold]
}

impl Registered<Site> for HotCold {
    const ENTRY: Entry = super::entry(
        "hot-cold",
        "share r of the writes goes to the hot pages, the first share f of all pages (Rosenblum)",
    )
    .example("hot-cold:f=0.1,r=0.9")
    .params(&[HOT_FRACTION, HOT_WRITE_FRACTION]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let (hot_pages, hot_write_share) = hot_set(params, pages)?;
        Ok(HotCold {
            pages,
            hot_pages,
            hot_write_share,
            hot_threshold: threshold(hot_write_share),
            random: context.random(),
        })
    }
}

pub(super) const HOT_FRACTION: Param = Param::required(
    "hot_fraction",
    Domain::Number(Excluded(0.0), Excluded(1.0)),
    "hot pages, as a share of all pages",
)
.or(&["f"]);
pub(super) const HOT_WRITE_FRACTION: Param = Param::required(
    "hot_write_fraction",
    Domain::SHARE,
    "writes to hot pages, as a share of all writes",
)
.or(&["r"]);

/// Number of hot pages, and their share of the writes.
pub(super) fn hot_set(params: &Params, pages: u32) -> Result<(u32, f64)> {
    let hot_fraction = params.number("hot_fraction");
    let hot_pages = (hot_fraction * f64::from(pages)).round() as u32;
    if hot_pages == 0 || hot_pages == pages {
        let domain = format!("a share that leaves at least one hot and one cold page of {pages}");
        return Err(params.outside("hot_fraction", params.text("hot_fraction"), domain));
    }
    Ok((hot_pages, params.number("hot_write_fraction")))
}
