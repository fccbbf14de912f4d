//! A drive that outlives its process: its files, and the order in which they are written.
//!
//! `crates/vssd/FORMAT.md` describes each field.

pub mod journal;
mod names;
pub mod seal;
pub mod segment;
mod snapshot;
pub mod store;
