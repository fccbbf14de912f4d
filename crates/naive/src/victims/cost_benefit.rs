//! Cost-benefit: the greatest age·(1−u)/(2u), u being the share of valid pages.
//!
//! u = 0 is above everything. Among equals the most invalid pages win, then the one whose age began
//! first. With power 0.5 it is √age.

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
            let (one, other) = (&candidates[*i], &candidates[*j]);
            let by_score = self.score(one).compare(&self.score(other));
            let by_invalid = one.invalid_pages.cmp(&other.invalid_pages);
            by_score.then(by_invalid).then(began(other).cmp(&began(one)))
        };
        (0..candidates.len()).max_by(compare).expect("a candidate")
    }
}

/// Score age·(1−u)/(2u) as an exact fraction.
///
/// With v valid and i invalid pages it is age·i/(2v). The square of √age·i/(2v) is age·i²/(2v)².
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
    /// a/b against c/d is a·d against c·b, also where one denominator is 0.
    fn compare(&self, other: &Score) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}
