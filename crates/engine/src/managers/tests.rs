use std::any::Any;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use super::*;
use crate::flash::{Cause, Counters, EraseUnit, FlashOp, Shape};
use crate::hints::UNTAGGED;
use crate::observe::{Choice, Event, EventKind, Recording};
use crate::rng::Stream;
use crate::simulation::Simulation;
use crate::workloads::{self, Context};

/// Model of a flash array that executes reported operations and checks that flash allows
/// them.
#[derive(Default)]
struct Chip {
    /// For each block: number of pages programmed since its last erase.
    written: Vec<u32>,
    pages_per_block: u32,
    /// Pages that were read from blocks that are being collected.
    buffered: HashSet<u32>,
    programs: [u64; Cause::ALL.len()],
    erases: u64,
}

impl Chip {
    fn hear(&mut self, op: FlashOp) {
        match op {
            FlashOp::Read { page, cause } => {
                let block = page / self.pages_per_block;
                assert!(page % self.pages_per_block < self.written[block as usize], "{op:?}");
                assert!(cause == Cause::Host || self.buffered.insert(page), "read once: {op:?}");
            }
            FlashOp::Program { page, cause, from, .. } => {
                let block = page / self.pages_per_block;
                let next = &mut self.written[block as usize];
                assert_eq!(page % self.pages_per_block, *next, "in order, once an erase: {op:?}");
                *next += 1;
                self.programs[cause as usize] += 1;
                assert_eq!(from.is_none(), cause == Cause::Host, "{op:?}");
                if let Some(from) = from {
                    assert!(self.buffered.remove(&from), "read before: {op:?}");
                }
            }
            FlashOp::Erase { block, .. } => {
                self.written[block as usize] = 0;
                self.erases += 1;
            }
        }
    }
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Chip>>);

impl Observer for Shared {
    fn on_op(&mut self, op: FlashOp) {
        self.0.lock().unwrap().hear(op);
    }
}

fn setup(layout: Layout, wear_leveling: Option<&str>) -> Setup {
    let shape = Shape {
        channels: 2,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 60,
        pages_per_block: 16,
        page_bytes: 4096,
        erase_unit: EraseUnit::Block,
    };
    Setup {
        logical_pages: 2000,
        layout,
        wear_leveling: wear_leveling.map(str::to_owned),
        seed: 5,
        ..Setup::new(Geometry::new(shape).unwrap())
    }
}

fn ran(drive: Box<dyn BlockManager>) -> Counters {
    let workload = workloads::build("hot-cold:f=0.2,r=0.8", 2000, Context::root(3)).unwrap();
    let mut simulation = Simulation::new(drive, workload, 100).unwrap();
    simulation.fill(0, 2000).unwrap();
    simulation.run(20_000).unwrap();
    simulation.drive_mut().trim(100..150).unwrap();
    simulation.drive_mut().read(90..110).unwrap();
    simulation.run(5000).unwrap();
    *simulation.counters()
}

#[test]
fn an_observer_changes_nothing_and_hears_what_flash_can_do() {
    for entry in MANAGERS.entries {
        let layouts = declared(entry.example).unwrap().layouts();
        for &layout in layouts.iter().filter(|layout| Layout::WITHIN_LUNS.contains(layout)) {
            for leveling in [None, Some("static:threshold=2")] {
                let silent = ran(build(entry.example, setup(layout, leveling)).unwrap());
                let setup = setup(layout, leveling);
                let (blocks, pages_per_block) =
                    (setup.geometry.blocks() as usize, setup.geometry.pages_per_block());
                let chip = Shared(Arc::new(Mutex::new(Chip {
                    written: vec![0; blocks],
                    pages_per_block,
                    ..Chip::default()
                })));
                let observer = Box::new(chip.clone());
                let heard = ran(build_observed(entry.example, setup, observer).unwrap());
                assert_eq!(heard, silent, "{}", entry.name);
                let chip = chip.0.lock().unwrap();
                assert_eq!(chip.erases, heard.erases, "{}", entry.name);
                let programs = Cause::ALL.map(|cause| heard.programs(cause));
                assert_eq!(chip.programs, programs, "{}", entry.name);
                assert!(chip.buffered.is_empty(), "{}: all pages read are migrated", entry.name);
            }
        }
    }
}

