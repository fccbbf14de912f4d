//! Tests of the engine against the naive drive.
//!
//! They have every registered victim policy, on every registered block manager, in every layout,
//! with every wear leveller; in the gate, every pair of those.

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
