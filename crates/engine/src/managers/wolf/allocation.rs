//! Allocation of over-provisioned pages to groups (paper 3, §5.5).

use libm::log;

/// Size of a group and its share of the host's writes, which decide how much space it gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// Logical pages of the group.
    pub pages: f64,
    /// Page writes to the group, over all page writes of the host.
    pub write_share: f64,
}

/// Rule that divides the over-provisioned pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Proportional to the number of pages of each group (eq. 6).
    Size,
    /// Proportional to the writes of each group (eq. 7, whose second line is not OP: `OP_x` =
    /// `p_x`·OP).
    Frequency,
    /// Mean of the two rules above (eq. 8, corrected: OP·(s/LBA + p)/2).
    ClosedForm,
    /// Minimises the write amplification of the drive (eqs. 3–5).
    Optimal,
    /// Minimises write amplification, with effective group sizes instead of page counts.
    /// Effective sizes follow from the valid pages of victims ([`super::measured`]).
    EffectiveSize,
}

impl Allocation {
    /// All allocation rules, by name. `marginal` is an older name of `effective-size`.
    pub const ALL: [(&'static str, Allocation); 6] = [
        ("closed-form", Allocation::ClosedForm),
        ("optimal", Allocation::Optimal),
        ("effective-size", Allocation::EffectiveSize),
        ("marginal", Allocation::EffectiveSize),
        ("size", Allocation::Size),
        ("frequency", Allocation::Frequency),
    ];

    /// Divides `op_pages` among `groups`. The parts add up to `op_pages`.
    fn divide(self, groups: &[Demand], op_pages: f64) -> Vec<f64> {
        let pages: f64 = groups.iter().map(|g| g.pages).sum();
        let writes: f64 = groups.iter().map(|g| g.write_share).sum();
        let by_size = |g: &Demand| if pages > 0.0 { g.pages / pages } else { even(groups) };
        let by_writes = |g: &Demand| if writes > 0.0 { g.write_share / writes } else { by_size(g) };
        let share = |g: &Demand| match self {
            Allocation::Size => by_size(g),
            Allocation::Frequency => by_writes(g),
            Allocation::ClosedForm | Allocation::Optimal | Allocation::EffectiveSize => {
                f64::midpoint(by_size(g), by_writes(g))
            }
        };
        if matches!(self, Allocation::Optimal | Allocation::EffectiveSize)
            && let Some(op) = optimal(groups, op_pages)
        {
            return op;
        }
        groups.iter().map(|g| op_pages * share(g)).collect()
    }
}

fn even(groups: &[Demand]) -> f64 {
    1.0 / groups.len() as f64
}

/// Exceptions from the allocation rule that protect cold groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exceptions {
    /// Threshold of the ratio of write rates per page: coldest group over next hotter group.
    /// Below this ratio, the coldest group is protected under the closed form: `coldest_op` sets
    /// its space.
    pub coldest_ratio: f64,
    /// Over-provisioned pages of a protected coldest group, over its logical pages (§5.5.3). The
    /// group never gets more than its proportional part of all over-provisioned pages.
    pub coldest_op: f64,
    /// Least over-provisioned pages of any group, over its logical pages.
    /// Pages that cool down enter a cold group without a host write, which the rules above ignore.
    pub floor: f64,
}

/// Over-provisioned pages of each group; `groups` begins with the coldest.
pub fn allocate(
    allocation: Allocation,
    exceptions: Exceptions,
    groups: &[Demand],
    op_pages: f64,
) -> Vec<f64> {
    let pages: f64 = groups.iter().map(|g| g.pages).sum();
    if op_pages <= exceptions.floor * pages {
        return Allocation::Size.divide(groups, op_pages);
    }
    let mut settled: Vec<Option<f64>> = vec![None; groups.len()];
    if allocation == Allocation::ClosedForm && is_far_colder(groups, exceptions.coldest_ratio) {
        let fixed_op = exceptions.coldest_op.max(exceptions.floor) * groups[0].pages;
        settled[0] = Some(fixed_op.min(op_pages * groups[0].pages / pages));
    }
    loop {
        let rest_op = op_pages - settled.iter().flatten().sum::<f64>();
        let open: Vec<usize> = (0..groups.len()).filter(|&i| settled[i].is_none()).collect();
        let demands: Vec<Demand> = open.iter().map(|&i| groups[i]).collect();
        let divided = allocation.divide(&demands, rest_op);
        let starved: Vec<usize> = (0..open.len())
            .filter(|&at| divided[at] < exceptions.floor * demands[at].pages)
            .collect();
        for &at in &starved {
            settled[open[at]] = Some(exceptions.floor * demands[at].pages);
        }
        if starved.is_empty() {
            for (&i, op) in open.iter().zip(divided) {
                settled[i] = Some(op);
            }
            return settled.into_iter().flatten().collect();
        }
    }
}

