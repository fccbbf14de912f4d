//! Tests that the size of batches does not change the outcome of a run.

use writeamp_engine::flash::TagCounters;
use writeamp_engine::flash::{Counters, EndOfLife, EraseUnit, Geometry, Moment, Shape, Wear};
use writeamp_engine::hints::{Group, Hints};
use writeamp_engine::rng::Stream;

use crate::cases::{Blueprint, Combination, TAGS, combinations};
use crate::pairwise::covering;
use crate::patience::in_time;

/// Batch sizes, each of which is compared with batches of one page.
///
/// They include sizes near the engine's look-ahead and its default batch, and one batch of all
/// writes.
const BATCH_SIZES_PAGES: [usize; 7] = [2, 7, 24, 25, 1000, 4096, usize::MAX];

/// Logical pages of a drive; drives with many streams may have fewer.
const LOGICAL_PAGES: u32 = 4000;

/// Observable state after a run.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    counters: Counters,
    erase_counts: Vec<u32>,
    first_to_reach: Vec<Moment>,
    end_of_life: Option<EndOfLife>,
    map: Vec<Option<u32>>,
    by_tag: Option<TagCounters>,
    /// Tag of the data of each page.
    tags: Vec<Option<u8>>,
}

#[test]
fn batches_of_any_size_give_the_same_outcome() {
    let shape = Shape {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 10,
        pages_per_block: 66,
        page_bytes: Geometry::PAGE_BYTES,
        erase_unit: EraseUnit::Block,
    };
    let geometry = Geometry::new(shape).expect("a small shape");
    let wear = Wear { limit: 20, spare_blocks_per_pool: 1 };
    for sizes_of_one in combinations_with_sizes().chunk_by(|a, b| a.0 == b.0) {
        let policies = sizes_of_one[0].0;
        let blueprint = Blueprint {
            geometry,
            policies,
            seed: 3,
            wear,
            has_table: false,
            has_own_stream: false,
        };
        let by_one = outcome_in_time(&blueprint, 1);
        assert!(by_one.counters.erases > 3000, "{blueprint:?}: {:?}", by_one.counters);
        assert!(by_one.end_of_life.is_some(), "{blueprint:?}: {:?}", by_one.first_to_reach);
        for &(_, batch_pages) in sizes_of_one {
            let by_batch = outcome_in_time(&blueprint, batch_pages);
            assert!(
                by_batch == by_one,
                "{blueprint:?}: batches of {batch_pages} and of 1 differ: {:?} and {:?}",
                by_batch.counters,
                by_one.counters
            );
        }
    }
}

/// Lists each combination with each batch size; the sizes of a combination are adjacent.
fn combinations_with_sizes() -> Vec<(Combination, usize)> {
    let all = combinations().into_iter();
    let all = all.flat_map(|combination| BATCH_SIZES_PAGES.map(|size| (combination, size)));
    covering(all.collect(), |(combination, size)| {
        let [manager, victims, layout, leveler] = combination.factors();
        [manager, victims, layout, leveler, size.to_string()]
    })
}

fn outcome_in_time(blueprint: &Blueprint, batch_pages: usize) -> Outcome {
    let drive = blueprint.clone();
    in_time(move || Ok(outcome(&drive, batch_pages)))
        .unwrap_or_else(|error| panic!("{blueprint:?}: {error}"))
}

/// Returns the outcome of ten rounds of writes and TRIMs.
///
/// Half of the writes go to a tenth of the pages.
fn outcome(blueprint: &Blueprint, batch_pages: usize) -> Outcome {
    let logical_pages = LOGICAL_PAGES.min(blueprint.most_logical_pages());
    let mut drive = blueprint.build(logical_pages).expect("a drive with spare space");
    let (mut random, mut tags) = (Stream::new(5, "picks"), Stream::new(5, "tags"));
    let hot = Group { pages: logical_pages / 10, write_share: 0.5 };
    let groups = [hot, Group { pages: logical_pages - hot.pages, write_share: 0.5 }];
    for _ in 0..10 {
        let hot_or_not = |_| {
            let pages = if random.bits() & 1 == 1 { logical_pages / 10 } else { logical_pages };
            random.below(pages)
        };
        let written: Vec<u32> = (0..20_000).map(hot_or_not).collect();
        let trimmed: Vec<u32> = (0..500).map(|_| random.below(logical_pages)).collect();
        written.chunks(batch_pages).for_each(|batch| {
            let group_of: Vec<u8> =
                batch.iter().map(|&page| u8::from(page >= logical_pages / 10)).collect();
            let invalidation_times: Vec<u64> =
                batch.iter().map(|&page| u64::from(page) * 40).collect();
            let tags: Vec<u8> = batch.iter().map(|_| tags.below(TAGS.into()) as u8).collect();
            let hints = Hints {
                groups: &groups,
                group_of: &group_of,
                invalidation_times: &invalidation_times,
                tags: &tags,
                placement: &tags,
            };
            drive.write(batch, Some(hints)).expect("valid pages");
        });
        for &page in &trimmed {
            drive.trim(page..page + 1).expect("valid pages");
        }
    }
    drive.assert_invariants();
    let flash = drive.flash();
    Outcome {
        counters: *flash.counters(),
        erase_counts: flash.erase_counts().to_vec(),
        first_to_reach: flash.wear().first_to_reach().to_vec(),
        end_of_life: flash.wear().end_of_life().cloned(),
        map: (0..logical_pages).map(|page| flash.physical(page)).collect(),
        by_tag: flash.tag_counters(),
        tags: (0..logical_pages).map(|page| Some(flash.tag_at(flash.physical(page)?))).collect(),
    }
}
