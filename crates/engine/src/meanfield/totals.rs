//! Flows for given swaps, which account for every page and every block.

use super::dense::{Lu, Matrix};
use super::levels::{FLOWS, Flows, Levels, SWAPS};
use super::model::{Model, PerKind};

/// The flows that are solved for; the others are the swaps.
pub const SOLVED: usize = 4;

const MAX_STEPS: usize = 60;
const SHORTEST_STEP: f64 = 1e-4;

/// Tolerated shortage where no step gains anything more, because of rounding.
const NEARLY: f64 = 1e-6;

/// Levels at whose flows nothing is missing.
#[derive(Debug)]
pub struct Balanced {
    pub flows: Flows,
    pub levels: Levels,
    /// The derivatives of the solved flows by the two logarithms of the swaps.
    pub by_swaps: PerKind<[f64; SOLVED]>,
    /// Shortage that rounding has left, as a share of the pages or blocks.
    pub missing: f64,
}

/// The closed form for d = 1 without swaps: every block is collected as often as any other.
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
    /// Newton's method from near flows; `None` if it does not arrive.
    pub fn new(model: &Model, near: Flows) -> Option<Self> {
        let mut flows = near;
        let mut levels = Levels::new(model, &flows)?;
        let mut missing = missing(model, &flows, &levels);
        let mut before = f64::INFINITY;
        // One rounding of what starts full turns up d times as large among the emptiest blocks.
        let noise = 1e3 * f64::EPSILON * model.d();
        for _ in 0..MAX_STEPS {
            let jacobian = jacobian(model, &flows, &levels)?;
            let stuck = norm(&missing) < noise && norm(&missing) > 0.5 * before;
            if stuck || rounding_only(model, &missing) {
                return Some(Balanced::arrived(model, flows, levels, &jacobian, missing));
            }
            let step = jacobian.solve(&missing.map(|x| -x));
            let Some(next) = shortened(model, &flows, &step, norm(&missing)) else {
                let near_enough = norm(&missing) < NEARLY;
                return near_enough
                    .then(|| Balanced::arrived(model, flows, levels, &jacobian, missing));
            };
            before = norm(&missing);
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

/// Shortens a Newton step until less is missing than before; also returns what is missing.
fn shortened(
    model: &Model,
    from: &Flows,
    step: &[f64],
    before: f64,
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
            if norm(&left) < before {
                return Some((flows, levels, left));
            }
        }
        scale /= 2.0;
    }
    None
}

/// Logarithms of the found over the given: hot pages, cold pages, blocks and hot blocks.
fn missing(model: &Model, flows: &Flows, levels: &Levels) -> [f64; SOLVED] {
    let pages = levels.valid_pages.zip(model.valid_pages());
    let logs = pages.map(|(found, given)| (found.value / given).ln());
    let kinds = if flows.swap_nothing() { 0.0 } else { levels.log_kinds.hot.value };
    [logs.hot, logs.cold, model.d() * levels.log_total.value, kinds]
}

/// The derivatives of `missing`.
fn rows(model: &Model, flows: &Flows, levels: &Levels) -> [[f64; FLOWS]; SOLVED] {
    let pages = levels.valid_pages.map(|sum| sum.tangent.map(|tangent| tangent / sum.value));
    let total = levels.log_total.tangent.map(|tangent| model.d() * tangent);
    let mut kinds = levels.log_kinds.hot.tangent;
    if flows.swap_nothing() {
        // Nothing depends on what the flows take the hot blocks for.
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
