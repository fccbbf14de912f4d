//! Random: any candidate, with equal probability.

use super::{Candidate, Rule, Spec, Stream};

pub struct Random;

impl Rule for Random {
    fn read(_spec: &Spec) -> Self {
        Random
    }

    fn choose(&self, candidates: &[Candidate], random: &mut Stream) -> usize {
        random.below(candidates.len() as u32) as usize
    }
}
