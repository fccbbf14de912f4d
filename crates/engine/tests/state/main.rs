//! A run that is saved and restored goes on bit for bit as the one that was saved, whatever it is
//! made of; and bytes that are no such state are refused.

mod cases;
mod damage;
#[path = "../../../../tests/support/forms.rs"]
mod forms;
mod goes_on;
