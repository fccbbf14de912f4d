use super::super::dense::{EliminatedChain, Lu, Matrix};
use super::super::jacobian::{Linearised, flat};
use super::super::tail::Tail;
use super::super::{Drift, Occupancy, PerKind};
use super::{assert_close, model, scattered_blocks};
use crate::rng::Stream;

fn random_matrix(size: usize, seed: u64) -> Matrix {
    let mut random = Stream::new(seed, "matrix");
    let mut matrix = Matrix::zeros(size);
    for i in 0..size {
        matrix.row_mut(i).fill_with(|| random.unit() - 0.3);
    }
    matrix
}

#[test]
fn lu_solves_a_system_and_its_transpose() {
    let matrix = random_matrix(9, 1);
    let x: Vec<f64> = (0..9).map(|i| f64::from(i) - 4.0).collect();
    let times: Vec<f64> =
        (0..9).map(|i| matrix.row(i).iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
    let transposed: Vec<f64> =
        (0..9).map(|j| (0..9).map(|i| matrix.row(i)[j] * x[i]).sum()).collect();
    let lu = Lu::new(matrix).expect("regular");
    assert_close(&lu.solve(&times), &x, 1e-12, "A");
    assert_close(&lu.solve_transposed(&transposed), &x, 1e-12, "transposed");
}

#[test]
fn lu_refuses_a_singular_matrix() {
    let mut matrix = random_matrix(4, 2);
    let row = matrix.row(0).to_vec();
    matrix.row_mut(3).copy_from_slice(&row);
    matrix.row_mut(1).fill(0.0);
    assert!(Lu::new(matrix).is_none());
}

#[test]
fn an_eliminated_chain_keeps_the_digits_of_rare_states() {
    // Up with probability 1e-40, down with 1/2: 1, 2e-40, …
    let mut steps = Matrix::zeros(3);
    steps.row_mut(0).copy_from_slice(&[1.0, 1e-40, 0.0]);
    steps.row_mut(1).copy_from_slice(&[0.5, 0.5, 1e-40]);
    steps.row_mut(2).copy_from_slice(&[0.0, 0.5, 0.5]);
    let stationary = EliminatedChain::new(steps).stationary();
    assert!((stationary[1] / 2e-40 - 1.0).abs() < 1e-15);
    assert!((stationary[2] / 4e-80 - 1.0).abs() < 1e-15);
}

#[test]
fn relative_values_solve_poissons_equation() {
    let mut steps = random_matrix(6, 3);
    for i in 0..6 {
        let row = steps.row_mut(i);
        let sum: f64 = row.iter().map(|entry| entry.abs()).sum();
        for entry in row {
            *entry = entry.abs() / sum;
        }
    }
    let chain = EliminatedChain::new(steps.clone());
    let stationary = chain.stationary();
    let gain: Vec<f64> = (0..6).map(|i| f64::from(i * i)).collect();
    let mean: f64 = stationary.iter().zip(&gain).map(|(p, g)| p * g).sum();
    let surplus: Vec<f64> = gain.iter().map(|g| g - mean).collect();
    let values = chain.relative_values(surplus.clone());
    for i in 0..6 {
        let onward: f64 = steps.row(i).iter().zip(&values).map(|(p, v)| p * v).sum();
        assert!((values[i] - surplus[i] - onward).abs() < 1e-12);
    }
}

#[test]
fn powers_of_a_tail_near_one_do_not_lose_digits() {
    // 1 − 2⁻³⁰ in many shares: the power 2³⁰ is 1/e to first order.
    let gap = 2.0_f64.powi(-30);
    let mut tail = Tail::default();
    for _ in 0..1000 {
        tail = tail.plus((1.0 - gap) / 1000.0);
    }
    // What the thousand shares themselves lack is in the sum, and nothing else.
    let expected = 2.0_f64.powi(30) * (-gap).ln_1p();
    assert!((2.0_f64.powi(30) * tail.log(1.0) - expected).abs() < 1e-6);
    let rise = tail.rise(gap, 2.0_f64.powi(30), 1.0);
    assert!((rise.value - (1.0 - (-1.0_f64).exp())).abs() < 1e-6);
    let back = tail.share_of(rise.value, 2.0_f64.powi(30), 1.0);
    assert!((back / gap - 1.0).abs() < 1e-12);
}

/// The derivatives along the exchange of a share with the fullest cold blocks.
#[test]
fn the_linearised_drift_is_the_derivative_of_the_drift() {
    for d_swap in [None, Some(7)] {
        let model = model(6, 0.1, (4, d_swap), (0.7, 0.2));
        let blocks = super::super::solve(&model).expect("solved");
        let drift = Drift::new(&model, &blocks);
        let linearised = Linearised::new(&model, &blocks, &drift);
        let step = 1e-6;
        for element in 0..13 {
            let shifted = |step: f64| -> Drift {
                let mut shares = flat(&blocks);
                shares[element] += step;
                shares[13] -= step;
                let (hot, cold) = shares.split_at(7);
                let blocks: Occupancy = PerKind { hot: hot.to_vec(), cold: cold.to_vec() };
                Drift::new(&model, &blocks)
            };
            let (up, down) = (shifted(step), shifted(-step));
            let central: Vec<f64> = flat(&up.change)
                .iter()
                .zip(flat(&down.change))
                .map(|(up, down)| (up - down) / (2.0 * step))
                .collect();
            let exact: Vec<f64> = (0..14)
                .map(|i| linearised.drift.row(i)[element] - linearised.drift.row(i)[13])
                .collect();
            assert_close(&exact, &central, 1e-7, "drift");
            let wa = (up.wa - down.wa) / (2.0 * step);
            assert_close(&[linearised.wa[element] - linearised.wa[13]], &[wa], 1e-6, "wa");
        }
    }
}

#[test]
fn the_drift_neither_makes_nor_loses_blocks() {
    let model = model(12, 0.2, (3, Some(2)), (0.9, 0.3));
    let drift = Drift::new(&model, &scattered_blocks(12, 5));
    assert!(flat(&drift.change).iter().sum::<f64>().abs() < 1e-15);
}