#[test]
fn requests_one_by_one_leave_the_drive_as_batches_do() {
    for entry in MANAGERS.entries {
        let drive = || build(entry.example, setup(Layout::Flat, None)).unwrap();
        let workload = || workloads::build("hot-cold:f=0.2,r=0.8", 2000, Context::root(3)).unwrap();
        let mut batches = Simulation::new(drive(), workload(), 100).unwrap();
        let mut requests = Simulation::new(drive(), workload(), 100).unwrap();
        batches.fill(0, 2000).unwrap();
        requests.fill(0, 2000).unwrap();
        batches.start_series(777);
        requests.start_series(777);
        batches.run(20_000).unwrap();
        requests.run_requests(20_000).unwrap();
        assert_eq!(batches.counters(), requests.counters(), "{}", entry.name);
        assert_eq!(batches.series().samples(), requests.series().samples(), "{}", entry.name);
    }
}

#[test]
fn host_requests_count_in_pages_and_bytes_apart_from_programs() {
    let mut drive = build("single", setup(Layout::Flat, None)).unwrap();
    let partial = Request { head_bytes: 512, ..Request::of_pages(Op::Write, 0..3) };
    drive.serve(&partial, None).unwrap();
    drive.serve(&Request { tail_bytes: 96, ..Request::of_pages(Op::Read, 1..3) }, None).unwrap();
    drive.serve(&Request::of_pages(Op::Trim, 2..10), None).unwrap();
    drive.serve(&Request::flush(), None).unwrap();
    let counters = drive.flash().counters();
    let expected = HostCounters {
        written_pages: 3,
        written_bytes: 3 * 4096 - 512,
        partial_pages: 1,
        read_pages: 2,
        read_bytes: 2 * 4096 - 96,
        trimmed_pages: 8,
        trimmed_bytes: 8 * 4096,
        flushes: 1,
    };
    assert_eq!((counters.host, counters.unmapped_pages), (expected, 1));
    assert_eq!(counters.programs(Cause::Host), 3);
}

#[test]
fn requests_off_the_end_are_refused_and_change_nothing() {
    for entry in MANAGERS.entries {
        let mut drive = build(entry.example, setup(Layout::Flat, None)).unwrap();
        assert!(drive.trim(1990..2001).is_err());
        assert!(drive.read(2000..2001).is_err());
        assert!(drive.write(&[0, 2000], None).is_err());
        assert_eq!(*drive.flash().counters(), Counters::default(), "{}", entry.name);
    }
}

#[test]
fn a_manager_without_the_hints_that_it_needs_refuses_to_write() {
    let groups = [crate::hints::Group { pages: 2000, write_share: 1.0 }];
    let mut hearing = 0;
    for entry in MANAGERS.entries {
        let mut drive = build(entry.example, setup(Layout::Flat, None)).unwrap();
        let required_hints = drive.required_hints();
        let short = Hints { groups: &groups, group_of: &[0], ..Hints::default() };
        let wrong = Hints { groups: &groups, group_of: &[0, 1], ..Hints::default() };
        for hints in [None, Some(Hints::default()), Some(short), Some(wrong)] {
            let written = drive.write(&[1, 2], hints);
            assert_eq!(
                written.is_ok(),
                required_hints == RequiredHints::Nothing,
                "{}: {written:?}",
                entry.name
            );
        }
        hearing += u32::from(required_hints != RequiredHints::Nothing);
    }
    assert!(hearing >= 4);
}

