//! Parameters that list relative sizes or shares.
//! What matters is each number's part of their sum.

use std::ops::Range;

use crate::error::Result;
use crate::params::Params;
use crate::rng::threshold;

/// Numbers listed for `name`, each at least 0, and their sum, finite and above 0.
pub fn relative(params: &Params, name: &str) -> Result<(Vec<f64>, f64)> {
    let numbers = params.numbers(name);
    let sum: f64 = numbers.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        return Err(params.outside(
            name,
            params.text(name),
            "a list with a sum that is finite and above 0",
        ));
    }
    Ok((numbers, sum))
}

/// The share of the writes of each item that `name` lists.
pub fn write_shares(params: &Params, name: &str) -> Result<Vec<f64>> {
    let (numbers, sum) = relative(params, name)?;
    Ok(numbers.iter().map(|number| number / sum).collect())
}

/// Divides `pages` into neighbouring regions of the relative sizes that `name` lists.
pub fn regions(params: &Params, name: &str, pages: u32) -> Result<Vec<Range<u32>>> {
    let (sizes, sum) = relative(params, name)?;
    let bound = |size: f64| (size / sum * f64::from(pages)).round() as u32;
    let mut size_before = 0.0;
    let mut regions = Vec::with_capacity(sizes.len());
    for size in sizes {
        let first_page = bound(size_before);
        size_before += size;
        regions.push(first_page..bound(size_before));
    }
    if regions.iter().any(Range::is_empty) {
        return Err(params.outside(
            name,
            params.text(name),
            format!("a list that leaves each region at least one of {pages} pages"),
        ));
    }
    Ok(regions)
}

/// Draws items by their shares: the item that 64 random bits fall to.
#[derive(Debug, Clone)]
pub struct Draw {
    /// All but the last item, which takes what is left: item i is drawn below `cumulative[i]`.
    cumulative: Vec<u64>,
}

impl Draw {
    /// Builds it for shares that add up to 1, of one item at least.
    pub fn new(shares: &[f64]) -> Self {
        let mut before = 0.0;
        let all_but_last = &shares[..shares.len() - 1];
        let cumulative = all_but_last
            .iter()
            .map(|share| {
                before += share;
                threshold(before)
            })
            .collect();
        Draw { cumulative }
    }

    #[inline]
    pub fn item(&self, bits: u64) -> usize {
        self.cumulative.partition_point(|&bound| bound <= bits)
    }
}
