//! The two drives agree on every counter, every block and every page, after every batch.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::bool::weighted;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::leveling;
use writeamp_engine::rng::Stream;
use writeamp_naive::Counters;

use crate::cases::{Blueprint, Case, Combination, combinations, drives, only};
use crate::forms::is_full;
use crate::host::{Burst, Target, bursts};
use crate::pair::Pair;
use crate::pairwise::covering;
use crate::patience::in_time;

/// Number of random cases in a normal and in a full test run.
const CASES: u32 = 500;
const FULL_CASES: u32 = 6000;

/// Configuration of the search.
///
/// The seed is fixed, so that a test run is repeatable. `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
/// select other and more cases.
fn config() -> Config {
    let max_shrink_time = 60_000; // milliseconds; a case that hangs takes half of that
    let mut config = Config { failure_persistence: None, max_shrink_time, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = if is_full() { FULL_CASES } else { CASES };
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

#[test]
fn random_drives_agree_after_every_batch() {
    let config = config();
    let (seed, cases) = (config.rng_seed, config.cases);
    // Number of cases of each combination, and of those that collect, to check that the search
    // tests all combinations.
    let tally = RefCell::new(BTreeMap::<String, (u32, u32)>::new());
    let ended = RefCell::new(0);
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&(drives(), weighted(0.9), bursts()), |(drive, filled, bursts)| {
        let mut requests: Vec<Burst> = Vec::new();
        requests.extend(filled.then(|| Burst::fill(drive.logical_pages)));
        requests.extend(bursts);
        let outcome = outcome_of_both(&drive, requests).map_err(TestCaseError::fail)?;
        let Combination { victims, manager, layout, .. } = &drive.blueprint.policies;
        let mut tally = tally.borrow_mut();
        let (cases, collecting) =
            tally.entry(format!("{victims} on {manager}, {layout:?}")).or_default();
        *cases += 1;
        *collecting += u32::from(outcome.counters.erases > 0);
        *ended.borrow_mut() += u32::from(outcome.life_ended);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}\nfound with {seed:?}");
    }
    assert!(ended.into_inner() > cases / 15, "few lives ended");
    // In a normal run, a combination has about twenty cases, and nearly all of them fill the drive.
    for (combination, (cases, collecting)) in tally.into_inner() {
        assert!(
            cases < 10 || collecting * 2 > cases,
            "{combination}: only {collecting} of {cases} cases collect"
        );
    }
}

/// Kind of drive on which the combinations are tested.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trial {
    /// 67 pages per block, so that blocks begin and end inside the 64-bit words of bitmaps.
    Ordinary,
    /// As full as the engine allows.
    Full,
    /// Blocks wear out, beyond the last spare.
    Worn,
    /// Half empty, with many blocks, so that many groups can be created and merged.
    Roomy,
    /// Some pages hold a mapping table.
    Mapped,
    /// Some pages have a stream of their own.
    Own,
}

#[test]
fn combinations_collect_and_agree_on_an_ordinary_drive() {
    for_each_combination(Trial::Ordinary, |most_logical_pages| most_logical_pages * 3 / 4, 50);
}

#[test]
fn combinations_collect_and_agree_on_a_drive_as_full_as_the_engine_allows() {
    for_each_combination(Trial::Full, |most_logical_pages| most_logical_pages, 300);
}

#[test]
fn combinations_agree_while_blocks_wear_out_and_beyond_the_last_spare() {
    for_each_combination(Trial::Worn, |most_logical_pages| most_logical_pages, 300);
}

#[test]
fn combinations_collect_and_agree_on_a_drive_with_room_for_many_groups() {
    for_each_combination(Trial::Roomy, |most_logical_pages| most_logical_pages / 2, 100);
}

#[test]
fn combinations_collect_and_agree_beside_a_mapping_table_in_blocks_of_its_own() {
    for_each_combination(Trial::Mapped, |most_logical_pages| most_logical_pages, 100);
}

#[test]
fn combinations_collect_and_agree_beside_a_stream_of_its_own_for_some_pages() {
    for_each_combination(Trial::Own, |most_logical_pages| most_logical_pages, 100);
}

/// Returns the combinations for a trial.
///
/// The trial is a further factor of the pairwise selection.
fn combinations_for(trial: Trial) -> Vec<Combination> {
    let trials =
        [Trial::Ordinary, Trial::Full, Trial::Worn, Trial::Roomy, Trial::Mapped, Trial::Own];
    let all = combinations().into_iter().flat_map(|c| trials.map(|trial| (c, trial)));
    let all = all.filter(|(policies, of)| *of != Trial::Own || policies.may_have_own_stream());
    let values = |(combination, trial): &(Combination, Trial)| {
        let [manager, victims, layout, leveler] = combination.factors();
        [manager, victims, layout, leveler, format!("{trial:?}")]
    };
    let chosen = covering(all.collect(), values).into_iter();
    chosen.filter(|(_, of)| *of == trial).map(|(combination, _)| combination).collect()
}

