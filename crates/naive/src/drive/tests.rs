//! Tests of the naive drive, which is a reference, on examples computed by hand.

use super::*;
use crate::setup::{Leveling, Wear};
use crate::spec::Spec;
use crate::victims::Candidate;

/// Number of hot pages, for managers that use hints.
const HOT_PAGES: u32 = 4;

fn victims(name: &str) -> Spec {
    Spec::new(name, [])
}

fn placed(name: &str) -> Manager {
    Manager::Placed(Spec::new(name, []))
}

fn setup(blocks: u32, luns: u32, layout: Layout) -> Setup {
    let (manager, victims) = (placed("single"), victims("greedy"));
    let (leveling, wear) = (Leveling::None, Wear::default());
    let (pages_per_block, logical_pages) = (2, 2 * blocks);
    Setup {
        blocks,
        pages_per_block,
        logical_pages,
        table_pages: 0,
        luns,
        layout,
        manager,
        own_pages: Vec::new(),
        victims,
        leveling,
        seed: 1,
        wear,
        counts_handles: false,
    }
}

fn written(setup: Setup, pages: &[u32]) -> NaiveDrive {
    let cold_pages = setup.logical_pages - HOT_PAGES;
    let mut drive = NaiveDrive::new(setup);
    drive.set_host_groups(&[
        HostGroup { pages: HOT_PAGES, write_share: 0.9 },
        HostGroup { pages: cold_pages, write_share: 0.1 },
    ]);
    for &page in pages {
        drive.write(
            page,
            Hint {
                group: u8::from(page >= HOT_PAGES),
                invalidation_time: None,
                tag: 0,
                handle: None,
            },
        );
    }
    drive
}

fn map(pairs: &[(u32, u32)]) -> BTreeMap<u32, u32> {
    pairs.iter().copied().collect()
}

#[test]
fn the_survivors_of_a_victim_precede_the_write_that_needed_room() {
    let drive = written(setup(3, 1, Layout::Flat), &[0, 1, 2, 3, 0, 2, 1]);
    // Blocks 0 and 1 each have an invalid page, block 0 first. Its valid page, 1, is copied to the
    // erased block and becomes invalid there. The new version takes the block's second page.
    assert_eq!(drive.map(), map(&[(0, 4), (1, 1), (2, 5), (3, 3)]));
    assert_eq!([0, 1, 2].map(|block| drive.invalid_pages(block)), [1, 1, 0]);
    assert_eq!(drive.erase_counts(), [1, 0, 0]);
    let expected = Counters { host_programs: 7, gc_programs: 1, erases: 1, ..Counters::default() };
    assert_eq!(drive.counters(), expected);
}

#[test]
fn sepgc_keeps_survivors_apart_from_the_writes_of_the_host() {
    let sepgc =
        Setup { manager: placed("sepgc"), victims: victims("fifo"), ..setup(4, 1, Layout::Flat) };
    let drive = written(sepgc, &[0, 1, 2, 3, 0, 2, 0, 2, 0]);
    // The valid pages of blocks 0 and 1, pages 1 and 3, fill block 0. Block 1 is free for the host.
    assert_eq!(drive.map(), map(&[(0, 2), (1, 0), (2, 7), (3, 1)]));
    assert_eq!(drive.erase_counts(), [1, 1, 0, 0]);
    assert_eq!(drive.counters().gc_programs, 2);
}

#[test]
fn striped_writes_take_the_luns_in_turn() {
    let drive = written(setup(4, 2, Layout::Striped), &[0, 1, 2, 3, 4]);
    assert_eq!(drive.map(), map(&[(0, 0), (1, 4), (2, 1), (3, 5), (4, 2)]));
}

#[test]
fn a_lun_without_invalid_pages_is_passed_over_where_each_collects_for_itself() {
    let full = [0, 1, 2, 3, 4, 5]; // even pages on LUN 0, odd ones on LUN 1; one page left on each
    let drive = written(setup(4, 2, Layout::StripedPerLun), &[&full[..], &[0, 0, 2, 2]].concat());
    // The writes of 0 fill LUN 0, then LUN 1, which has no invalid page. For the first write of 2,
    // LUN 0 collects block 0. The second is LUN 1's turn, but LUN 0 collects again: block 1.
    assert_eq!(drive.erase_counts(), [1, 1, 0, 0]);
    assert_eq!(drive.map(), map(&[(0, 7), (1, 4), (2, 3), (3, 5), (4, 2), (5, 6)]));
}

