//! Classes of the host's groups in FDP (Stoica & Ailamaki 2013).
//!
//! As in `docs/wolf-algorithm.md`, classes follow from the write frequency of the groups' pages.
//! Each group of the host is a class; class 0 has the lowest frequency. Frequencies are rounded to
//! steps above class 0: each step multiplies the frequency by the assumed ratio.

use crate::setup::HostGroup;

/// Returns the class of each group, and for each class the number of steps above class 0.
pub(crate) fn classes(groups: &[HostGroup], ratio: f64) -> (Vec<usize>, Vec<u32>) {
    const MOST_STEPS: f64 = 30.0;
    let frequency = |group: usize| groups[group].write_share / f64::from(groups[group].pages);
    let mut coldest_first: Vec<usize> = (0..groups.len()).collect();
    coldest_first.sort_by(|&a, &b| frequency(a).total_cmp(&frequency(b)));
    let mut class_of = vec![0; groups.len()];
    let mut steps = vec![0.0; groups.len()];
    for class in 0..groups.len() {
        class_of[coldest_first[class]] = class;
        if class > 0 {
            let times = frequency(coldest_first[class]) / frequency(coldest_first[class - 1]);
            let step = libm::log(times) / libm::log(ratio.max(1.0 + 1e-9));
            let step = if step.is_nan() { 0.0 } else { step.round() };
            steps[class] = f64::min(steps[class - 1] + step, MOST_STEPS);
        }
    }
    (class_of, steps.into_iter().map(|steps| steps as u32).collect())
}
