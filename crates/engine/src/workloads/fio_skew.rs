//! fio's zipf and pareto, with the blocks that they never reach.
//!
//! Each page represents one of fio's blocks, or on a smaller drive several blocks of nearly the
//! same popularity. The weight of a page is the number of 32-bit random numbers from which fio draws
//! its block, so no random number is converted during a run.

use std::cmp::Reverse;
use std::ops::Bound::{Excluded, Included};

use writeamp_fio::{FIRST_RANKS, Kind, SameBlock, Skew, parts_of_page};

use super::alias::Alias;
use super::zipf::MOST_RANKS_PER_PAGE;
use super::{Context, Site, Step, Workload};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

/// Factor of all weights, so that means over several ranks keep their fractions.
const UNIT: u64 = 1 << 16;

#[derive(Debug, Clone)]
struct FioSkew {
    pages: Alias,
    /// Band of each page: ⌊log₂ place⌋, where a page's place is its position in the order of
    /// frequency.
    band_of_page: Table<u8>,
    groups: Vec<Group>,
    random: Stream,
}

state! {
    FioSkew {
        fixed pages,
        fixed band_of_page,
        fixed groups,
        nested random,
    }
}

impl FioSkew {
    fn new(kind: Kind, parameter: f64, params: &Params, site: &Site) -> Result<Self> {
        let &Site { pages, ref context, .. } = site;
        let blocks = (f64::from(pages) * params.number(BLOCKS_PER_PAGE.name)).round() as u64;
        let skew = Skew::new(kind, parameter, blocks);
        let mut weights = filled(0u64, pages as usize)?;
        if blocks == u64::from(pages) {
            let offset = context.child(0).random().bits() >> 32;
            for rank in 0..blocks {
                weights[skew.block(rank, offset) as usize] += UNIT * skew.numbers(rank);
            }
        } else {
            scatter(&skew, &mut weights, context)?;
        }
        let (band_of_page, groups) = bands(&weights)?;
        let random = context.random();
        Ok(FioSkew { pages: Alias::new(&weights)?, band_of_page, groups, random })
    }
}

/// Stores the weights of pages that represent several blocks each, at random pages.
///
/// Pages divide the ranks in order. A rank whose block also has a more popular rank counts there, so
/// that its own page is one of those that fio never writes.
fn scatter(skew: &Skew, weights: &mut [u64], context: &Context) -> Result<()> {
    let (pages, blocks) = (weights.len() as u64, skew.blocks());
    let first_rank = |page: u64| (u128::from(page) * u128::from(blocks) / u128::from(pages)) as u64;
    let mut random = context.child(0).random();
    let offset = random.bits() >> 32;
    let same_block = SameBlock::new(blocks);
    let mass = |rank: u64| {
        let (mut numbers, mut is_first) = (0, true);
        same_block.others(rank, offset, |other| {
            is_first = other > rank;
            numbers += if is_first { skew.numbers(other) } else { 0 };
            is_first
        });
        if is_first { numbers + skew.numbers(rank) } else { 0 }
    };
    let mut page_of_place = filled(0, weights.len())?;
    for (page, slot) in (0..).zip(&mut page_of_place) {
        *slot = page;
    }
    random.shuffle(&mut page_of_place);
    for (place, &page) in (0..).zip(&page_of_place) {
        let (start, end) = (first_rank(place), first_rank(place + 1));
        let counted = end.min(FIRST_RANKS).max(start);
        let exact: u64 = (start..counted).map(mass).sum();
        let rest = end - counted;
        let count = rest.min(parts_of_page(place));
        let bound = |number: u64| counted + (u128::from(rest * number) / u128::from(count)) as u64;
        let drawn: u64 = (0..count)
            .map(|number| {
                let (from, to) = (bound(number), bound(number + 1));
                mass(from + u64::from(random.below((to - from) as u32)))
            })
            .sum();
        let mean = if count == 0 { 0.0 } else { rest as f64 / count as f64 };
        weights[page as usize] = UNIT * exact + (drawn as f64 * mean * UNIT as f64) as u64;
    }
    Ok(())
}

/// Band of each page, and the bands as groups.
fn bands(weights: &[u64]) -> Result<(Table<u8>, Vec<Group>)> {
    let mut page_of_place = filled(0, weights.len())?;
    for (page, slot) in (0..).zip(&mut page_of_place) {
        *slot = page;
    }
    page_of_place.sort_unstable_by_key(|&page: &u32| (Reverse(weights[page as usize]), page));
    let mut band_of_page = filled(0, weights.len())?;
    let mut groups: Vec<(u32, u128)> = Vec::new();
    for (place, &page) in (1u64..).zip(&page_of_place) {
        let band = place.ilog2();
        band_of_page[page as usize] = band as u8;
        groups.resize(band as usize + 1, (0, 0));
        groups[band as usize].0 += 1;
        groups[band as usize].1 += u128::from(weights[page as usize]);
    }
    let all: u128 = groups.iter().map(|group| group.1).sum();
    let share = |weight: u128| weight as f64 / all as f64;
    let groups =
        groups.into_iter().map(|(pages, weight)| Group { pages, write_share: share(weight) });
    Ok((band_of_page, groups.collect()))
}

const BLOCKS_PER_PAGE: Param = Param::new(
    "blocks_per_page",
    "1",
    Domain::Number(Included(1.0), Included(MOST_RANKS_PER_PAGE)),
    "number of fio's blocks per page; a small drive then represents one with this many times the \
     pages",
)
.extent(Extent::PerPage)
.later();

/// fio's zipf.
#[derive(Debug, Clone)]
pub struct FioZipf(FioSkew);

state!(FioZipf { nested 0 });

/// fio's pareto.
#[derive(Debug, Clone)]
pub struct FioPareto(FioSkew);

