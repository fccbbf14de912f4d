//! Cost-hotness: the greatest (1−u)/(2u·h), where u is the share of valid pages.
//!
//! h is the mean of the valid pages' writes, divided by the mean of their ages. A block with u = 0
//! is above all others. Among equals, the block with the most invalid pages wins, then the block
//! with the lowest number.

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
            let (left, right) = (&candidates[i], &candidates[j]);
            compare(right, left)
                .then(right.invalid_pages.cmp(&left.invalid_pages))
                .then(left.number.cmp(&right.number))
        });
        order[0]
    }
}

/// Compares i·ages/(2v·writes) of two blocks, exactly.
fn compare(left: &Candidate, right: &Candidate) -> Ordering {
    let fraction = |of: &Candidate| {
        if of.valid_pages == 0 {
            return (1, 0);
        }
        let above = u128::from(of.invalid_pages) * u128::from(of.ages);
        (above, 2 * u128::from(of.valid_pages) * u128::from(of.writes))
    };
    let ((a, b), (c, d)) = (fraction(left), fraction(right));
    (a * d).cmp(&(c * b))
}
