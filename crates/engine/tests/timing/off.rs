//! A drive that is turned off, saved, and turned on again.

use writeamp_engine::flash::{Cause, Counters, EraseUnit, Shape};
use writeamp_engine::managers::Layout;
use writeamp_engine::request::Op;
use writeamp_engine::rng::Stream;
use writeamp_engine::state::{intact, pack, unpack, unpack_intact};
use writeamp_engine::timing::{BlockDevice, Completion, IoRequest, Ssd, Timing};

use crate::rig::{PAGE, read, setup, write, written};

const HOST_PAGES: u32 = 512;
const SHAPE: Shape = Shape {
    channels: 2,
    chips_per_channel: 1,
    dies_per_chip: 1,
    planes_per_die: 1,
    blocks_per_plane: 48,
    pages_per_block: 8,
    page_bytes: PAGE as u32,
    erase_unit: EraseUnit::Block,
};

/// Times of which each group needs something that must outlast the power.
fn timings() -> Vec<(&'static str, Timing)> {
    let times = r#""timing": {"read_us": 10, "program_us": 40, "erase_us": 90, "program_spread": 0.1},
        "host": {"depth": 8, "controller_ns": 300, "link_mb_s": 2000, "read_modify_write": true}"#;
    let cache = r#""write_cache": {"bytes": 65536, "idle_flush_ms": 0.2}"#;
    let slc = r#""slc": {"static_bytes": 262144, "dynamic_share": 0.2, "bits_per_cell": 3,
        "read_us": 5, "program_us": 20, "erase_us": 50, "idle_ms": 0.5}"#;
    let map = r#""map_cache": {"bytes": 1024, "entry_bytes": 8, "segment_bytes": 512}"#;
    let upkeep = r#""refresh": {"reads_per_block": 9, "retention_s": 0.05},
        "collection": {"background": true, "soft_blocks": 4, "hard_blocks": 2}"#;
    let errors = r#""errors": {"erases": [0, 40], "retention_days": [0, 1],
        "raw_bit_error_rate": [[1e-3, 2e-3], [4e-3, 8e-3]], "page_spread": 0.2,
        "codeword_bytes": 1024, "correctable_bits": 12, "retry_factor": 0.8, "most_retries": 4,
        "decode_us": 5, "worn_erases": 3, "aged_days": 0.1}"#;
    let queues = r#""scheduling": {"reads_first": true, "dispatch": "shortest-queue"}"#;
    [
        ("nothing", String::new()),
        ("a write cache", format!(", {cache}")),
        ("an SLC cache", format!(", {cache}, {slc}")),
        ("a part of the table in memory", format!(", {cache}, {map}")),
        ("upkeep", format!(", {cache}, {upkeep}")),
        ("read errors", format!(", {errors}")),
        ("the shortest queue", format!(", {cache}, {queues}")),
        ("all", format!(", {cache}, {slc}, {map}, {upkeep}, {errors}")),
    ]
    .into_iter()
    .map(|(name, more)| (name, Timing::from_json(&format!("{{{times}{more}}}")).unwrap()))
    .collect()
}

fn new_drive(timing: &Timing) -> Ssd {
    let logical_pages = Ssd::logical_pages(timing, HOST_PAGES, PAGE as u32);
    let table_pages = Ssd::pages_apart(timing, HOST_PAGES, PAGE as u32);
    let mut setup = setup(SHAPE, Layout::Striped, logical_pages);
    setup.table_pages = table_pages;
    let drive = written("sepgc", setup, &(0..logical_pages).collect::<Vec<_>>());
    Ssd::new(drive, timing.clone(), HOST_PAGES, 5).unwrap()
}

fn draw(random: &mut Stream) -> IoRequest {
    let kind = random.below(16);
    let (page, pages) = (random.below(HOST_PAGES - 4), 1 + random.below(4));
    let (offset, length) = (u64::from(page) * PAGE, u64::from(pages) * PAGE);
    match kind {
        0..=8 => IoRequest { fua: kind == 0, ..IoRequest::new(Op::Write, offset, length) },
        9..=10 => IoRequest::new(Op::Write, offset + 512, 1024),
        11..=13 => IoRequest::new(Op::Read, offset, length),
        14 => IoRequest::new(Op::Trim, offset, length),
        _ => IoRequest::new(Op::Flush, 0, 0),
    }
}

/// Serves requests drawn at random, a few at a time and with pauses.
/// Returns the answers, with times since it began.
fn serve(ssd: &mut Ssd, random: &mut Stream, requests: u32) -> Vec<Completion> {
    let (began_ns, mut at_ns) = (ssd.now_ns(), ssd.now_ns());
    let mut completed: Vec<Completion> = Vec::new();
    let mut submitted = 0;
    while submitted < requests {
        at_ns += u64::from(random.below(60_000));
        at_ns += if random.below(100) == 0 { 3_000_000 } else { 0 };
        while ssd.next_event_ns().is_some_and(|next_ns| next_ns < at_ns) {
            ssd.step(&mut completed).unwrap();
        }
        if submitted - (completed.len() as u32) < ssd.depth() {
            ssd.submit(at_ns, &draw(random), submitted).unwrap();
            submitted += 1;
        }
    }
    for one in &mut completed {
        one.at_ns -= began_ns;
    }
    completed
}

fn counters(ssd: &Ssd) -> Counters {
    ssd.counters().expect("a flash drive")
}

/// Figures of a drive: all that is known of it but for the pages that it holds.
fn known(ssd: &Ssd) -> impl PartialEq + std::fmt::Debug + use<> {
    let wear = ssd.drive().flash().erase_counts().to_vec();
    let operations = (ssd.program_operations(), ssd.read_operations());
    (counters(ssd), wear, ssd.slc_wear(), ssd.read_errors(), operations)
}

