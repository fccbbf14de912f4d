//! The mean field of d-choices collection with hot/cold write frontiers (paper 4, §3).
//!
//! [`Model`] says what is asked, [`solve`] finds the blocks that stay as they are, [`Drift`] and
//! [`Conditioning`] check any blocks without a word from the solver, [`transient`] follows a drive
//! to its fixed point.
//!
//! The solver's route, from the inside out:
//! - `levels`: all blocks of d-choices collection, from full ones down, if the flows are given.
//! - `totals`: the flows at which all pages and blocks are there (4 unknowns).
//! - `exchange`: the swaps that the frontiers then do are those that the flows hold (2 unknowns).
//! - `continuation`, `fixed_point`: where to begin.

mod choices;
mod conditioning;
mod continuation;
mod dense;
mod drift;
mod exchange;
mod fixed_point;
mod frontiers;
mod jacobian;
mod levels;
mod model;
mod tail;
mod totals;
pub mod transient;

#[cfg(test)]
mod tests;

pub use choices::{Occupancy, Victims};
pub use conditioning::Conditioning;
pub use drift::Drift;
pub use fixed_point::solve;
pub use frontiers::{Frontiers, Rates};
pub use model::{MAX_PAGES_PER_BLOCK, Model, PerKind};
