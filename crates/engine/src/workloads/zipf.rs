//! Zipf: the page of rank k is written with probability proportional to k^−s.
//!
//! Sampled exactly by rejection-inversion (Hörmann & Derflinger 1996), at O(1) a draw for any s and
//! size. The elementary functions come from `libm`, whose results are the same on every machine.

use std::ops::Bound::{Excluded, Included};

use libm::{exp, expm1, log, log1p};

use super::{Site, Step, Workload};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

/// More than any drive has pages for one of the smallest drive's, and few enough for whole ranks.
const MOST_RANKS_PER_PAGE: f64 = 1_048_576.0;

#[derive(Debug, Clone)]
pub struct Zipf {
    s: f64,
    /// H(1.5) − 1 and H(n + ½), between which the inverse is taken.
    h_first: f64,
    h_last: f64,
    ranks: f64,
    /// How many pages a rank has: 1, or less where neighbouring ranks share a page.
    pages_per_rank: f64,
    /// Below this distance from the rounded rank a draw is accepted at once.
    shortcut: f64,
    /// The page of each place in the order of ranks: a fixed random order, so that hot pages lie all
    /// over the drive.
    page_of_place: Table<u32>,
    /// ⌊log₂ place⌋: within such a band, frequencies differ by 2^s at most.
    band_of_page: Table<u8>,
    random: Stream,
}

state! {
    Zipf {
        fixed s,
        fixed h_first,
        fixed h_last,
        fixed ranks,
        fixed pages_per_rank,
        fixed shortcut,
        fixed page_of_place,
        fixed band_of_page,
        part random,
    }
}

impl Zipf {
    /// About Σ k^−s over the ranks `first` to `end` − 1.
    fn weight_between(&self, first: u64, end: u64) -> f64 {
        integral(self.s, end as f64 - 0.5) - integral(self.s, first as f64 - 0.5)
    }

    /// The place of a rank in 1..=n, the first being 0.
    fn place(&mut self) -> usize {
        let place = ((self.rank() - 1.0) * self.pages_per_rank) as usize;
        place.min(self.page_of_place.len() - 1)
    }

    /// The first rank of a place, the first being 1.
    fn first_rank(&self, place: u64) -> u64 {
        ((place - 1) as f64 / self.pages_per_rank).ceil() as u64 + 1
    }

    fn rank(&mut self) -> f64 {
        loop {
            let u = self.h_last + self.random.unit() * (self.h_first - self.h_last);
            let x = integral_inverse(self.s, u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            let weight = exp(-self.s * log(rank));
            if rank - x <= self.shortcut || u >= integral(self.s, rank + 0.5) - weight {
                return rank;
            }
        }
    }
}

/// H(x) = ∫ x^−s, in a form that is exact through s = 1: (x^(1−s) − 1)/(1 − s).
fn integral(s: f64, x: f64) -> f64 {
    let log_x = log(x);
    let t = (1.0 - s) * log_x;
    if t.abs() > 1e-8 { log_x * expm1(t) / t } else { log_x * (1.0 + t / 2.0) }
}

fn integral_inverse(s: f64, h: f64) -> f64 {
    let t = (h * (1.0 - s)).max(-1.0);
    let log_x = if t.abs() > 1e-8 { h * log1p(t) / t } else { h * (1.0 - t / 2.0) };
    exp(log_x)
}

impl Workload for Zipf {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for page in buffer.iter_mut() {
            let place = self.place();
            *page = self.page_of_place[place];
        }
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.page_of_place.len() as u32
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let places = u64::from(self.pages());
        let bands = (0..=places.ilog2()).map(|band| (1 << band, (2 << band).min(places + 1)));
        // The integral over [k − ½, k + ½] stands for the weight of rank k; rank 1 is exact.
        let to = |end: u64| match self.first_rank(end) {
            1 => 0.0,
            end => 1.0 + self.weight_between(2, end),
        };
        let groups = bands.map(|(first, end): (u64, u64)| Group {
            pages: (end - first) as u32,
            write_share: (to(end) - to(first)) / to(places + 1),
        });
        Some(groups.collect())
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = self.band_of_page[page as usize];
        }
    }
}

impl Registered<Site> for Zipf {
    const ENTRY: Entry = super::entry(
        "zipf",
        "the page of rank k with probability ∝ k^−s, ranks scattered at random",
    )
    .example("zipf:s=0.99")
    .variants(&["zipf:s=0.99,ranks_per_page=64"])
    .params(&[
        Param::new("s", "0.99", Domain::Number(Excluded(0.0), Included(10.0)), "exponent"),
        Param::new(
            "ranks_per_page",
            "1",
            Domain::Number(Included(1.0), Included(MOST_RANKS_PER_PAGE)),
            "neighbouring ranks that share a page: a small drive with the rates of one of so many \
             times the pages",
        )
        .extent(Extent::PerPage)
        .later(),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let s = params.number("s");
        let ranks = (f64::from(pages) * params.number("ranks_per_page")).round();
        let mut page_of_place = filled(0, pages as usize)?;
        for (page, slot) in page_of_place.iter_mut().enumerate() {
            *slot = page as u32;
        }
        context.part(0).random().shuffle(&mut page_of_place);
        let mut band_of_page = filled(0, pages as usize)?;
        for (place, &page) in (1u32..).zip(&page_of_place) {
            band_of_page[page as usize] = place.ilog2() as u8;
        }
        Ok(Zipf {
            s,
            h_first: integral(s, 1.5) - 1.0,
            h_last: integral(s, ranks + 0.5),
            shortcut: 2.0 - integral_inverse(s, integral(s, 2.5) - exp(-s * log(2.0))),
            ranks,
            pages_per_rank: f64::from(pages) / ranks,
            page_of_place,
            band_of_page,
            random: context.random(),
        })
    }
}
