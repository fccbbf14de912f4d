//! Markov chain of the hot and the cold write frontier: π of paper 4's K(m), eq. 4.
//!
//! Only the states in which a block is collected are part of the equations. The states in
//! between, in which the host writes, are eliminated row by row. The pages that one frontier gains
//! before the other gains one are geometrically distributed, so that a row costs O(b).

use super::choices::Victims;
use super::dense::{EliminatedChain, Matrix, add_scaled, dot};
use super::model::{Model, PerKind};

/// Equilibrium of the frontiers for given victims: their rates of collection.
/// All rates are per d-choices collection.
#[derive(Debug)]
pub struct Frontiers {
    chain: EliminatedChain,
    /// Collections that find the frontier of a kind full and the other with 0, 1, … b − 1 pages.
    /// These are π_{b,l} for the hot frontier and π_{k,b} for the cold one.
    full: PerKind<Vec<f64>>,
    /// Second collections of a swap, by the number of waiting pages: π_{b+1,l} and π_{k,b+1}.
    waiting: PerKind<Vec<f64>>,
}

/// Rates of swaps and changes of kind, per d-choices collection.
/// The type also holds weights, one for each of these four rates.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    /// Swaps with a second victim from d* blocks of this kind.
    pub swaps: PerKind<f64>,
    /// Blocks that change to this kind without a swap.
    pub becoming: PerKind<f64>,
}

/// Input to the Markov chain for one frontier, called its own, next to the other frontier.
struct Side<'a> {
    /// Share of the host's writes that go to this frontier.
    writes: f64,
    own: &'a [f64],
    other: &'a [f64],
    /// Second victims, if there are swaps.
    second: Option<&'a [f64]>,
    /// Index of the first state in which this frontier is full.
    /// `other_states` is the index of the first state in which the other frontier is full.
    states: usize,
    other_states: usize,
}

impl Frontiers {
    /// Frontiers in equilibrium with `victims`.
    pub fn new(model: &Model, victims: &Victims) -> Self {
        let pages = model.pages_per_block();
        let sides = sides(model, victims);
        let mut steps = Matrix::zeros(2 * pages);
        sides.as_ref().map(|side| side.fill(&mut steps));
        let chain = EliminatedChain::new(steps);
        let visits = chain.stationary();
        let full = PerKind { hot: visits[..pages].to_vec(), cold: visits[pages..].to_vec() };
        let waiting = sides.as_ref().zip(full.as_ref()).map(|(side, full)| side.waiting(full));
        Frontiers { chain, full, waiting }
    }

    /// Rates of swaps and of changes of kind.
    pub fn rates(&self, model: &Model, victims: &Victims) -> Rates {
        let sides = sides(model, victims);
        Rates {
            swaps: self.waiting.as_ref().map(|waiting| waiting.iter().sum()),
            becoming: sides.as_ref().zip(self.full.as_ref()).map(|(side, full)| {
                let pages = full.len();
                let mut fitting = 0.0;
                let mut sum = 0.0;
                for (free, victim) in side.other[..=pages].iter().enumerate() {
                    fitting += victim;
                    sum += if free > 0 { full[pages - free] * fitting } else { 0.0 };
                }
                sum
            }),
        }
    }

    /// Gradient of a weighted sum of the rates with respect to the victims.
    /// A multiple of the gradient of the victims' sums may be added to it, because these sums are
    /// always 1.
    pub fn gradient(&self, model: &Model, victims: &Victims, weights: &Rates) -> Victims {
        let pages = model.pages_per_block();
        let sides = sides(model, victims);
        let gains = PerKind {
            hot: sides.hot.gains(weights.becoming.hot, weights.swaps.hot),
            cold: sides.cold.gains(weights.becoming.cold, weights.swaps.cold),
        };
        let mean = dot(&gains.hot, &self.full.hot) + dot(&gains.cold, &self.full.cold);
        let surplus = gains.hot.iter().chain(&gains.cold).map(|gain| gain - mean).collect();
        let values = self.chain.relative_values(surplus);
        let grid = Grid::new(model, &values[..pages], &values[pages..]);
        let hot = sides.hot.gradient(
            &self.full.hot,
            &self.waiting.hot,
            |own, other| grid.at(own, other),
            weights.becoming.hot,
            weights.swaps.hot,
        );
        let cold = sides.cold.gradient(
            &self.full.cold,
            &self.waiting.cold,
            |own, other| grid.at(other, own),
            weights.becoming.cold,
            weights.swaps.cold,
        );
        let mut of_all = PerKind { hot: hot.own, cold: cold.own };
        add_scaled(&mut of_all.hot, 1.0, &cold.other);
        add_scaled(&mut of_all.cold, 1.0, &hot.other);
        Victims { of_all, of_kind: PerKind { hot: hot.second, cold: cold.second } }
    }
}

