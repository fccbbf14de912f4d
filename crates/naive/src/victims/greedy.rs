//! Greedy: the candidate with the most invalid pages; among equals, the earliest changed one.

use std::cmp::Reverse;

use super::{Candidate, Rule, Spec, Stream};

pub struct Greedy;

impl Rule for Greedy {
    fn read(_spec: &Spec) -> Self {
        Greedy
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        let key = |i: &usize| (candidates[*i].invalid_pages, Reverse(candidates[*i].changed));
        (0..candidates.len()).max_by_key(key).expect("a candidate")
    }
}
