//! Observations of a run: time series, group changes, page lifetimes, histograms, recordings.

mod group_log;
mod histograms;
mod lives;
mod recording;
mod report;
mod series;

pub use group_log::{ChangeKind, GroupChange, GroupLog, MOST_CHANGES};
pub use histograms::{erase_histogram, valid_page_histogram};
pub use lives::Life;
pub use recording::{Choice, Event, EventKind, Recording};
pub use report::Report;
pub use series::{Sample, Series};
