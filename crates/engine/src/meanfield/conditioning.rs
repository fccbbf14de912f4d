//! Conditioning of a fixed point: the trust that it, and its write amplification, deserves.

use super::choices::Occupancy;
use super::dense::{Lu, dot};
use super::drift::Drift;
use super::jacobian::{Linearised, flat};
use super::model::Model;

/// Roundings that an element of F goes through, as a multiple of the largest of its terms.
const ROUNDINGS: f64 = 8.0 * f64::EPSILON;

/// Effects of small errors, and of chance, as the linearised drift predicts them.
#[derive(Debug, Clone, Copy)]
pub struct Conditioning {
    /// A bound on the error of WA: what remains of F, or what rounding may hide in it, times the
    /// sensitivity of WA to it.
    pub wa_error_bound: f64,
    /// The host writes, per logical page, in which a surplus of hot blocks falls to 1/e.
    pub relaxation_drive_writes: f64,
    /// The standard deviation of WA from blocks changing kind one at a time, times the root of
    /// the number of blocks.
    pub wa_spread: f64,
}

impl Conditioning {
    /// Computes the conditioning at a fixed point.
    /// The bounds are infinite if its neighbourhood cannot be told from a line of others.
    pub fn new(model: &Model, blocks: &Occupancy, drift: &Drift) -> Self {
        let linearised = Linearised::new(model, blocks, drift);
        let wa = linearised.wa.clone();
        let Some(factors) = linearised.factored() else {
            return Conditioning {
                wa_error_bound: f64::INFINITY,
                relaxation_drive_writes: f64::INFINITY,
                wa_spread: f64::INFINITY,
            };
        };
        let (relaxation, spread) = exchange_of_blocks(drift, &factors, &wa);
        Conditioning {
            wa_error_bound: error_bound(drift, &factors, &wa),
            relaxation_drive_writes: relaxation * drift.writes / model.valid_pages().sum(),
            wa_spread: spread,
        }
    }
}

/// Bound on the error of WA from the errors of F.
/// It is the sum of the errors of all elements of F, each times how much WA hangs on it, which the
/// transposed system tells.
fn error_bound(drift: &Drift, factors: &Lu, wa: &[f64]) -> f64 {
    let sensitivity = factors.solve_transposed(wa);
    let (change, magnitude) = (flat(&drift.change), flat(&drift.magnitude));
    // The last equation stood for the sum of all blocks, which is exact.
    (0..wa.len() - 1)
        .map(|i| sensitivity[i].abs() * change[i].abs().max(ROUNDINGS * magnitude[i]))
        .sum()
}

/// Relaxation of the number of hot blocks, and the spread of WA that it causes.
/// It is how long that number takes to settle, in observations per block, and how much WA it stirs:
/// an Ornstein–Uhlenbeck process, kicked by every block that changes kind.
fn exchange_of_blocks(drift: &Drift, factors: &Lu, wa: &[f64]) -> (f64, f64) {
    let levels = drift.change.hot.len();
    // One empty block more that turns hot moves no page.
    let mut turning = vec![0.0; wa.len()];
    turning[0] = -1.0;
    turning[levels] = 1.0;
    let response = factors.solve(&turning);
    let relaxation: f64 = response[..levels].iter().sum();
    let kicks = drift.collections * drift.rates.becoming.sum();
    let wa_per_hot_block = dot(wa, &response) / relaxation;
    (relaxation, wa_per_hot_block.abs() * (kicks * relaxation / 2.0).sqrt())
}
