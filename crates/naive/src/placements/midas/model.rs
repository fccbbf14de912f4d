//! Model of the write amplification that a sizing of groups causes.

use std::collections::BTreeMap;

use super::Setup;
use super::hot::Used;
use crate::setup::Layout;

/// Sizes of groups, with the predictions of the model.
pub(super) struct Sizing {
    /// Largest number of blocks per domain, for each group but the last.
    pub most_blocks: Vec<usize>,
    /// Predicted share of valid pages in victims, for each group.
    pub valid_shares: Vec<f64>,
    /// Predicted write amplification.
    pub expected: f64,
}

/// Group HOT: its pages h, its share t of the host's writes, and its victims' share v₀ of
/// valid pages.
#[derive(Debug, Clone, Copy)]
struct Hot {
    pages: f64,
    traffic: f64,
    valid_share: f64,
}

/// Bucket of rewrite intervals, from `begins` to the begin of the next bucket.
struct Bucket {
    begins: f64,
    middle: f64,
    count: f64,
    /// Share of intervals of at least `begins` (S in the docs).
    survive: f64,
    /// Integral of S from 0 to `begins`, in pages (V in the docs).
    valid: f64,
    /// Share of hot intervals among the intervals from this bucket on (r in the docs).
    hot_updates: f64,
    /// Share of hot pages among the pages with these intervals (q in the docs).
    hot_pages: f64,
}

pub(super) struct Model {
    buckets: Vec<Bucket>,
    held_pages: f64,
    most_groups: usize,
    blocks: f64,
    pages_per_block: f64,
    pools: f64,
    domains: f64,
}

/// Flows of pages between the groups, for given limits of the ages of groups.
struct Chain {
    /// Flows into each of the groups 1 to n, and out of group n, per write of the host.
    flows: Vec<f64>,
    pages: Vec<f64>,
    last_valid_share: f64,
}

impl Model {
    pub(super) fn new(
        intervals: &BTreeMap<u64, u64>,
        setup: &Setup,
        held_pages: u32,
        most_groups: usize,
    ) -> Self {
        let mut model = Model {
            buckets: buckets(intervals),
            held_pages: f64::from(held_pages),
            most_groups,
            blocks: f64::from(setup.blocks),
            pages_per_block: f64::from(setup.pages_per_block),
            pools: f64::from(if setup.layout == Layout::Flat { 1 } else { setup.luns }),
            domains: f64::from(setup.layout.domains(setup.luns)),
        };
        let total = intervals.values().sum::<u64>().max(1) as f64;
        let classes: Vec<(f64, f64)> =
            (0..model.buckets.len()).map(|from| model.two_classes(from, total)).collect();
        for (bucket, (updates, pages)) in model.buckets.iter_mut().zip(classes) {
            (bucket.hot_updates, bucket.hot_pages) = (updates, pages);
        }
        model
    }

    /// Returns r and q of the pages with intervals from a bucket on.
    fn two_classes(&self, from: usize, total: f64) -> (f64, f64) {
        let (younger, older) = self.buckets.split_at(from);
        let updates: f64 = older.iter().map(|bucket| bucket.count).sum();
        let weight: f64 = older.iter().map(|bucket| bucket.count * bucket.middle).sum();
        let most = 0.7 * weight / updates.max(1.0);
        let hot: Vec<&Bucket> = older.iter().filter(|bucket| bucket.middle <= most).collect();
        let hot_updates: f64 = hot.iter().map(|bucket| bucket.count).sum();
        let hot_weight: f64 = hot.iter().map(|bucket| bucket.count * bucket.middle).sum();
        let younger_weight: f64 = younger.iter().map(|bucket| bucket.count * bucket.middle).sum();
        let pages = self.held_pages - younger_weight / total;
        (hot_updates / updates.max(1.0), hot_weight / total / pages.max(1.0))
    }