state!(FioPareto { nested 0 });

macro_rules! draws {
    ($($workload:ident)+) => {
        $(impl Workload for $workload {
            fn next(&mut self, buffer: &mut [u32]) -> Step {
                self.0.pages.fill(buffer, &mut self.0.random);
                Step::Writes(buffer.len())
            }

            fn pages(&self) -> u32 {
                self.0.band_of_page.len() as u32
            }

            fn groups(&self) -> Option<Vec<Group>> {
                Some(self.0.groups.clone())
            }

            fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
                for (group, &page) in group_of.iter_mut().zip(pages) {
                    *group = self.0.band_of_page[page as usize];
                }
            }
        })+
    };
}

draws!(FioZipf FioPareto);

impl Registered<Site> for FioZipf {
    const ENTRY: Entry = super::entry(
        "fio-zipf",
        "fio's random_distribution=zipf, which never writes some of its blocks",
    )
    .example("fio-zipf:theta=0.8")
    .variants(&["fio-zipf:theta=1.2,blocks_per_page=97"])
    .params(&[
        Param::new(
            "theta",
            "1.1",
            Domain::Number(Excluded(0.0), Included(10.0)),
            "exponent; fio does not accept 1",
        ),
        BLOCKS_PER_PAGE,
    ]);

    fn build(params: &Params, site: &Site) -> Result<Self> {
        let theta = params.number("theta");
        if (theta - 1.0).abs() < f64::EPSILON {
            let domain = "a number above 0 other than 1, at most 10".to_owned();
            return Err(params.outside("theta", params.text("theta"), domain));
        }
        Ok(FioZipf(FioSkew::new(Kind::Zipf, theta, params, site)?))
    }
}

impl Registered<Site> for FioPareto {
    const ENTRY: Entry = super::entry(
        "fio-pareto",
        "fio's random_distribution=pareto, which never writes some of its blocks",
    )
    .example("fio-pareto:h=0.2")
    .variants(&["fio-pareto:h=0.9,blocks_per_page=33.3"])
    .params(&[
        Param::new(
            "h",
            "0.2",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "share of the blocks that gets the rest of the writes, as 0.2 gets 0.8",
        ),
        BLOCKS_PER_PAGE,
    ]);

    fn build(params: &Params, site: &Site) -> Result<Self> {
        Ok(FioPareto(FioSkew::new(Kind::Pareto, params.number("h"), params, site)?))
    }
}

#[cfg(test)]
mod tests {
    use crate::workloads::tests::drawn;

    /// Job of fio whose draws never end.
    const ZIPF_JOB: &str =
        "fio:streams=stream(map=0,distribution=zipf,parameter=0.8,seeding=continued,endless=1)";

    const JOB_ABOVE_1: &str =
        "fio:streams=stream(map=0,distribution=zipf,parameter=1.2,seeding=continued,endless=1)";

    #[test]
    fn a_smaller_drive_represents_fios_blocks_by_popularity() {
        for (spec, small, blocks, most) in [
            ("fio-zipf:theta=0.8", ",blocks_per_page=16", 100_000, 0.30),
            ("fio-pareto:h=0.2", ",blocks_per_page=16", 65_536, 0.25),
            (ZIPF_JOB, ",pages_of_drive=16", 100_000, 0.30),
        ] {
            // Shares of the writes by popularity: of all blocks, and of pages with 16 of them each.
            let sorted = |spec: &str, pages: u32| {
                let mut counts = vec![0f64; pages as usize];
                for page in drawn(spec, pages, 2_000_000, 4096) {
                    counts[page as usize] += 1.0 / 2_000_000.0;
                }
                counts.sort_unstable_by(|a, b| b.total_cmp(a));
                counts
            };
            let all = sorted(spec, blocks);
            let few = sorted(&format!("{spec}{small}"), blocks / 16);
            let touched = |shares: &[f64]| {
                shares.iter().filter(|&&share| share > 0.0).count() as f64 / shares.len() as f64
            };
            assert!(
                (touched(&all) - touched(&few)).abs() < 0.02,
                "{} {}",
                touched(&all),
                touched(&few)
            );
            for tenth in 1..10 {
                let sum =
                    |shares: &[f64]| shares.iter().take(shares.len() * tenth / 10).sum::<f64>();
                assert!((sum(&all) - sum(&few)).abs() < 0.02, "{spec} {tenth}");
            }
            assert!(all[0] < most && few[0] > all[0]);
        }
    }

    #[test]
    fn fios_zipf_leaves_the_blocks_unwritten_that_fio_cannot_reach() {
        // Shares by a count over all ranks: benches/results/2026-11-27-fio-zipf.md.
        for (spec, pages, blocks, reached, error) in [
            ("fio-zipf:theta=0.8,blocks_per_page", 250_000, 250_000, 0.924_2, 0.003),
            ("fio-zipf:theta=0.8,blocks_per_page", 244_140, 24_414_062, 0.697_9, 0.003),
            (&format!("{ZIPF_JOB},pages_of_drive"), 50_000, 24_414_062, 0.697_9, 0.008),
            // Fewer random numbers than ranks.
            (&format!("{JOB_ABOVE_1},pages_of_drive"), 50_000, 468_843_606, 0.164_9, 0.008),
        ] {
            let spec = format!("{spec}={}", f64::from(blocks) / f64::from(pages));
            let mut touched = vec![false; pages as usize];
            for page in drawn(&spec, pages, 40 * pages as usize, 65_536) {
                touched[page as usize] = true;
            }
            let share = touched.iter().filter(|&&is| is).count() as f64 / f64::from(pages);
            assert!((share - reached).abs() < error, "{spec}: {share}");
        }
    }
}
