//! Groups of pages: how they are told apart, and how they divide the spare space.
//!
//! These modules know pages and writes, not the drive that moves them.

mod allocation;
mod arrivals;
mod classes;
mod filters;
mod groups;
mod intervals;
mod lives;

#[cfg(test)]
mod tests;

pub(crate) use classes::classes;
pub(crate) use filters::Filters;
pub(crate) use groups::{Change, Groups};
pub(crate) use intervals::{Intervals, Turn};
