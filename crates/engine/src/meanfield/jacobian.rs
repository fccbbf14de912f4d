//! Derivatives of the drift, including those of the frontiers' probabilities.

use super::choices::{Draws, Occupancy, Victims};
use super::dense::{Lu, Matrix, add_scaled};
use super::drift::{Drift, invalid_pages};
use super::frontiers::Rates;
use super::model::{Model, PerKind};

/// Linearised drift at an occupancy.
/// Vectors over all blocks contain the hot blocks first.
#[derive(Debug)]
pub struct Linearised {
    /// ∂F/∂m. The term from the changing frequency of observations is left out, because it is 0
    /// where F = 0.
    pub drift: Matrix,
    /// Derivatives of WA by the share of each kind and level of blocks.
    pub wa: Vec<f64>,
}

/// Gradients of rates per d-choices collection, with respect to the occupancy.
struct Gradients {
    /// Gradient of the host pages written.
    writes: Vec<f64>,
    swaps: PerKind<Vec<f64>>,
    /// Blocks that become hot, minus those that become cold.
    becoming_hot: Vec<f64>,
}

/// Inputs for the rows of the Jacobian that belong to hot or to cold blocks.
struct Rows<'a> {
    first: usize,
    blocks: &'a [f64],
    second_victims: &'a [f64],
    swaps: f64,
    swaps_gradient: &'a [f64],
    /// Pages invalidated per block and valid page, by each host write.
    invalidating: f64,
    becoming: f64,
    entry: fn(&mut Occupancy, usize) -> &mut f64,
}

impl Linearised {
    pub fn new(model: &Model, blocks: &Occupancy, drift: &Drift) -> Self {
        let draws = Draws::new(model, blocks);
        let gradients = Gradients::new(model, &draws, drift);
        let invalidating = model.invalidating();
        let levels = blocks.hot.len();
        let hot = Rows {
            first: 0,
            blocks: &blocks.hot,
            second_victims: &drift.victims.of_kind.hot,
            swaps: drift.rates.swaps.hot,
            swaps_gradient: &gradients.swaps.hot,
            invalidating: invalidating.hot,
            becoming: 1.0,
            entry: |blocks, i| &mut blocks.hot[i],
        };
        let cold = Rows {
            first: levels,
            blocks: &blocks.cold,
            second_victims: &drift.victims.of_kind.cold,
            swaps: drift.rates.swaps.cold,
            swaps_gradient: &gradients.swaps.cold,
            invalidating: invalidating.cold,
            becoming: -1.0,
            entry: |blocks, i| &mut blocks.cold[i],
        };
        let mut matrix = Matrix::zeros(2 * levels);
        hot.fill(&mut matrix, &draws, &gradients, drift);
        cold.fill(&mut matrix, &draws, &gradients, drift);
        let writes = drift.writes_per_collection();
        let mut wa: Vec<f64> = gradients.writes.iter().map(|g| -drift.wa / writes * g).collect();
        for swaps in [&gradients.swaps.hot, &gradients.swaps.cold] {
            add_scaled(&mut wa, model.pages_per_block() as f64 / writes, swaps);
        }
        Linearised { drift: matrix, wa }
    }

    /// Factors ∂F/∂m for changes that conserve the sum of all blocks.
    /// The last equation follows from the other equations, so it is replaced by this condition.
    pub fn factored(mut self) -> Option<Lu> {
        let size = self.drift.size();
        self.drift.row_mut(size - 1).fill(1.0);
        Lu::new(self.drift)
    }
}

impl Gradients {
    fn new(model: &Model, draws: &Draws, drift: &Drift) -> Self {
        let of = |weights: Rates| {
            flat(&draws.pull_back(&drift.frontiers.gradient(model, &drift.victims, &weights)))
        };
        let none = Rates::default();
        let swaps = if model.d_swap().is_some() {
            PerKind {
                hot: of(Rates { swaps: PerKind { hot: 1.0, cold: 0.0 }, ..none }),
                cold: of(Rates { swaps: PerKind { hot: 0.0, cold: 1.0 }, ..none }),
            }
        } else {
            drift.change.as_ref().map(|kind| vec![0.0; 2 * kind.len()])
        };
        let becoming_hot = of(Rates { becoming: PerKind { hot: 1.0, cold: -1.0 }, ..none });
        let invalid: Vec<f64> = (0..drift.change.hot.len()).rev().map(|i| i as f64).collect();
        let second = drift.rates.swaps.map(|swaps| invalid.iter().map(|i| swaps * i).collect());
        let of_all = PerKind { hot: invalid.clone(), cold: invalid };
        let mut writes = flat(&draws.pull_back(&Victims { of_all, of_kind: second }));
        let second_victims = &drift.victims.of_kind;
        add_scaled(&mut writes, invalid_pages(&second_victims.hot), &swaps.hot);
        add_scaled(&mut writes, invalid_pages(&second_victims.cold), &swaps.cold);
        Gradients { writes, swaps, becoming_hot }
    }
}

impl Rows<'_> {
    fn fill(&self, matrix: &mut Matrix, draws: &Draws, gradients: &Gradients, drift: &Drift) {
        let levels = self.blocks.len();
        let rate = self.invalidating * drift.writes_per_collection();
        let mut last: Vec<f64> = gradients.becoming_hot.iter().map(|g| self.becoming * g).collect();
        for i in 0..levels - 1 {
            let valid = i as f64;
            let mut taken = Victims::none(levels);
            *(self.entry)(&mut taken.of_all, i) = -1.0;
            *(self.entry)(&mut taken.of_kind, i) = -self.swaps;
            let mut row = flat(&draws.pull_back(&taken));
            add_scaled(&mut row, -self.second_victims[i], self.swaps_gradient);
            let invalid = (valid + 1.0) * self.blocks[i + 1] - valid * self.blocks[i];
            add_scaled(&mut row, self.invalidating * invalid, &gradients.writes);
            row[self.first + i + 1] += rate * (valid + 1.0);
            row[self.first + i] -= rate * valid;
            // Blocks that leave other levels return full, except for changes of kind.
            add_scaled(&mut last, -1.0, &row);
            add_scaled(matrix.row_mut(self.first + i), drift.collections, &row);
        }
        add_scaled(matrix.row_mut(self.first + levels - 1), drift.collections, &last);
    }
}

/// Hot blocks followed by cold blocks, in one vector.
pub fn flat(blocks: &Occupancy) -> Vec<f64> {
    blocks.hot.iter().chain(&blocks.cold).copied().collect()
}
