//! Observations of a run: series over time, groups, lives of pages, recordings and histograms.
//! The groups are followed by their changes.

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
