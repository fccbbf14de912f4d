//! Untimed operations: with no time for anything, the drive in time counts as the other.
//! This is so with nothing held back, and what a run comes to depends on its seed alone.

use writeamp_engine::flash::{Cause, Counters, EraseUnit, Shape};
use writeamp_engine::managers::Layout;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::timing::{
    BlockDevice, ByKind, Collection, Direction, Limits, Ssd, TimedRun, Timing,
};
use writeamp_engine::workloads::{self, Context, Workload};

use crate::rig::{PAGE, answers, read, setup, timing, written};

const SHAPE: Shape = Shape {
    channels: 2,
    chips_per_channel: 1,
    dies_per_chip: 2,
    planes_per_die: 1,
    blocks_per_plane: 32,
    pages_per_block: 16,
    page_bytes: PAGE as u32,
    erase_unit: EraseUnit::Block,
};
const LOGICAL_PAGES: u32 = 1000;
const WRITES: u64 = 20_000;

fn workload(spec: &str, seed: u64) -> Box<dyn Workload> {
    workloads::build(spec, LOGICAL_PAGES, Context::root(seed)).expect("a registered workload")
}

fn fill() -> Vec<u32> {
    (0..LOGICAL_PAGES).collect()
}

/// Everything that both kinds of drive count, of a part of a run.
fn differences(after: &Counters, before: &Counters) -> Vec<u64> {
    let all = |counters: &Counters| {
        let host = counters.host;
        let mut all: Vec<u64> = Cause::ALL.iter().map(|&cause| counters.programs(cause)).collect();
        all.extend([counters.erases, counters.unmapped_pages, host.flushes]);
        all.extend([host.written_pages, host.written_bytes, host.read_pages, host.read_bytes]);
        all.extend([host.trimmed_pages, host.trimmed_bytes]);
        all
    };
    all(after).iter().zip(all(before)).map(|(after, before)| after - before).collect()
}

#[test]
fn without_time_and_caches_the_counters_are_those_of_the_drive_without_time() {
    for (manager, load) in
        [("single", "uniform"), ("sepgc", "hot-cold:f=0.1,r=0.9"), ("dac", "zipf")]
    {
        for layout in Layout::ALL {
            let drive = || written(manager, setup(SHAPE, layout, LOGICAL_PAGES), &fill());
            let mut plain = Simulation::new(drive(), workload(load, 7), 64).expect("a small run");
            let before = *plain.counters();
            plain.run(WRITES).expect("writes");
            let ssd = Ssd::new(drive(), Timing::default(), LOGICAL_PAGES, 1).expect("a drive");
            let limits = Limits { written_bytes: Some(WRITES * PAGE), ..Limits::default() };
            let mut timed =
                TimedRun::new(Box::new(ssd), workload(load, 7), PAGE as u32, 1.0, limits)
                    .expect("a small run");
            while !timed.advance(1 << 20).expect("a run that goes on") {}
            let found = timed.counters().expect("a flash drive");
            assert!(found.programs(Cause::Gc) > 0, "{manager} {layout:?}: nothing was collected");
            assert_eq!(
                differences(&found, &Counters::default()),
                differences(plain.counters(), &before),
                "{manager} {load} {layout:?}"
            );
            assert_eq!(timed.now_ns(), 0);
        }
    }
}

/// Outcome of a run with random durations, in steps of so many events.
fn outcome(seed: u64, events: u64) -> (Vec<u64>, [u64; 4]) {
    let mut timing = timing();
    timing.timing.program_spread = ByKind::Same(0.1);
    timing.timing.read_spread = ByKind::Same(0.05);
    let setup = setup(SHAPE, Layout::Striped, LOGICAL_PAGES);
    let ssd = Ssd::new(written("single", setup, &fill()), timing, LOGICAL_PAGES, seed)
        .expect("a possible profile");
    let limits = Limits { written_bytes: Some(4000 * PAGE), ..Limits::default() };
    let mut run = TimedRun::new(Box::new(ssd), workload("uniform", seed), PAGE as u32, 1.0, limits)
        .expect("a small run");
    while !run.advance(events).expect("a run that goes on") {}
    let writes = run.measures().served(Direction::Write);
    let (least, most) = writes.range_ns;
    let counters = run.counters().expect("a flash drive");
    let times = [run.now_ns(), u64::try_from(writes.sum_ns).expect("a short run"), least, most];
    (differences(&counters, &Counters::default()), times)
}

#[test]
fn a_run_depends_on_its_seed_and_on_nothing_else() {
    let whole = outcome(3, 1 << 30);
    assert_eq!(outcome(3, 1 << 30), whole);
    for events in [1, 7, 1000] {
        assert_eq!(outcome(3, events), whole, "in steps of {events} events");
    }
    assert_ne!(outcome(4, 1 << 30), whole);
}

/// Pages that a drive in time collects after its only request.
/// Before time began, it has rested or not.
fn collected_while_idle(background: bool, has_rested: bool) -> u64 {
    let collection = Collection { background, soft_blocks: 6, ..Collection::default() };
    let timing = Timing { collection, ..timing() };
    let mut drive = written("single", setup(SHAPE, Layout::StripedPerLun, LOGICAL_PAGES), &fill());
    let mut host = workload("uniform", 1);
    let mut pages = vec![0; WRITES as usize];
    host.next(&mut pages);
    drive.write(&pages, None).expect("pages of the drive");
    if has_rested {
        Ssd::rest(&mut *drive, &timing).expect("a drive that can collect");
    }
    drive.assert_invariants();
    let mut ssd = Ssd::new(drive, timing, LOGICAL_PAGES, 1).expect("a possible profile");
    answers(&mut ssd, &[(0, read(0))]);
    ssd.counters().expect("a flash drive").programs(Cause::Gc)
}

#[test]
fn a_drive_that_was_left_alone_before_time_began_collects_nothing_while_it_idles() {
    assert!(collected_while_idle(true, false) > 0);
    assert_eq!(collected_while_idle(true, true), 0);
}

#[test]
fn a_drive_without_background_collection_does_not_rest() {
    assert_eq!(collected_while_idle(false, false), collected_while_idle(false, true));
}
