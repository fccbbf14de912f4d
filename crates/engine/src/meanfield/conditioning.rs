//! Conditioning of a fixed point: the accuracy of the solution and of its write
//! amplification.

use super::choices::Occupancy;
use super::dense::{Lu, dot};
use super::drift::Drift;
use super::jacobian::{Linearised, flat};
use super::model::Model;

/// Rounding error of an element of the drift F, over the sum of its absolute terms.
const ROUNDINGS: f64 = 8.0 * f64::EPSILON;

/// Effects of small errors and of randomness, from the linearised drift.
#[derive(Debug, Clone, Copy)]
pub struct Conditioning {
    /// Bound on the error of WA.
    /// It is the sensitivity of WA to F, times the greater one of the residual of F and its
    /// rounding error.
    pub wa_error_bound: f64,
    /// Relaxation time: host writes per logical page in which a surplus of hot blocks decreases
    /// to 1/e of its size.
    pub relaxation_drive_writes: f64,
    /// Standard deviation of WA due to individual blocks changing kind, times √blocks.
    pub wa_spread: f64,
}

impl Conditioning {
    /// Computes the conditioning at a fixed point.
    /// The bounds are infinite if rounding errors hide whether the fixed point is isolated.
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
/// It sums the errors of all elements of F, each times the derivative of WA by the element. The
/// transposed system gives these derivatives.
fn error_bound(drift: &Drift, factors: &Lu, wa: &[f64]) -> f64 {
    let sensitivity = factors.solve_transposed(wa);
    let (change, magnitude) = (flat(&drift.change), flat(&drift.magnitude));
    // The last equation states the sum of all blocks. It holds exactly, so it adds no error.
    (0..wa.len() - 1)
        .map(|i| sensitivity[i].abs() * change[i].abs().max(ROUNDINGS * magnitude[i]))
        .sum()
}

/// Relaxation of the number of hot blocks, and the spread of WA that it causes.
/// Returns the relaxation time, in observations per block, and the spread of WA. The number of hot
/// blocks is modelled as an Ornstein–Uhlenbeck process that moves with every block that changes
/// kind.
fn exchange_of_blocks(drift: &Drift, factors: &Lu, wa: &[f64]) -> (f64, f64) {
    let levels = drift.change.hot.len();
    // The perturbation turns a cold block without valid pages into a hot one, so only the numbers
    // of blocks change, and no number of pages.
    let mut turning = vec![0.0; wa.len()];
    turning[0] = -1.0;
    turning[levels] = 1.0;
    let response = factors.solve(&turning);
    let relaxation: f64 = response[..levels].iter().sum();
    let kicks = drift.collections * drift.rates.becoming.sum();
    let wa_per_hot_block = dot(wa, &response) / relaxation;
    (relaxation, wa_per_hot_block.abs() * (kicks * relaxation / 2.0).sqrt())
}