#[test]
fn a_page_of_a_static_layout_stays_on_its_own_lun_which_makes_room_for_it() {
    let drive = written(setup(4, 2, Layout::Static), &[0, 2, 1, 0, 2, 2]);
    // When page 2 is written last, LUN 0 is full, and both pages of block 0 are invalid. LUN 1 is
    // almost empty.
    assert_eq!(drive.erase_counts(), [1, 0, 0, 0]);
    assert_eq!(drive.map(), map(&[(0, 2), (1, 4), (2, 0)]));
}

#[test]
fn a_spare_block_replaces_the_first_that_is_worn_out() {
    let wear = Wear { limit: Some(2), spare_blocks_per_pool: 1 };
    let fifo = Setup { wear, victims: victims("fifo"), ..setup(4, 1, Layout::Flat) };
    // Pages 0 and 1 fill blocks 0, 1 and 2 in turn; each time, the previous block becomes invalid.
    let mut drive = written(fifo, &[0, 1, 0, 1, 0, 1]);
    assert_eq!(drive.spares(), [[3]]);
    let turn = |drive: &mut NaiveDrive| {
        let hint = Hint { group: 1, invalidation_time: None, tag: 0, handle: None };
        [0, 1].map(|page| drive.write(page, hint))
    };
    for _ in 0..3 {
        turn(&mut drive); // erases blocks 0, 1 and 2
    }
    assert_eq!(drive.end_of_life(), None);
    turn(&mut drive); // erases block 0, which spare block 3 replaces
    assert_eq!(drive.map(), map(&[(0, 6), (1, 7)]));
    let first = Erased { erases: 1, migrated_pages: 0, host_pages: 6 };
    let second = Erased { erases: 4, migrated_pages: 0, host_pages: 12 };
    assert_eq!(drive.first_to_reach(), [first, second]);
    let end = EndOfLife { after: second, erase_counts: vec![2, 1, 1, 0] };
    assert_eq!(drive.end_of_life(), Some(&end));
    turn(&mut drive); // erases block 1, which remains in use, as no spare is left
    assert_eq!(drive.map(), map(&[(0, 2), (1, 3)]));
    assert_eq!(drive.end_of_life(), Some(&end));
}

#[test]
fn a_trim_invalidates_once() {
    let mut drive = written(setup(3, 1, Layout::Flat), &[0, 1, 2]);
    for page in [1, 1, 3] {
        drive.trim(page);
    }
    assert_eq!(drive.map(), map(&[(0, 0), (2, 2)]));
    assert_eq!((drive.invalid_pages(0), drive.counters().trimmed_pages), (1, 1));
}

