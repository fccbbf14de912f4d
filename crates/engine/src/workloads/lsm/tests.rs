use super::*;
use crate::registry::Registered;
use crate::request::Op;
use crate::workloads::{Context, Site, WORKLOADS};

fn tree(text: &str, pages: u32) -> Lsm {
    let site = Site { pages, page_bytes: 4096, context: Context::root(3) };
    Lsm::build(&WORKLOADS.read(text).unwrap(), &site).unwrap()
}

/// Pages that live tables hold.
fn live(tree: &Lsm) -> Vec<bool> {
    let mut is_live = vec![false; tree.pages as usize];
    for extent in tree.levels.iter().flatten().flat_map(|table| &table.extents) {
        tree.logical(extent).for_each(|page| is_live[page as usize] = true);
    }
    is_live
}

#[test]
fn writes_fill_live_tables_and_trims_cover_exactly_the_deleted_ones() {
    for text in [
        "lsm",
        "lsm:log=none",
        "lsm:table=1%,multiplier=4,used=65%,pick=round-robin",
        "lsm:table=0.5%,keys=zipf(s=1.1)",
        "lsm:keys=sequential,table=0.7%",
        // So full that inputs are deleted before outputs are written.
        "lsm:table=0.5%,used=90%,multiplier=40",
    ] {
        let mut tree = tree(text, 3001);
        let log_pages = tree.log_pages;
        let mut is_held = vec![true; 3001];
        let (mut buffer, mut log, mut checks) = ([0; 61], 0, 0);
        for _ in 0..20_000 {
            match tree.next(&mut buffer) {
                Step::Writes(count) => {
                    for &page in &buffer[..count] {
                        if page < log_pages {
                            assert_eq!(page, log % log_pages, "{text}");
                            log += 1;
                        } else {
                            is_held[page as usize] = true;
                        }
                    }
                }
                Step::Request(trim) => {
                    assert_eq!(trim.op, Op::Trim);
                    for page in trim.range() {
                        assert!(std::mem::take(&mut is_held[page as usize]), "{text}: {page}");
                    }
                }
                Step::End => panic!("{text} ended"),
            }
            if tree.activities.is_empty() {
                checks += 1;
                let held = is_held[log_pages as usize..].iter();
                assert!(held.eq(&live(&tree)[log_pages as usize..]), "{text}");
                assert!(tree.is_sound(), "{text}");
            }
        }
        assert!(checks > 100, "{text}: {checks}");
        let mut has_key = vec![false; tree.keys as usize];
        for table in tree.levels.iter().flatten() {
            tree.keys_of(table).for_each(|key| has_key[key as usize] = true);
        }
        assert!(has_key.iter().all(|&has_key| has_key), "{text} lost a key");
    }
}

fn pages_in(level: &[SortedTable]) -> f64 {
    level.iter().map(|table| f64::from(table.pages())).sum()
}

/// Data that a level sends to the next, and its mean size.
#[derive(Default, Clone)]
struct Flow {
    compactions: f64,
    /// Pages that left the level, and pages that this wrote to the next.
    left_pages: f64,
    written_pages: f64,
    mean_pages: f64,
    /// Mean size of the table that holds a random page.
    end_pages: f64,
}

fn flows(tree: &mut Lsm, flushes: u32) -> Vec<Flow> {
    let mut flows = vec![Flow::default(); tree.levels.len()];
    let mut buffer = [0; 256];
    for _ in 0..flushes {
        while let Some(level) = tree.overfull() {
            let (before, written) = (pages_in(&tree.levels[level]), tree.written_pages);
            tree.compact(level);
            flows[level].compactions += 1.0;
            flows[level].left_pages += before - pages_in(&tree.levels[level]);
            flows[level].written_pages += (tree.written_pages - written) as f64;
        }
        while tree.in_memory < tree.memtable.len() {
            tree.update(&mut buffer);
        }
        tree.flush();
        tree.activities.clear();
        for (flow, level) in flows.iter_mut().zip(&tree.levels) {
            flow.mean_pages += pages_in(level) / f64::from(flushes);
            let squares: f64 = level.iter().map(|table| f64::from(table.pages()).powi(2)).sum();
            flow.end_pages += squares / pages_in(level).max(1.0) / f64::from(flushes);
        }
    }
    flows
}

