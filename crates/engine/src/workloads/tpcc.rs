//! TPC-C-like updates of a database of constant size, fitted to TPC-C_init of paper 3.
//! (§6.2 and Fig. 9.) In 47 M writes to 802,816 pages there, 46% of the pages are updated 1 to 300
//! times. They form two clusters, one 8 times hotter than the other. 0.2% of the pages are updated
//! more often, and 54% never.
//!
//! A page's weight is its number of updates in that run. Weights are the quantiles of the
//! distribution, so that drives of any size have the same histogram; only the order is random.

use std::ops::Bound::{Excluded, Included, Unbounded};

use std::f64::consts::SQRT_2;

use libm::{erf, exp, log};

use super::alias::Alias;
use super::{Site, Step, Workload};
use crate::error::{Error, Result};
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

/// TPC-C-like workload. Writes are independent, with probabilities proportional to the pages'
/// weights.
#[derive(Debug, Clone)]
pub struct Tpcc {
    weights: Alias,
    /// Pages with weights within a factor of two, the heaviest first.
    groups: Vec<Group>,
    group_of_page: Table<u8>,
    random: Stream,
}

state!(Tpcc { fixed weights, fixed groups, fixed group_of_page, nested random });

/// Distribution of the numbers of updates over the pages.
struct Updates {
    clusters: Vec<Cluster>,
    tail_share: f64,
    /// Fewest and most updates of a page of the tail.
    /// Pages of clusters have fewer updates than the tail.
    tail_from: u32,
    tail_to: u32,
}

/// Cluster: a share of the pages with normally distributed updates, cut off at 1 and at the
/// tail.
struct Cluster {
    share: f64,
    mean: f64,
    deviation: f64,
}

impl Updates {
    fn read(params: &Params) -> Result<Self> {
        let shares = params.numbers("clusters");
        let tail_share = params.number("tail_share");
        let in_all = shares.iter().sum::<f64>() + tail_share;
        if in_all > 1.0 + 1e-9 {
            return Err(Error::Spec(format!(
                "tpcc: clusters and tail_share add up to {in_all}; they are shares of the pages \
                 and must add up to at most 1"
            )));
        }
        let (tail_from, tail_to) = match params.integers("tail")[..] {
            [from, to] if from < to => (from, to),
            _ => {
                let domain = "two ascending whole numbers, separated by '/'";
                return Err(params.outside("tail", params.text("tail"), domain));
            }
        };
        let (means, deviations) = (params.numbers("means"), params.numbers("deviations"));
        if let Some(mean) = means.iter().find(|mean| **mean > f64::from(tail_from)) {
            let domain = format!("a list of numbers from 1 to {tail_from}, where the tail begins");
            return Err(params.outside("means", mean, domain));
        }
        if means.len() != shares.len() || deviations.len() != shares.len() {
            return Err(Error::Spec(format!(
                "tpcc: {} clusters, {} means and {} deviations; give one of each for every cluster",
                shares.len(),
                means.len(),
                deviations.len()
            )));
        }
        let clusters = shares.into_iter().zip(means).zip(deviations);
        let clusters =
            clusters.map(|((share, mean), deviation)| Cluster { share, mean, deviation }).collect();
        Ok(Updates { clusters, tail_share, tail_from, tail_to })
    }

    /// Weight of each page, cluster after cluster, ending with pages that are never updated.
    fn weights(&self, pages: u32) -> Result<Table<u32>> {
        let mut weights = filled(0, pages as usize)?;
        let mut rest = &mut weights[..];
        let (mut share_before, mut pages_before) = (0.0, 0);
        let mut take = |share: f64| {
            share_before += share;
            let bound = (share_before * f64::from(pages)).round().min(f64::from(pages)) as usize;
            let (taken, after) = std::mem::take(&mut rest).split_at_mut(bound - pages_before);
            (rest, pages_before) = (after, bound);
            taken
        };
        for cluster in &self.clusters {
            cluster.fill(take(cluster.share), self.tail_from);
        }
        // Log-uniform: as many pages from 300 to 600 updates as from 3000 to 6000.
        let tail = take(self.tail_share);
        let (from, to) = (f64::from(self.tail_from), f64::from(self.tail_to));
        let count = tail.len() as f64;
        for (index, weight) in tail.iter_mut().enumerate() {
            let quantile = (index as f64 + 0.5) / count;
            *weight = (from * exp(quantile * log(to / from))).ceil() as u32;
        }
        Ok(weights)
    }
}

impl Cluster {
    /// Fills `weights` with the quantiles, in ascending order, as integers up to `most`.
    fn fill(&self, weights: &mut [u32], most: u32) {
        let below = |weight: f64| erf((weight + 0.5 - self.mean) / (self.deviation * SQRT_2));
        let (lowest, highest) = (below(0.0), below(f64::from(most)));
        let mut filled = 0;
        for weight in 1..=most {
            let quantile = (below(f64::from(weight)) - lowest) / (highest - lowest);
            let end = (quantile * weights.len() as f64).round() as usize;
            weights[filled..end].fill(weight);
            filled = end;
        }
    }
}

