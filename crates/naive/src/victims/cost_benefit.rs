//! Cost-benefit: the greatest age·(1−u)/(2u), where u is the share of valid pages.
//!
//! A block with u = 0 is above all others. Among equals, the block with the most invalid pages
//! wins, then the block whose age began first. With power 0.5, √age replaces the age.

use std::cmp::Ordering;

use super::{Candidate, Rule, Spec, Stream};

pub struct CostBenefit {
    ages_from_close: bool,
    takes_root: bool,
}

impl Rule for CostBenefit {
    fn read(spec: &Spec) -> Self {
        CostBenefit {
            ages_from_close: spec.word("age", "invalidated") == "closed",
            takes_root: spec.word("power", "1") == "0.5",
        }
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        let began = |of: &Candidate| if self.ages_from_close { of.closed } else { of.changed };
        let compare = |i: &usize, j: &usize| {
            let (left, right) = (&candidates[*i], &candidates[*j]);
            let by_score = self.score(left).compare(&self.score(right));
            let by_invalid = left.invalid_pages.cmp(&right.invalid_pages);
            by_score.then(by_invalid).then(began(right).cmp(&began(left)))
        };
        (0..candidates.len()).max_by(compare).expect("a candidate")
    }
}

/// Score age·(1−u)/(2u) as an exact fraction.
///
/// With v valid and i invalid pages, it is age·i/(2v). For √age it is squared: age·i²/(2v)².
struct Score {
    numerator: u128,
    denominator: u128,
}

impl CostBenefit {
    fn score(&self, candidate: &Candidate) -> Score {
        if candidate.valid_pages == 0 {
            return Score { numerator: 1, denominator: 0 }; // u = 0: infinite at any age
        }
        let age = if self.ages_from_close { candidate.age_from_close } else { candidate.age };
        let invalid = u128::from(candidate.invalid_pages);
        let twice_valid = 2 * u128::from(candidate.valid_pages);
        if self.takes_root {
            Score {
                numerator: u128::from(age) * invalid * invalid,
                denominator: twice_valid * twice_valid,
            }
        } else {
            Score { numerator: u128::from(age) * invalid, denominator: twice_valid }
        }
    }
}

impl Score {
    /// Compares a/b and c/d as a·d and c·b, which works if one denominator is 0.
    fn compare(&self, other: &Score) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}
