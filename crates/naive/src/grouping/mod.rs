//! Groups of pages: detection, order, and division of the spare space.
//!
//! These modules work with pages and writes only; `drive` moves the data.

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
