//! SLC cache worked out by hand, on one die with rows of one page.
//! There, a read takes 100 + 500 + 4096 ns, a program 200 + 4096 + 2000 and an erase 300 + 20,000; the
//! other flash takes what `schedules` says. Eight rows hold a burst of seven: when the eighth is begun,
//! the first is folded.

use writeamp_engine::flash::{Cause, EraseUnit, Shape};
use writeamp_engine::request::Op;
use writeamp_engine::timing::{BlockDevice, IoRequest, Program, Slc, Ssd, Timing, WhenFull};

use crate::rig::{FLUSH, ONE_DIE, PAGE, answers, of_pages, read, ssd, timing, write};

const SLC_READ_NS: u64 = 100 + 500 + 4096;
const SLC_WRITE_NS: u64 = 200 + 4096 + 2000;
const READ_NS: u64 = 5196;
const WRITE_NS: u64 = 14_296;
const LATE_NS: u64 = 10_000_000;

fn slc() -> Slc {
    Slc { static_bytes: 8 * PAGE, read_us: 0.5, program_us: 2.0, erase_us: 20.0, ..Slc::default() }
}

fn cached(slc: Slc) -> Ssd {
    ssd(ONE_DIE, &Timing { slc, ..timing() })
}

/// Pages programmed for the host, in the cache, and out of it.
fn programs(drive: &Ssd) -> [u64; 3] {
    let counters = drive.counters().expect("a flash drive");
    [Cause::Host, Cause::Slc, Cause::Folding].map(|cause| counters.programs(cause))
}

/// Writes of so many pages from the first on, each when the one before is answered.
fn burst(drive: &mut Ssd, pages: u64) {
    let asked: Vec<_> = (0..pages).map(|page| (page * LATE_NS, write(page % 16))).collect();
    answers(drive, &asked);
}

#[test]
fn a_write_takes_the_time_of_the_cache_and_is_read_from_it() {
    let mut drive = cached(slc());
    let asked = [(0, write(3)), (LATE_NS, read(3)), (2 * LATE_NS, read(4))];
    let expected = [SLC_WRITE_NS, LATE_NS + SLC_READ_NS, 2 * LATE_NS + READ_NS];
    assert_eq!(answers(&mut drive, &asked), expected);
    assert_eq!(programs(&drive), [0, 1, 0]);
}

#[test]
fn a_burst_that_fits_is_not_folded_and_a_longer_one_is_but_for_what_fits() {
    for (pages, folded) in [(1, 0), (7, 0), (8, 1), (9, 2), (12, 5), (16, 9)] {
        let mut drive = cached(slc());
        burst(&mut drive, pages);
        assert_eq!(programs(&drive), [0, pages, folded], "{pages} pages");
        let wear = drive.slc_wear().expect("it has a cache");
        assert_eq!((wear.erases, wear.erased_pages), (folded, folded), "{pages} pages");
        assert_eq!(wear.valid_pages, pages - folded);
        drive.drive().assert_invariants();
    }
}

#[test]
fn what_is_overwritten_in_the_cache_never_wears_the_other_flash() {
    let mut drive = cached(slc());
    let asked: Vec<_> = (0..100).map(|at| (at * LATE_NS, write(at % 3))).collect();
    answers(&mut drive, &asked);
    assert_eq!(programs(&drive), [0, 100, 0]);
    assert_eq!(drive.slc_wear().expect("it has a cache").erases, 93);
    assert_eq!(drive.counters().expect("a flash drive").erases, 0);
}

#[test]
fn a_full_cache_takes_a_write_after_it_has_read_and_programmed_what_it_folds() {
    let mut drive = cached(slc());
    let mut asked: Vec<_> = (0..7).map(|page| (page * LATE_NS, write(page))).collect();
    asked.push((7 * LATE_NS, write(7)));
    let folding_ns = SLC_READ_NS + WRITE_NS + 20_300;
    assert_eq!(answers(&mut drive, &asked)[7], 7 * LATE_NS + folding_ns + SLC_WRITE_NS);
}

