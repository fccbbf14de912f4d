//! Random event that happens for a share of the requests.

use crate::rng::{Stream, threshold};
use crate::state::state;

/// Random event with a fixed probability and its own random stream.
#[derive(Debug, Clone)]
pub struct Chance {
    threshold: u64,
    random: Stream,
}

state!(Chance { fixed threshold, nested random });

impl Chance {
    pub fn new(probability: f64, random: Stream) -> Self {
        Chance { threshold: threshold(probability), random }
    }

    #[inline]
    pub fn happens(&mut self) -> bool {
        // With probability 1 the event must always happen, although one draw in 2⁶⁴ equals the
        // threshold.
        self.random.chance(self.threshold) || self.threshold == u64::MAX
    }
}
