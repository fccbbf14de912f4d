//! Model of a sizing's write amplification (`MiDAS`, "MCAM"), and search for the best sizing.
//!
//! The authors iterate a Markov chain; the sums below are its stationary flows. The authors
//! describe a group by its number of blocks. This model uses the age at which pages leave the
//! group: the number of blocks follows, because a group's size is its inflow times the residence
//! time of pages.

use super::hot::HotUse;
use super::intervals::lower_edge;
use crate::placements::Sizes;

/// Reduction of write amplification for which the first search takes a larger HOT group.
/// The smallest HOT group with a finite predicted write amplification is always accepted.
const WORTH_HOT: f64 = 0.05;
/// Largest HOT group, as a share of the drive's blocks. The authors use at most 29 of 2048
/// blocks.
const MOST_HOT: f64 = 29.0 / 2048.0;
/// Longest update interval of the hot class of pages in the last group, over the mean
/// interval.
const HOT_SHARE_OF_MEAN: f64 = 0.7;
/// Number of passes in which the search revises all bounds (ages at which groups end).
const REVISIONS: u32 = 4;

/// Sizing of the groups, with the predicted valid shares and write amplification.
#[derive(Debug, Clone)]
pub struct Sizing {
    /// Closed blocks per collection domain of each group except the last, HOT first.
    pub most_blocks: Vec<usize>,
    /// Valid share of victims of each group, including the last.
    pub valid_shares: Vec<f64>,
    pub write_amplification: f64,
}

/// HOT group of a sizing (choice of the groups' sizes).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hot {
    pages: f64,
    /// Page writes to HOT, over all page writes of the host.
    /// The next field is the share of the pages in HOT that are still valid at collection.
    traffic: f64,
    valid_share: f64,
}

impl Hot {
    /// HOT as measured, or None if its filter is reliable, so that the model chooses the size.
    fn as_used(used: &HotUse) -> Option<Hot> {
        let HotUse { is_good, traffic, valid_share, age } = *used;
        (!is_good).then_some(Hot { pages: traffic * age, traffic, valid_share })
    }
}

/// Model of the host's writes and of the space for the written pages.
pub struct Model<'a> {
    sizes: &'a Sizes,
    /// Edge of each bucket: its shortest update interval.
    /// The next field is the share of all intervals that are at least as long as the edge.
    edges: Vec<f64>,
    survive: Vec<f64>,
    /// Number of valid pages younger than each edge: the integral of `survive` over the age.
    valid: Vec<f64>,
    /// Update rates of the valid pages that are older than each edge, as two classes of pages.
    rest: Vec<TwoClasses>,
    held_pages: f64,
    most_groups: usize,
}

/// Hot and cold class of pages, as in Desnoyers (SYSTOR 2012).
/// The fields are the hot class's share of the updates and of the pages.
#[derive(Debug, Clone, Copy)]
struct TwoClasses {
    updates: f64,
    pages: f64,
}

impl<'a> Model<'a> {
    pub fn new(counts: &[u64], sizes: &'a Sizes, held_pages: u32, most_groups: usize) -> Self {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        let edges: Vec<f64> = (0..=counts.len()).map(|at| lower_edge(at) as f64).collect();
        let (mut survive, mut valid) = (Vec::new(), Vec::new());
        let (mut dead, mut area) = (0u64, 0.0);
        for at in 0..counts.len() {
            survive.push(1.0 - dead as f64 / total);
            valid.push(area);
            // Within a bucket, the survival falls linearly.
            area += (edges[at + 1] - edges[at]) * (survive[at] - counts[at] as f64 / total / 2.0);
            dead += counts[at];
        }
        let held_pages = f64::from(held_pages);
        let rest = two_classes(counts, &edges, total, held_pages);
        Model { sizes, edges, survive, valid, rest, held_pages, most_groups }
    }

    /// Sizing with the least write amplification, or None if no bounded group besides HOT helps.
    /// `used` is the measured use of HOT with the present filter.
    pub fn best(&self, used: &HotUse) -> Option<Sizing> {
        let measured = Hot::as_used(used);
        let (mut hot, mut least) = match measured {
            Some(hot) => (hot, self.write_amplification(&hot, &[])),
            None => self.first_hot(),
        };
        let mut bounds = Vec::new();
        while self.add_bound(&hot, &mut bounds, &mut least) {}
        for _ in 0..REVISIONS {
            let previous = least;
            if measured.is_none() {
                self.revise_hot(&mut hot, &bounds, &mut least);
            }
            for at in 0..bounds.len() {
                self.revise_bound(&hot, &mut bounds, at, &mut least);
            }
            self.add_bound(&hot, &mut bounds, &mut least);
            if least >= previous {
                break;
            }
        }
        let is_one = !bounds.is_empty() && least.is_finite();
        is_one.then(|| self.sizing(&hot, &bounds, least))
    }

