//! Tests of a wear leveller that closes a block in the middle of a program unit.
//!
//! The write that causes this may also erase and reopen that block.

use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::Layout;
use writeamp_engine::request::Op;
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{Array, ByKind, IoRequest, Program, Ssd, Timing};
use writeamp_naive::timed::{Logical, LogicalOp, ProgramFor, TimedDrive};

use super::books::{Books, filled_drive};
use super::hosts::{Asking, drive};
use super::profiles::Drive;

const PAGE_BYTES: u32 = 4096;
const UNIT_PAGES: u32 = 6;
const PAGES_PER_BLOCK: u32 = 12;

/// Returns a drive so full, with uneven LUNs, that victims have almost no invalid pages.
fn leveled_drive() -> Drive {
    let shape = Shape {
        channels: 4,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: PAGES_PER_BLOCK,
        page_bytes: PAGE_BYTES,
        erase_unit: EraseUnit::Block,
    };
    let geometry = Geometry::new(shape).expect("a small drive");
    let program = Program {
        flash_page_bytes: Some(PAGE_BYTES),
        pages_per_word_line: UNIT_PAGES,
        ..Program::default()
    };
    let array = Array {
        read_us: ByKind::Same(30.0),
        program_us: ByKind::Same(300.0),
        erase_us: 2000.0,
        ..Array::default()
    };
    Drive {
        geometry: geometry.striped_by(UNIT_PAGES).expect("a divisor of the block"),
        layout: Layout::StripedPerLun,
        manager: "sepgc",
        wear_leveling: Some("dual-pool:threshold=2"),
        host_pages: 288,
        filled_pages: 288,
        timing: Timing { timing: array, program, ..Timing::default() },
        seed: 1,
    }
}

/// Returns the first pages of writes that each fill a program unit, without padding.
/// Most writes go to a quarter of the drive.
fn unit_writes(case: &Drive) -> Vec<u32> {
    let mut random = Stream::new(1, "writes");
    let firsts = case.host_pages - UNIT_PAGES + 1;
    let mut first =
        || if random.below(4) > 0 { random.below(firsts / 4) } else { random.below(firsts) };
    (0..400).map(|_| first()).collect()
}

/// Counts the program units that are begun, and blocks erased in the middle of one.
///
/// Earlier in the same host write, wear levelling had closed each block that is counted as such.
fn begun_and_cut_short(ops: &[LogicalOp]) -> (u64, u64) {
    let (mut begun_units, mut cut_short) = (0, 0);
    let mut last_leveled = None;
    for op in ops {
        match *op {
            LogicalOp::Program { page, cause, .. } => {
                begun_units += u64::from(page.is_multiple_of(UNIT_PAGES));
                if cause == ProgramFor::WearLeveling {
                    last_leveled = Some(page);
                }
            }
            LogicalOp::Erase { block } => {
                let is_short = |page: &u32| {
                    page / PAGES_PER_BLOCK == block && !(page + 1).is_multiple_of(UNIT_PAGES)
                };
                cut_short += u64::from(last_leveled.as_ref().is_some_and(is_short));
            }
            LogicalOp::Read { .. } => {}
        }
    }
    (begun_units, cut_short)
}

#[test]
fn a_block_leveled_in_part_and_erased_in_the_same_write_begins_its_units_anew() {
    let case = leveled_drive();
    let setup = case.setup();
    let build = || filled_drive(case.manager, &setup, &case.fill()).expect("a possible drive");
    let writes = unit_writes(&case);

    let mut books = Books::new(build(), case.host_pages);
    let pages = writes.iter().flat_map(|&first| first..first + UNIT_PAGES);
    let per_page: Vec<(u64, u64)> =
        pages.map(|page| begun_and_cut_short(&books.write(page, None))).collect();
    let begun_units: u64 = per_page.iter().map(|&(begun, _)| begun).sum();
    assert!(per_page.iter().any(|&(_, cut_short)| cut_short > 0), "no block was cut short");

    let bytes = |pages: u32| u64::from(pages) * u64::from(PAGE_BYTES);
    let of_unit = |first| IoRequest::new(Op::Write, bytes(first), bytes(UNIT_PAGES));
    let asked: Vec<Asking> = writes
        .iter()
        .map(|&first| Asking { request: of_unit(first), gap_ns: 0, whim: 0 })
        .collect();
    let mut engine =
        Ssd::new(build(), case.timing.clone(), case.host_pages, 1).expect("a possible profile");
    let mut twin = TimedDrive::new(case.profile(), Books::new(build(), case.host_pages), 1);
    let found = drive(&mut engine, &asked, Some(1), 1);
    assert_eq!(found, drive(&mut twin, &asked, Some(1), 1));
    assert_eq!(found.counters.program_operations, begun_units);
}
