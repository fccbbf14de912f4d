//! The arithmetic against values worked out by hand or printed.

use super::allocation::{Demand, spare_pages};
use super::classes::classes;
use super::intervals::Intervals;
use super::rules::{Allocation, Exceptions};
use crate::HostGroup;

const NO_EXCEPTIONS: Exceptions = Exceptions { coldest_ratio: 0.0, coldest_op: 0.0, floor: 0.0 };

fn demands(groups: &[(f64, f64)]) -> Vec<Demand> {
    groups.iter().map(|&(pages, writes)| Demand { pages, writes }).collect()
}

/// Eq. 5, with δ of eq. 9 as the fixed point of δ = e^(−(1 − δ)·PBA/LBA).
fn write_amplification(groups: &[Demand], op: &[f64]) -> f64 {
    let of_group = |(group, op): (&Demand, &f64)| {
        let next = |delta: f64| libm::exp((delta - 1.0) * (group.pages + op) / group.pages);
        let delta = (0..10_000).fold(0.0, |delta, _| next(delta));
        group.writes / (1.0 - delta)
    };
    groups.iter().zip(op).map(of_group).sum()
}

#[test]
fn the_optimum_is_not_improved_by_a_shift_of_space() {
    for groups in [
        demands(&[(350.0, 0.1), (350.0, 0.9)]),
        demands(&[(400.0, 0.05), (200.0, 0.25), (100.0, 0.7)]),
    ] {
        let op = spare_pages(Allocation::Optimal, NO_EXCEPTIONS, &groups, 300.0);
        assert!((op.iter().sum::<f64>() - 300.0).abs() < 1e-9);
        let least = write_amplification(&groups, &op);
        for (from, to) in [(0, 1), (1, 0), (0, groups.len() - 1), (groups.len() - 1, 0)] {
            let mut other = op.clone();
            other[from] -= 0.5;
            other[to] += 0.5;
            assert!(write_amplification(&groups, &other) > least, "{groups:?}: {from} to {to}");
        }
    }
    // One group at a fill of 0.7: 1.876160014 (paper 3, eq. 9).
    let one = demands(&[(700.0, 1.0)]);
    let op = spare_pages(Allocation::Optimal, NO_EXCEPTIONS, &one, 300.0);
    assert!((write_amplification(&one, &op) - 1.876_160_014).abs() < 1e-9);
}

#[test]
fn rules_divide_by_size_by_writes_and_by_their_mean_and_spare_the_coldest() {
    let groups = demands(&[(525.0, 0.2), (175.0, 0.8)]);
    let divided = |allocation| spare_pages(allocation, NO_EXCEPTIONS, &groups, 300.0);
    assert_eq!(divided(Allocation::Size), [225.0, 75.0]);
    assert_eq!(divided(Allocation::Frequency), [60.0, 240.0]);
    assert_eq!(divided(Allocation::ClosedForm), [142.5, 157.5]);

    let skewed = demands(&[(500.0, 0.001), (200.0, 0.999)]);
    let rules = Exceptions { coldest_ratio: 0.05, coldest_op: 0.05, floor: 0.02 };
    let spare = |allocation| spare_pages(allocation, rules, &skewed, 300.0);
    assert_eq!(spare(Allocation::ClosedForm), [25.0, 275.0]);
    assert_eq!(spare(Allocation::Frequency), [10.0, 290.0]);
}

#[test]
fn classes_stand_whole_steps_apart() {
    let group = |pages, write_share| HostGroup { pages, write_share };
    let two = [group(50, 0.9), group(50, 0.1)];
    assert_eq!(classes(&two, 2.0), (vec![1, 0], vec![0, 3])); // 9 times as hot
    let three = [group(50, 0.5), group(10, 0.3), group(40, 0.2)];
    assert_eq!(classes(&three, 2.0), (vec![1, 2, 0], vec![0, 1, 3])); // 2 and 3 times
}

#[test]
fn a_page_is_in_the_group_of_its_intervals_and_cools_down_at_rest() {
    // Intervals above 4,000 are group 0's, above 2,000 group 1's, …
    let mut intervals = Intervals::new(2.0, 6, 1000);
    assert_eq!(intervals.group_of_write(7, None, 0), 0);
    let mut group = 0;
    for turn in 1..=9 {
        group = intervals.group_of_write(7, Some(group), 150 * turn);
    }
    assert_eq!(group, 5);
    let after = |rest: u64| intervals.group_of_migration(7, group, 9 * 150 + rest);
    assert_eq!([8 * 150, 10 * 150, 4000].map(after), [5, 2, 0]);
    assert_eq!(intervals.group_of_migration(8, 3, 9999), 3, "of an unknown page, nothing");
}
