//! Frequency classes of the host's groups in FDP, ordered like the steps of a ladder.
//! Each step is hotter than the one below by a fixed ratio (Stoica & Ailamaki 2013).

use crate::hints::Group;

/// Classes of the host's current groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    /// Class of each group: the group's rank by update frequency per page, the coldest first.
    pub class_of: Vec<u8>,
    /// Assumed whole number of steps between the coldest class and each class.
    pub steps: Vec<i32>,
}

/// Most steps. Beyond this number, a hotter class would get practically the same space.
const MOST_STEPS: i32 = 30;

/// Assigns `groups` to steps of the ladder, whose frequencies differ by `ratio`.
pub fn ladder(groups: &[Group], ratio: f64) -> Ladder {
    let mut ranked: Vec<usize> = (0..groups.len()).collect();
    // Compares p₁/s₁ with p₂/s₂ without a division by an empty group.
    let cross = |a: usize, b: usize| groups[a].write_share * f64::from(groups[b].pages);
    ranked.sort_by(|&a, &b| cross(a, b).total_cmp(&cross(b, a)));
    let mut class_of = vec![0; groups.len()];
    let mut steps = vec![0; groups.len()];
    for (class, &group) in ranked.iter().enumerate() {
        class_of[group] = class as u8;
        if class > 0 {
            let below = ranked[class - 1];
            let times = cross(group, below) / cross(below, group);
            let apart = libm::log(times) / libm::log(ratio.max(1.0 + 1e-9));
            let apart = if apart.is_nan() { 0.0 } else { apart.round() };
            steps[class] =
                (steps[class - 1] + apart.min(f64::from(MOST_STEPS)) as i32).min(MOST_STEPS);
        }
    }
    Ladder { class_of, steps }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder_of(groups: &[(u32, f64)]) -> (Vec<u8>, Vec<i32>) {
        let groups: Vec<Group> =
            groups.iter().map(|&(pages, write_share)| Group { pages, write_share }).collect();
        let Ladder { class_of, steps } = ladder(&groups, 2.0);
        (class_of, steps)
    }

    #[test]
    fn groups_rank_by_the_frequency_of_their_pages_and_stand_whole_steps_apart() {
        assert_eq!(ladder_of(&[(50, 0.1), (50, 0.9)]), (vec![0, 1], vec![0, 3])); // 9 ≈ 2³
        assert_eq!(ladder_of(&[(50, 0.5), (10, 0.3), (40, 0.2)]), (vec![1, 2, 0], vec![0, 1, 3]));
        assert_eq!(ladder_of(&[(50, 0.5), (50, 0.5)]), (vec![0, 1], vec![0, 0]));
        assert_eq!(ladder_of(&[(0, 0.9), (90, 0.1), (10, 0.0)]), (vec![2, 1, 0], vec![0, 30, 30]));
    }
}
