//! The greatest age·(1−u)/(2u), u being the share of valid pages and u = 0 above everything; among
//! equals the most invalid pages, then the one changed first.

use std::cmp::Ordering;

use super::{Candidate, Rule, Spec, Stream};

pub struct CostBenefit;

impl Rule for CostBenefit {
    fn read(_spec: &Spec) -> Self {
        CostBenefit
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        let compare = |i: &usize, j: &usize| {
            let (one, other) = (&candidates[*i], &candidates[*j]);
            let by_score = Score::of(one).compare(&Score::of(other));
            let by_invalid = one.invalid_pages.cmp(&other.invalid_pages);
            by_score.then(by_invalid).then(other.changed.cmp(&one.changed))
        };
        (0..candidates.len()).max_by(compare).expect("a candidate")
    }
}

/// age·(1−u)/(2u) as an exact fraction: with v valid and i invalid pages it is age·i/(2v).
struct Score {
    numerator: u128,
    denominator: u128,
}

impl Score {
    fn of(candidate: &Candidate) -> Self {
        if candidate.valid_pages == 0 {
            return Score { numerator: 1, denominator: 0 }; // u = 0: infinite at any age
        }
        Score {
            numerator: u128::from(candidate.age) * u128::from(candidate.invalid_pages),
            denominator: 2 * u128::from(candidate.valid_pages),
        }
    }

    /// a/b against c/d is a·d against c·b, also where one denominator is 0.
    fn compare(&self, other: &Score) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}
