//! Equations 2 to 5 of paper 4, literally, over every state of the write frontiers.
//! They come with the errata: cases of eq. 4 that reach the same state add up, case 7 is for 0 < l′
//! ≤ l, and what is not listed is 0.

use std::collections::HashMap;

use super::super::{Drift, Model, Occupancy};
use super::{assert_close, model, scattered_blocks};

type State = (usize, usize);

struct Literal {
    p: [Vec<f64>; 2],
    q: [Vec<f64>; 2],
    probabilities: HashMap<State, f64>,
}

fn powers(blocks: &[f64], d: f64) -> Vec<f64> {
    let total: f64 = blocks.iter().sum();
    let tail = |i: usize| (blocks[i..].iter().sum::<f64>() / total).powf(d);
    (0..blocks.len()).map(|i| tail(i) - tail(i + 1)).collect()
}

fn literal(model: &Model, blocks: &Occupancy) -> Literal {
    let b = model.pages_per_block();
    let all: Vec<f64> = blocks.hot.iter().zip(&blocks.cold).map(|(h, c)| h + c).collect();
    let chosen = powers(&all, model.d());
    let of_all = |kind: &[f64]| (0..=b).map(|i| chosen[i] * kind[i] / all[i]).collect::<Vec<_>>();
    let p = [of_all(&blocks.hot), of_all(&blocks.cold)];
    let q = match model.d_swap() {
        Some(d_swap) => [powers(&blocks.hot, d_swap), powers(&blocks.cold, d_swap)],
        None => [vec![0.0; b + 1], vec![0.0; b + 1]],
    };
    let mut states: Vec<State> =
        (0..=b).flat_map(|k| (0..=b).map(move |l| (k, l))).filter(|s| *s != (b, b)).collect();
    if model.d_swap().is_some() {
        states.extend((1..b).flat_map(|i| [(b + 1, i), (i, b + 1)]));
    }
    let r = model.writes().hot;
    let steps = states.iter().map(|&(k, l)| {
        let mut to = Vec::new();
        let too_full = if model.d_swap().is_some() { b + 1 } else { b };
        if k < b && l < b {
            to.extend([((k + 1, l), r), ((k, l + 1), 1.0 - r)]);
        }
        for j in 0..=b {
            if k == b {
                to.push(((j, l), p[0][j]));
                let cold = if l + j <= b { (0, l + j) } else { (too_full, l + j - b) };
                to.push((cold, p[1][j]));
            } else if l == b {
                to.push(((k, j), p[1][j]));
                let hot = if k + j <= b { (k + j, 0) } else { (k + j - b, too_full) };
                to.push((hot, p[0][j]));
            } else if k == b + 1 {
                to.push(((j, l), q[0][j]));
            } else if l == b + 1 {
                to.push(((k, j), q[1][j]));
            }
        }
        to
    });
    let probabilities = stationary(&states, &steps.collect::<Vec<_>>());
    Literal { p, q, probabilities }
}

/// Gauss–Jordan elimination of πK = π, Σπ = 1.
fn stationary(states: &[State], steps: &[Vec<(State, f64)>]) -> HashMap<State, f64> {
    let size = states.len();
    let place: HashMap<State, usize> = states.iter().enumerate().map(|(i, s)| (*s, i)).collect();
    let mut rows = vec![vec![0.0; size + 1]; size];
    for (from, to) in steps.iter().enumerate() {
        rows[from][from] -= 1.0;
        for (state, probability) in to {
            rows[place[state]][from] += probability;
        }
    }
    rows[size - 1] = vec![1.0; size + 1];
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs()))
            .expect("not empty");
        rows.swap(column, pivot);
        let pivot_row = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = row[column] / pivot_row[column];
            if i != column && factor != 0.0 {
                for (entry, pivot) in row.iter_mut().zip(&pivot_row) {
                    *entry -= factor * pivot;
                }
            }
        }
    }
    states.iter().enumerate().map(|(i, s)| (*s, rows[i][size] / rows[i][i])).collect()
}

