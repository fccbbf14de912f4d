//! Mean field of d-choices collection with hot/cold write frontiers (paper 4, §3).
//!
//! [`Model`] is the problem, and [`solve`] finds its stationary occupancy: the shares of blocks by
//! kind and number of valid pages. [`Drift`] and [`Conditioning`] check any occupancy independently
//! of the solver. [`transient`] follows a drive to its fixed point.
//!
//! The solver's layers, from the inside out:
//! - `levels`: shares of blocks by valid pages, from full blocks down, for given flows of blocks.
//! - `totals`: the flows for which the pages and blocks add up (4 unknowns).
//! - `exchange`: the swap rates for which the frontiers agree with the flows (2 unknowns).
//! - `continuation`, `fixed_point`: starting points for the layers above.

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
