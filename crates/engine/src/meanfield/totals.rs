//! Flows of blocks for given swap rates, with which the shares of pages and blocks add up to
//! the required totals.

use super::dense::{Lu, Matrix};
use super::levels::{FLOWS, Flows, Levels, SWAPS};
use super::model::{Model, PerKind};

/// Number of flows that are solved for; the remaining two, the swap rates, are given.
pub const SOLVED: usize = 4;

const MAX_STEPS: usize = 60;
const SHORTEST_STEP: f64 = 1e-4;

/// Tolerated residual if rounding prevents further progress.
const NEARLY: f64 = 1e-6;

/// Flows at which all pages and blocks are accounted for, and their levels (blocks by valid
/// pages).
#[derive(Debug)]
pub struct Balanced {
    pub flows: Flows,
    pub levels: Levels,
    /// Derivatives of the solved flows by the two logarithms of the swaps.
    pub by_swaps: PerKind<[f64; SOLVED]>,
    /// Remaining residual from rounding, as a share of all pages or of all blocks.
    pub missing: f64,
}

/// Closed form for d = 1 without swaps, where all blocks are collected equally often.
pub fn random_collection(model: &Model) -> Flows {
    let pages = model.pages_per_block() as f64;
    let spare = model.spare_factor();
    let collections = 1.0 / (pages * spare);
    let parts = model.data().zip(model.writes());
    let kinds = parts.map(|(data, writes)| (1.0 - spare) * data + spare * writes);
    Flows {
        collections: collections.ln(),
        starting: kinds.map(|blocks| (collections * blocks).ln()),
        hot_to_cold: (kinds.hot / kinds.cold).ln(),
        swaps: PerKind { hot: f64::NEG_INFINITY, cold: f64::NEG_INFINITY },
    }
}

impl Balanced {
    /// Newton's method from nearby flows. Returns None if it does not converge.
    pub fn new(model: &Model, near: Flows) -> Option<Self> {
        let mut flows = near;
        let mut levels = Levels::new(model, &flows)?;
        let mut missing = missing(model, &flows, &levels);
        let mut last_norm = f64::INFINITY;
        // A rounding error in the share of full blocks becomes d times larger among the emptiest
        // blocks, so the tolerance grows with d.
        let noise = 1e3 * f64::EPSILON * model.d();
        for _ in 0..MAX_STEPS {
            let jacobian = jacobian(model, &flows, &levels)?;
            let stuck = norm(&missing) < noise && norm(&missing) > 0.5 * last_norm;
            if stuck || rounding_only(model, &missing) {
                return Some(Balanced::arrived(model, flows, levels, &jacobian, missing));
            }
            let step = jacobian.solve(&missing.map(|x| -x));
            let Some(next) = shortened(model, &flows, &step, norm(&missing)) else {
                let near_enough = norm(&missing) < NEARLY;
                return near_enough
                    .then(|| Balanced::arrived(model, flows, levels, &jacobian, missing));
            };
            last_norm = norm(&missing);
            (flows, levels, missing) = next;
        }
        None
    }

    fn arrived(
        model: &Model,
        mut flows: Flows,
        levels: Levels,
        jacobian: &Lu,
        missing: [f64; SOLVED],
    ) -> Self {
        let by_swaps = SWAPS.map(|swap| {
            let column: Vec<f64> = rows(model, &flows, &levels).iter().map(|r| -r[swap]).collect();
            let solved = jacobian.solve(&column);
            [solved[0], solved[1], solved[2], solved[3]]
        });
        if flows.swap_nothing() {
            flows.hot_to_cold += levels.log_kinds.hot.value - levels.log_kinds.cold.value;
        }
        Balanced { flows, levels, by_swaps, missing: norm(&missing) }
    }
}

/// Shortens a Newton step until the residual decreases. Also returns the residual.
fn shortened(
    model: &Model,
    from: &Flows,
    step: &[f64],
    last_norm: f64,
) -> Option<(Flows, Levels, [f64; SOLVED])> {
    let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
    let mut scale = 1.0 / longest.max(1.0);
    while scale > SHORTEST_STEP {
        let mut flows = *from;
        for (index, step) in step.iter().enumerate() {
            *flows.nth(index) += scale * step;
        }
        if let Some(levels) = Levels::new(model, &flows) {
            let left = missing(model, &flows, &levels);
            if norm(&left) < last_norm {
                return Some((flows, levels, left));
            }
        }
        scale /= 2.0;
    }
    None
}

/// Residuals: logarithms of computed divided by required amounts.
/// The amounts are hot pages, cold pages, blocks and hot blocks.
fn missing(model: &Model, flows: &Flows, levels: &Levels) -> [f64; SOLVED] {
    let pages = levels.valid_pages.zip(model.valid_pages());
    let logs = pages.map(|(computed, required)| (computed.value / required).ln());
    let kinds = if flows.swap_nothing() { 0.0 } else { levels.log_kinds.hot.value };
    [logs.hot, logs.cold, model.d() * levels.log_total.value, kinds]
}

/// Derivatives of the residuals of `missing`.
fn rows(model: &Model, flows: &Flows, levels: &Levels) -> [[f64; FLOWS]; SOLVED] {
    let pages = levels.valid_pages.map(|sum| sum.tangent.map(|tangent| tangent / sum.value));
    let total = levels.log_total.tangent.map(|tangent| model.d() * tangent);
    let mut kinds = levels.log_kinds.hot.tangent;
    if flows.swap_nothing() {
        // Without swaps no residual depends on the assumed share of hot blocks, so its row is a row
        // of the identity matrix.
        kinds = [0.0; FLOWS];
        kinds[3] = 1.0;
    }
    [pages.hot, pages.cold, total, kinds]
}

fn jacobian(model: &Model, flows: &Flows, levels: &Levels) -> Option<Lu> {
    let mut matrix = Matrix::zeros(SOLVED);
    for (index, row) in rows(model, flows, levels).iter().enumerate() {
        matrix.row_mut(index).copy_from_slice(&row[..SOLVED]);
    }
    Lu::new(matrix)
}

fn rounding_only(model: &Model, missing: &[f64; SOLVED]) -> bool {
    let [hot, cold, total, kinds] = missing.map(f64::abs);
    hot.max(cold).max(total / model.d()).max(kinds) < 4.0 * f64::EPSILON
}

fn norm(missing: &[f64; SOLVED]) -> f64 {
    missing.iter().fold(0.0, |largest, x| if x.abs() <= largest { largest } else { x.abs() })
}
