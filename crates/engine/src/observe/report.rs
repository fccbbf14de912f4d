//! Report of a block manager on itself.

use super::{GroupChange, Life};

/// Report of a block manager on itself, beside the counters of its flash.
///
/// A manager fills in what it knows; the rest is as in `Report::default()`.
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
    /// Write amplification that the manager expects at the moment, if it has a model.
    pub predicted_wa: Option<f64>,
    /// Lives of pages that it has learnt, by class and age, if it does.
    pub lives: Vec<Life>,
    /// Bytes of the tables that its scheme keeps beside the map and the victim policy.
    pub scheme_bytes: u64,
    /// Log of the groups of pages that it keeps, as far as it remembers.
    pub group_changes: &'a [GroupChange],
}