    /// HOT with exactly the pages whose update interval is below the edge of a bucket.
    fn hot_up_to(&self, bucket: usize) -> Hot {
        let traffic = 1.0 - self.survive[bucket];
        Hot { pages: self.edges[bucket] * traffic, traffic, valid_share: 0.0 }
    }

    /// HOT groups that the search tries, in ascending order of their sizes.
    fn hot_choices(&self) -> impl Iterator<Item = Hot> {
        let most_pages = (f64::from(self.sizes.blocks) * MOST_HOT).floor()
            * f64::from(self.sizes.pages_per_block);
        let all = (1..self.survive.len()).map(|bucket| self.hot_up_to(bucket));
        all.skip_while(|hot| self.closed_blocks(hot.pages) < 1)
            .take_while(move |hot| hot.pages <= most_pages)
    }

    fn first_hot(&self) -> (Hot, f64) {
        let none = Hot { pages: 0.0, traffic: 0.0, valid_share: 0.0 };
        let (mut best, mut least) = (none, f64::INFINITY);
        for hot in self.hot_choices() {
            let expected = self.write_amplification(&hot, &[]);
            if expected < least - WORTH_HOT {
                (best, least) = (hot, expected);
            }
        }
        (best, least)
    }

    fn revise_hot(&self, hot: &mut Hot, bounds: &[usize], least: &mut f64) {
        for other in self.hot_choices() {
            let expected = self.write_amplification(&other, bounds);
            if expected < *least {
                (*hot, *least) = (other, expected);
            }
        }
    }

    /// Divides the last group at the best age, if that reduces the write amplification.
    fn add_bound(&self, hot: &Hot, bounds: &mut Vec<usize>, least: &mut f64) -> bool {
        if bounds.len() + 2 >= self.most_groups {
            return false;
        }
        bounds.push(0);
        let added = bounds.len() - 1;
        let is_better = self.revise_bound(hot, bounds, added, least);
        if !is_better {
            bounds.pop();
        }
        is_better
    }

    /// Moves a bound to the best age between its neighbours, if that reduces write amplification.
    fn revise_bound(&self, hot: &Hot, bounds: &mut [usize], at: usize, least: &mut f64) -> bool {
        let previous = bounds[at];
        let first = if at == 0 { 1 } else { bounds[at - 1] + 1 };
        let end = bounds.get(at + 1).copied().unwrap_or(self.survive.len());
        let mut best = None;
        for bucket in first..end {
            bounds[at] = bucket;
            let expected = self.write_amplification(hot, bounds);
            if expected < *least {
                (best, *least) = (Some(bucket), expected);
            }
        }
        bounds[at] = best.unwrap_or(previous);
        best.is_some()
    }

    /// Write amplification: host pages plus migrated pages of each group, per host page.
    fn write_amplification(&self, hot: &Hot, bounds: &[usize]) -> f64 {
        let retained = hot.traffic * hot.valid_share;
        let (mut inflow, mut migrated) = (1.0 - hot.traffic + retained, retained);
        let mut room = self.room_pages(bounds.len() + 2) - hot.pages;
        let mut from = 0;
        for &bound in bounds {
            let pages = inflow * (self.edges[bound] - self.edges[from]);
            if self.closed_blocks(pages) < 1 {
                return f64::INFINITY;
            }
            room -= pages;
            inflow = self.survive[bound].min(inflow);
            migrated += inflow;
            from = bound;
        }
        let valid_share = self.last_valid_share(from, room);
        if valid_share >= 1.0 {
            return f64::INFINITY;
        }
        1.0 + migrated + inflow * valid_share / (1.0 - valid_share)
    }

    /// Number of pages in full blocks of all groups together.
    /// The result excludes one free block per stream of migrated pages, and half of the pages of
    /// the open blocks, which are half empty on average.
    fn room_pages(&self, groups: usize) -> f64 {
        let waiting = (self.most_groups - 1) as f64 + groups as f64 / 2.0;
        let blocks = f64::from(self.sizes.blocks) - f64::from(self.sizes.pools) * waiting;
        blocks * f64::from(self.sizes.pages_per_block)
    }

