//! Stationary share of blocks at each level (number of valid pages), from full blocks down.
//!
//! The flows of blocks are given: collections per host write, their split, and the blocks
//! that start full. For each level, F = 0 (paper 4, eqs. 2 and 3) then means: as many blocks arrive
//! from the level above as lose another page or are collected. A level does not depend on lower
//! levels or on the frontiers' probabilities. It has two equations, all terms of which are
//! positive, so no accuracy is lost by subtraction.

use super::choices::Occupancy;
use super::model::{Model, PerKind};
use super::tail::{Rise, Tail};

/// Number of flows. Tangents are derivatives by the logarithms of the flows.
pub const FLOWS: usize = 6;

/// Indices of the two swap flows among the flows.
pub const SWAPS: PerKind<usize> = PerKind { hot: 4, cold: 5 };

/// Shares of blocks below this do not change any sum, so they are approximated to first
/// order.
const NEGLIGIBLE: f64 = 1e-280;

const MAX_STEPS: usize = 100;

pub type Tangent = [f64; FLOWS];

/// Logarithms of the flows that determine the levels.
#[derive(Debug, Clone, Copy)]
pub struct Flows {
    /// Logarithm of the d-choices collections per host page written.
    pub collections: f64,
    /// Logarithm of the blocks of each kind that arrive at the top level (all pages valid), per
    /// host page written.
    pub starting: PerKind<f64>,
    /// Logarithm of the number of hot blocks divided by the number of cold blocks.
    pub hot_to_cold: f64,
    /// Logarithm of the swaps per d-choices collection, by the kind of their second victim.
    /// It is −∞ without swaps.
    pub swaps: PerKind<f64>,
}

/// Value with its derivatives by the logarithms of the flows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dual {
    pub value: f64,
    pub tangent: Tangent,
}

/// Shares of blocks at each level for given flows.
#[derive(Debug)]
pub struct Levels {
    pub blocks: Occupancy,
    /// Derivatives of `blocks` by the logarithms of the flows.
    pub tangents: PerKind<Vec<Tangent>>,
    /// Valid pages of each kind, per block.
    pub valid_pages: PerKind<Dual>,
    /// Logarithm of the total share of blocks; 0 at the solution.
    pub log_total: Dual,
    /// Logarithm of each kind's share of blocks divided by the share that the flows assume.
    /// It is 0 at the solution.
    pub log_kinds: PerKind<Dual>,
}

/// State of the hot or the cold blocks at one level (number of valid pages).
#[derive(Clone, Copy)]
struct Kind {
    /// Blocks that lose a page, per block and host write: the level times `Model::invalidating`.
    invalidating: f64,
    /// Blocks that arrive from the level above.
    arriving: Dual,
    /// Blocks of this kind with more valid pages.
    above: Tail,
    above_tangent: Tangent,
    /// Share of all blocks that belongs to this kind.
    blocks: Dual,
    /// Second collections of swaps per host write.
    swaps: Dual,
}

impl Flows {
    /// Flow for the element `index` of a tangent.
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

    /// Extrapolates from `self` through `other`: `self` + `factor` · (`other` − `self`) per flow.
    /// A flow that is not finite in `self` is copied from `other`.
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
    /// Solves all levels. Returns None if the flows are so inaccurate that a level has no
    /// solution.
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
            let shares = here.solve()?;
            for (place, tangent, sum, dual) in [
                (&mut blocks.hot, &mut tangents.hot, &mut valid_pages.hot, shares.hot),
                (&mut blocks.cold, &mut tangents.cold, &mut valid_pages.cold, shares.cold),
            ] {
                place[level] = dual.value;
                tangent[level] = dual.tangent;
                sum.add(&dual, valid);
            }
            hot.descend(&shares.hot);
            cold.descend(&shares.cold);
            above = above.plus(shares.hot.value).plus(shares.cold.value);
            add(&mut above_tangent, &shares.hot.tangent, 1.0);
            add(&mut above_tangent, &shares.cold.tangent, 1.0);
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

    /// Largest share of blocks at a level for which swaps do not take more blocks than arrive.
    fn most_for_swaps(&self, d_swap: Option<f64>) -> f64 {
        match d_swap {
            Some(draws) if self.swaps.value > 0.0 => {
                let rise = self.arriving.value / self.swaps.value;
                self.above.share_of(rise, draws, self.blocks.value)
            }
            _ => f64::INFINITY,
        }
    }

    /// Share of this kind that the arriving blocks sustain, if each block is collected at the
    /// rate `per_block`. Solved by Newton's method on a convex function.
    fn sustained(&self, d_swap: Option<f64>, per_block: f64, bound: f64, near: f64) -> KindShare {
        let leaving = self.invalidating + per_block;
        let most = (self.arriving.value / leaving).min(bound);
        let Some(draws) = d_swap.filter(|_| self.swaps.value > 0.0 && most > NEGLIGIBLE) else {
            return KindShare { share: most, swapped: None, leaving_by_share: leaving };
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
                return KindShare { share, swapped: Some(rise), leaving_by_share: by_share };
            }
            share = next;
        }
    }
}