fn sides<'a>(model: &Model, victims: &'a Victims) -> PerKind<Side<'a>> {
    let pages = model.pages_per_block();
    let writes = model.writes();
    let (all, second) = (&victims.of_all, &victims.of_kind);
    let swapping = model.d_swap().is_some();
    PerKind {
        hot: Side {
            writes: writes.hot,
            own: &all.hot,
            other: &all.cold,
            second: swapping.then_some(&second.hot),
            states: 0,
            other_states: pages,
        },
        cold: Side {
            writes: writes.cold,
            own: &all.cold,
            other: &all.hot,
            second: swapping.then_some(&second.cold),
            states: pages,
            other_states: 0,
        },
    }
}

/// Contribution to the gradient of the collections that find one frontier full.
struct SideGradient {
    own: Vec<f64>,
    other: Vec<f64>,
    second: Vec<f64>,
}

impl Side<'_> {
    fn pages(&self) -> usize {
        self.own.len() - 1
    }

    /// Adds the transitions from the states in which this frontier is full (eq. 4).
    fn fill(&self, steps: &mut Matrix) {
        let pages = self.pages();
        // First the victims of the same kind, and victims of the other kind whose pages fit into
        // the other frontier. A single row of probabilities serves for all numbers of pages in the
        // other frontier, because it is indexed relative to that number.
        let mut crossing = Crossing::new(self.writes, &self.own[..pages]);
        let mut filled = vec![self.own[pages]];
        filled.resize(pages, 0.0);
        for (gained, filled) in filled.iter_mut().enumerate() {
            crossing.row[0] += self.other[gained];
            *filled += crossing.advance();
            let left = pages - gained - 1;
            let row = steps.row_mut(self.states + left);
            row[self.other_states] += self.other[gained + 1];
            add_scaled(&mut row[self.other_states..][..pages], 1.0, &crossing.row);
        }
        for left in 0..pages {
            let row = &mut steps.row_mut(self.states + left)[self.states..];
            add_scaled(&mut row[left..pages], 1.0, &filled);
        }
        match self.second {
            Some(second) => self.fill_swaps(steps, second),
            None => {
                for left in 1..pages {
                    let row = &mut steps.row_mut(self.states + left)[self.states..];
                    let too_full = &self.other[pages - left + 1..=pages];
                    add_scaled(&mut row[1..=left], 1.0, too_full);
                }
            }
        }
    }

    /// Adds the transitions through states in which pages of the other kind wait for a swap.
    fn fill_swaps(&self, steps: &mut Matrix, second: &[f64]) {
        let pages = self.pages();
        let mut crossing = Crossing::new(self.writes, &second[..pages]);
        let mut filled = vec![second[pages]];
        filled.resize(pages, 0.0);
        for (gained, filled) in filled[..pages - 1].iter_mut().enumerate() {
            *filled += crossing.advance();
            let waiting = pages - gained - 1;
            for left in waiting..pages {
                let too_full = self.other[pages - left + waiting];
                let row = steps.row_mut(self.states + left);
                add_scaled(&mut row[self.other_states..][..pages], too_full, &crossing.row);
            }
        }
        for left in 1..pages {
            let row = &mut steps.row_mut(self.states + left)[self.states..];
            for waiting in 1..=left {
                let too_full = self.other[pages - left + waiting];
                add_scaled(&mut row[waiting..pages], too_full, &filled);
            }
        }
    }

    /// Rates at which 0, 1, … b − 1 pages wait for a swap.
    fn waiting(&self, full: &[f64]) -> Vec<f64> {
        let pages = self.pages();
        let mut waiting = vec![0.0; pages];
        if self.second.is_some() {
            for left in 1..pages {
                let too_full = &self.other[pages - left + 1..=pages];
                add_scaled(&mut waiting[1..=left], full[left], too_full);
            }
        }
        waiting
    }

    /// Weighted rates that a collection adds if it finds this frontier full.
    /// The index is the number of pages in the other frontier.
    fn gains(&self, becoming: f64, swap: f64) -> Vec<f64> {
        let pages = self.pages();
        (0..pages)
            .map(|left| {
                let (fitting, too_full) = self.other.split_at(pages - left + 1);
                let swapped = if self.second.is_some() { swap } else { 0.0 };
                becoming * fitting.iter().sum::<f64>() + swapped * too_full.iter().sum::<f64>()
            })
            .collect()
    }

    /// Gradient with respect to the victims.
    /// `value(own, other)` is the weighted sum that accumulates from a state with these numbers of
    /// pages in the two frontiers.
    fn gradient(
        &self,
        full: &[f64],
        waiting: &[f64],
        value: impl Fn(usize, usize) -> f64,
        becoming: f64,
        swap: f64,
    ) -> SideGradient {
        let pages = self.pages();
        let after_swap: Vec<f64> = (0..pages)
            .map(|left| match self.second {
                Some(second) => {
                    swap + (0..=pages).map(|own| second[own] * value(own, left)).sum::<f64>()
                }
                None => value(pages, left),
            })
            .collect();
        let over = |weights: &[f64], gain: &dyn Fn(usize) -> f64| -> f64 {
            weights.iter().enumerate().map(|(left, weight)| weight * gain(left)).sum()
        };
        SideGradient {
            own: (0..=pages).map(|own| over(full, &|left| value(own, left))).collect(),
            other: (0..=pages)
                .map(|victim| {
                    over(full, &|left| {
                        if left + victim <= pages {
                            becoming + value(0, left + victim)
                        } else {
                            after_swap[left + victim - pages]
                        }
                    })
                })
                .collect(),
            second: (0..=pages)
                .map(|own| match self.second {
                    Some(_) => over(waiting, &|left| value(own, left)),
                    None => 0.0,
                })
                .collect(),
        }
    }
}