    pub(super) fn search(&self, used: Used) -> Option<Sizing> {
        let Used { is_searched, traffic, valid_share, age } = used;
        let mut hot = Hot { pages: traffic * age, traffic, valid_share };
        let mut least = self.expected(hot, &[]);
        if is_searched {
            hot = Hot { pages: 0.0, traffic: 0.0, valid_share: 0.0 };
            least = f64::INFINITY;
            for larger in self.hot_sizes() {
                let expected = self.expected(larger, &[]);
                if expected < least - 0.05 {
                    (hot, least) = (larger, expected);
                }
            }
        }
        let mut bounds = Vec::new();
        while self.divide(hot, &mut bounds, &mut least) {}
        for _ in 0..4 {
            let previous_least = least;
            let sizes = if is_searched { self.hot_sizes() } else { Vec::new() };
            for other in sizes {
                let expected = self.expected(other, &bounds);
                if expected < least {
                    (hot, least) = (other, expected);
                }
            }
            for at in 0..bounds.len() {
                let first = if at > 0 { bounds[at - 1] + 1 } else { 1 };
                let end = if at + 1 < bounds.len() { bounds[at + 1] } else { self.buckets.len() };
                for bound in first..end {
                    let mut others = bounds.clone();
                    others[at] = bound;
                    let expected = self.expected(hot, &others);
                    if expected < least {
                        (bounds, least) = (others, expected);
                    }
                }
            }
            self.divide(hot, &mut bounds, &mut least);
            if previous_least <= least {
                break;
            }
        }
        (!bounds.is_empty() && least < f64::INFINITY).then(|| self.sizing(hot, &bounds, least))
    }

    /// Returns the sizes of HOT to try: the pages rewritten before the begin of each bucket.
    fn hot_sizes(&self) -> Vec<Hot> {
        let most_blocks = (self.blocks * (29.0 / 2048.0)).floor();
        let sizes = self.buckets.iter().skip(1).map(|bucket| {
            let traffic = 1.0 - bucket.survive;
            Hot { pages: bucket.begins * traffic, traffic, valid_share: 0.0 }
        });
        let fits = |hot: &Hot| {
            self.closed(hot.pages) > 0 && hot.pages <= most_blocks * self.pages_per_block
        };
        sizes.filter(fits).collect()
    }

    /// Divides the last group at the best age limit, if that lowers write amplification `least`.
    ///
    /// Returns true if it did. The limit is then the last of `bounds`, and `least` is the new
    /// value. It does nothing if no more groups are allowed.
    fn divide(&self, hot: Hot, bounds: &mut Vec<usize>, least: &mut f64) -> bool {
        let first = bounds.last().map_or(1, |last| last + 1);
        let mut best = None;
        if bounds.len() + 3 <= self.most_groups {
            for bound in first..self.buckets.len() {
                let expected = self.expected(hot, &[&bounds[..], &[bound]].concat());
                if expected < *least {
                    (best, *least) = (Some(bound), expected);
                }
            }
        }
        bounds.extend(best);
        best.is_some()
    }

    fn flows(&self, hot: Hot, bounds: &[usize]) -> Chain {
        let mut flows = vec![1.0 - hot.traffic + hot.traffic * hot.valid_share];
        let mut pages = Vec::new();
        let groups = (bounds.len() + 2) as f64;
        let unusable = self.pools * ((self.most_groups - 1) as f64 + groups / 2.0);
        let mut room = (self.blocks - unusable) * self.pages_per_block - hot.pages;
        let mut from = &self.buckets[0];
        for &bound in bounds {
            let to = &self.buckets[bound];
            let flow = flows[flows.len() - 1];
            pages.push(flow * (to.begins - from.begins));
            room -= pages[pages.len() - 1];
            flows.push(to.survive.min(flow));
            from = to;
        }
        let valid = (self.held_pages - from.valid).max(0.0);
        let last_valid_share =
            if room <= valid { 1.0 } else { self.valid_share(from, room, valid) };
        Chain { flows, pages, last_valid_share }
    }

