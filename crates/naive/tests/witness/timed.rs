//! Tests of the engine's timed drive against the naive timed drive.
//!
//! Random drives and random requests agree in every completion and every counter.

mod absurd;
mod books;
mod hosts;
mod leveled;
mod profiles;

use proptest::prelude::*;
use writeamp_engine::hints::UNTAGGED;
use writeamp_engine::request::Op;
use writeamp_engine::timing::{IoRequest, Ssd};
use writeamp_naive::timed::TimedDrive;

use books::{Books, filled_drive};
use hosts::{Asking, drive};
use profiles::{Drive, Parts, TAGS, Times, drives};

/// Draft of a request for a drive of unknown size: kind, position, length, and gap in time.
type Draft = (u8, u32, u32, u64);

fn asking((kind, place, length, gap): Draft, drive: &Drive) -> Asking {
    let (capacity, page_bytes) = (drive.capacity_bytes(), u64::from(drive.geometry.page_bytes()));
    let op = match kind % 16 {
        0..6 => Op::Read,
        6..14 => Op::Write,
        14 => Op::Trim,
        _ => Op::Flush,
    };
    // Most requests go to a quarter of the pages.
    let pages = if place.is_multiple_of(3) { drive.host_pages } else { drive.host_pages / 4 };
    let page = u64::from(place / 3 % pages);
    let (head, length) = match length % 8 {
        0..4 => (0, page_bytes),
        4 => (0, page_bytes * u64::from(length / 8 % 9)),
        5 => (page_bytes / 2, page_bytes),
        6 => (u64::from(length / 8) % page_bytes, u64::from(length / 64) % (3 * page_bytes)),
        _ => (0, 512.min(page_bytes)),
    };
    let offset = page * page_bytes + head;
    let length = if op == Op::Flush { 0 } else { length.min(capacity - offset) };
    let fua = op == Op::Write && kind / 16 == 0;
    let gap_ns = if gap.is_multiple_of(50) { 400_000 + gap % 1_000_000 } else { gap % 60_013 };
    let whim = (gap >> 32) as u32;
    let tag = [0, 1, TAGS - 1, UNTAGGED][(whim >> 8) as usize % 4];
    Asking { request: IoRequest { op, offset, length, fua, tag }, gap_ns, whim }
}

fn agrees(case: &Drive, drafts: &[Draft], closed: Option<usize>) -> Result<(), TestCaseError> {
    let asked: Vec<Asking> = drafts.iter().map(|&draft| asking(draft, case)).collect();
    let setup = case.setup();
    // Some shapes are too small for their managers; other tests check that these reject them.
    prop_assume!(writeamp_engine::managers::check(case.manager, &setup).is_ok());
    // Some drives are too small for the groups of the host.
    let first = filled_drive(case.manager, &setup, &case.fill());
    prop_assume!(first.is_ok() || !case.manager.starts_with(['w', 'f']));
    let build = || filled_drive(case.manager, &setup, &case.fill()).expect("it was checked");
    let mut engine = Ssd::new(build(), case.timing.clone(), case.host_pages, case.seed)
        .expect("a possible profile");
    let mut twin = TimedDrive::new(case.profile(), Books::new(build(), case.host_pages), case.seed);
    let depth = case.timing.host.depth as usize;
    let found = drive(&mut engine, &asked, closed, depth);
    let expected = drive(&mut twin, &asked, closed, depth);
    prop_assert_eq!(found, expected);
    engine.drive().assert_invariants();
    Ok(())
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    prop::collection::vec(any::<Draft>(), 1..220)
}

fn pacing() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), (1_usize..20).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_array_and_its_twin_end_everything_at_the_same_nanosecond(
        case in drives(Times::Odd, Parts::Array), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn drawn_durations_are_the_twins(
        case in drives(Times::Spread, Parts::Array), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn what_ends_at_the_same_time_ends_in_the_twins_order(
        case in drives(Times::Equal, Parts::Array), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn what_takes_no_time_is_counted_as_by_the_twin(
        case in drives(Times::Zero, Parts::All), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn caches_tables_and_refresh_end_everything_when_the_twins_do(
        case in drives(Times::Odd, Parts::All), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn caches_tables_and_refresh_break_ties_as_the_twins_do(
        case in drives(Times::Equal, Parts::All), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn an_slc_cache_ends_everything_when_the_twins_does(
        case in drives(Times::Odd, Parts::Slc), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn an_slc_cache_breaks_ties_as_the_twins_does(
        case in drives(Times::Equal, Parts::Slc), drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }

    #[test]
    fn an_slc_cache_with_drawn_durations_or_none_is_the_twins(
        case in prop_oneof![drives(Times::Spread, Parts::Slc), drives(Times::Zero, Parts::Slc)],
        drafts in drafts(), closed in pacing(),
    ) {
        agrees(&case, &drafts, closed)?;
    }
}