/// Returns a geometry with four LUNs.
fn geometry(blocks_per_lun: u32, pages_per_block: u32) -> Geometry {
    let shape = Shape {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 2,
        planes_per_die: 1,
        blocks_per_plane: blocks_per_lun,
        pages_per_block,
        page_bytes: Geometry::PAGE_BYTES,
        erase_unit: EraseUnit::Block,
    };
    Geometry::new(shape).expect("a small shape")
}

/// Compares the drives for each combination of a trial.
///
/// The drives serve a fill, uniform writes, hot writes, TRIMs and writes to one LUN only. Each
/// drive must have erased at least `least_erases` blocks.
fn for_each_combination(trial: Trial, logical_pages: fn(u32) -> u32, least_erases: u64) {
    let (blocks_per_lun, pages_per_block, wear) = match trial {
        Trial::Ordinary => (5, 67, Wear::default()),
        Trial::Full => (5, 9, Wear::default()),
        Trial::Worn => (7, 9, Wear { limit: 12, spare_blocks_per_pool: 2 }),
        Trial::Roomy => (24, 6, Wear::default()),
        Trial::Mapped | Trial::Own => (7, 9, Wear::default()),
    };
    let (has_table, has_own_stream) = (trial == Trial::Mapped, trial == Trial::Own);
    let (mut leveled, mut moved) = (0, 0);
    let combinations = combinations_for(trial);
    assert!(only().is_some() || !combinations.is_empty(), "{trial:?} has no combinations");
    for policies in combinations {
        // Drives with many streams need more blocks, so their number rises until the drive works.
        let blueprints = (blocks_per_lun..).map(|blocks_per_lun| {
            let geometry = geometry(blocks_per_lun, pages_per_block);
            Blueprint { geometry, policies, seed: 7, wear, has_table, has_own_stream }
        });
        let with_size = blueprints.map(|blueprint| (blueprint.most_logical_pages(), blueprint));
        let (most_logical_pages, blueprint) = with_size
            .into_iter()
            .find(|(most, blueprint)| most * 2 >= blueprint.geometry.physical_pages())
            .expect("some drive is large enough");
        let logical_pages = logical_pages(most_logical_pages);
        let drive = Case { blueprint, logical_pages };
        let mut random = Stream::new(7, "picks");
        let mut burst = |target, batch_pages, trim_every| Burst {
            target,
            picks: (0..1000).map(|_| random.below(u32::MAX)).collect(),
            batch_pages,
            trim_every,
            idle_every: 0,
        };
        let with_idle = Burst { idle_every: 3, ..burst(Target::Anywhere, 20, 4) };
        let bursts = vec![
            Burst::fill(logical_pages),
            burst(Target::Anywhere, 1, 0),
            burst(Target::Anywhere, 100, 5),
            burst(Target::Range { first: 5, pages: 20 }, 30, 0),
            burst(Target::OnLun(2), 7, 0),
            burst(Target::Anywhere, 10, 50),
            with_idle,
        ];
        let outcome =
            outcome_of_both(&drive, bursts).unwrap_or_else(|error| panic!("{drive:?}: {error}"));
        let done = outcome.counters;
        assert!(done.erases >= least_erases, "{drive:?}: only {} erases", done.erases);
        assert_eq!(outcome.life_ended, wear != Wear::default(), "{drive:?}");
        let may_move = policies.wear_leveling.is_some_and(|spec| {
            leveling::declared(spec).is_ok_and(|declared| declared.moves_pages)
        });
        assert!(done.wear_leveling_programs == 0 || may_move, "{drive:?}: {done:?}");
        leveled += u32::from(may_move);
        moved += u32::from(done.wear_leveling_programs > 0);
    }
    // Some drives have little to level: large drives with few writes, and policies such as fifo,
    // which wear all blocks evenly.
    assert!(
        only().is_some() || moved * 2 >= leveled,
        "only {moved} of {leveled} levelled drives moved data"
    );
}

/// Outcome of two drives that agreed throughout.
struct Outcome {
    counters: Counters,
    life_ended: bool,
}

/// Serves the same bursts on both drives.
fn outcome_of_both(drive: &Case, bursts: Vec<Burst>) -> Result<Outcome, String> {
    let drive = drive.clone();
    in_time(move || {
        let mut pair = Pair::new(&drive);
        bursts.iter().try_for_each(|burst| pair.serve(burst))?;
        Ok(Outcome { counters: pair.counters(), life_ended: pair.life_ended() })
    })
}