fn is_far_colder(groups: &[Demand], ratio: f64) -> bool {
    match groups {
        // p₀/s₀ < ratio·p₁/s₁, written without a division by an empty group.
        [coldest, next, ..] => {
            coldest.write_share * next.pages < ratio * next.write_share * coldest.pages
        }
        _ => false,
    }
}

/// Divides the pages optimally: solves eq. 3 at the optimum by Newton's method.
/// With y = 1/δ, OP/s = y·ln y/(y−1) − 1 (eq. 3). At the optimum, y − 1 − ln y = μ·p/s in every
/// group, with one μ for all groups. Newton's method finds ln μ from ΣOP = `op_pages`, in which the
/// total space is convex. Returns None without writes or without space to divide.
fn optimal(groups: &[Demand], op_pages: f64) -> Option<Vec<f64>> {
    const MOST_STEPS: usize = 60;
    const TOLERANCE: f64 = 1e-13;
    let mut pages = 0.0;
    let mut roots = 0.0;
    let mut lowest = f64::INFINITY;
    let log_rates: Vec<f64> = groups
        .iter()
        .map(|group| {
            let rate = if group.pages > 0.0 { group.write_share / group.pages } else { 0.0 };
            let log_rate = log(rate);
            if rate > 0.0 {
                pages += group.pages;
                roots += (group.pages * group.write_share).sqrt();
                lowest = lowest.min(log_rate);
            }
            log_rate
        })
        .collect();
    if pages <= 0.0 || op_pages <= 0.0 {
        return None;
    }
    // OP/s <= √(μ·rate/2), so at this μ the groups use too little space: a lower bound of μ.
    let mut log_mu = std::f64::consts::LN_2 + 2.0 * log(op_pages / roots);
    // OP/s >= ln y − 1 and y > μ·rate, so at this μ the groups use too much space: an upper bound
    // of μ.
    let highest = op_pages / pages + 1.0 - lowest;
    let mut taken = vec![0.0; groups.len()];
    for _ in 0..MOST_STEPS {
        let (mut total, mut growth) = (0.0, 0.0);
        for ((group, &log_rate), taken) in groups.iter().zip(&log_rates).zip(&mut taken) {
            if log_rate == f64::NEG_INFINITY {
                continue;
            }
            let (u, x) = log_y(log_mu + log_rate);
            let (op, slope) = op_at(u, x);
            *taken = group.pages * op;
            total += *taken;
            // d ln(y − 1 − ln y)/dh = 2/(u − op), with h = u/2.
            growth += group.pages * slope * (u - op) / 2.0;
        }
        // The first step from a μ with too little space may be far too long, so the upper bound
        // limits it.
        let next = (log_mu + (op_pages - total) / growth).min(highest);
        if (next - log_mu).abs() < TOLERANCE * log_mu.abs().max(1.0) {
            break;
        }
        log_mu = next;
    }
    let scale = op_pages / taken.iter().sum::<f64>();
    scale.is_finite().then(|| taken.into_iter().map(|op| op * scale).collect())
}

/// Logarithm above which e^u − 1 − u equals e^u in double precision.
const LOG_LARGE: f64 = 45.0;
/// Threshold of u below which the power series are exact to the last bits.
/// Above it, the direct formulas lose at most three bits.
const SERIES_BELOW: f64 = 0.25;

