//! The stationary blocks of each number of valid pages, from full blocks down.
//!
//! With the flows of blocks given (collections per host write, their split, the blocks that start
//! full), F = 0 (paper 4, eqs. 2 and 3) says of each level that the blocks that come down from the
//! level above either lose another page or are collected. No level depends on a lower one, and no
//! probability of the frontiers enters: two equations a level, all terms positive.

use super::choices::Occupancy;
use super::model::{Model, PerKind};
use super::tail::{Rise, Tail};

/// The number of flows; tangents are with respect to their logarithms.
pub const FLOWS: usize = 6;

/// Indices of the flows that are the swaps.
pub const SWAPS: PerKind<usize> = PerKind { hot: 4, cold: 5 };

/// Shares below this, which no sum notices, are taken for what their first-order term is.
const NEGLIGIBLE: f64 = 1e-280;

const MAX_STEPS: usize = 100;

pub type Tangent = [f64; FLOWS];

/// The logarithms of what the levels hang on, all per host page written.
#[derive(Debug, Clone, Copy)]
pub struct Flows {
    /// Collections of the d-choices kind.
    pub collections: f64,
    /// Blocks of each kind that start full, or come back full.
    pub starting: PerKind<f64>,
    /// The number of hot blocks over that of cold ones.
    pub hot_to_cold: f64,
    /// Swaps per collection of the d-choices kind, by the kind of their second victim; the
    /// logarithm of none is −∞.
    pub swaps: PerKind<f64>,
}

/// A quantity and its derivatives.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dual {
    pub value: f64,
    pub tangent: Tangent,
}

/// Levels that follow from the flows.
#[derive(Debug)]
pub struct Levels {
    pub blocks: Occupancy,
    /// The derivatives of `blocks`.
    pub tangents: PerKind<Vec<Tangent>>,
    /// The valid pages of each kind, per block.
    pub valid_pages: PerKind<Dual>,
    /// The logarithm of all blocks' share, to be 0.
    pub log_total: Dual,
    /// The logarithm of the hot and cold blocks' sum over what the flows took it for, to be 0.
    pub log_kinds: PerKind<Dual>,
}

/// One kind at one level.
#[derive(Clone, Copy)]
struct Kind {
    /// Blocks that lose a page, per block and host write: its level times `Model::invalidating`.
    invalidating: f64,
    /// Blocks that come down from the level above.
    arriving: Dual,
    /// Blocks of this kind with more valid pages.
    above: Tail,
    above_tangent: Tangent,
    /// The share of all blocks that are of this kind.
    blocks: Dual,
    /// Second collections of swaps per host write.
    swaps: Dual,
}

impl Flows {
    /// The flow that the element `index` of a tangent belongs to.
    pub fn nth(&mut self, index: usize) -> &mut f64 {
        match index {
            0 => &mut self.collections,
            1 => &mut self.starting.hot,
            2 => &mut self.starting.cold,
            3 => &mut self.hot_to_cold,
            4 => &mut self.swaps.hot,
            _ => &mut self.swaps.cold,
        }
    }

    pub fn swap_nothing(&self) -> bool {
        self.swaps.hot == f64::NEG_INFINITY && self.swaps.cold == f64::NEG_INFINITY
    }

    /// Extrapolated flows: `factor` times as far from here as `other`, where both are finite.
    pub fn extrapolated(mut self, other: &Flows, factor: f64) -> Flows {
        let mut ends = *other;
        for index in 0..FLOWS {
            let end = *ends.nth(index);
            let start = self.nth(index);
            *start = if start.is_finite() { *start + factor * (end - *start) } else { end };
        }
        self
    }

    fn exponential(log: f64, indices: &[usize]) -> Dual {
        let value = log.exp();
        let mut tangent = [0.0; FLOWS];
        for &index in indices {
            tangent[index] = value;
        }
        Dual { value, tangent }
    }
}

