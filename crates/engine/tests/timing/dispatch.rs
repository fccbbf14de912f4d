//! Choice of the die that the host's next pages go to.

use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{Layout, Setup};
use writeamp_engine::request::Op;
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{Dispatch, IoRequest, Ssd};

use crate::rig::{ONE_DIE, PAGE, answers, timing, written};

/// Time that random writes to a drive take, whose dies collect blocks of many programs.
fn written_ns(dispatch: Dispatch) -> u64 {
    let mut timing = timing();
    timing.scheduling.dispatch = dispatch;
    timing.write_cache.bytes = 64 * PAGE;
    let shape = Shape {
        channels: 8,
        blocks_per_plane: 16,
        pages_per_block: 64,
        erase_unit: EraseUnit::Block,
        ..ONE_DIE
    };
    let logical_pages = 6400;
    let setup = Setup {
        logical_pages,
        layout: Layout::StripedPerLun,
        ..Setup::new(Geometry::new(shape).expect("a small drive"))
    };
    let mut random = Stream::new(1, "pages");
    let aged = (0..logical_pages).chain((0..8000).map(|_| random.below(logical_pages)));
    let drive = written("single", setup, &aged.collect::<Vec<_>>());
    let mut ssd = Ssd::new(drive, timing, logical_pages, 1).expect("a possible profile");
    let asked: Vec<(u64, IoRequest)> = (0..4000)
        .map(|_| {
            let offset = u64::from(random.below(logical_pages)) * PAGE;
            (0, IoRequest::new(Op::Write, offset, PAGE))
        })
        .collect();
    let answered = answers(&mut ssd, &asked);
    ssd.drive().assert_invariants();
    answered.into_iter().max().expect("there were requests")
}

#[test]
fn writes_that_go_where_least_waits_do_not_wait_for_the_dies_that_collect() {
    let (in_turn_ns, shortest_ns) =
        (written_ns(Dispatch::InTurn), written_ns(Dispatch::ShortestQueue));
    assert!(13 * shortest_ns < 10 * in_turn_ns, "{shortest_ns} against {in_turn_ns} ns");
}