impl Workload for Tpcc {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.weights.fill(buffer, &mut self.random);
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.group_of_page.len() as u32
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(self.groups.clone())
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = self.group_of_page[page as usize];
        }
    }
}

/// Groups of pages with weights from 2^k to 2^(k+1) − 1, and one of weight 0.
fn groups(weights: &[u32]) -> Result<(Vec<Group>, Table<u8>)> {
    let band = |weight: u32| weight.leading_zeros() as usize;
    let mut bands = [(0, 0); u32::BITS as usize + 1];
    for &weight in weights {
        bands[band(weight)].0 += 1;
        bands[band(weight)].1 += u64::from(weight);
    }
    let sum: u64 = bands.iter().map(|(_, weight)| weight).sum();
    let mut groups = Vec::new();
    let group_of_band = bands.map(|(pages, weight)| {
        if pages > 0 {
            groups.push(Group { pages, write_share: weight as f64 / sum as f64 });
        }
        groups.len().saturating_sub(1) as u8
    });
    let mut group_of_page = filled(0, weights.len())?;
    for (group, &weight) in group_of_page.iter_mut().zip(weights) {
        *group = group_of_band[band(weight)];
    }
    Ok((groups, group_of_page))
}

impl Registered<Site> for Tpcc {
    const ENTRY: Entry = super::entry(
        "tpcc",
        "TPC-C-like: two clusters of pages, a hot tail, and pages never updated",
    )
    .example("tpcc")
    .params(&[
        Param::new(
            "clusters",
            "0.23/0.23",
            Domain::List(&Domain::SHARE),
            "share of the pages in each cluster; pages outside the clusters and the tail are never \
             updated",
        ),
        Param::new(
            "means",
            "25/200",
            Domain::List(&Domain::Number(Included(1.0), Unbounded)),
            "mean number of updates per page of each cluster",
        ),
        Param::new(
            "deviations",
            "5/40",
            Domain::List(&Domain::Number(Excluded(0.0), Unbounded)),
            "standard deviation of the number of updates per page in each cluster",
        ),
        Param::new("tail_share", "0.002", Domain::SHARE, "share of the pages in the hot tail"),
        Param::new(
            "tail",
            "300/13300",
            Domain::List(&Domain::Whole(1, 1_000_000)),
            "fewest and most updates of a page in the tail, log-uniform; pages of clusters have \
             fewer",
        ),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let mut weights = Updates::read(params)?.weights(pages)?;
        if weights.iter().all(|&weight| weight == 0) {
            return Err(Error::Spec(format!(
                "tpcc: with {pages} pages, clusters and tail_share leave no page to update"
            )));
        }
        context.child(0).random().shuffle(&mut weights);
        let (groups, group_of_page) = groups(&weights)?;
        Ok(Tpcc { weights: Alias::new(&weights)?, groups, group_of_page, random: context.random() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::WORKLOADS;

    fn weights(text: &str, pages: u32) -> Vec<u32> {
        let params = WORKLOADS.read(text).unwrap();
        Updates::read(&params).unwrap().weights(pages).unwrap().to_vec()
    }

    #[test]
    fn the_defaults_make_the_histogram_of_paper_3_figure_9() {
        let pages = 802_816;
        let weights = weights("tpcc", pages);
        let share = |accept: fn(u32) -> bool| {
            weights.iter().filter(|&&weight| accept(weight)).count() as f64 / f64::from(pages)
        };
        // To the printed digits, which add up to 100.2%.
        assert!((share(|n| n == 0) - 0.54).abs() < 0.005);
        assert!((share(|n| (1..=300).contains(&n)) - 0.46).abs() < 0.0001);
        assert!((share(|n| n > 300) - 0.002).abs() < 0.0001);
        let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        assert!((sum as f64 - 47.0e6).abs() < 0.2e6, "{sum}");
        assert!((13_200..=13_300).contains(weights.iter().max().unwrap()));
        // Each cluster by itself: half of it below its mean, 68% within a deviation.
        for (mean, deviation, low, high) in [(25, 5, 1, 70), (200, 40, 71, 300)] {
            let count = |from: u32, to: u32| {
                weights.iter().filter(|&&weight| (from..=to).contains(&weight)).count() as f64
            };
            let all = count(low, high);
            assert!((all / f64::from(pages) - 0.23).abs() < 0.0005);
            assert!((count(low, mean) / all - 0.5).abs() < 0.05);
            assert!((count(mean - deviation, mean + deviation) / all - 0.68).abs() < 0.06);
        }
    }

    #[test]
    fn a_small_drive_has_the_same_distribution() {
        let mean = |pages| {
            let weights = weights("tpcc", pages);
            weights.iter().map(|&weight| f64::from(weight)).sum::<f64>() / f64::from(pages)
        };
        let large = mean(1_000_000);
        for pages in [1000, 10_000, 123_456] {
            assert!((mean(pages) / large - 1.0).abs() < 0.05, "{pages}: {}", mean(pages));
        }
    }
}