    /// Returns the valid share v of the last group's victims.
    ///
    /// Pages arrive in this group at the age at which bucket `from` begins. `room` is its space,
    /// and `valid` is the number of its valid pages; both are in pages.
    fn valid_share(&self, from: &Bucket, room: f64, valid: f64) -> f64 {
        let gamma = 1.0 + 1.0 / (2.0 * self.pages_per_block);
        let a = gamma * room / valid;
        let (r, q) = (from.hot_updates, from.hot_pages);
        let has_two = [r, q].iter().all(|share| (f64::MIN_POSITIVE..1.0).contains(share));
        let migrated = |x: f64| {
            if has_two {
                r / libm::expm1(r * (a * x) / q)
                    + (1.0 - r) / libm::expm1((1.0 - r) * (a * x) / (1.0 - q))
            } else {
                1.0 / libm::expm1(a * x)
            }
        };
        let x = (1..=30).fold(0.0, |x, bit| {
            let further = x + 0.5f64.powi(bit);
            if 1.0 / further >= 1.0 + migrated(further) { further } else { x }
        });
        (1.0 - gamma * x).max(0.0)
    }

    fn expected(&self, hot: Hot, bounds: &[usize]) -> f64 {
        let Chain { flows, pages, last_valid_share: v } = self.flows(hot, bounds);
        if v >= 1.0 || pages.iter().any(|&pages| self.closed(pages) == 0) {
            return f64::INFINITY;
        }
        let from_hot = hot.traffic * hot.valid_share;
        let migrated = flows[1..].iter().fold(from_hot, |sum, flow| sum + flow);
        1.0 + migrated + flows[flows.len() - 1] * v / (1.0 - v)
    }

    /// Returns the closed blocks in each domain of a group with this number of pages.
    fn closed(&self, pages: f64) -> usize {
        let blocks = pages / self.pages_per_block - self.pools / 2.0;
        let rounded = (blocks / self.domains + 0.5).floor();
        if rounded > 0.0 { rounded as usize } else { 0 }
    }

    fn sizing(&self, hot: Hot, bounds: &[usize], expected: f64) -> Sizing {
        let Chain { flows, pages, last_valid_share } = self.flows(hot, bounds);
        let mut valid_shares = vec![hot.valid_share];
        valid_shares.extend(flows.windows(2).map(|pair| pair[1] / pair[0]));
        valid_shares.push(last_valid_share);
        let all = std::iter::once(hot.pages).chain(pages);
        Sizing {
            most_blocks: all.map(|pages| self.closed(pages)).collect(),
            valid_shares,
            expected,
        }
    }
}

fn buckets(intervals: &BTreeMap<u64, u64>) -> Vec<Bucket> {
    // Buckets end at all numbers whose binary digits after the first four are zeros, and at 2³².
    let mut ends: Vec<u64> = (0..8).collect();
    ends.extend((0..29).flat_map(|zeros| (8..16).map(move |lead| lead << zeros)));
    ends.push(1 << 32);
    let total = intervals.values().sum::<u64>().max(1) as f64;
    let mut valid = 0.0;
    let mut buckets = Vec::new();
    for pair in ends.windows(2) {
        let (begins, end) = (pair[0] as f64, pair[1] as f64);
        let younger: u64 = intervals.range(..pair[0]).map(|(_, count)| count).sum();
        let count = intervals.get(&pair[0]).copied().unwrap_or(0) as f64;
        let survive = 1.0 - younger as f64 / total;
        let middle = begins + (end - begins) / 2.0;
        let (hot_updates, hot_pages) = (0.0, 0.0);
        buckets.push(Bucket { begins, middle, count, survive, valid, hot_updates, hot_pages });
        valid += (end - begins) * (survive - count / total / 2.0);
    }
    buckets
}
