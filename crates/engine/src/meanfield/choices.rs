//! Choice of victims: the probabilities p and q of paper 4, and their derivatives.

use super::dense::{add_scaled, dot};
use super::model::{Model, PerKind};

/// Shares of all blocks by kind (hot, cold) and number of valid pages (0 to b): m of paper 4.
pub type Occupancy = PerKind<Vec<f64>>;

/// Probabilities of a victim's kind and number of valid pages.
/// The same type is used for gradients with respect to these probabilities.
#[derive(Debug, Clone)]
pub struct Victims {
    /// The paper's p: the victim is the emptiest of d blocks drawn from all blocks.
    pub of_all: Occupancy,
    /// The paper's q: the victim is the emptiest of d* hot blocks, or of d* cold blocks.
    /// All 0 without swaps.
    pub of_kind: Occupancy,
}

impl Victims {
    /// Builds probabilities that are all 0, for `levels` different numbers of valid pages.
    pub fn none(levels: usize) -> Self {
        let kinds = PerKind { hot: vec![0.0; levels], cold: vec![0.0; levels] };
        Victims { of_all: kinds.clone(), of_kind: kinds }
    }
}

/// Random draws of victims from blocks with a given occupancy.
pub struct Draws<'a> {
    blocks: &'a Occupancy,
    any_kind: Emptiest,
    kinds: Option<PerKind<Emptiest>>,
    /// For each number of valid pages: hot blocks with this number, over all blocks with this
    /// number.
    hot_shares: Vec<f64>,
}

impl<'a> Draws<'a> {
    pub fn new(model: &Model, blocks: &'a Occupancy) -> Self {
        let any_kind: Vec<f64> =
            blocks.hot.iter().zip(&blocks.cold).map(|(hot, cold)| hot + cold).collect();
        // If no block has this number of valid pages, any share is correct, so one half is used.
        let hot_share = |(&hot, &all): (&f64, &f64)| if all > 0.0 { hot / all } else { 0.5 };
        Draws {
            blocks,
            hot_shares: blocks.hot.iter().zip(&any_kind).map(hot_share).collect(),
            any_kind: Emptiest::new(&any_kind, model.d()),
            kinds: model
                .d_swap()
                .map(|d_swap| blocks.as_ref().map(|kind| Emptiest::new(kind, d_swap))),
        }
    }

    pub fn victims(&self) -> Victims {
        let chosen = &self.any_kind.chosen;
        let shares = self.hot_shares.iter().zip(chosen);
        Victims {
            of_all: PerKind {
                hot: shares.clone().map(|(share, chosen)| share * chosen).collect(),
                cold: shares.map(|(share, chosen)| (1.0 - share) * chosen).collect(),
            },
            of_kind: match &self.kinds {
                Some(kinds) => kinds.as_ref().map(|kind| kind.chosen.clone()),
                None => self.blocks.as_ref().map(|kind| vec![0.0; kind.len()]),
            },
        }
    }

    /// Converts a gradient with respect to the victims to a gradient with respect to the
    /// occupancy.
    pub fn pull_back(&self, gradient: &Victims) -> Occupancy {
        let PerKind { hot, cold } = &gradient.of_all;
        let by_count: Vec<f64> = (0..hot.len())
            .map(|i| hot[i] * self.hot_shares[i] + cold[i] * (1.0 - self.hot_shares[i]))
            .collect();
        let shared = self.any_kind.pull_back(&by_count);
        let mut pulled = PerKind { hot: shared.clone(), cold: shared };
        for i in 0..hot.len() {
            let tilt = self.any_kind.chosen_per_block[i] * (hot[i] - cold[i]);
            pulled.hot[i] += tilt * (1.0 - self.hot_shares[i]);
            pulled.cold[i] -= tilt * self.hot_shares[i];
        }
        if let Some(kinds) = &self.kinds {
            add_scaled(&mut pulled.hot, 1.0, &kinds.hot.pull_back(&gradient.of_kind.hot));
            add_scaled(&mut pulled.cold, 1.0, &kinds.cold.pull_back(&gradient.of_kind.cold));
        }
        pulled
    }
}

/// Distribution of the emptiest block among a number of blocks drawn with replacement.
struct Emptiest {
    total: f64,
    draws: f64,
    /// Probability that the emptiest block has i valid pages.
    chosen: Vec<f64>,
    /// Element i of `chosen`, divided by the share of blocks with i valid pages.
    chosen_per_block: Vec<f64>,
    /// Element i: derivative, by that share, of the d-th power of the share of blocks with at
    /// least i valid pages.
    slopes: Vec<f64>,
}

impl Emptiest {
    fn new(blocks: &[f64], draws: f64) -> Self {
        let at_least = sums_from(blocks);
        let total = at_least[0];
        let mut fewer = 0.0;
        let mut made = Emptiest {
            total,
            draws,
            chosen: Vec::with_capacity(blocks.len()),
            chosen_per_block: Vec::with_capacity(blocks.len()),
            slopes: Vec::with_capacity(blocks.len()),
        };
        for (&here, &tail) in blocks.iter().zip(&at_least) {
            // Of the sums above and below, the smaller one gives the more accurate logarithm, so it
            // is used.
            let log_at_least =
                if 2.0 * fewer < total { (-fewer / total).ln_1p() } else { (tail / total).ln() };
            let power = (draws * log_at_least).exp();
            // If no blocks remain, the logarithm is −∞, and 0 · −∞ is not a number. The power with
            // exponent 0 is therefore set to 1.
            let others = if draws > 1.0 { ((draws - 1.0) * log_at_least).exp() } else { 1.0 };
            let slope = draws / total * others;
            let gone = if here > 0.0 { (here / tail).min(1.0) } else { 0.0 };
            let chosen = power * -(draws * (-gone).ln_1p()).exp_m1();
            made.chosen.push(chosen);
            made.chosen_per_block.push(if here > 0.0 { chosen / here } else { slope });
            made.slopes.push(slope);
            fewer += here;
        }
        made
    }

    /// Converts a gradient with respect to `chosen` to a gradient with respect to the shares of
    /// blocks.
    fn pull_back(&self, gradient: &[f64]) -> Vec<f64> {
        let mut sum = -self.draws / self.total * dot(&self.chosen, gradient);
        let mut previous = 0.0;
        let steps = gradient.iter().zip(&self.slopes);
        steps
            .map(|(&here, slope)| {
                sum += (here - previous) * slope;
                previous = here;
                sum
            })
            .collect()
    }
}

/// Sum of the elements from each index to the end, adding the smallest first for accuracy.
fn sums_from(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; values.len()];
    let mut sum = 0.0;
    for (place, value) in sums.iter_mut().zip(values).rev() {
        sum += value;
        *place = sum;
    }
    sums
}
