//! Division of the spare space between groups (paper 3, §5.5).
//!
//! The closed forms are the paper's, with the corrections of `docs/wolf-algorithm.md`. The optimum
//! has one unknown, which is bracketed here; the engine uses Newton's method. Both solve the same
//! condition.

use crate::setup::{Allocation, Exceptions};

/// Input of an allocation: size and writes of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Demand {
    /// Size s of the group, in pages.
    pub pages: f64,
    /// Share p of the host's writes.
    pub writes: f64,
}

impl Demand {
    fn hit_rate(&self) -> f64 {
        self.writes / self.pages
    }
}

/// Divides `op` spare pages between `groups`, the coldest first; returns the pages of each.
pub(super) fn spare_pages(
    allocation: Allocation,
    exceptions: Exceptions,
    groups: &[Demand],
    op: f64,
) -> Vec<f64> {
    let all_pages: f64 = groups.iter().map(|group| group.pages).sum();
    if op <= exceptions.floor * all_pages {
        return divide(Allocation::Size, groups, op);
    }
    // Groups with exceptions get their spare pages first. The rule divides the remaining pages
    // between the other groups.
    let mut granted: Vec<Option<f64>> = vec![None; groups.len()];
    if let (Allocation::ClosedForm, [coldest, next, ..]) = (allocation, groups)
        && coldest.hit_rate() < exceptions.coldest_ratio * next.hit_rate()
    {
        let share = exceptions.coldest_op.max(exceptions.floor);
        granted[0] = Some((share * coldest.pages).min(op * coldest.pages / all_pages));
    }
    loop {
        let rest_op = op - granted.iter().flatten().sum::<f64>();
        let rest: Vec<usize> = (0..groups.len()).filter(|&at| granted[at].is_none()).collect();
        let demands: Vec<Demand> = rest.iter().map(|&at| groups[at]).collect();
        let divided = divide(allocation, &demands, rest_op);
        let mut all_above_floor = true;
        for (&at, &spare) in rest.iter().zip(&divided) {
            let floor = exceptions.floor * groups[at].pages;
            if spare < floor {
                granted[at] = Some(floor);
                all_above_floor = false;
            }
        }
        if all_above_floor {
            let mut divided = divided.into_iter();
            let spare = |grant: Option<f64>| grant.or_else(|| divided.next()).expect("a share");
            return granted.into_iter().map(spare).collect();
        }
    }
}

/// Divides by the rule, without exceptions.
fn divide(allocation: Allocation, groups: &[Demand], op: f64) -> Vec<f64> {
    let all_pages: f64 = groups.iter().map(|group| group.pages).sum();
    let all_writes: f64 = groups.iter().map(|group| group.writes).sum();
    let of_pages = |group: &Demand| match all_pages {
        0.0 => 1.0 / groups.len() as f64,
        _ => group.pages / all_pages,
    };
    let of_writes = |group: &Demand| match all_writes {
        0.0 => of_pages(group),
        _ => group.writes / all_writes,
    };
    let each = |share: &dyn Fn(&Demand) -> f64| groups.iter().map(|g| op * share(g)).collect();
    let closed_form = || each(&|group| f64::midpoint(of_pages(group), of_writes(group)));
    match allocation {
        Allocation::Size => each(&of_pages),
        Allocation::Frequency => each(&of_writes),
        Allocation::ClosedForm => closed_form(),
        Allocation::Optimal | Allocation::Marginal => {
            optimum(groups, op).unwrap_or_else(closed_form)
        }
    }
}

/// Returns the optimal spare pages of each group.
///
/// In every group with writes, y − 1 − ln y = μ·p/s, with y = 1/δ. All groups have the same μ, at
/// which all spare pages are used. Returns None without writes or without spare pages.
fn optimum(groups: &[Demand], op: f64) -> Option<Vec<f64>> {
    let is_written = |group: &Demand| group.pages > 0.0 && group.writes > 0.0;
    if op <= 0.0 || !groups.iter().any(is_written) {
        return None;
    }
    let spare = |log_mu: f64| -> Vec<f64> {
        let of_group = |group| if is_written(group) { spare_of(group, log_mu) } else { 0.0 };
        groups.iter().map(of_group).collect()
    };
    // The spare space grows with μ without bound, so ever larger values of μ reach an upper end of
    // the search.
    let uses_less = |log_mu: f64| spare(log_mu).iter().sum::<f64>() < op;
    let powers = || (0..).map(|power| 2.0_f64.powi(power));
    let low = powers().map(|power| -power).find(|&log_mu| uses_less(log_mu))?;
    let high = powers().find(|&log_mu| !uses_less(log_mu))?;
    Some(spare(bisect(low, high, uses_less)))
}

/// Returns the spare pages of a group: s·(y·ln y/(y − 1) − 1).
fn spare_of(group: &Demand, log_mu: f64) -> f64 {
    let log_z = log_mu + libm::log(group.hit_rate());
    if log_z > 40.0 {
        return group.pages * (log_z - 1.0); // y equals z within the precision of f64
    }
    let z = libm::exp(log_z);
    // With x = y − 1, the ends of the search follow from x²/2 > x − ln(1 + x) > x − √(2x).
    let y = root(1.0 + z, 1.0 + z + (2.0 * z).sqrt(), |y| y - 1.0 - libm::log(y) - z);
    if y <= 1.0 { 0.0 } else { group.pages * (y * libm::log(y) / (y - 1.0) - 1.0) }
}

/// Finds the root of a function that is negative at `low` and positive at `high`.
///
/// Illinois method: replaces an end by the zero of the chord, again and again. If the same end is
/// kept twice, its function value is halved.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut last: Option<f64> = None;
    let mut low_moved = None;
    loop {
        let chord = low - at_low * (high - low) / (at_high - at_low);
        if chord.is_nan() {
            return high; // both ends are equal
        }
        let has_settled = last.is_some_and(|last| (chord - last).abs() < 1e-15 * chord);
        if has_settled || chord <= low || chord >= high {
            return chord.clamp(low, high);
        }
        let at_chord = f(chord);
        let moves_low = at_chord < 0.0;
        let stays_twice = low_moved == Some(moves_low);
        if moves_low {
            (low, at_low) = (chord, at_chord);
            at_high /= if stays_twice { 2.0 } else { 1.0 };
        } else {
            (high, at_high) = (chord, at_chord);
            at_low /= if stays_twice { 2.0 } else { 1.0 };
        }
        low_moved = Some(moves_low);
        last = Some(chord);
    }
}

/// Returns the greatest number between `low` and `high` that is too low, by bisection.
fn bisect(mut low: f64, mut high: f64, is_too_low: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return low;
        }
        if is_too_low(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}
