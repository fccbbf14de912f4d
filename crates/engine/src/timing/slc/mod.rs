//! SLC cache: its parameters, and which page of it holds what.
//!
//! It is a log: rows of blocks, one on each die, are filled one after another, its program units
//! lying on the dies in turn, and emptied in the order in which they were filled. Its pages are
//! numbered on from those of the other flash.

mod log;
mod params;

pub use log::SlcLog;
pub use params::{Slc, SlcBlocks, WhenFull};
