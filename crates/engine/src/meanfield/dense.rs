//! Two factorisations of small dense matrices.

/// Square matrix in row-major order.
#[derive(Debug, Clone)]
pub struct Matrix {
    size: usize,
    entries: Vec<f64>,
}

impl Matrix {
    pub fn zeros(size: usize) -> Self {
        Matrix { size, entries: vec![0.0; size * size] }
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..][..self.size]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.size..][..self.size]
    }

    /// Splits the matrix into the rows before `row`, and the rows from `row` on.
    fn split_at(&mut self, row: usize) -> (&mut [f64], &mut [f64]) {
        self.entries.split_at_mut(row * self.size)
    }
}

/// Computes `row += factor · other`, element by element.
pub fn add_scaled(row: &mut [f64], factor: f64, other: &[f64]) {
    for (entry, &term) in row.iter_mut().zip(other) {
        *entry += factor * term;
    }
}

pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

/// Markov chain eliminated state by state by the method of Grassmann, Taksar and Heyman.
///
/// The method never subtracts, so that even tiny probabilities keep their relative accuracy.
#[derive(Debug)]
pub struct EliminatedChain {
    steps: Matrix,
    leaving: Vec<f64>,
}

impl EliminatedChain {
    /// Eliminates a chain with these transition probabilities.
    /// The last state must be reachable from each state.
    pub fn new(mut steps: Matrix) -> Self {
        let size = steps.size();
        let mut leaving = vec![0.0; size];
        for first in 0..size - 1 {
            let (above, below) = steps.split_at(first + 1);
            let exits = &above[first * size..][first + 1..];
            leaving[first] = exits.iter().sum();
            for row in below.chunks_exact_mut(size) {
                if row[first] > 0.0 {
                    row[first] /= leaving[first];
                    let factor = row[first];
                    add_scaled(&mut row[first + 1..], factor, exits);
                }
            }
        }
        EliminatedChain { steps, leaving }
    }

    /// Returns the stationary probabilities of the chain's states.
    pub fn stationary(&self) -> Vec<f64> {
        let size = self.steps.size();
        let mut visits = vec![0.0; size];
        visits[size - 1] = 1.0;
        for state in (0..size).rev() {
            let (next, solved) = visits.split_at_mut(state);
            add_scaled(next, solved[0], &self.steps.row(state)[..state]);
        }
        let total: f64 = visits.iter().sum();
        visits.iter().map(|visit| visit / total).collect()
    }

    /// Solves Poisson's equation for a `surplus` of stationary mean 0.
    /// Returns how much more surplus accumulates from each state on than from the last state on.
    pub fn relative_values(&self, mut surplus: Vec<f64>) -> Vec<f64> {
        let size = self.steps.size();
        for state in 1..size {
            let (solved, here) = surplus.split_at_mut(state);
            here[0] += dot(&self.steps.row(state)[..state], solved);
        }
        let mut values = vec![0.0; size];
        for state in (0..size - 1).rev() {
            let onward = dot(&self.steps.row(state)[state + 1..], &values[state + 1..]);
            values[state] = (surplus[state] + onward) / self.leaving[state];
        }
        values
    }
}

/// LU factorisation of a matrix with partial pivoting.
#[derive(Debug)]
pub struct Lu {
    factors: Matrix,
    order: Vec<usize>,
}

impl Lu {
    /// Factors a matrix. Returns None if it is singular or not finite.
    pub fn new(mut matrix: Matrix) -> Option<Self> {
        let size = matrix.size();
        let mut order: Vec<usize> = (0..size).collect();
        for column in 0..size {
            let pivot = (column..size)
                .max_by(|&i, &j| {
                    matrix.row(i)[column].abs().total_cmp(&matrix.row(j)[column].abs())
                })
                .expect("at least one row is left to choose a pivot from");
            let value = matrix.row(pivot)[column];
            if value == 0.0 || !value.is_finite() {
                return None;
            }
            if pivot != column {
                order.swap(pivot, column);
                let (above, below) = matrix.split_at(pivot);
                above[column * size..][..size].swap_with_slice(&mut below[..size]);
            }
            let (above, below) = matrix.split_at(column + 1);
            let pivot_row = &above[column * size..];
            for row in below.chunks_exact_mut(size) {
                if row[column] != 0.0 {
                    let factor = row[column] / pivot_row[column];
                    row[column] = factor;
                    add_scaled(&mut row[column + 1..], -factor, &pivot_row[column + 1..]);
                }
            }
        }
        Some(Lu { factors: matrix, order })
    }

    /// Solves A·x = `right` for x, where A is the factored matrix.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.factors.size();
        let mut x: Vec<f64> = self.order.iter().map(|&row| right[row]).collect();
        for i in 0..size {
            x[i] -= dot(&self.factors.row(i)[..i], &x[..i]);
        }
        for i in (0..size).rev() {
            let row = self.factors.row(i);
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
        x
    }

    /// Solves Aᵀ·x = `right` for x, where A is the factored matrix.
    pub fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let size = self.factors.size();
        let mut y = right.to_vec();
        for i in 0..size {
            let row = self.factors.row(i);
            y[i] /= row[i];
            let (solved, rest) = y.split_at_mut(i + 1);
            add_scaled(rest, -solved[i], &row[i + 1..]);
        }
        for i in (0..size).rev() {
            let (rest, solved) = y.split_at_mut(i);
            add_scaled(rest, -solved[0], &self.factors.row(i)[..i]);
        }
        let mut x = vec![0.0; size];
        for (place, &row) in self.order.iter().enumerate() {
            x[row] = y[place];
        }
        x
    }
}
