//! A drive that outlives its process: its files, what each must say of the others, and when.
//!
//! `crates/vssd/FORMAT.md` has them field by field.

pub mod journal;
mod names;
pub mod seal;
pub mod segment;
mod snapshot;
pub mod store;
