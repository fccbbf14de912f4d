//! Planes that read independently, in schedules worked out by hand: see `schedules.rs`.
//! The drive has one die of two planes; pages 0 to 3 lie on the first, 4 to 7 on the second.

use writeamp_engine::flash::{EraseUnit, Shape};
use writeamp_engine::request::Op;
use writeamp_engine::timing::{BlockDevice, PlaneReads, Program, Scheduling, Ssd, Timing};

use crate::rig::{ONE_DIE, PAGE, answers, of_pages, read, ssd, timing, write};

fn scheduling(plane_reads: PlaneReads) -> Scheduling {
    Scheduling { plane_reads, reads_first: true, ..Scheduling::default() }
}

fn two_planes(scheduling: Scheduling) -> Ssd {
    ssd(Shape { planes_per_die: 2, ..ONE_DIE }, &Timing { scheduling, ..timing() })
}

#[test]
fn two_planes_read_together_and_send_one_after_the_other() {
    let asked = [(0, read(0)), (0, read(4))];
    let mut together = two_planes(scheduling(PlaneReads::Together));
    assert_eq!(answers(&mut together, &asked), [5196, 2 * 5196]);
    let mut apart = two_planes(scheduling(PlaneReads::Independent));
    assert_eq!(answers(&mut apart, &asked), [5196, 5196 + 4096]);
    let mut same_plane = two_planes(scheduling(PlaneReads::Independent));
    assert_eq!(answers(&mut same_plane, &[(0, read(0)), (0, read(1))]), [5196, 2 * 5196]);
}

#[test]
fn a_die_is_busy_while_any_of_its_planes_senses() {
    let mut drive = two_planes(scheduling(PlaneReads::Independent));
    drive.record_edges();
    answers(&mut drive, &[(0, read(0)), (0, read(4)), (50_000, read(4))]);
    let mut edges = Vec::new();
    drive.take_edges(&mut edges);
    let found: Vec<(u64, bool)> = edges.iter().map(|edge| (edge.at_ns, edge.busy)).collect();
    // The second plane has its command at 200 and is done at 1200.
    assert_eq!(found, [(100, true), (1200, false), (50_100, true), (51_100, false)]);
    let die = &drive.busy(60_000)[1];
    assert_eq!((die.level, die.busy_ns), ("die", 5196 + 4096 + 5196));
}

#[test]
fn a_program_waits_until_no_plane_reads() {
    let mut drive = two_planes(scheduling(PlaneReads::Independent));
    let asked = [(0, read(0)), (0, write(8)), (1000, read(4))];
    let read_ns = 5196 + 4096;
    assert_eq!(answers(&mut drive, &asked), [5196, read_ns + 14_296, read_ns]);
}

#[test]
fn reads_of_both_planes_suspend_a_program_once() {
    let suspending = Scheduling {
        suspend: true,
        suspend_us: 0.5,
        resume_us: 0.7,
        most_suspends: 1,
        ..scheduling(PlaneReads::Independent)
    };
    let mut drive = two_planes(suspending);
    // The array programs from 4296 on, is free of it at 6500, and has 8296 left at 6000.
    let asked = [(0, write(8)), (6000, read(0)), (6100, read(4))];
    let read_ns = 6500 + 5196;
    let programmed_ns = read_ns + 4096 + 700 + 8296;
    assert_eq!(answers(&mut drive, &asked), [programmed_ns, read_ns, read_ns + 4096]);
}

#[test]
fn what_was_programmed_on_all_planes_at_once_is_read_plane_by_plane() {
    let shape = Shape { planes_per_die: 2, erase_unit: EraseUnit::MultiPlane, ..ONE_DIE };
    let drive = |plane_reads| {
        let program = Program { planes: 2, ..Program::default() };
        ssd(shape, &Timing { program, scheduling: scheduling(plane_reads), ..timing() })
    };
    let asked = [(0, of_pages(Op::Read, 0, 2))];
    let mut together = drive(PlaneReads::Together);
    assert_eq!(answers(&mut together, &asked), [100 + 1000 + 2 * PAGE]);
    assert_eq!(together.read_operations(), 1);
    let mut apart = drive(PlaneReads::Independent);
    assert_eq!(answers(&mut apart, &asked), [5196 + 4096]);
    assert_eq!(apart.read_operations(), 2);
}

#[test]
fn planes_read_independently_only_where_it_is_said_what_that_means() {
    let refusal = |change: &dyn Fn(&mut Timing)| {
        let mut timing = Timing { scheduling: scheduling(PlaneReads::Independent), ..timing() };
        change(&mut timing);
        let geometry = writeamp_engine::flash::Geometry::new(ONE_DIE).expect("a small drive");
        timing.check(&geometry).err().map(|error| error.to_string())
    };
    assert_eq!(refusal(&|_| ()), None);
    let of = |change: &dyn Fn(&mut Timing)| refusal(change).expect("it is refused");
    assert!(of(&|timing| timing.scheduling.reads_first = false).contains("reads_first"));
    assert!(of(&|timing| timing.scheduling.most_wait_us = 1.0).contains("most_wait_us"));
    assert!(of(&|timing| timing.bus.die_interleaving = false).contains("die_interleaving"));
}
