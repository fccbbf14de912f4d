//! Parameters that list relative sizes or shares.
//! Each number is divided by the sum of the list.

use std::ops::Range;

use crate::error::Result;
use crate::params::Params;
use crate::rng::threshold;

/// Numbers listed for `name`, and their sum. Numbers must be at least 0, and the sum
/// positive.
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

/// Share of the writes of each item listed for `name`.
pub fn write_shares(params: &Params, name: &str) -> Result<Vec<f64>> {
    let (numbers, sum) = relative(params, name)?;
    Ok(numbers.iter().map(|number| number / sum).collect())
}

/// Divides `pages` into consecutive regions with the relative sizes listed for `name`.
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

/// Random draw of items by their shares, from 64 random bits.
#[derive(Debug, Clone)]
pub struct Draw {
    /// Thresholds of all items but the last.
    /// Item i is drawn if the random number is below `cumulative[i]`, and not below the previous
    /// threshold.
    cumulative: Vec<u64>,
}

impl Draw {
    /// Builds the draw for shares that add up to 1, with at least one item.
    pub fn new(shares: &[f64]) -> Self {
        let mut cumulative = 0.0;
        let all_but_last = &shares[..shares.len() - 1];
        let cumulative = all_but_last
            .iter()
            .map(|share| {
                cumulative += share;
                threshold(cumulative)
            })
            .collect();
        Draw { cumulative }
    }

    #[inline]
    pub fn item(&self, bits: u64) -> usize {
        self.cumulative.partition_point(|&bound| bound <= bits)
    }
}
