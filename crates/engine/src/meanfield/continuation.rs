//! Continuation from a problem with a known solution to the one to be solved.

use super::levels::Flows;

/// Steps shorter than this share of the way are given up.
const SHORTEST: f64 = 1e-4;

/// Follows the solution from the start of a way, at 0, to its end, at 1, in steps as long as
/// `solve(place, guess)` can bridge.
pub fn follow(start: Flows, mut solve: impl FnMut(f64, Flows) -> Option<Flows>) -> Option<Flows> {
    let mut before: Option<(f64, Flows)> = None;
    let mut last = (0.0, start);
    let mut stride: f64 = 1.0;
    while last.0 < 1.0 {
        let place = (last.0 + stride).min(1.0);
        let beyond = before
            .map(|(from, flows)| flows.extrapolated(&last.1, (place - from) / (last.0 - from)));
        let found = beyond.and_then(|guess| solve(place, guess)).or_else(|| solve(place, last.1));
        if let Some(flows) = found {
            before = Some(std::mem::replace(&mut last, (place, flows)));
            stride *= 2.0;
        } else {
            stride /= 3.0;
            if stride < SHORTEST {
                return None;
            }
        }
    }
    Some(last.1)
}
