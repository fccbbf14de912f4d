//! Drift F of paper 4 (eqs. 1 to 3) and write amplification (eq. 5) at any occupancy.
//! An occupancy is the share of blocks of each kind and number of valid pages.

use super::choices::{Draws, Occupancy, Victims};
use super::frontiers::{Frontiers, Rates};
use super::model::{Model, PerKind};

/// Drift of a drive's blocks per observation (a host write or a collection).
#[derive(Debug)]
pub struct Drift {
    /// F: expected change per observation, times the number of blocks.
    pub change: Occupancy,
    /// Sum of the absolute terms of each element of `change`, for bounds of its rounding error.
    pub magnitude: Occupancy,
    /// Victims drawn from these blocks.
    pub victims: Victims,
    /// Frontiers in equilibrium with these victims.
    pub frontiers: Frontiers,
    /// Rates of swaps and changes of kind, per d-choices collection.
    pub rates: Rates,
    /// Share of the observations that are d-choices collections.
    pub collections: f64,
    /// Share of the observations that are host writes.
    pub writes: f64,
    /// Write amplification: pages programmed per host page written.
    pub wa: f64,
}

impl Drift {
    /// Computes the drift at any occupancy `blocks`.
    pub fn new(model: &Model, blocks: &Occupancy) -> Self {
        let victims = Draws::new(model, blocks).victims();
        let frontiers = Frontiers::new(model, &victims);
        let rates = frontiers.rates(model, &victims);
        let writes_per_collection = gained(&victims, &rates);
        let erases = 1.0 + rates.swaps.sum();
        let collections = 1.0 / (writes_per_collection + erases);
        let writes = writes_per_collection * collections;
        let invalidating = model.invalidating();
        let (hot, hot_magnitude) = change(
            &blocks.hot,
            writes * invalidating.hot,
            [
                (collections, &victims.of_all.hot),
                (collections * rates.swaps.hot, &victims.of_kind.hot),
            ],
            [collections * rates.becoming.hot, collections * rates.becoming.cold],
        );
        let (cold, cold_magnitude) = change(
            &blocks.cold,
            writes * invalidating.cold,
            [
                (collections, &victims.of_all.cold),
                (collections * rates.swaps.cold, &victims.of_kind.cold),
            ],
            [collections * rates.becoming.cold, collections * rates.becoming.hot],
        );
        Drift {
            change: PerKind { hot, cold },
            magnitude: PerKind { hot: hot_magnitude, cold: cold_magnitude },
            wa: model.pages_per_block() as f64 * erases / writes_per_collection,
            victims,
            frontiers,
            rates,
            collections,
            writes,
        }
    }

    /// Largest absolute element of F.
    pub fn residual(&self) -> f64 {
        let elements = self.change.hot.iter().chain(&self.change.cold);
        // Unlike max(), this comparison does not ignore NaN, so a NaN is never taken for a small
        // residual.
        elements.fold(0.0, |largest, x| if x.abs() <= largest { largest } else { x.abs() })
    }

    /// Host pages written per d-choices collection.
    pub fn writes_per_collection(&self) -> f64 {
        self.writes / self.collections
    }

    /// d-choices collections over all collections, which include second victims of swaps.
    pub fn share_of_d(&self) -> f64 {
        1.0 / (1.0 + self.rates.swaps.sum())
    }
}

/// Host pages written per d-choices collection.
/// This equals the pages that a collection frees, because the frontiers neither fill nor empty in
/// the long run.
pub(super) fn gained(victims: &Victims, rates: &Rates) -> f64 {
    let parts = victims.of_all.as_ref().zip(victims.of_kind.as_ref()).zip(rates.swaps);
    parts.map(|((all, kind), swaps)| invalid_pages(all) + swaps * invalid_pages(kind)).sum()
}

/// Mean of b − j, with j the valid pages of a victim.
pub(super) fn invalid_pages(victims: &[f64]) -> f64 {
    victims.iter().rev().enumerate().map(|(invalid, victim)| invalid as f64 * victim).sum()
}

/// Computes the elements of F for one kind of block, hot or cold, and their absolute terms.
/// Pages are invalidated at the rate `invalidating`, and blocks are collected at `rate`s times
/// `victims`. Collected blocks return as full blocks of this kind, except for `[becoming,
/// leaving]`: the rates of blocks that change to this kind and from it.
fn change(
    blocks: &[f64],
    invalidating: f64,
    victims: [(f64, &Vec<f64>); 2],
    [becoming, leaving]: [f64; 2],
) -> (Vec<f64>, Vec<f64>) {
    let pages = blocks.len() - 1;
    let mut changes = Vec::with_capacity(blocks.len());
    let mut magnitudes = Vec::with_capacity(blocks.len());
    let mut collected = 0.0;
    for (i, &here) in blocks.iter().enumerate() {
        let invalid = invalidating * i as f64 * here;
        let taken: f64 = victims.iter().map(|(rate, victims)| rate * victims[i]).sum();
        let arriving = if i < pages {
            collected += taken;
            invalidating * (i + 1) as f64 * blocks[i + 1]
        } else {
            // A victim without an invalid page returns unchanged. It is counted as leaving, so it
            // is added to the arriving blocks too.
            collected + taken + becoming - leaving
        };
        changes.push(arriving - invalid - taken);
        magnitudes.push(arriving.abs() + invalid + taken);
    }
    *magnitudes.last_mut().expect("a block has at least one page, so this list is not empty") +=
        becoming + leaving;
    (changes, magnitudes)
}
