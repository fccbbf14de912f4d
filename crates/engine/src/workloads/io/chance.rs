//! Chance: an event that happens to a share of the requests.

use crate::rng::{Stream, threshold};
use crate::state::state;

/// Something that happens with a probability, as a random stream of its own decides.
#[derive(Debug, Clone)]
pub struct Chance {
    threshold: u64,
    random: Stream,
}

state!(Chance { fixed threshold, part random });

impl Chance {
    pub fn new(probability: f64, random: Stream) -> Self {
        Chance { threshold: threshold(probability), random }
    }

    #[inline]
    pub fn happens(&mut self) -> bool {
        // What is certain must happen, also to the one draw in 2⁶⁴ that is not below the threshold.
        self.random.chance(self.threshold) || self.threshold == u64::MAX
    }
}