#[test]
fn a_drive_that_was_saved_goes_on_as_the_one_that_was_turned_off() {
    for (name, timing) in timings() {
        let mut kept = new_drive(&timing);
        let mut random = Stream::new(8, name);
        for start in 0..3 {
            serve(&mut kept, &mut random, 1500);
            kept.turn_off(0).unwrap();
            assert_eq!(kept.next_event_ns(), None);
            let packed = pack(&kept);
            let mut restored = new_drive(&timing);
            unpack(&mut restored, &packed).unwrap();
            assert!(pack(&restored) == packed, "{name}, start {start}");
            assert_eq!(known(&restored), known(&kept), "{name}, start {start}");
            restored.drive().assert_invariants();
            let mut same = random.clone();
            let expected = serve(&mut kept, &mut random, 800);
            assert!(serve(&mut restored, &mut same, 800) == expected, "{name}, start {start}");
            assert_eq!(known(&restored), known(&kept), "{name}, start {start}");
            kept.turn_off(0).unwrap();
            restored.turn_off(0).unwrap();
            assert!(pack(&restored) == pack(&kept), "{name}, start {start}");
        }
        let found = counters(&kept);
        let moved = found.programs(Cause::Gc) + found.programs(Cause::Refresh);
        assert!(moved > 500, "{name}: {found:?}");
        let retries = kept.read_errors().map(|found| found.retries.iter().sum::<u64>());
        assert!(retries.is_none_or(|retries| retries > 100), "{name}: {retries:?}");
        let causes = [Cause::Slc, Cause::Mapping, Cause::Refresh];
        let there = [timing.slc.is_there(), timing.map_cache.bytes > 0, {
            timing.refresh.reads_per_block > 0
        }];
        assert_eq!(causes.map(|cause| found.programs(cause) > 0), there, "{name}");
    }
}

#[test]
fn what_waits_in_memory_is_written_before_it_is_off() {
    let timing = Timing::from_json(r#"{"write_cache": {"bytes": 1048576}}"#).unwrap();
    let mut ssd = new_drive(&timing);
    ssd.submit(5, &write(3), 0).unwrap();
    ssd.submit(5, &write(4), 1).unwrap();
    ssd.turn_off(1000).unwrap();
    assert_eq!(counters(&ssd).programs(Cause::Host), 2);
    assert!(ssd.now_ns() > 1000);
}

#[test]
fn an_slc_cache_is_not_folded_for_that_and_read_from_afterwards() {
    let (_, timing) = timings().swap_remove(2);
    let mut ssd = new_drive(&timing);
    (0..40).for_each(|page| ssd.submit(5, &write(page), page as u32).unwrap());
    ssd.turn_off(0).unwrap();
    let found = counters(&ssd);
    assert_eq!([Cause::Slc, Cause::Folding].map(|cause| found.programs(cause)), [40, 0]);
    let mut again = new_drive(&timing);
    unpack(&mut again, &pack(&ssd)).unwrap();
    let read_ns = |ssd: &mut Ssd, page| {
        let from_ns = ssd.now_ns() + 10;
        ssd.submit(from_ns, &read(page), 0).unwrap();
        let mut completed = Vec::new();
        while completed.is_empty() {
            ssd.step(&mut completed).unwrap();
        }
        completed[0].at_ns - from_ns
    };
    // Those of the cache take half the time of the others.
    assert!(read_ns(&mut again, 3) + 4_000 < read_ns(&mut again, 300));
}

#[test]
fn what_of_the_table_changed_in_memory_is_written_once() {
    let timing = r#"{"map_cache": {"bytes": 1048576, "entry_bytes": 8, "segment_bytes": 512}}"#;
    let mut ssd = new_drive(&Timing::from_json(timing).unwrap());
    // Entries of 512 pages are one page of the table.
    (0..20).for_each(|page| ssd.submit(5, &write(9 * page), page as u32).unwrap());
    ssd.turn_off(0).unwrap();
    assert_eq!(counters(&ssd).programs(Cause::Mapping), 1);
    ssd.turn_off(0).unwrap();
    assert_eq!(counters(&ssd).programs(Cause::Mapping), 1);
}

/// No restored state makes a drive panic later, even one with a made-up checksum.
#[test]
fn a_damaged_state_is_refused_or_goes_on() {
    let (mut refused, mut restored) = (0, 0);
    for (name, timing) in timings() {
        let mut ssd = new_drive(&timing);
        let mut random = Stream::new(8, name);
        serve(&mut ssd, &mut random, 1500);
        ssd.turn_off(0).unwrap();
        let packed = pack(&ssd);
        let payload = intact(&packed).unwrap();
        // What is of time stands behind the flash.
        let flash_bytes = intact(&pack(ssd.drive())).unwrap().len() as u32;
        for _ in 0..60 {
            let mut payload = payload.to_vec();
            let at = flash_bytes + random.below(payload.len() as u32 - flash_bytes);
            payload[at as usize] = match random.below(4) {
                0 => random.bits() as u8,
                1 => payload[at as usize].wrapping_add(1),
                2 => u8::MAX,
                _ => payload[at as usize] ^ (1 << random.below(8)),
            };
            let mut drive = new_drive(&timing);
            if unpack_intact(&mut drive, &payload).is_ok() {
                serve(&mut drive, &mut random, 200);
                drive.turn_off(0).unwrap();
                restored += 1;
            } else {
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {restored} restored");
    assert!(refused > 20 && restored > 20);
}
