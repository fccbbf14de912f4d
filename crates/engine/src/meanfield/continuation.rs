//! Continuation from a problem with a known solution to the target problem.

use super::levels::Flows;

/// Shortest step, as a share of the path. If a shorter step would be needed, the method
/// fails.
const SHORTEST: f64 = 1e-4;

/// Follows the solution from the start of a path, at 0, to its end, at 1.
/// `solve(place, guess)` solves the problem at a position of the path. The steps become longer
/// while `solve` converges, and shorter when it fails.
pub fn follow(start: Flows, mut solve: impl FnMut(f64, Flows) -> Option<Flows>) -> Option<Flows> {
    let mut second_last: Option<(f64, Flows)> = None;
    let mut last = (0.0, start);
    let mut stride: f64 = 1.0;
    while last.0 < 1.0 {
        let place = (last.0 + stride).min(1.0);
        let beyond = second_last
            .map(|(from, flows)| flows.extrapolated(&last.1, (place - from) / (last.0 - from)));
        let solution =
            beyond.and_then(|guess| solve(place, guess)).or_else(|| solve(place, last.1));
        if let Some(flows) = solution {
            second_last = Some(std::mem::replace(&mut last, (place, flows)));
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
