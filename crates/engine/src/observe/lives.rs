//! Lives of pages, as a manager has learnt them.

/// Pages of one class at one age. Times are in pages that the host writes; counts fade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Life {
    /// The middle of the usual intervals of the class; 0 if its pages were not written again yet.
    pub usual_pages: f64,
    /// Intervals so far, at least.
    pub intervals: u8,
    /// Octaves by which the last interval was longer than the usual one, rounded down.
    pub last_octaves: i8,
    /// The middle of the ages.
    pub age_pages: f64,
    /// Pages that the host overwrote at this age.
    pub overwritten: f64,
    /// Pages that a scan found at this age.
    pub seen: f64,
    /// The rest of life to be expected, by the mean of logarithms.
    pub rest_pages: f64,
}