#[test]
fn each_policy_takes_the_block_that_its_sentence_names() {
    let candidate = |invalid_pages, closed, changed, age| Candidate {
        valid_pages: 8 - invalid_pages,
        invalid_pages,
        closed,
        changed,
        age,
        age_from_close: 100 - closed,
        number: closed as u32,
        writes: changed,
        ages: 3 * age,
    };
    let blocks = [
        candidate(2, 4, 10, 40), // 40·2/(2·6) = 10/3
        candidate(4, 3, 12, 20), // 20·4/(2·4) = 10
        candidate(4, 2, 13, 20), // the same, changed later
        candidate(0, 1, 1, 90),  // 0
        candidate(2, 5, 11, 60), // 60·2/(2·6) = 10, with fewer invalid pages
    ];
    let choose = |spec: Spec, blocks: &[Candidate]| {
        victims::rule(&spec).choose(blocks, &mut Stream::new(1, "test"))
    };
    let windowed = |window| Spec::new("windowed-greedy", [("window", window)]);
    assert_eq!(choose(victims("greedy"), &blocks), 1);
    assert_eq!(choose(victims("fifo"), &blocks), 3);
    assert_eq!(choose(windowed("3"), &blocks), 2);
    assert_eq!(choose(windowed("1"), &blocks), 3);
    assert_eq!(choose(victims("cost-benefit"), &blocks), 1);
    let cost_benefit = |age, power| Spec::new("cost-benefit", [("age", age), ("power", power)]);
    // From the close on: 96·2/12 = 16, 97·4/8, 98·4/8 = 49, 0 and 95·2/12.
    assert_eq!(choose(cost_benefit("closed", "1"), &blocks), 2);
    // √40·2/12 = 1.05, √20·4/8 = 2.24, the same, 0, √60·2/12 = 1.29.
    assert_eq!(choose(cost_benefit("invalidated", "0.5"), &blocks), 1);
    // 120·2/(12·10) = 2, 60·4/(8·12) = 2.5, 60·4/(8·13) = 2.3, 0, 180·2/(12·11) = 2.7.
    assert_eq!(choose(victims("cost-hotness"), &blocks), 4);
    let with_dead = [&blocks[..], &[candidate(8, 6, 14, 0)]].concat();
    assert_eq!(choose(victims("cost-benefit"), &with_dead), 5);
    assert_eq!(choose(victims("cost-hotness"), &with_dead), 5);

    let mut stream = Stream::new(1, "test");
    let drawn: Vec<usize> = (0..3).map(|_| stream.below(5) as usize).collect();
    assert_eq!(choose(victims("random"), &blocks), drawn[0]);
    let most = drawn.iter().map(|&i| blocks[i].invalid_pages).max().unwrap();
    let first = drawn.into_iter().find(|&i| blocks[i].invalid_pages == most).unwrap();
    assert_eq!(choose(Spec::new("d-choices", [("d", "3")]), &blocks), first);
}

/// Writes until the hot frontier is full.
///
/// Pages 0 to 3 are hot. Blocks 0 and 1 are the first hot and cold frontiers, then blocks 2 and 3.
const TO_A_FULL_HOT_FRONTIER: [u32; 8] = [0, 4, 1, 5, 0, 4, 0, 0];

fn hot_cold(d_swap: Option<u32>, pages: &[u32]) -> NaiveDrive {
    let (manager, victims) = (Manager::HotCold { d_swap }, victims("fifo"));
    written(Setup { manager, victims, ..setup(4, 1, Layout::Flat) }, pages)
}

#[test]
fn a_victim_becomes_the_frontier_and_pages_of_the_other_kind_go_to_the_other_frontier() {
    let drive = hot_cold(None, &TO_A_FULL_HOT_FRONTIER);
    // The third write of 0 fills block 2. Victim: block 0 (hot), which keeps page 1 and becomes the
    // hot frontier. The fourth write of 0 fills block 0. Victim: block 1 (cold), whose page 5 goes
    // to the cold frontier; block 1 becomes the hot frontier. The cold frontier is then full.
    // Victim: block 2 (hot, without valid pages), which becomes the cold frontier.
    assert_eq!(drive.map(), map(&[(0, 1), (1, 0), (4, 6), (5, 7)]));
    assert_eq!(drive.erase_counts(), [1, 1, 1, 0]);
    assert_eq!(drive.counters().gc_programs, 2);
}

#[test]
fn a_cold_victim_that_does_not_fit_becomes_the_cold_frontier_or_swaps_with_a_hot_one() {
    // One more cold page; then block 1 fills with versions of page 0, and block 0 with pages 1 and
    // 0. The victim is block 3 (cold) with pages 4 and 5. The cold frontier has room for one page.
    let pages = [&TO_A_FULL_HOT_FRONTIER[..], &[6, 0, 0, 0]].concat();
    let (plain, swap) = (hot_cold(None, &pages), hot_cold(Some(50), &pages));
    // Without a swap, block 3 keeps page 5, and block 1 (hot, without valid pages) becomes the hot
    // frontier.
    assert_eq!(plain.map(), map(&[(0, 1), (1, 0), (4, 5), (5, 6), (6, 4)]));
    // With a swap, block 1 receives page 5, and block 3 becomes the hot frontier.
    assert_eq!(swap.map(), map(&[(0, 1), (1, 0), (4, 5), (5, 2), (6, 4)]));
    for drive in [plain, swap] {
        assert_eq!(drive.erase_counts(), [2, 2, 1, 1]);
        assert_eq!(drive.counters().gc_programs, 5);
    }
}