#[test]
fn a_cache_that_is_written_through_when_full_folds_in_a_pause() {
    let through = Slc { when_full: WhenFull::Through, ..slc() };
    let mut drive = cached(through.clone());
    burst(&mut drive, 12);
    assert_eq!(programs(&drive), [4, 8, 0]);
    let mut drive = cached(Slc { idle_ms: 0.5, ..through });
    // Each write is followed by a pause that folds it.
    burst(&mut drive, 12);
    assert_eq!(programs(&drive), [0, 12, 12]);
    assert_eq!(drive.slc_wear().expect("it has a cache").erases, 12);
}

#[test]
fn a_watermark_keeps_as_many_rows_free() {
    let mut drive = cached(Slc { watermark: 0.5, ..slc() });
    burst(&mut drive, 12);
    assert_eq!(programs(&drive), [0, 12, 9]);
}

#[test]
fn free_space_holds_more_of_it() {
    // Two pages of its own, and a third of the pages without data.
    let dynamic =
        Slc { static_bytes: 2 * PAGE, dynamic_share: 1.0, when_full: WhenFull::Through, ..slc() };
    let mut full = cached(dynamic.clone());
    burst(&mut full, 8);
    assert_eq!(programs(&full), [6, 2, 0]);
    let mut half_full = cached(dynamic);
    answers(&mut half_full, &[(0, of_pages(Op::Trim, 8, 8))]);
    let asked: Vec<_> = (1..9).map(|at| (at * LATE_NS, write(at - 1))).collect();
    answers(&mut half_full, &asked);
    assert_eq!(programs(&half_full), [4, 4, 0]);
}

#[test]
fn long_sequential_runs_pass_it_by() {
    let mut drive = cached(Slc { direct_bytes: 3 * PAGE, ..slc() });
    let asked: Vec<_> = [0, 1, 2, 3, 9, 10]
        .into_iter()
        .enumerate()
        .map(|(at, page)| (at as u64 * LATE_NS, write(page)))
        .collect();
    let answered = answers(&mut drive, &asked);
    assert_eq!(programs(&drive), [2, 4, 0]);
    assert_eq!(answered[2], 2 * LATE_NS + WRITE_NS);
    assert_eq!(answered[4], 4 * LATE_NS + SLC_WRITE_NS);
}

#[test]
fn a_trim_forgets_what_the_cache_holds() {
    let mut drive = cached(slc());
    let asked = [
        (0, write(3)),
        (LATE_NS, of_pages(Op::Trim, 2, 2)),
        (2 * LATE_NS, read(3)),
        (3 * LATE_NS, read(2)),
    ];
    // What holds nothing is answered at once.
    assert_eq!(answers(&mut drive, &asked)[2..], [2 * LATE_NS, 3 * LATE_NS]);
    assert_eq!(drive.counters().expect("a flash drive").unmapped_pages, 2);
}

#[test]
fn a_part_of_a_page_is_merged_with_the_rest_from_the_cache() {
    let part = IoRequest::new(Op::Write, 3 * PAGE, 512);
    let mut drive = cached(slc());
    let rest_ns = 100 + 500 + (4096 - 512);
    let answered = answers(&mut drive, &[(0, write(3)), (LATE_NS, part)]);
    assert_eq!(answered[1], LATE_NS + rest_ns + SLC_WRITE_NS);
    assert_eq!(programs(&drive), [0, 2, 0]);
}

#[test]
fn a_flush_fills_up_the_unit_of_the_cache() {
    let program = Program { planes: 2, ..Program::default() };
    let shape = Shape { planes_per_die: 2, erase_unit: EraseUnit::MultiPlane, ..ONE_DIE };
    let mut drive = ssd(shape, &Timing { program, slc: slc(), ..timing() });
    answers(&mut drive, &[(0, write(0)), (LATE_NS, FLUSH)]);
    assert_eq!(programs(&drive), [0, 2, 0]);
}
