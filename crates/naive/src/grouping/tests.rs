//! Tests of the arithmetic against values that were computed by hand or published.

use super::allocation::{Demand, spare_pages};
use super::classes::classes;
use super::intervals::{Intervals, Turn};
use super::lives::{Class, Lives, OCTAVE, Pattern};
use crate::setup::{Allocation, Exceptions, HostGroup};

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

/// Returns the class of a page that the host wrote at these times, on a drive of 1,000 pages.
fn class_of(written_at: &[u64]) -> Class {
    Lives::new(1000).class_of(written_at)
}

#[test]
fn pages_of_like_intervals_are_a_class() {
    let again = |octave, pattern| Class::Again { octave, pattern };
    assert_eq!(class_of(&[5]), Class::New);
    // Octave 0 begins at 4,000, octave 1 at 2,000, … by linear logarithms of the means, not quite.
    assert_eq!(class_of(&[0, 100_000]), again(0, Pattern::One));
    assert_eq!(class_of(&[0, 3000]), again(1, Pattern::One));
    assert_eq!(class_of(&[0, 1]), again(12, Pattern::One));
    // A mean of 300 + (800 − 300)/2 = 550, then 550 + ⌊(56 − 550)/3⌋ = 385.
    assert_eq!(class_of(&[0, 300, 1100]), again(3, Pattern::TwoOrThree(0)));
    assert_eq!(class_of(&[0, 300, 1100, 1156]), again(4, Pattern::TwoOrThree(-3)));
    // 385 + ⌊(3584 − 385)/4⌋ = 1184, of which 3584, kept of 3585, is one octave and a half above.
    assert_eq!(class_of(&[0, 300, 1100, 1156, 4741]), again(2, Pattern::More(1)));
}

#[test]
fn a_new_page_is_expected_to_live_long_and_a_page_written_often_shortly() {
    let lives = Lives::new(1000);
    let writes = |class, age| libm::exp2(lives.forecast(class, age) as f64 / OCTAVE as f64);
    // The mean logarithm of an exponential life of 4N is that of 4N/e^γ = 2,246; beyond 4N the
    // hazard is less.
    let of_new = writes(Class::New, 0);
    assert!((2246.0..3000.0).contains(&of_new), "{of_new}");
    let hot = Class::Again { octave: 6, pattern: Pattern::One };
    assert!((40.0..60.0).contains(&writes(hot, 0)), "{}", writes(hot, 0)); // 8N/2^6.5/e^γ
    assert!(writes(hot, 500) > 100.0, "what has rested lives longer");
}

#[test]
fn lives_are_learnt_from_what_is_overwritten_and_what_is_seen() {
    let mut lives = Lives::new(1000);
    let class = Class::Again { octave: 2, pattern: Pattern::One };
    let before = lives.forecast(class, 0);
    for _ in 0..250 {
        (0..10).for_each(|_| lives.count_overwritten(class, 10));
        lives.count_write();
    }
    assert!(lives.forecast(class, 0) < before - 4 * OCTAVE, "nobody is seen to live on");
    let dying = lives.forecast(class, 0);
    for _ in 0..250 {
        (0..10).for_each(|_| lives.count_seen(class, 10));
        lives.count_write();
    }
    assert!(lives.forecast(class, 0) > dying);
}

#[test]
fn a_group_opens_if_it_pays_and_closes_if_it_does_not_any_more() {
    // Lives above 4,000 are for group 0, above 2,000 for group 1, … A new page is for group 1.
    let mut intervals = Intervals::new(2.0, 6, 1000);
    for page in 0..100 {
        assert_eq!(intervals.group_of_write(page, None, &[0], u64::from(page)), 0);
    }
    intervals.end_interval(100, 1.0);
    // All pages are forecast for group 1, but a group has at most N pages.
    let turn = |intervals: &Intervals, block_pages| intervals.turn(1, &[0], block_pages);
    assert_eq!(turn(&intervals, 500.0), Turn::Opens);
    assert_eq!(turn(&intervals, 501.0), Turn::Opens, "by size or by writes");
    assert_eq!(turn(&intervals, 2001.0), Turn::Stays);
    assert_eq!(intervals.turn(0, &[0], 500.0), Turn::Stays, "the last one");
    assert_eq!(intervals.turn(3, &[0], 500.0), Turn::Stays, "group 1 is nearer to 0 than to 3");
    intervals.end_interval(100, 1.0);
    assert_eq!(intervals.turn(1, &[0, 1, 4], 500.0), Turn::Closes { into: 0 });
    assert_eq!(intervals.turn(3, &[0, 3, 4], 500.0), Turn::Closes { into: 4 });
}

#[test]
fn a_page_goes_to_the_nearest_open_group_and_a_new_one_only_cools() {
    let mut intervals = Intervals::new(2.0, 6, 1000);
    assert_eq!(intervals.group_of_write(7, None, &[0, 1, 2], 0), 1);
    assert_eq!(intervals.group_of_write(8, None, &[0, 2], 1), 0, "of two the colder");
    assert_eq!(intervals.group_of_migration(7, 0, &[0, 1, 2], 9), 0);
    assert_eq!(intervals.group_of_migration(7, 4, &[0, 1, 4], 9), 1);
    assert_eq!(intervals.group_of_migration(9, 4, &[0, 1, 4], 9), 4, "of an unknown page, nothing");
}
