//! Tests of the engine against the naive drive.
//!
//! A full run tests every combination of registered victim policies, block managers, layouts and
//! wear levellers. A normal run tests every pair of values of these.

mod agreement;
mod batches;
mod cases;
#[path = "../../../../tests/support/forms.rs"]
mod forms;
mod host;
mod pair;
mod pairwise;
mod patience;
mod timed;
mod units;
