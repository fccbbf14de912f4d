//! Lifetimes of pages, as learnt by a manager.

/// Lifetime of pages of one class and age. Times are in host page writes; counts decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Life {
    /// Centre of the mean intervals of the class, or 0 if its pages were never rewritten.
    pub usual_pages: f64,
    /// Least number of intervals so far.
    pub intervals: u8,
    /// Octaves from the mean interval to the last one, rounded down.
    pub last_octaves: i8,
    /// Centre of the ages.
    pub age_pages: f64,
    /// Pages overwritten by the host at this age.
    pub overwritten: f64,
    /// Pages found at this age by a scan.
    pub seen: f64,
    /// Expected remaining lifetime, from the mean of logarithms.
    pub rest_pages: f64,
}