/// Solves ln(y − 1 − ln y) = `log_value` for u = ln y > 0 and x = y − 1.
fn log_y(log_value: f64) -> (f64, f64) {
    if log_value > LOG_LARGE {
        return (log_value, f64::INFINITY);
    }
    let value = libm::exp(log_value).max(f64::MIN_POSITIVE);
    // y = 1 + value + u, and u = z − z²/6 + … for small z = √(2·value). The error is at most 0.14%,
    // from which two of Halley's steps reach full precision.
    let z = (2.0 * value).sqrt();
    let start = value + z / (1.0 + z / 6.0);
    let x = start - halley(start, libm::log1p(start), value);
    let u = libm::log1p(x);
    let step = halley(x, u, value);
    // The step is so small that the logarithm changes in proportion.
    (u - step / (1.0 + x), x - step)
}

/// Halley's correction: x minus the root of x − ln(1 + x) = `value`, with u = ln(1 + x).
fn halley(x: f64, u: f64, value: f64) -> f64 {
    let gap = if u < SERIES_BELOW { gap_of_small(u) } else { x - u };
    let newton = (gap - value) * (1.0 + x) / x;
    newton / (1.0 - 0.5 * newton / (x * (1.0 + x)))
}

/// e^u − 1 − u.
fn gap_of_small(u: f64) -> f64 {
    // 1/3, 1/4, … 1/13
    const PARTS: [f64; 11] = [
        1.0 / 3.0,
        1.0 / 4.0,
        1.0 / 5.0,
        1.0 / 6.0,
        1.0 / 7.0,
        1.0 / 8.0,
        1.0 / 9.0,
        1.0 / 10.0,
        1.0 / 11.0,
        1.0 / 12.0,
        1.0 / 13.0,
    ];
    let series = PARTS.iter().rev().fold(1.0, |sum, coefficient| 1.0 + u * coefficient * sum);
    0.5 * u * u * series
}