impl Levels {
    /// Solves all levels; `None` if the flows are too far off for one to have a solution.
    pub fn new(model: &Model, flows: &Flows) -> Option<Self> {
        let pages = model.pages_per_block();
        let collections = Flows::exponential(flows.collections, &[0]);
        let hot_share = 1.0 / (1.0 + (-flows.hot_to_cold).exp());
        let cold_share = 1.0 / (1.0 + flows.hot_to_cold.exp());
        let mut share_tangent = [0.0; FLOWS];
        share_tangent[3] = hot_share * cold_share;
        let mut hot = Kind {
            invalidating: 0.0,
            arriving: Flows::exponential(flows.starting.hot, &[1]),
            above: Tail::default(),
            above_tangent: [0.0; FLOWS],
            blocks: Dual { value: hot_share, tangent: share_tangent },
            swaps: Flows::exponential(flows.collections + flows.swaps.hot, &[0, SWAPS.hot]),
        };
        let mut cold = Kind {
            arriving: Flows::exponential(flows.starting.cold, &[2]),
            blocks: Dual { value: cold_share, tangent: share_tangent.map(|t| -t) },
            swaps: Flows::exponential(flows.collections + flows.swaps.cold, &[0, SWAPS.cold]),
            ..hot
        };
        let mut above = Tail::default();
        let mut above_tangent = [0.0; FLOWS];
        let mut blocks = PerKind { hot: vec![0.0; pages + 1], cold: vec![0.0; pages + 1] };
        let mut tangents = blocks.as_ref().map(|kind| vec![[0.0; FLOWS]; kind.len()]);
        let mut valid_pages = PerKind::<Dual>::default();
        let invalidating = model.invalidating();
        for level in (0..=pages).rev() {
            let valid = level as f64;
            hot.invalidating = valid * invalidating.hot;
            cold.invalidating = valid * invalidating.cold;
            let kinds = PerKind { hot: &hot, cold: &cold };
            let here = Level { model, collections, above, above_tangent, kinds };
            let found = here.solve()?;
            for (place, tangent, sum, dual) in [
                (&mut blocks.hot, &mut tangents.hot, &mut valid_pages.hot, found.hot),
                (&mut blocks.cold, &mut tangents.cold, &mut valid_pages.cold, found.cold),
            ] {
                place[level] = dual.value;
                tangent[level] = dual.tangent;
                sum.add(&dual, valid);
            }
            hot.descend(&found.hot);
            cold.descend(&found.cold);
            above = above.plus(found.hot.value).plus(found.cold.value);
            add(&mut above_tangent, &found.hot.tangent, 1.0);
            add(&mut above_tangent, &found.cold.tangent, 1.0);
        }
        let total = above.value();
        Some(Levels {
            blocks,
            tangents,
            valid_pages,
            log_total: Dual {
                value: above.log(1.0),
                tangent: above_tangent.map(|tangent| tangent / total),
            },
            log_kinds: PerKind { hot: hot.log_sum(), cold: cold.log_sum() },
        })
    }
}

impl Dual {
    fn add(&mut self, other: &Dual, factor: f64) {
        self.value += factor * other.value;
        add(&mut self.tangent, &other.tangent, factor);
    }
}

fn add(sum: &mut Tangent, term: &Tangent, factor: f64) {
    for (place, term) in sum.iter_mut().zip(term) {
        *place += factor * term;
    }
}

impl Kind {
    fn descend(&mut self, here: &Dual) {
        self.arriving.value = self.invalidating * here.value;
        self.arriving.tangent = here.tangent.map(|tangent| self.invalidating * tangent);
        self.above = self.above.plus(here.value);
        add(&mut self.above_tangent, &here.tangent, 1.0);
    }

    fn log_sum(&self) -> Dual {
        let sum = self.above.value();
        let mut tangent = self.above_tangent.map(|tangent| tangent / sum);
        add(&mut tangent, &self.blocks.tangent, -1.0 / self.blocks.value);
        Dual { value: self.above.log(self.blocks.value), tangent }
    }

    /// The largest share from which swaps do not take more than arrives.
    fn most_for_swaps(&self, d_swap: Option<f64>) -> f64 {
        match d_swap {
            Some(draws) if self.swaps.value > 0.0 => {
                let rise = self.arriving.value / self.swaps.value;
                self.above.share_of(rise, draws, self.blocks.value)
            }
            _ => f64::INFINITY,
        }
    }

    /// The share of this kind that what arrives sustains, if so much is collected per block:
    /// Newton's method on a convex function.
    fn sustained(&self, d_swap: Option<f64>, per_block: f64, bound: f64, near: f64) -> Found {
        let leaving = self.invalidating + per_block;
        let most = (self.arriving.value / leaving).min(bound);
        let Some(draws) = d_swap.filter(|_| self.swaps.value > 0.0 && most > NEGLIGIBLE) else {
            return Found { share: most, swapped: None, leaving_by_share: leaving };
        };
        let mut share = near.min(most);
        let mut step = 0;
        loop {
            let rise = self.above.rise(share, draws, self.blocks.value);
            let by_share = leaving + self.swaps.value * rise.by_share;
            let surplus = leaving * share + self.swaps.value * rise.value - self.arriving.value;
            let next = (share - surplus / by_share).max(share / 16.0).min(most);
            step += 1;
            if (next - share).abs() <= 4.0 * f64::EPSILON * share || step == MAX_STEPS {
                return Found { share, swapped: Some(rise), leaving_by_share: by_share };
            }
            share = next;
        }
    }
}

/// The two equations of a level: arriving = invalid + collected + swapped, for each kind.
struct Level<'a> {
    model: &'a Model,
    collections: Dual,
    above: Tail,
    above_tangent: Tangent,
    kinds: PerKind<&'a Kind>,
}

/// Collection at a level with a given share of all blocks.
#[derive(Clone, Copy)]
struct Collected {
    rise: Rise,
    /// Collected per block, and how fast that grows with the share.
    per_block: f64,
    growth: f64,
}

