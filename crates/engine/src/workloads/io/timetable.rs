//! Arrival times of an open loop.

use super::characteristics::Arrivals;
use crate::rng::Stream;
use crate::state::state;

/// Requests that arrive at a given rate, regardless of the completion of earlier ones.
#[derive(Debug, Clone)]
pub struct Timetable {
    mean_gap_ns: f64,
    arrivals: Arrivals,
    random: Stream,
    at_ns: u64,
    /// Fraction of a nanosecond not yet added to the time.
    rest_ns: f64,
}

state! {
    Timetable {
        fixed mean_gap_ns,
        fixed arrivals,
        nested random,
        value at_ns,
        value rest_ns,
    } where is_sound
}

impl Timetable {
    pub fn new(rate_per_s: f64, arrivals: Arrivals, random: Stream) -> Self {
        Timetable { mean_gap_ns: 1e9 / rate_per_s, arrivals, random, at_ns: 0, rest_ns: 0.0 }
    }

    /// Time of the next request; the first is at 0.
    pub fn take_ns(&mut self) -> u64 {
        let now_ns = self.at_ns;
        let gap_ns = match self.arrivals {
            Arrivals::Constant => self.mean_gap_ns,
            Arrivals::Poisson => -libm::log1p(-self.random.unit()) * self.mean_gap_ns,
        };
        // Whole nanoseconds are added to an integer, so that rounding errors do not accumulate.
        let later_ns = self.rest_ns + gap_ns;
        self.at_ns = now_ns.saturating_add(later_ns as u64);
        self.rest_ns = later_ns.fract();
        now_ns
    }

    fn is_sound(&self) -> bool {
        (0.0..1.0).contains(&self.rest_ns)
    }
}
