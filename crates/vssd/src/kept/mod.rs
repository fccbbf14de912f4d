//! Drive in files, which outlives its process: the files, and the order of writes to them.
//!
//! `crates/vssd/FORMAT.md` describes each field.

pub mod journal;
mod names;
pub mod seal;
pub mod segment;
mod snapshot;
pub mod store;
