//! A virtual drive against a model of what a drive is, and through crashes of the process and of power.

mod concurrency;
mod damage;
mod files;
#[path = "../../../../tests/support/forms.rs"]
mod forms;
mod killed;
mod model;
mod power;
mod support;
mod swapped;
mod timed;
