//! Pairwise testing: few combinations that cover every pair of values.
//!
//! Most errors depend on one or two choices of a drive. A test of every pair of values therefore
//! finds nearly all errors that a test of every combination finds.

use std::collections::HashSet;

use crate::forms::is_full;

/// Returns all `combinations` in a full test run, else some that cover every pair of values.
///
/// Each pair of values of two factors that occurs in any combination is covered. The order is kept.
pub fn covering<T: Clone, const FACTORS: usize>(
    combinations: Vec<T>,
    values: impl Fn(&T) -> [String; FACTORS],
) -> Vec<T> {
    if is_full() {
        return combinations;
    }
    let rows: Vec<[String; FACTORS]> = combinations.iter().map(values).collect();
    let chosen = rows_that_cover(&rows);
    chosen.into_iter().map(|row| combinations[row].clone()).collect()
}

/// Selects rows that cover every pair, in order.
///
/// Each next row has the most pairs that are still missing; of equals, it is the first.
fn rows_that_cover<const FACTORS: usize>(rows: &[[String; FACTORS]]) -> Vec<usize> {
    let pairs_of: Vec<HashSet<_>> = rows.iter().map(pairs).collect();
    let mut left: HashSet<_> = pairs_of.iter().flatten().copied().collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let covered = |&row: &usize| pairs_of[row].intersection(&left).count();
        // `max_by_key` returns the last of equals, so the order is reversed.
        let best = (0..rows.len()).rev().max_by_key(covered).expect("rows with pairs");
        left.retain(|pair| !pairs_of[best].contains(pair));
        chosen.push(best);
    }
    chosen.sort_unstable();
    chosen
}

type Value<'a> = (usize, &'a str);

/// Returns the pairs of values of a row, each value with the number of its factor.
fn pairs<const FACTORS: usize>(row: &[String; FACTORS]) -> HashSet<(Value<'_>, Value<'_>)> {
    let values = || row.iter().map(String::as_str).enumerate();
    values().flat_map(|a| values().filter(move |b| a.0 < b.0).map(move |b| (a, b))).collect()
}

#[test]
fn every_pair_that_occurs_is_among_few_rows() {
    // Three factors of 5, 4 and 3 values, of which two exclude each other.
    let all = (0..5).flat_map(|a| (0..4).flat_map(move |b| (0..3).map(move |c| [a, b, c])));
    let rows: Vec<[String; 3]> = all
        .filter(|row| row[..2] != [0, 0])
        .map(|row| row.map(|value| value.to_string()))
        .collect();
    let chosen = rows_that_cover(&rows);
    let covered: HashSet<_> = chosen.iter().flat_map(|&row| pairs(&rows[row])).collect();
    assert_eq!(covered, rows.iter().flat_map(pairs).collect());
    assert!((19..=22).contains(&chosen.len()), "{} rows", chosen.len());
}