#[test]
fn idle_collection_frees_blocks_until_nothing_is_worth_it() {
    let workload = || workloads::build("uniform", 2000, Context::root(3)).unwrap();
    for (name, collects) in [
        ("single", true),
        ("sepbit", true),
        ("midas", true),
        ("wolf-interval", true),
        ("hcwf", false),
    ] {
        for layout in [Layout::Flat, Layout::StripedPerLun] {
            let drive = build(name, setup(layout, None)).unwrap();
            let mut simulation = Simulation::new(drive, workload(), 100).unwrap();
            simulation.fill(0, 2000).unwrap();
            simulation.run(5000).unwrap();
            let erases = |simulation: &Simulation| simulation.counters().erases;
            let before = erases(&simulation);
            let mut collections = 0;
            while simulation.drive_mut().collect_idle(1).unwrap() && collections < 10_000 {
                collections += 1;
                simulation.drive().assert_invariants();
            }
            assert_eq!(collections > 0, collects, "{name}");
            assert!(collections < 10_000, "{name} ends");
            assert_eq!(erases(&simulation) - before, collections, "{name}");
            simulation.run(5000).unwrap();
        }
    }
}

#[test]
fn the_luns_of_a_static_layout_are_drives_of_their_own() {
    let both = setup(Layout::Static, None);
    let half = Geometry::flat(both.geometry.blocks_per_lun(), 16).unwrap();
    let of_half = || Setup { geometry: half, logical_pages: 1000, ..setup(Layout::Flat, None) };
    let mut drive = build("sepgc", both).unwrap();
    let mut halves = [0, 1].map(|_| build("sepgc", of_half()).unwrap());
    let mut random = Stream::new(7, "pages");
    for page in (0..20_000).map(|_| random.below(2000)) {
        drive.write(&[page], None).unwrap();
        halves[page as usize % 2].write(&[page / 2], None).unwrap();
    }
    let erase_counts = halves.iter().flat_map(|half| half.flash().erase_counts()).copied();
    assert_eq!(drive.flash().erase_counts(), erase_counts.collect::<Vec<_>>());
    assert!(drive.flash().counters().programs(Cause::Gc) > 1000);
    drive.assert_invariants();
}

/// Builds a drive of four LUNs, whose stripes have four pages.
fn four_luns(manager: &str) -> Box<dyn BlockManager> {
    let shape = Shape {
        channels: 4,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 8,
        page_bytes: 4096,
        erase_unit: EraseUnit::MultiPlane,
    };
    let setup = Setup {
        logical_pages: 256,
        layout: Layout::StripedPerLun,
        ..Setup::new(Geometry::new(shape).unwrap().striped_by(4).unwrap())
    };
    build(manager, setup).unwrap()
}

fn lun_of(drive: &dyn BlockManager, page: u32) -> u32 {
    let block = drive.flash().block_of(drive.flash().physical(page).unwrap());
    block / drive.flash().geometry().blocks_per_lun()
}

#[test]
fn a_stripe_goes_on_to_the_next_lun_after_the_pages_of_a_program() {
    let mut drive = four_luns("single");
    drive.write(&(0..40).collect::<Vec<_>>(), None).unwrap();
    for page in 0..40 {
        assert_eq!(lun_of(&*drive, page), page / 4 % 4, "page {page}");
    }
}

#[test]
fn a_stripe_begins_on_the_lun_with_the_shortest_queue_and_stays_there() {
    let mut drive = four_luns("single");
    let steered: [(&[u32; 4], u32); 5] = [
        (&[3, 1, 0, 1], 2),
        (&[0, 9, 9, 9], 2),
        (&[0, 9, 9, 9], 2),
        (&[0, 9, 9, 9], 2),
        // Of equally short queues, the next in turn.
        (&[1, 1, 1, 1], 3),
    ];
    for (page, (queues, lun)) in (0..).zip(steered) {
        drive.steer(queues);
        drive.write(&[page], None).unwrap();
        assert_eq!(lun_of(&*drive, page), lun, "page {page}");
    }
}

#[test]
fn managers_with_a_collection_of_their_own_go_to_the_shortest_queue_page_by_page() {
    for manager in ["hcwf:detector=bloom", "wolf:detector=interval"] {
        let setup = setup(Layout::StripedPerLun, None);
        let mut drive = build(manager, setup).unwrap();
        for (page, lun) in [(0, 1), (1, 1), (2, 0)] {
            drive.steer(if lun == 1 { &[5, 4] } else { &[4, 5] });
            drive.write(&[page], None).unwrap();
            assert_eq!(lun_of(&*drive, page), lun, "{manager}, page {page}");
        }
    }
}