/// The two equations of a level, one per kind: arriving = invalidated + collected + swapped.
struct Level<'a> {
    model: &'a Model,
    collections: Dual,
    above: Tail,
    above_tangent: Tangent,
    kinds: PerKind<&'a Kind>,
}

/// Collection at a level that contains a given share of all blocks.
#[derive(Clone, Copy)]
struct Collected {
    rise: Rise,
    /// Collections per block, and their derivative by the share.
    per_block: f64,
    growth: f64,
}

/// Share of the hot or cold blocks at a level, and the derivative of the blocks that leave by
/// it.
#[derive(Clone, Copy, Default)]
struct KindShare {
    share: f64,
    swapped: Option<Rise>,
    leaving_by_share: f64,
}

impl Level<'_> {
    fn solve(&self) -> Option<PerKind<Dual>> {
        let (collected, shares) = self.shares()?;
        // The derivatives of both kinds by each flow solve a 2 × 2 system. Its matrix is diagonal
        // plus the growth of collections per block, so that its determinant has no cancellation.
        let growth = shares.map(|kind| collected.growth * kind.share);
        let diagonal = shares.map(|kind| kind.leaving_by_share);
        let determinant =
            diagonal.hot * diagonal.cold + diagonal.hot * growth.cold + diagonal.cold * growth.hot;
        let sum = shares.hot.share + shares.cold.share;
        let explicit = self
            .kinds
            .zip(shares)
            .map(|(kind, share)| self.explicit(kind, &share, sum, &collected));
        let mut duals = shares.map(|kind| Dual { value: kind.share, tangent: [0.0; FLOWS] });
        for index in 0..FLOWS {
            let (hot, cold) = (explicit.hot[index], explicit.cold[index]);
            duals.hot.tangent[index] =
                (growth.hot * cold - (diagonal.cold + growth.cold) * hot) / determinant;
            duals.cold.tangent[index] =
                (growth.cold * hot - (diagonal.hot + growth.hot) * cold) / determinant;
        }
        Some(duals)
    }

    /// Finds the share of all blocks that equals the sum of the kinds' shares.
    /// Uses Newton's method from above, where collection takes at most twice the arriving blocks
    /// for any d.
    fn shares(&self) -> Option<(Collected, PerKind<KindShare>)> {
        let arriving = self.kinds.map(|kind| kind.arriving.value);
        let most =
            self.above.share_of(arriving.sum() / self.collections.value, self.model.d(), 1.0);
        let bounds = self.kinds.map(|kind| kind.most_for_swaps(self.model.d_swap()));
        let mut shares = bounds.map(|bound| KindShare { share: bound, ..KindShare::default() });
        let mut low = 0.0;
        let mut high = most;
        let mut sum = most;
        for _ in 0..MAX_STEPS {
            let collected = self.collected(sum);
            shares = self.kinds.zip(bounds).zip(shares).map(|((kind, bound), near)| {
                kind.sustained(self.model.d_swap(), collected.per_block, bound, near.share)
            });
            let added = shares.hot.share + shares.cold.share;
            if added < NEGLIGIBLE {
                return Some((collected, shares));
            }
            if added < sum {
                high = sum;
            } else {
                low = sum;
            }
            let shrinking: f64 = [shares.hot, shares.cold]
                .map(|kind| collected.growth * kind.share / kind.leaving_by_share)
                .iter()
                .sum();
            // Newton's method converges from above, because sum/added − 1 is convex in the sum if
            // both kinds have equal rates, and nearly convex otherwise.
            let next = sum + (added - sum) * added / (added + sum * shrinking);
            // The error that remains after this step is about d times the square of the step.
            let arrived = (next - sum).abs() <= 1e-9_f64.min(1e-7 / self.model.d()) * sum;
            let inside = next > low && next < high;
            sum = if arrived || inside { next } else { 0.5 * (low + high) };
            if arrived || high - low <= 2.0 * f64::EPSILON * high {
                let collected = self.collected(sum);
                let shares = self.kinds.zip(bounds).zip(shares).map(|((kind, bound), near)| {
                    kind.sustained(self.model.d_swap(), collected.per_block, bound, near.share)
                });
                return Some((collected, shares));
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

    /// Derivatives of a kind's balance by the flows, at fixed shares.
    fn explicit(
        &self,
        kind: &Kind,
        shares: &KindShare,
        sum: f64,
        collected: &Collected,
    ) -> Tangent {
        let fraction = if sum > NEGLIGIBLE { shares.share / sum } else { 0.0 };
        let mut tangent = kind.arriving.tangent.map(|arriving| -arriving);
        add(&mut tangent, &self.collections.tangent, fraction * collected.rise.value);
        let by_above = fraction * self.collections.value * collected.rise.by_tail;
        add(&mut tangent, &self.above_tangent, by_above);
        if let (Some(rise), Some(draws)) = (shares.swapped, self.model.d_swap()) {
            add(&mut tangent, &kind.swaps.tangent, rise.value);
            add(&mut tangent, &kind.above_tangent, kind.swaps.value * rise.by_tail);
            let by_blocks = -draws * rise.value / kind.blocks.value;
            add(&mut tangent, &kind.blocks.tangent, kind.swaps.value * by_blocks);
        }
        tangent
    }
}
