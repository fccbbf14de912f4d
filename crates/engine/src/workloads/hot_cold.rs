//! Rosenblum's hot and cold data: share r of the writes goes to share f of the pages
//! (Rosenblum & Ousterhout 1992; paper 4, §3.1).

use super::{Context, Registered, Step, Workload};
use crate::error::Result;
use crate::hints::Group;
use crate::rng::{Stream, threshold};
use crate::spec::{Param, Params};
use crate::state::state;

/// The hot pages are the first of the address space; writes are uniform within each part.
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
        part random,
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

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, page) in group_of.iter_mut().zip(pages) {
            *group = u8::from(*page >= self.hot_pages);
        }
    }
}

/// The two groups of Rosenblum's data: the hot pages, and the others.
pub fn hot_and_cold(pages: u32, hot_pages: u32, hot_write_share: f64) -> Vec<Group> {
    let hot = Group { pages: hot_pages, write_share: hot_write_share };
    let cold = Group { pages: pages - hot_pages, write_share: 1.0 - hot_write_share };
    vec![hot, cold]
}

impl Registered for HotCold {
    const NAME: &'static str = "hot-cold";
    const SUMMARY: &'static str =
        "share r of the writes to the first share f of the pages (Rosenblum)";
    const PARAMS: &'static [Param] = &[
        Param { name: "f", default: "", help: "hot share of the pages, above 0 and below 1" },
        Param { name: "r", default: "", help: "share of the writes that go to hot pages, 0 to 1" },
    ];
    const EXAMPLE: &'static str = "hot-cold:f=0.1,r=0.9";

    fn build(params: &Params, pages: u32, context: Context) -> Result<Self> {
        let (hot_pages, r) = hot_set(params, pages)?;
        Ok(HotCold {
            pages,
            hot_pages,
            hot_write_share: r,
            hot_threshold: threshold(r),
            random: context.random(),
        })
    }
}

/// How many of the pages are hot by the parameter `f`, and their share `r` of the writes.
pub(super) fn hot_set(params: &Params, pages: u32) -> Result<(u32, f64)> {
    let f = params.number("f", "above 0 and below 1", |v| v > 0.0 && v < 1.0)?;
    let r = params.number("r", "from 0 to 1", |v| (0.0..=1.0).contains(&v))?;
    let hot_pages = (f * f64::from(pages)).round() as u32;
    if hot_pages == 0 || hot_pages == pages {
        return Err(params.outside(
            "f",
            &f.to_string(),
            &format!("a share that leaves at least one hot and one cold page of {pages}"),
        ));
    }
    Ok((hot_pages, r))
}
