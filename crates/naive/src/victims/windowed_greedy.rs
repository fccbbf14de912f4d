//! Windowed greedy: the most invalid pages among the `window` blocks that closed first.
//!
//! Among equals, the block that closed first wins.

use std::cmp::Reverse;

use super::{Candidate, Rule, Spec, Stream};

pub struct WindowedGreedy {
    window: usize,
}

impl Rule for WindowedGreedy {
    fn read(spec: &Spec) -> Self {
        WindowedGreedy { window: spec.get("window") }
    }

    fn choose(&self, candidates: &[Candidate], _random: &mut Stream) -> usize {
        let mut oldest: Vec<usize> = (0..candidates.len()).collect();
        oldest.sort_by_key(|&i| candidates[i].closed);
        oldest.truncate(self.window);
        let key = |i: &usize| (candidates[*i].invalid_pages, Reverse(candidates[*i].closed));
        oldest.into_iter().max_by_key(key).expect("a candidate")
    }
}
