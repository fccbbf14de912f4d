use super::*;
use crate::registry::Registered;
use crate::workloads::{Context, Site, WORKLOADS};

fn tree(text: &str, pages: u32) -> Btree {
    let site = Site { pages, page_bytes: 4096, context: Context::root(3) };
    Btree::build(&WORKLOADS.read(text).unwrap(), &site).unwrap()
}

/// Pages written per update to the log, the doublewrite area and the leaves, after a warm-up.
fn costs(text: &str, pages: u32, updates: u64) -> [f64; 3] {
    let mut tree = tree(text, pages);
    let mut written_after = |updates: u64| {
        for _ in 0..updates {
            let leaf = tree.draw();
            tree.update(leaf);
            tree.activities.clear();
        }
        tree.written_pages
    };
    let start = written_after(updates / 2);
    let end = written_after(updates);
    std::array::from_fn(|region| (end[region] - start[region]) as f64 / updates as f64)
}

#[test]
fn leaves_are_written_to_the_area_before_they_are_written_in_place() {
    for text in ["btree:batch=4", "btree:batch=3,page=8k,commit=7,pool=30%,log=2%"] {
        let mut tree = tree(text, 3000);
        let (log, area, leaf_pages) = (tree.log_pages, tree.area_pages, tree.leaf_pages);
        let (mut buffer, mut in_area, mut in_place, mut batches) = ([0; 61], 0, 0, 0);
        let mut last = 0;
        for _ in 0..5000 {
            let Step::Writes(count) = tree.next(&mut buffer) else { panic!("{text}: a TRIM") };
            for &page in &buffer[..count] {
                if page >= log + area {
                    let first = (page - log - area) % leaf_pages;
                    assert!(first == 0 || page == last + 1, "{text}: a leaf is written whole");
                    in_place += 1;
                } else if page >= log {
                    // A batch begins in the area after the last batch was written in place.
                    if page == log {
                        assert_eq!(in_area, in_place, "{text}");
                        batches += 1;
                    } else {
                        assert_eq!(page, last + 1, "{text}");
                    }
                    in_area += 1;
                }
                assert!(in_place <= in_area, "{text}");
                last = page;
            }
            assert!(tree.is_sound(), "{text}");
        }
        assert!(batches > 100, "{text}: {batches}");
    }
}

/// Updates whose leaf is not in the pool evict another, which was changed.
#[test]
fn a_pool_writes_a_leaf_for_each_update_of_a_leaf_that_it_lacks() {
    for (pool, protect, area_share) in [(0.1, "doublewrite", 1.0), (0.6, "none", 0.0)] {
        let text = format!("btree:pool={pool},row=1,log=10%,batch=1,protect={protect}");
        let [_, area, leaves] = costs(&text, 20_000, 200_000);
        let expected = 4.0 * (1.0 - pool);
        assert!((leaves / expected - 1.0).abs() < 0.01, "{text}: {leaves}, not {expected}");
        assert!((area / leaves - area_share).abs() < 1e-3, "{text}: {area}");
    }
}

/// One of N leaves is changed for the first time after N updates on average.
/// It is written when the log has turned once, after K further updates.
#[test]
fn a_fuzzy_checkpoint_writes_a_leaf_each_time_that_the_log_has_turned_since_its_first_change() {
    for (log, row) in [("1%", 128), ("20%", 512), ("1%", 1024)] {
        let text = format!("btree:pool=1,row={row},log={log},batch=1");
        let sizes = tree(&text, 20_000);
        let (leaves, turn) = (f64::from(sizes.leaves), sizes.log_bytes() / row);
        let expected = 4.0 * leaves / (leaves + turn as f64);
        let [_, area, measured] = costs(&text, 20_000, 400_000);
        assert!((measured / expected - 1.0).abs() < 0.01, "{text}: {measured}, not {expected}");
        assert!((area / measured - 1.0).abs() < 1e-12, "{text}: {area}");
    }
}

/// In K updates between two checkpoints, N (1 − (1 − 1 / N)^K) leaves are changed.
/// Each of them is logged as a whole once, and written once at the checkpoint. The log has room for
/// these images and for the rows of the other updates.
#[test]
fn a_log_of_images_has_each_changed_leaf_once_between_two_checkpoints() {
    for (log, row) in [("10%", 512), ("40%", 128), ("30%", 2048)] {
        let text = format!("btree:pool=1,page=8k,row={row},log={log},protect=images");
        let sizes = tree(&text, 20_000);
        let leaves = f64::from(sizes.leaves);
        let changed = |updates: f64| leaves * (1.0 - (updates * (-1.0 / leaves).ln_1p()).exp());
        let logged =
            |updates: f64| changed(updates) * 8192.0 + (updates - changed(updates)) * row as f64;
        let (mut least, mut most) = (0.0, 1e9);
        for _ in 0..100 {
            let middle = f64::midpoint(least, most);
            let is_less = logged(middle) < sizes.log_bytes() as f64;
            *(if is_less { &mut least } else { &mut most }) = middle;
        }
        let expected = 2.0 * changed(least) / least;
        let [_, area, measured] = costs(&text, 20_000, 600_000);
        assert!((measured / expected - 1.0).abs() < 0.02, "{text}: {measured}, not {expected}");
        assert!(area.abs() < f64::EPSILON, "{text}: {area}");
    }
}

/// Each commit writes the pages of the log that its updates filled, the first of them again.
#[test]
fn commits_write_the_end_of_the_log() {
    for (row, commit, expected) in [
        (128_u64, 1, 1.0),
        (128, 32, 1.0 / 32.0),
        (4096, 1, 1.0),
        // 1024 rows of 100 bytes fill 25 pages. All ends of pages but the last are within a row.
        (100, 1, 1.0 + 24.0 / 1024.0),
        (6144, 1, 2.0),
    ] {
        let text = format!("btree:row={row},commit={commit},protect=none");
        // Leaves are written after the log, so only a drive without such writes is exact.
        let mut tree = tree(&text, 20_000);
        let updates = 102_400_u32;
        for _ in 0..updates {
            tree.update(0);
            tree.activities.clear();
        }
        let measured = tree.written_pages[0] as f64 / f64::from(updates);
        assert!((measured / expected - 1.0).abs() < 0.02, "{text}: {measured}, not {expected}");
        assert_eq!(tree.application_bytes(), Some(row * u64::from(updates)));
    }
}

#[test]
fn regions_that_do_not_fit_are_refused() {
    let site = Site { pages: 1000, page_bytes: 4096, context: Context::root(1) };
    for (text, words) in [
        ("btree:batch=300", "not two leaves"),
        ("btree:log=0.999,batch=1", "not two leaves"),
        ("btree:log=0.1%,batch=1", "give a larger log"),
        ("btree:page=4k,row=4097,batch=1", "1 to 4096"),
    ] {
        let refused = Btree::build(&WORKLOADS.read(text).unwrap(), &site);
        let error = refused.err().unwrap_or_else(|| panic!("{text} was accepted")).to_string();
        assert!(error.contains(words), "{error}");
    }
}
