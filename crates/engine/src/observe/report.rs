//! Report of a block manager on its internal data.

use super::{GroupChange, Life};

/// Report of a block manager on itself, beside the counters of its flash.
///
/// A manager sets the fields that it supports; the others are those of `Report::default()`.
///
/// ```
/// use writeamp_engine::flash::Geometry;
/// use writeamp_engine::managers::{self, Setup};
///
/// let drive = managers::build("sepbit", Setup::new(Geometry::flat(64, 32)?))?;
/// let report = drive.report();
/// assert!(report.scheme_bytes > 0);
/// assert_eq!(report.predicted_wa, None);
/// # Ok::<(), writeamp_engine::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report<'a> {
    /// Write amplification that the manager's own model currently predicts, if it has one.
    pub predicted_wa: Option<f64>,
    /// Lifetimes of pages by class and age, if the manager learns them.
    pub lives: Vec<Life>,
    /// Memory of the manager's own tables in bytes, without the logical→physical map and the
    /// tables of the victim policy.
    pub scheme_bytes: u64,
    /// Log of the changes of page groups, up to its limit.
    pub group_changes: &'a [GroupChange],
}
