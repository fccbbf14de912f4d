//! Swap rates for which the levels (blocks by valid pages) and the frontiers agree.

use std::cell::Cell;

use super::choices::{Draws, Occupancy, Victims};
use super::dense::dot;
use super::frontiers::{Frontiers, Rates};
use super::levels::{FLOWS, Flows, SWAPS, Tangent};
use super::model::{Model, PerKind};
use super::totals::{Balanced, SOLVED};

const MAX_STEPS: usize = 40;
const LONGEST_STEP: f64 = 1.5;
const SHORTEST_STEP: f64 = 1e-3;

/// Swap rate below which swaps do not change the drift in double precision.
const UNNOTICED: f64 = 1e-17;

/// Number of times that the frontiers' Markov chain can be solved in a minute for blocks of
/// one page, extrapolated from blocks of hundreds of pages.
const MINUTE: usize = 1_000_000_000;
/// Number of times that the frontiers' Markov chain is solved for common drives.
const FEWEST_SOLUTIONS: usize = 40;

const FIRST_STRIDE: f64 = 0.05;

/// Tolerated error if rounding prevents further progress.
const NEARLY: f64 = 1e-7;

/// Smallest swap rate that is computed; rarer swaps are treated as if they had this rate.
const RAREST: f64 = 1e-250;

/// Levels at which pages and blocks balance, and the swaps and changes of kind that they
/// cause.
struct Exchange {
    balanced: Balanced,
    victims: Victims,
    frontiers: Frontiers,
    rates: Rates,
}

/// Number of further times that the frontiers' Markov chain may be solved.
pub struct Effort(Cell<usize>);

impl Effort {
    /// Effort that suffices except for extreme drives.
    /// With common block sizes the solver takes at most seconds. The time to solve the chain once
    /// grows with the cube of the pages per block.
    pub fn reasonable(model: &Model) -> Self {
        let pages = model.pages_per_block();
        let in_a_minute = FEWEST_SOLUTIONS + MINUTE / pages.pow(3);
        Effort(Cell::new((200 + 100_000 / pages).min(in_a_minute)))
    }

    fn spend_one(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }
}

/// Equation that determines the rate of hot swaps.
#[derive(Clone, Copy)]
enum HotSwaps {
    Agree,
    /// As many blocks become hot as become cold.
    /// At the solution this is equivalent to `Agree`. If blocks rarely change kind, the number of
    /// hot blocks is nearly conserved, and only the ratio of these two tiny rates determines its
    /// equilibrium.
    LeaveBlocksEven,
}

/// Newton's method for the two logarithms of the swap rates, from nearby flows.
/// From flows without swaps it begins with the swaps that the frontiers would then make.
pub fn solve(model: &Model, near: Flows, effort: &Effort) -> Option<Flows> {
    let mut here = Exchange::new(model, near)?;
    if near.swap_nothing() {
        if here.rates.swaps.sum() < UNNOTICED {
            return Some(near);
        }
        here = here.moved(model, here.rates.swaps.map(log))?;
    }
    for _ in 0..MAX_STEPS {
        let hot_swaps = here.sharper();
        let wrong = here.wrong(hot_swaps);
        let size = norm(wrong);
        if size < 1e-13 {
            return Some(here.balanced.flows);
        }
        let step = here.newton_step(model, hot_swaps, wrong)?;
        let mut scale = 1.0 / (norm(step) / LONGEST_STEP).max(1.0);
        let next = loop {
            effort.spend_one()?;
            let swaps = here.balanced.flows.swaps.zip(step);
            let next = here.moved(model, swaps.map(|(swaps, step)| swaps + scale * step));
            let better = next.filter(|next| norm(next.wrong(hot_swaps)) < size);
            scale /= 3.0;
            if better.is_some() || scale < SHORTEST_STEP {
                break better;
            }
        };
        match next {
            Some(next) => here = next,
            // No step improves the residual further. If it is small, only rounding error remains;
            // otherwise the method has failed.
            None => return (size < NEARLY).then_some(here.balanced.flows),
        }
    }
    None
}

/// Bisection, for cases in which Newton's method finds no slope.
/// If blocks rarely change kind, the changes come in bursts. Whether a burst begins with a hot or a
/// cold block then switches abruptly with the number of hot blocks. More swaps with hot blocks mean
/// fewer hot blocks.
pub fn bisect(model: &Model, near: Flows, effort: &Effort) -> Option<Flows> {
    let start = Exchange::new(model, near)?;
    let swaps = start.rates.swaps.map(log);
    let mut low = start.settled(model, swaps, effort)?;
    let mut high = start.settled(model, swaps, effort)?;
    let mut stride = FIRST_STRIDE;
    while low.surplus() > 0.0 || high.surplus() < 0.0 {
        let down = low.surplus() > 0.0;
        let mut swaps = if down { low.balanced.flows.swaps } else { high.balanced.flows.swaps };
        swaps.hot += if down { -stride } else { stride };
        stride *= 2.0;
        if down {
            let next = low.settled(model, swaps, effort)?;
            high = std::mem::replace(&mut low, next);
        } else {
            let next = high.settled(model, swaps, effort)?;
            low = std::mem::replace(&mut high, next);
        }
    }
    loop {
        let (below, above) = (low.balanced.flows.swaps, high.balanced.flows.swaps);
        let middle = below.zip(above).map(|(below, above)| 0.5 * (below + above));
        if middle.hot <= below.hot || middle.hot >= above.hot {
            return Some(low.balanced.flows);
        }
        let next = low.settled(model, middle, effort)?;
        if next.surplus() < 0.0 { low = next } else { high = next }
    }
}

