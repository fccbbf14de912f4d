//! How over-provisioned pages are divided among groups (paper 3, §5.5).

use libm::log;

/// What an allocation looks at: the size of a group and its share of the host's writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    pub pages: f64,
    pub write_share: f64,
}

/// Which rule divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// In proportion to the pages of each group (eq. 6).
    Size,
    /// In proportion to its writes (eq. 7, whose second line is not OP: `OP_x` = `p_x`·OP).
    Frequency,
    /// The mean of the two (eq. 8, corrected: OP·(s/LBA + p)/2).
    ClosedForm,
    /// What minimises write amplification (eqs. 3–5).
    Optimal,
    /// The same for groups as collection finds them ([`super::measured`]).
    Marginal,
}

impl Allocation {
    pub const ALL: [(&'static str, Allocation); 5] = [
        ("closed-form", Allocation::ClosedForm),
        ("optimal", Allocation::Optimal),
        ("marginal", Allocation::Marginal),
        ("size", Allocation::Size),
        ("frequency", Allocation::Frequency),
    ];

    /// Divides `op_pages` among `groups`. In all, nothing is left over.
    fn divide(self, groups: &[Demand], op_pages: f64) -> Vec<f64> {
        let pages: f64 = groups.iter().map(|g| g.pages).sum();
        let writes: f64 = groups.iter().map(|g| g.write_share).sum();
        let by_size = |g: &Demand| if pages > 0.0 { g.pages / pages } else { even(groups) };
        let by_writes = |g: &Demand| if writes > 0.0 { g.write_share / writes } else { by_size(g) };
        let share = |g: &Demand| match self {
            Allocation::Size => by_size(g),
            Allocation::Frequency => by_writes(g),
            Allocation::ClosedForm | Allocation::Optimal | Allocation::Marginal => {
                f64::midpoint(by_size(g), by_writes(g))
            }
        };
        if matches!(self, Allocation::Optimal | Allocation::Marginal)
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

/// The exceptions that keep a cold group alive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exceptions {
    /// A coldest group written, page for page, less than so many times as often as the next …
    pub coldest_ratio: f64,
    /// … gets so much of its own size under the closed form (§5.5.3).
    pub coldest_op: f64,
    /// No group gets less than so much of its size. Pages that cool down enter a cold group
    /// without a write of the host, which no rule above sees.
    pub floor: f64,
}

/// Over-provisioned pages of each of `groups`, the coldest first.
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
        // p₀/s₀ < ratio·p₁/s₁, without a division by an empty group.
        [coldest, next, ..] => {
            coldest.write_share * next.pages < ratio * next.write_share * coldest.pages
        }
        _ => false,
    }
}

/// With y = 1/δ, OP/s = y·ln y/(y−1) − 1, and at the optimum y − 1 − ln y = μ·p/s in every group;
/// μ follows from ΣOP = `op_pages` by Newton on ln OP as a function of ln μ, which is concave.
/// `None` if no group has writes, there is nothing to divide, or y leaves the range of numbers, as
/// in a group with hundreds of times its size to spare.
fn optimal(groups: &[Demand], op_pages: f64) -> Option<Vec<f64>> {
    const MOST_STEPS: usize = 60;
    const TOLERANCE: f64 = 1e-10;
    let rates: Vec<f64> =
        groups.iter().map(|g| if g.pages > 0.0 { g.write_share / g.pages } else { 0.0 }).collect();
    let highest = rates.iter().copied().fold(0.0, f64::max);
    if highest <= 0.0 || op_pages <= 0.0 {
        return None;
    }
    // From the left, so that the concave function is approached without overshooting.
    let mut log_mu = log(1e-9 / highest);
    for _ in 0..MOST_STEPS {
        let (mut total, mut slope) = (0.0, 0.0);
        for (group, &rate) in groups.iter().zip(&rates) {
            let z = libm::exp(log_mu) * rate;
            let x = excess(z);
            total += group.pages * op_over_size(x);
            slope += if x > 0.0 { group.pages * (z / x) * (z / x) * (1.0 / x + 1.0) } else { 0.0 };
        }
        let error = log(op_pages / total);
        log_mu += error * total / slope;
        if error.abs() < TOLERANCE {
            break;
        }
    }
    let mu = libm::exp(log_mu);
    let pages = groups.iter().zip(&rates);
    let found: Vec<f64> =
        pages.map(|(group, &rate)| group.pages * op_over_size(excess(mu * rate))).collect();
    let scale = op_pages / found.iter().sum::<f64>();
    scale.is_finite().then(|| found.into_iter().map(|op| op * scale).collect())
}

/// The x = y − 1 ≥ 0 with x − ln(1 + x) = z.
fn excess(z: f64) -> f64 {
    // Above the root of a convex function, so that Newton only falls.
    let mut x = (2.0 * z).sqrt() + z;
    if x < 1e-6 {
        return x; // to within 1e-6 of itself, where the left side would lose all its digits
    }
    for _ in 0..60 {
        let step = (x - libm::log1p(x) - z) * (1.0 + x) / x;
        x -= step;
        if step < 1e-12 * x {
            break;
        }
    }
    x
}

fn op_over_size(x: f64) -> f64 {
    if x < 1e-5 { x / 2.0 } else { (1.0 + x) * libm::log1p(x) / x - 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Exceptions = Exceptions { coldest_ratio: 0.0, coldest_op: 0.0, floor: 0.0 };

    fn demands(groups: &[(f64, f64)]) -> Vec<Demand> {
        groups.iter().map(|&(pages, write_share)| Demand { pages, write_share }).collect()
    }

    /// Eqs. 3 and 5, by bisection.
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
        // 280 pages by 2/3 of the size and 29/99 of the writes, halved.
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
}
