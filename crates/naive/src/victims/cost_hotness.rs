//! Cost-hotness: the greatest (1−u)/(2u·h), u being the share of valid pages.
//!
//! h is the mean of their writes over the mean of their ages; u = 0 is above everything. Among
//! equals the most invalid pages win, then the lowest number.

use std::cmp::Ordering;

use super::{Candidate, Rule, Spec, Stream};

pub struct CostHotness;

impl Rule for CostHotness {
    fn read(_spec: &Spec) -> Self {
        CostHotness
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&i, &j| {
            let (one, other) = (&candidates[i], &candidates[j]);
            compare(other, one)
                .then(other.invalid_pages.cmp(&one.invalid_pages))
                .then(one.number.cmp(&other.number))
        });
        order[0]
    }
}

/// Compares i·ages/(2v·writes), exactly.
fn compare(one: &Candidate, other: &Candidate) -> Ordering {
    let fraction = |of: &Candidate| {
        if of.valid_pages == 0 {
            return (1, 0);
        }
        let above = u128::from(of.invalid_pages) * u128::from(of.ages);
        (above, 2 * u128::from(of.valid_pages) * u128::from(of.writes))
    };
    let ((a, b), (c, d)) = (fraction(one), fraction(other));
    (a * d).cmp(&(c * b))
}
