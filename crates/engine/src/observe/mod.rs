//! What a run is asked to remember: series over time, changes of groups, lives of pages, and
//! histograms of the state.

mod group_log;
mod histograms;
mod lives;
mod report;
mod series;

pub use group_log::{ChangeKind, GroupChange, GroupLog, MOST_CHANGES};
pub use histograms::{erase_histogram, valid_page_histogram};
pub use lives::Life;
pub use report::Report;
pub use series::{Sample, Series};