/// Distribution of the pages in the own frontier when the other frontier gains its next page.
struct Crossing {
    writes: f64,
    row: Vec<f64>,
}

impl Crossing {
    fn new(writes: f64, start: &[f64]) -> Self {
        Crossing { writes, row: start.to_vec() }
    }

    /// Advances to the other frontier's next page.
    /// Returns the probability that the own frontier is full before that.
    fn advance(&mut self) -> f64 {
        let mut visits = 0.0;
        for place in &mut self.row {
            visits = *place + self.writes * visits;
            *place = (1.0 - self.writes) * visits;
        }
        self.writes * visits
    }
}

/// Expected value at the next full frontier, by the present number of pages in both
/// frontiers.
struct Grid {
    width: usize,
    values: Vec<f64>,
}

impl Grid {
    /// Builds the expected values from those with one frontier full, by the pages in the other.
    fn new(model: &Model, hot_full: &[f64], cold_full: &[f64]) -> Self {
        let pages = model.pages_per_block();
        let writes = model.writes();
        let width = pages + 1;
        let mut values = vec![0.0; width * width];
        values[pages * width..][..pages].copy_from_slice(hot_full);
        for hot in (0..pages).rev() {
            let (row, above) = values[hot * width..].split_at_mut(width);
            row[pages] = cold_full[hot];
            for cold in (0..pages).rev() {
                row[cold] = writes.hot * above[cold] + writes.cold * row[cold + 1];
            }
        }
        Grid { width, values }
    }

    fn at(&self, hot: usize, cold: usize) -> f64 {
        self.values[hot * self.width + cold]
    }
}
