//! d-choices: the block with the most invalid pages among `d` drawn with replacement.
//!
//! Among equals, the block drawn first wins.

use super::{Candidate, Rule, Spec, Stream};

pub struct DChoices {
    d: u32,
}

impl Rule for DChoices {
    fn read(spec: &Spec) -> Self {
        DChoices { d: spec.get("d") }
    }

    fn choose(&self, candidates: &[Candidate], random: &mut Stream) -> usize {
        let draw = |_| random.below(candidates.len() as u32) as usize;
        let drawn: Vec<usize> = (0..self.d).map(draw).collect();
        let invalid = |i: usize| candidates[i].invalid_pages;
        let most = drawn.iter().map(|&i| invalid(i)).max();
        drawn.into_iter().find(|&i| Some(invalid(i)) == most).expect("at least one drawn")
    }
}
