//! Tests of the fast route: against the paper's equations word by word, and each other.

mod fixed_points;
mod literal;
mod parts;
mod trajectories;

use super::{Model, Occupancy, PerKind};
use crate::rng::Stream;

fn model(
    pages_per_block: u32,
    spare_factor: f64,
    choices: (u32, Option<u32>),
    hot: (f64, f64),
) -> Model {
    let (d, d_swap) = choices;
    let (writes, data) = hot;
    Model::new(pages_per_block, spare_factor, d, d_swap, data, writes).expect("valid")
}

/// Blocks of all numbers of valid pages, in no equilibrium.
fn scattered_blocks(pages: usize, seed: u64) -> Occupancy {
    let mut random = Stream::new(seed, "blocks");
    let mut kind = || -> Vec<f64> { (0..=pages).map(|_| 0.05 + random.unit()).collect() };
    let blocks = PerKind { hot: kind(), cold: kind() };
    let total = blocks.as_ref().map(|kind| kind.iter().sum()).sum();
    blocks.map(|kind: Vec<f64>| kind.iter().map(|share| share / total).collect())
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "{what}, element {i}: {found}, {expected}");
    }
}
