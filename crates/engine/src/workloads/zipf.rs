//! Zipf: the page of rank k is written with probability proportional to k^−s.
//!
//! Pages are drawn from an alias table, with one memory access per draw for any s and size. The
//! share of a page is exact to 2⁻³² of a mean page's share. The elementary functions come from
//! `libm`, whose results are the same on every machine.

use std::ops::Bound::{Excluded, Included};

use libm::{exp, expm1, log, log1p};

use super::alias::Alias;
use super::{Site, Step, Workload};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

/// Largest number of ranks per page.
/// It exceeds the ratio of the page counts of any two supported drives, and floating point still
/// represents every rank exactly.
pub(super) const MOST_RANKS_PER_PAGE: f64 = 1_048_576.0;

/// Sum of all weights, which are rounded down to integers.
const WHOLE: f64 = 9.0e18;

/// Number of the first ranks whose weights are added one by one.
/// Later ranks are summed by an integral of the same accuracy, unless there are only a few.
const FIRST_RANKS: u64 = 256;
const FEW_RANKS: u64 = 8;

#[derive(Debug, Clone)]
pub struct Zipf {
    law: Law,
    pages: Alias,
    /// Band of each page: ⌊log₂ place⌋, where a page's place is its position in the order of
    /// frequency. Within a band, frequencies differ by 2^s at most.
    band_of_page: Table<u8>,
    random: Stream,
}

state! {
    Zipf {
        fixed law,
        fixed pages,
        fixed band_of_page,
        nested random,
    }
}

/// Zipf's law: write frequency of each place (position in the order of frequency), counted
/// from 1.
#[derive(Debug, Clone, Copy)]
struct Law {
    s: f64,
    places: u64,
    ranks: u64,
}

impl Law {
    /// First rank of a place, both counted from 1.
    /// Several neighbouring ranks may belong to one place.
    fn first_rank(self, place: u64) -> u64 {
        (u128::from(place - 1) * u128::from(self.ranks)).div_ceil(u128::from(self.places)) as u64
            + 1
    }

    /// Σ k^−s over the ranks of the places `first` to `end` − 1.
    fn weight(self, first: u64, end: u64) -> f64 {
        let (first, end) = (self.first_rank(first), self.first_rank(end));
        let whole =
            if end - first < FEW_RANKS { end } else { first.clamp(FIRST_RANKS.min(end), end) };
        let near: f64 = (first..whole).map(|rank| exp(-self.s * log(rank as f64))).sum();
        if whole == end { near } else { near + self.tail(whole as f64 - 0.5, end as f64 - 0.5) }
    }

    /// Σ k^−s over integers between two half-integers, by the Euler–Maclaurin formula at
    /// midpoints.
    fn tail(self, from: f64, to: f64) -> f64 {
        let s = self.s;
        // ∫ x^−s, in a form that is exact through s = 1: from·((to/from)^(1−s) − 1)/(1 −
        // s)·from^−s.
        let ratio = log1p((to - from) / from);
        let t = (1.0 - s) * ratio;
        let between = if t.abs() > 1e-8 { ratio * expm1(t) / t } else { ratio * (1.0 + t / 2.0) };
        let power = |x: f64| exp(-s * log(x));
        let slope = |x: f64| -s * power(x) / x;
        from * power(from) * between - (slope(to) - slope(from)) / 24.0
    }
}

impl Workload for Zipf {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.pages.fill(buffer, &mut self.random);
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.law.places as u32
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let places = self.law.places;
        let bands = (0..=places.ilog2()).map(|band| (1 << band, (2 << band).min(places + 1)));
        let all = self.law.weight(1, places + 1);
        let groups = bands.map(|(first, end): (u64, u64)| Group {
            pages: (end - first) as u32,
            write_share: self.law.weight(first, end) / all,
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
        "writes the page of rank k with probability ∝ k^−s; ranks are scattered over the pages at \
         random",
    )
    .example("zipf:s=0.99")
    .variants(&["zipf:s=0.99,ranks_per_page=64"])
    .params(&[
        Param::new("s", "0.99", Domain::Number(Excluded(0.0), Included(10.0)), "exponent of k"),
        Param::new(
            "ranks_per_page",
            "1",
            Domain::Number(Included(1.0), Included(MOST_RANKS_PER_PAGE)),
            "number of neighbouring ranks per page; a small drive then represents one with this \
             many times the pages",
        )
        .extent(Extent::PerPage)
        .later(),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let ranks = (f64::from(pages) * params.number("ranks_per_page")).round();
        let law = Law { s: params.number("s"), places: u64::from(pages), ranks: ranks as u64 };
        let mut band_of_page = filled(0, pages as usize)?;
        let mut weights = filled(0u64, pages as usize)?;
        {
            // Hot pages are distributed over the drive in a fixed random order.
            let mut page_of_place = filled(0, pages as usize)?;
            for (page, slot) in (0..).zip(&mut page_of_place) {
                *slot = page;
            }
            context.child(0).random().shuffle(&mut page_of_place);
            let whole = WHOLE / law.weight(1, law.places + 1);
            for (place, &page) in (1u64..).zip(&page_of_place) {
                band_of_page[page as usize] = place.ilog2() as u8;
                weights[page as usize] = (law.weight(place, place + 1) * whole) as u64;
            }
        }
        Ok(Zipf { law, pages: Alias::new(&weights)?, band_of_page, random: context.random() })
    }
}
