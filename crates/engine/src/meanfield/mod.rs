//! Mean field of d-choices collection with hot/cold write frontiers (paper 4, §3).
//!
//! [`Model`] is the problem, and [`solve`] finds its stationary blocks. [`Drift`] and
//! [`Conditioning`] check any blocks independently of the solver. [`transient`] follows a drive to
//! its fixed point.
//!
//! The solver's layers, from the inside out:
//! - `levels`: all blocks of d-choices collection, from full ones down, for given flows.
//! - `totals`: the flows for which the pages and blocks add up (4 unknowns).
//! - `exchange`: the swaps for which the frontiers agree with the flows (2 unknowns).
//! - `continuation`, `fixed_point`: starting points.

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
