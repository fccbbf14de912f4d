//! Saved and restored runs: they go on bit for bit as the ones that were saved.
//! They may be made of anything; and bytes that are no such state are refused.

mod cases;
mod damage;
#[path = "../../../../tests/support/forms.rs"]
mod forms;
mod goes_on;