impl Literal {
    /// F of eq. 1 for the hot (0) or the cold (1) blocks.
    fn drift(&self, model: &Model, own: &[f64], kind: usize) -> Vec<f64> {
        let b = model.pages_per_block();
        let [invalidating, other] = match kind {
            0 => [model.invalidating().hot, 1.0],
            _ => [model.invalidating().cold, 0.0],
        };
        let other = other as usize;
        let (p, q) = (&self.p[kind], &self.q[kind]);
        let above = |victims: &[f64], i: usize| victims[i + 1..].iter().sum::<f64>();
        let mut drift = vec![0.0; b + 1];
        for (&(k, l), pi) in &self.probabilities {
            let (full, left) = if kind == 0 { (k, l) } else { (l, k) };
            for i in 0..=b {
                drift[i] += pi
                    * if k < b && l < b {
                        let down = if i < b { (i + 1) as f64 * own[i + 1] } else { 0.0 };
                        invalidating * (down - i as f64 * own[i])
                    } else if k <= b && l <= b && i < b {
                        -p[i]
                    } else if k <= b && l <= b && full == b {
                        1.0 - p[b] - above(&self.p[other], b - left)
                    } else if k <= b && l <= b {
                        above(p, b - full) - p[b]
                    } else if full == b + 1 {
                        f64::from(u8::from(i == b)) - q[i]
                    } else {
                        0.0
                    };
            }
        }
        drift
    }

    /// Eq. 5.
    fn wa(&self, model: &Model) -> f64 {
        let b = model.pages_per_block();
        let sum = |which: &dyn Fn(State) -> bool| -> f64 {
            self.probabilities.iter().filter(|(s, _)| which(**s)).map(|(_, pi)| pi).sum()
        };
        let rates = [
            sum(&|(k, l)| (k == b || l == b) && k <= b && l <= b),
            sum(&|(k, _)| k == b + 1),
            sum(&|(_, l)| l == b + 1),
        ];
        let mean = |victims: &[f64]| -> f64 {
            victims.iter().enumerate().map(|(j, share)| j as f64 * share).sum()
        };
        let means = [mean(&self.p[0]) + mean(&self.p[1]), mean(&self.q[0]), mean(&self.q[1])];
        let valid: f64 = rates.iter().zip(means).map(|(rate, mean)| rate * mean).sum();
        b as f64 / (b as f64 - valid / rates.iter().sum::<f64>())
    }
}

#[test]
fn drift_and_wa_are_the_papers_equations_word_by_word() {
    for pages in [1, 2, 3, 7] {
        for d_swap in [None, Some(1), Some(6)] {
            let model = model(pages, 0.1, (4, d_swap), (0.7, 0.2));
            let blocks = scattered_blocks(pages as usize, u64::from(pages));
            let drift = Drift::new(&model, &blocks);
            let literal = literal(&model, &blocks);
            let what = format!("{model}");
            assert_close(&drift.change.hot, &literal.drift(&model, &blocks.hot, 0), 1e-14, &what);
            assert_close(&drift.change.cold, &literal.drift(&model, &blocks.cold, 1), 1e-14, &what);
            assert_close(&[drift.wa], &[literal.wa(&model)], 1e-13, &what);
        }
    }
}

#[test]
fn fixed_points_are_fixed_points_of_the_papers_equations() {
    for d_swap in [None, Some(8)] {
        let model = model(8, 0.07, (9, d_swap), (0.81, 0.08));
        let blocks = super::super::solve(&model).expect("solved");
        let literal = literal(&model, &blocks);
        let still = vec![0.0; 9];
        let what = format!("{model}");
        assert_close(&literal.drift(&model, &blocks.hot, 0), &still, 1e-15, &what);
        assert_close(&literal.drift(&model, &blocks.cold, 1), &still, 1e-15, &what);
    }
}