/// Returns OP/s = u·y/(y − 1) − 1 at u = ln y and x = y − 1, and its derivative by h = u/2.
fn op_at(u: f64, x: f64) -> (f64, f64) {
    // Coefficients of h·coth h − 1 in powers of h².
    const SERIES: [f64; 6] = [
        1.0 / 3.0,
        -1.0 / 45.0,
        2.0 / 945.0,
        -1.0 / 4725.0,
        2.0 / 93555.0,
        -1382.0 / 638_512_875.0,
    ];
    let h = 0.5 * u;
    if h < SERIES_BELOW {
        let square = h * h;
        let (mut value, mut slope) = (0.0, 0.0);
        for (at, coefficient) in SERIES.iter().enumerate().rev() {
            value = value * square + coefficient;
            slope = slope * square + 2.0 * (at + 1) as f64 * coefficient;
        }
        return (h + value * square, 1.0 + slope * h);
    }
    // coth h = (y + 1)/(y − 1), and its derivative is 1 − coth² h.
    let coth = 1.0 + 2.0 / x;
    (h + h * coth - 1.0, 1.0 + coth + h * (1.0 - coth * coth))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Exceptions = Exceptions { coldest_ratio: 0.0, coldest_op: 0.0, floor: 0.0 };

    fn demands(groups: &[(f64, f64)]) -> Vec<Demand> {
        groups.iter().map(|&(pages, write_share)| Demand { pages, write_share }).collect()
    }

    /// Solves eqs. 3 and 5 by bisection.
    fn write_amplification(groups: &[Demand], op: &[f64]) -> f64 {
        let of_group = |(g, op): (&Demand, &f64)| {
            let (mut low, mut high) = (0.0, 1.0 - 1e-12);
            for _ in 0..200 {
                let delta = f64::midpoint(low, high);
                let fill: f64 = (delta - 1.0) / log(delta);
                if fill > g.pages / (g.pages + op) { high = delta } else { low = delta }
            }
            g.write_share / (1.0 - low)
        };
        groups.iter().zip(op).map(of_group).sum()
    }

    #[test]
    fn one_group_gets_everything_by_every_rule() {
        for (name, allocation) in Allocation::ALL {
            let op = allocate(allocation, PLAIN, &demands(&[(700.0, 1.0)]), 300.0);
            assert!((op[0] - 300.0).abs() < 1e-6, "{name}: {op:?}");
        }
    }

    #[test]
    fn rules_divide_by_size_by_writes_and_by_their_mean() {
        let groups = demands(&[(525.0, 0.2), (175.0, 0.8)]);
        let divided = |allocation| allocate(allocation, PLAIN, &groups, 300.0);
        assert_eq!(divided(Allocation::Size), [225.0, 75.0]);
        assert_eq!(divided(Allocation::Frequency), [60.0, 240.0]);
        assert_eq!(divided(Allocation::ClosedForm), [142.5, 157.5]);
    }

    #[test]
    fn no_shift_of_space_improves_on_the_optimum_and_the_closed_form_is_near_it() {
        for groups in [
            demands(&[(350.0, 0.1), (350.0, 0.9)]),
            demands(&[(400.0, 0.05), (200.0, 0.25), (100.0, 0.7)]),
            demands(&[
                (140.0, 0.032),
                (140.0, 0.064),
                (140.0, 0.128),
                (140.0, 0.256),
                (140.0, 0.52),
            ]),
        ] {
            let op = allocate(Allocation::Optimal, PLAIN, &groups, 300.0);
            assert!((op.iter().sum::<f64>() - 300.0).abs() < 1e-9);
            let least = write_amplification(&groups, &op);
            for (from, to) in (0..groups.len()).flat_map(|i| (0..groups.len()).map(move |j| (i, j)))
            {
                let mut other = op.clone();
                other[from] -= 1.0;
                other[to] += 1.0;
                assert!(write_amplification(&groups, &other) >= least - 1e-9, "{from} to {to}");
            }
            let closed = allocate(Allocation::ClosedForm, PLAIN, &groups, 300.0);
            let most = if groups[0].write_share < 0.01 { 1.2 } else { 1.06 };
            assert!(write_amplification(&groups, &closed) < most * least);
        }
    }

    #[test]
    fn a_far_colder_group_gets_a_fixed_part_of_its_size() {
        let rule = Exceptions { coldest_ratio: 0.05, coldest_op: 0.05, floor: 0.0 };
        let groups = demands(&[(400.0, 0.01), (200.0, 0.29), (100.0, 0.70)]);
        let op = allocate(Allocation::ClosedForm, rule, &groups, 300.0);
        assert!((op[0] - 20.0).abs() < 1e-9);
        // 280 pages are divided by the mean of the shares of the size (2/3) and of the writes
        // (29/99).
        assert!((op[1] - 140.0 * (2.0 / 3.0 + 29.0 / 99.0)).abs() < 1e-9);
        let warmer = demands(&[(400.0, 0.05), (200.0, 0.25), (100.0, 0.70)]);
        assert!(allocate(Allocation::ClosedForm, rule, &warmer, 300.0)[0] > 80.0);
    }

    #[test]
    fn no_group_falls_below_the_floor_and_nothing_is_left_over() {
        let rule = Exceptions { coldest_ratio: 0.05, coldest_op: 0.05, floor: 0.04 };
        let groups = demands(&[(500.0, 0.0), (199.0, 1e-9), (1.0, 1.0), (0.0, 0.0)]);
        for (name, allocation) in Allocation::ALL {
            for op_pages in [300.0, 40.0, 20.0, 0.0] {
                let op = allocate(allocation, rule, &groups, op_pages);
                assert!((op.iter().sum::<f64>() - op_pages).abs() < 1e-9, "{name}: {op:?}");
                let least = f64::min(0.04, op_pages / 700.0) - 1e-12;
                assert!(op.iter().zip(&groups).all(|(op, g)| *op >= least * g.pages), "{name}");
            }
        }
    }

    #[test]
    fn the_equation_of_the_multiplier_is_inverted_to_the_last_bits() {
        for step in 0..400 {
            let u = libm::exp(-16.0 + 0.05 * f64::from(step)).min(300.0);
            let gap = if u < SERIES_BELOW { gap_of_small(u) } else { libm::expm1(u) - u };
            let (solution, _) = log_y(log(gap));
            // The logarithm of the gap itself has a rounding error of one bit.
            assert!((solution / u - 1.0).abs() < 4e-15 * (1.0 + log(gap).abs()), "{u}: {solution}");
        }
    }

    #[test]
    fn a_group_that_is_never_written_gets_nothing_at_the_optimum() {
        let op =
            allocate(Allocation::Optimal, PLAIN, &demands(&[(500.0, 0.0), (200.0, 1.0)]), 300.0);
        assert!(op[0].abs() < f64::MIN_POSITIVE);
        assert!((op[1] - 300.0).abs() < 1e-9);
    }
}
