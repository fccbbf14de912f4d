//! Tests of a virtual drive: against a model, and through crashes and losses of power.

mod concurrency;
mod cut;
mod damage;
mod files;
mod format;
#[path = "../../../../tests/support/forms.rs"]
mod forms;
mod handles;
mod kept_in_time;
mod killed;
mod model;
mod power;
mod support;
mod swapped;
mod timed;
