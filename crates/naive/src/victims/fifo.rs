//! FIFO: the candidate that closed first.

use super::{Candidate, Rule, Spec, Stream};

pub struct Fifo;

impl Rule for Fifo {
    fn read(_spec: &Spec) -> Self {
        Fifo
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        (0..candidates.len()).min_by_key(|&i| candidates[i].closed).expect("a candidate")
    }
}
