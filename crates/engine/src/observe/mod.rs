//! What a run is asked to remember: series over time, and histograms of the state.

mod histograms;
mod series;

pub use histograms::{erase_histogram, valid_page_histogram};
pub use series::{Sample, Series};
