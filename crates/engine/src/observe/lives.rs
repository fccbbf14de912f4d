//! Lifetimes of pages, as learnt by a manager.

/// Lifetime of pages of one class and age.
/// Times are in host page writes. Counts of pages decay, so that recent pages weigh more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Life {
    /// Centre of the class's range of mean intervals between writes.
    /// It is 0 if the pages were never rewritten.
    pub usual_pages: f64,
    /// Least number of intervals between writes that a page of the class has had.
    pub intervals: u8,
    /// Octaves (factors of two) from a page's mean interval to its last one, rounded down.
    pub last_octaves: i8,
    /// Centre of the range of ages, which are times since the last write.
    pub age_pages: f64,
    /// Pages overwritten by the host at this age.
    pub overwritten: f64,
    /// Pages found at this age by a scan.
    pub seen: f64,
    /// Expected remaining lifetime: the exponential of the mean logarithm of lifetimes.
    pub rest_pages: f64,
}
