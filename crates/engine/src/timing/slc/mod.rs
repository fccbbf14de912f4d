//! SLC cache: its parameters, and the logical page of each of its pages.
//!
//! The cache is a log of rows, with one block per die in a row. Rows are filled one after another,
//! with program units on the dies in turn. Their data is moved to the other flash (folded) in the
//! same order. Page numbers of the cache follow those of the other flash.

mod log;
mod params;

pub use log::SlcLog;
pub use params::{Slc, SlcBlocks, WhenFull};