    /// Valid share of victims of the last group.
    /// Pages enter it at the age of the edge with index `from`.
    fn last_valid_share(&self, from: usize, room_pages: f64) -> f64 {
        let valid_pages = (self.held_pages - self.valid[from]).max(0.0);
        if room_pages <= valid_pages {
            return 1.0;
        }
        // Correction by Desnoyers for greedy collection of blocks with few pages.
        let greedy = 1.0 + 1.0 / (2.0 * f64::from(self.sizes.pages_per_block));
        let room = greedy * room_pages / valid_pages;
        (1.0 - greedy * self.rest[from].invalid_share(room)).max(0.0)
    }

    /// Closed blocks of a group per collection domain. Its open blocks count as half full.
    fn closed_blocks(&self, pages: f64) -> usize {
        let blocks = pages / f64::from(self.sizes.pages_per_block);
        let open = f64::from(self.sizes.pools) / 2.0;
        ((blocks - open) / f64::from(self.sizes.domains) + 0.5).max(0.0) as usize
    }

    fn sizing(&self, hot: &Hot, bounds: &[usize], write_amplification: f64) -> Sizing {
        let retained = hot.traffic * hot.valid_share;
        let mut inflow = 1.0 - hot.traffic + retained;
        let mut room = self.room_pages(bounds.len() + 2) - hot.pages;
        let mut sizing = Sizing {
            most_blocks: vec![self.closed_blocks(hot.pages)],
            valid_shares: vec![hot.valid_share],
            write_amplification,
        };
        let mut from = 0;
        for &bound in bounds {
            let pages = inflow * (self.edges[bound] - self.edges[from]);
            sizing.most_blocks.push(self.closed_blocks(pages));
            room -= pages;
            let outflow = self.survive[bound].min(inflow);
            sizing.valid_shares.push(outflow / inflow);
            (inflow, from) = (outflow, bound);
        }
        sizing.valid_shares.push(self.last_valid_share(from, room));
        sizing
    }
}

/// For each bucket: the two classes of pages whose intervals are at least the bucket's edge.
fn two_classes(counts: &[u64], edges: &[f64], total: f64, held_pages: f64) -> Vec<TwoClasses> {
    let middle = |at: usize| f64::midpoint(edges[at], edges[at + 1]);
    // A page that is updated every m writes contributes 1/m to the updates.
    let pages = |at: usize| counts[at] as f64 * middle(at);
    let mut younger = 0.0;
    (0..counts.len())
        .map(|from| {
            let updates: u64 = counts[from..].iter().sum();
            let all: f64 = (from..counts.len()).map(pages).sum();
            let most = HOT_SHARE_OF_MEAN * all / updates.max(1) as f64;
            let hot = || (from..counts.len()).take_while(|&at| middle(at) <= most);
            let hot_updates: u64 = hot().map(|at| counts[at]).sum();
            let hot_pages: f64 = hot().map(pages).sum();
            let all_pages = held_pages - younger / total;
            younger += pages(from);
            TwoClasses {
                updates: hot_updates as f64 / updates.max(1) as f64,
                pages: hot_pages / total / all_pages.max(1.0),
            }
        })
        .collect()
}

impl TwoClasses {
    /// Invalid share x of the oldest block, where a valid page has `room` pages of space.
    /// Pages of each class become invalid at their update rate while the block stays: 1/x = 1 + Σ
    /// r/(exp(r·room·x/f) − 1) over both classes (Desnoyers 2012). Here r and f are the class's
    /// shares of the updates and of the pages.
    fn invalid_share(&self, room: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let x = f64::midpoint(low, high);
            let migrated = self.migrated(room * x);
            if 1.0 + migrated > 1.0 / x {
                high = x;
            } else {
                low = x;
            }
        }
        low
    }

    fn migrated(&self, age: f64) -> f64 {
        let TwoClasses { updates: r, pages: f } = *self;
        let is_one_class = r <= 0.0 || r >= 1.0 || f <= 0.0 || f >= 1.0;
        if is_one_class {
            return 1.0 / libm::expm1(age);
        }
        r / libm::expm1(r * age / f) + (1.0 - r) / libm::expm1((1.0 - r) * age / (1.0 - f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_classes_are_as_one_and_solve_its_equation() {
        for room in [1.1, 1.5, 3.0] {
            let share =
                |updates: f64, pages: f64| TwoClasses { updates, pages }.invalid_share(room);
            let x = share(0.0, 0.0);
            assert!((1.0 - (-room * x).exp() - x).abs() < 1e-6, "{x} of {room}");
            assert!((share(0.3, 0.3) - x).abs() < 1e-6);
        }
    }
}