/// A share of one kind's blocks at a level, and the derivative of what leaves it.
#[derive(Clone, Copy, Default)]
struct Found {
    share: f64,
    swapped: Option<Rise>,
    leaving_by_share: f64,
}

impl Level<'_> {
    fn solve(&self) -> Option<PerKind<Dual>> {
        let (collected, found) = self.shares()?;
        // Both kinds' derivatives by each flow solve one 2 × 2 system, whose matrix is a diagonal
        // and the growth of what is collected per block; nothing in its determinant cancels.
        let growth = found.map(|kind| collected.growth * kind.share);
        let diagonal = found.map(|kind| kind.leaving_by_share);
        let determinant =
            diagonal.hot * diagonal.cold + diagonal.hot * growth.cold + diagonal.cold * growth.hot;
        let sum = found.hot.share + found.cold.share;
        let explicit =
            self.kinds.zip(found).map(|(kind, found)| self.explicit(kind, &found, sum, &collected));
        let mut duals = found.map(|kind| Dual { value: kind.share, tangent: [0.0; FLOWS] });
        for index in 0..FLOWS {
            let (hot, cold) = (explicit.hot[index], explicit.cold[index]);
            duals.hot.tangent[index] =
                (growth.hot * cold - (diagonal.cold + growth.cold) * hot) / determinant;
            duals.cold.tangent[index] =
                (growth.cold * hot - (diagonal.hot + growth.hot) * cold) / determinant;
        }
        Some(duals)
    }

    /// Finds the share of all blocks at which the kinds' own shares add up to it: Newton's method
    /// from above, where collection takes at most twice what arrives, however large d is.
    fn shares(&self) -> Option<(Collected, PerKind<Found>)> {
        let arriving = self.kinds.map(|kind| kind.arriving.value);
        let most =
            self.above.share_of(arriving.sum() / self.collections.value, self.model.d(), 1.0);
        let bounds = self.kinds.map(|kind| kind.most_for_swaps(self.model.d_swap()));
        let mut found = bounds.map(|bound| Found { share: bound, ..Found::default() });
        let mut low = 0.0;
        let mut high = most;
        let mut sum = most;
        for _ in 0..MAX_STEPS {
            let collected = self.collected(sum);
            found = self.kinds.zip(bounds).zip(found).map(|((kind, bound), near)| {
                kind.sustained(self.model.d_swap(), collected.per_block, bound, near.share)
            });
            let added = found.hot.share + found.cold.share;
            if added < NEGLIGIBLE {
                return Some((collected, found));
            }
            if added < sum {
                high = sum;
            } else {
                low = sum;
            }
            let shrinking: f64 = [found.hot, found.cold]
                .map(|kind| collected.growth * kind.share / kind.leaving_by_share)
                .iter()
                .sum();
            // sum/added − 1 = 0 is convex in the sum if the kinds are alike, and nearly so if not.
            let next = sum + (added - sum) * added / (added + sum * shrinking);
            // The error that is left is d times the square of this.
            let arrived = (next - sum).abs() <= 1e-9_f64.min(1e-7 / self.model.d()) * sum;
            let inside = next > low && next < high;
            sum = if arrived || inside { next } else { 0.5 * (low + high) };
            if arrived || high - low <= 2.0 * f64::EPSILON * high {
                let collected = self.collected(sum);
                let found = self.kinds.zip(bounds).zip(found).map(|((kind, bound), near)| {
                    kind.sustained(self.model.d_swap(), collected.per_block, bound, near.share)
                });
                return Some((collected, found));
            }
        }
        None
    }

    fn collected(&self, sum: f64) -> Collected {
        let rise = self.above.rise(sum, self.model.d(), 1.0);
        let rate = self.collections.value;
        if sum > NEGLIGIBLE {
            let per_block = rate * rise.value / sum;
            let growth = ((rate * rise.by_share - per_block) / sum).max(0.0);
            Collected { rise, per_block, growth }
        } else {
            Collected { rise, per_block: rate * rise.by_share, growth: 0.0 }
        }
    }

    /// The derivatives of a kind's balance by the flows, at fixed shares.
    fn explicit(&self, kind: &Kind, found: &Found, sum: f64, collected: &Collected) -> Tangent {
        let part = if sum > NEGLIGIBLE { found.share / sum } else { 0.0 };
        let mut tangent = kind.arriving.tangent.map(|arriving| -arriving);
        add(&mut tangent, &self.collections.tangent, part * collected.rise.value);
        let by_above = part * self.collections.value * collected.rise.by_tail;
        add(&mut tangent, &self.above_tangent, by_above);
        if let (Some(rise), Some(draws)) = (found.swapped, self.model.d_swap()) {
            add(&mut tangent, &kind.swaps.tangent, rise.value);
            add(&mut tangent, &kind.above_tangent, kind.swaps.value * rise.by_tail);
            let by_blocks = -draws * rise.value / kind.blocks.value;
            add(&mut tangent, &kind.blocks.tangent, kind.swaps.value * by_blocks);
        }
        tangent
    }
}