/// Densities of a level's keys grow evenly under round-robin and uniform keys.
/// They grow from the tables compacted last to those compacted next. The next table is thus twice
/// as dense as the mean. It overlaps half the ratio of the levels' sizes, and one more table at its
/// ends (Lim et al., FAST 2016). The last level has all keys, so its compactions drop all of the upper entries.
#[test]
fn compactions_into_the_last_level_write_half_the_ratio_of_the_levels_and_a_table() {
    for (text, pages) in [
        ("lsm:pick=round-robin,ends=full", 100_000),
        ("lsm:pick=round-robin,ends=full,table=0.2%,multiplier=5,used=75%", 100_000),
        ("lsm:pick=round-robin,ends=full,table=0.2%,multiplier=20", 100_000),
    ] {
        let mut tree = tree(text, pages);
        flows(&mut tree, 1000);
        let mut measured = Vec::new();
        for _ in 0..2 {
            let flows = flows(&mut tree, 1000);
            let [.., upper, last] = &flows[..] else { panic!("{text} has two levels") };
            let ratio = last.mean_pages / upper.mean_pages;
            let picked_pages = upper.left_pages / upper.compactions;
            let expected = ratio / 2.0 + last.end_pages / picked_pages;
            let factor = upper.written_pages / upper.left_pages;
            // Compactions leave tables of unequal sizes, so the densities are not exactly those.
            assert!((factor / expected - 1.0).abs() < 0.07, "{text}: {factor}, not {expected}");
            measured.push(factor);
        }
        assert!((measured[1] / measured[0] - 1.0).abs() < 0.03, "{text}: {measured:?}");
    }
}

/// Host pages per page of the application over the flushes.
fn factor(text: &str, flushes: u32) -> f64 {
    let mut tree = tree(text, 100_000);
    flows(&mut tree, flushes);
    let (updates, written) = (tree.application_pages, tree.written_pages);
    flows(&mut tree, flushes);
    1.0 + (tree.written_pages - written) as f64 / (tree.application_pages - updates) as f64
}

#[test]
fn keys_in_order_and_skewed_keys_are_cheaper_than_uniform_ones() {
    let (uniform, skewed) = (factor("lsm", 1000), factor("lsm:keys=zipf(s=0.99)", 1000));
    let in_order = factor("lsm:keys=sequential", 1000);
    assert!(uniform > 1.3 * skewed && skewed > 1.3 * in_order, "{uniform} {skewed} {in_order}");
    // Dropped entries lower the factor, and tables move down without being written.
    assert!((1.0..6.0).contains(&in_order), "{in_order}");
}

#[test]
fn tables_end_where_those_of_the_next_level_do() {
    let compare = |ends: &str| {
        let mut tree = tree(&format!("lsm:ends={ends}"), 100_000);
        flows(&mut tree, 500);
        let [.., upper, last] = &tree.levels[..] else { panic!("two levels") };
        let limits: Vec<u32> = last.iter().map(|table| table.last_key).collect();
        // A key of the upper level is not in each table below, so the end is the last key before.
        let is_end = |pair: &[SortedTable]| {
            limits.iter().any(|key| (pair[0].last_key..pair[1].first_key).contains(key))
        };
        let ends = upper.windows(2).filter(|pair| is_end(pair)).count();
        (ends as f64 / (upper.len() - 1) as f64, pages_in(upper) / upper.len() as f64)
    };
    let ((aligned, pages), (full, _)) = (compare("aligned"), compare("full"));
    assert!(aligned > 0.7 && full < 0.4, "{aligned} {full}");
    // Between half a table and two tables.
    assert!((50.0..200.0).contains(&pages), "{pages}");
}

/// A tree with one level above the last, whose tables start at the multiples of `step`.
fn two_levels(step: u32) -> Lsm {
    let mut tree = tree("lsm:level0=1,table=0.01,used=60%,log=none", 1000);
    assert_eq!((tree.table_pages, tree.levels.len()), (10, 4));
    let keys = tree.keys;
    for table in std::mem::take(&mut tree.levels[3]) {
        tree.delete(&[table]);
    }
    let starts: Vec<u32> = (0..keys).step_by(step as usize).collect();
    let last = starts.iter().map(|&first| tree.write(&[first, first + 1]));
    tree.levels[3] = last.collect();
    tree
}

#[test]
fn the_least_size_of_an_aligned_table_grows_with_the_tables_that_it_overlaps() {
    let sizes = |step: u32, keys: &[u32]| -> Vec<usize> {
        let ends = two_levels(step).ends(keys, 2);
        std::iter::once(&0).chain(&ends).zip(&ends).map(|(start, end)| end - start).collect()
    };
    let keys: Vec<u32> = (0..60).collect();
    // Two places for each table of the next level: 50% + 2 × 5% of ten pages at the sixth key.
    assert_eq!(sizes(6, &keys)[..2], [6, 6]);
    // No place within the first 20 keys, so a table has at most twice the size.
    assert_eq!(sizes(60, &keys), [20, 20, 20]);
    // Many places: the first one from 90% on.
    assert_eq!(sizes(2, &keys)[..2], [10, 10]);
    // A table ends before a key beyond a whole table of the next level.
    let beyond: Vec<u32> = (0..5).chain(30..36).collect();
    assert_eq!(sizes(6, &beyond)[0], 5);
}