/// Victims chosen on a drive of 24 blocks, each with the scores that explain the choice.
fn explained(manager: &str, victims: &str) -> Vec<(u32, Choice)> {
    let setup = Setup {
        logical_pages: 280,
        seed: 5,
        victims: Some(victims.to_owned()),
        ..Setup::new(Geometry::flat(24, 16).unwrap())
    };
    let observer = Box::new(Recording::default());
    let drive = build_observed(manager, setup, observer).unwrap();
    let workload = workloads::build("hot-cold:f=0.2,r=0.8", 280, Context::root(3)).unwrap();
    let mut simulation = Simulation::new(drive, workload, 100).unwrap();
    simulation.fill(0, 280).unwrap();
    simulation.run(3000).unwrap();
    let observer: &mut dyn Any = simulation.drive_mut().observer_mut().unwrap();
    let recording: &Recording = observer.downcast_ref().unwrap();
    let is_victim = |event: &&Event| event.kind == EventKind::Victim;
    let victims = recording.events().iter().filter(is_victim).map(|event| event.values[0]);
    victims.zip(recording.choices().iter().cloned()).collect()
}

#[test]
fn every_victim_policy_says_by_which_scores_it_chooses() {
    let alone = VICTIMS.entries.iter().map(|entry| ("single", entry.example));
    let variants = VICTIMS.entries.iter().flat_map(|e| e.variants.iter().map(|v| ("single", *v)));
    let grouped = [("wolf", "greedy"), ("wolf", "fifo"), ("hcwf-swap", "d-choices:d=3")];
    for (manager, victims) in alone.chain(variants).chain(grouped) {
        let of = format!("{manager} with {victims}");
        let explained = explained(manager, victims);
        assert!(explained.len() > 100, "{of}: {}", explained.len());
        for (victim, Choice { measure, scores }) in explained {
            assert!(!measure.is_empty(), "{of}");
            assert_eq!(scores[0].block, victim, "{of}: {scores:?}");
            let most = scores.iter().map(|score| score.score).fold(0.0, f64::max);
            assert!(scores[0].score >= most * (1.0 - 1e-9), "{of}: {scores:?}");
        }
    }
}

#[test]
fn a_reclaim_unit_is_an_erase_unit_of_the_drive() {
    let geometry = Geometry::flat(64, 32).unwrap();
    let build = |bytes| build(&format!("nvme-fdp:ru={bytes}"), Setup::new(geometry));
    assert!(build(32 * 4096).is_ok());
    let error = build(64 * 4096).err().expect("an error").to_string();
    assert_eq!(
        error,
        "nvme-fdp: a reclaim unit has 262144 bytes, but an erase unit of the drive has 131072; \
         they must be equal"
    );
}

#[test]
fn hints_beyond_the_last_handle_share_it_and_other_writes_have_the_default_handle() {
    let setup = Setup::new(Geometry::flat(64, 32).unwrap()).count_handles();
    let mut drive = build("nvme-fdp:handles=3", setup).unwrap();
    let placement = [UNTAGGED, 0, 1, 2, 3, 200];
    let hints = Hints { placement: &placement, ..Hints::default() };
    drive.write(&[0, 1, 2, 3, 4, 5], Some(hints)).unwrap();
    let counters = drive.flash().tag_counters().unwrap();
    assert_eq!([0, 1, 2].map(|handle| counters.host_pages(handle)), [2, 1, 3]);
    assert_eq!(counters.host_pages(UNTAGGED), 0, "each page has a handle");
}

#[test]
fn only_managers_with_handles_count_by_handle_and_not_by_tag_as_well() {
    let setup = Setup::new(Geometry::flat(64, 32).unwrap()).count_handles();
    let error = |text, setup| build(text, setup).err().expect("an error").to_string();
    assert_eq!(error("single", setup.clone()), "single has no placement handles to count by");
    let both = error("nvme-fdp", setup.tags(2));
    assert_eq!(both, "nvme-fdp cannot count by placement handles and by the host's tags at once");
}