impl Exchange {
    /// Levels for the given rate of hot swaps, with the rate of cold swaps found by iteration.
    fn settled(&self, model: &Model, mut swaps: PerKind<f64>, effort: &Effort) -> Option<Self> {
        let mut next = self.moved(model, swaps)?;
        for _ in 0..MAX_STEPS {
            effort.spend_one()?;
            let next_cold = log(next.rates.swaps.cold);
            if (next_cold - swaps.cold).abs() < 1e-14 * next_cold.abs().max(1.0) {
                return Some(next);
            }
            swaps.cold = next_cold;
            next = next.moved(model, swaps)?;
        }
        Some(next)
    }

    /// Blocks that become hot minus blocks that become cold, per d-choices collection.
    fn surplus(&self) -> f64 {
        self.rates.becoming.hot - self.rates.becoming.cold
    }

    fn new(model: &Model, near: Flows) -> Option<Self> {
        let balanced = Balanced::new(model, near)?;
        let victims = Draws::new(model, &balanced.levels.blocks).victims();
        let frontiers = Frontiers::new(model, &victims);
        let rates = frontiers.rates(model, &victims);
        Some(Exchange { balanced, victims, frontiers, rates })
    }

    /// Levels for other swap rates.
    fn moved(&self, model: &Model, swaps: PerKind<f64>) -> Option<Self> {
        if !swaps.sum().is_finite() {
            return None;
        }
        let mut flows = self.balanced.flows;
        let by_swaps = &self.balanced.by_swaps;
        let change = swaps.zip(flows.swaps).map(|(to, from)| to - from);
        for index in 0..SOLVED {
            let change = by_swaps.hot[index] * change.hot + by_swaps.cold[index] * change.cold;
            if change.is_finite() {
                *flows.nth(index) += change;
            }
        }
        flows.swaps = swaps;
        Exchange::new(model, flows)
    }

    fn sharper(&self) -> HotSwaps {
        if self.rates.becoming.sum() < self.rates.swaps.hot {
            HotSwaps::LeaveBlocksEven
        } else {
            HotSwaps::Agree
        }
    }

    /// Residuals of the equations for hot and cold swaps: logarithms of ratios that are 1 at the
    /// solution.
    fn wrong(&self, hot_swaps: HotSwaps) -> PerKind<f64> {
        let Rates { swaps, becoming } = self.rates;
        let given_swaps = self.balanced.flows.swaps;
        PerKind {
            hot: match hot_swaps {
                HotSwaps::Agree => log(swaps.hot) - given_swaps.hot,
                HotSwaps::LeaveBlocksEven => (becoming.hot / becoming.cold).ln(),
            },
            cold: log(swaps.cold) - given_swaps.cold,
        }
    }

    fn newton_step(
        &self,
        model: &Model,
        hot_swaps: HotSwaps,
        wrong: PerKind<f64>,
    ) -> Option<PerKind<f64>> {
        let Rates { swaps, becoming } = self.rates;
        let mut hot_weights = Rates::default();
        let mut own_derivative = 0.0;
        match hot_swaps {
            HotSwaps::Agree => {
                hot_weights.swaps.hot = by_log(swaps.hot);
                own_derivative = 1.0;
            }
            HotSwaps::LeaveBlocksEven => {
                hot_weights.becoming =
                    PerKind { hot: 1.0 / becoming.hot, cold: -1.0 / becoming.cold };
            }
        }
        let mut cold_weights = Rates::default();
        cold_weights.swaps.cold = by_log(swaps.cold);
        let mut hot_row = self.derivatives(model, &hot_weights);
        let mut cold_row = self.derivatives(model, &cold_weights);
        hot_row.hot -= own_derivative;
        cold_row.cold -= 1.0;
        let determinant = hot_row.hot * cold_row.cold - hot_row.cold * cold_row.hot;
        let step = PerKind {
            hot: (hot_row.cold * wrong.cold - cold_row.cold * wrong.hot) / determinant,
            cold: (cold_row.hot * wrong.hot - hot_row.hot * wrong.cold) / determinant,
        };
        step.sum().is_finite().then_some(step)
    }

    /// Derivatives of a weighted sum of the rates by the logarithms of the swap rates.
    fn derivatives(&self, model: &Model, weights: &Rates) -> PerKind<f64> {
        let blocks = &self.balanced.levels.blocks;
        let by_victims = self.frontiers.gradient(model, &self.victims, weights);
        let by_blocks = Draws::new(model, blocks).pull_back(&by_victims);
        SWAPS.zip(self.balanced.by_swaps).map(|(swap, others)| {
            let mut direction: Tangent = [0.0; FLOWS];
            direction[..SOLVED].copy_from_slice(&others);
            direction[swap] = 1.0;
            self.along(&by_blocks, &direction)
        })
    }

    /// Directional derivative: the gradient times a direction of the flows.
    fn along(&self, gradient: &Occupancy, direction: &Tangent) -> f64 {
        let tangents = self.balanced.levels.tangents.as_ref();
        let parts = gradient.as_ref().zip(tangents).map(|(gradient, tangents)| {
            gradient.iter().zip(tangents).map(|(g, tangent)| g * dot(tangent, direction)).sum()
        });
        parts.sum()
    }
}

/// Logarithm of a rate, which is bounded below because the rate may underflow to 0.
fn log(rate: f64) -> f64 {
    rate.max(RAREST).ln()
}

/// Derivative of `log`.
fn by_log(rate: f64) -> f64 {
    if rate > RAREST { 1.0 / rate } else { 0.0 }
}

fn norm(pair: PerKind<f64>) -> f64 {
    if pair.sum().is_finite() { pair.hot.abs().max(pair.cold.abs()) } else { f64::INFINITY }
}
