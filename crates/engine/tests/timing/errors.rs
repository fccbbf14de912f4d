//! Read errors worked out by hand, on one die.
//! A read takes 100 + 1000 + 4096 ns, and each further try as long, after 500 ns of decoding.

use writeamp_engine::flash::Shape;
use writeamp_engine::request::Op;
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{BlockDevice, Errors, IoRequest, ReadErrors, Slc, Ssd, Timing};

use crate::rig::{ONE_DIE, PAGE, answers, of_pages, read, ssd, timing, write};

const READ_NS: u64 = 5196;
const RETRY_NS: u64 = 500 + READ_NS;
const LATE_NS: u64 = 10_000_000;

/// A table of one rate, of which three wrong bits of a codeword of 8192 are corrected.
fn flat(rate: f64, most_retries: u32) -> Errors {
    Errors {
        erases: vec![0],
        retention_days: vec![0.0],
        raw_bit_error_rate: vec![vec![rate]],
        correctable_bits: 3,
        retry_factor: 1.0,
        most_retries,
        decode_us: 0.5,
        ..Errors::default()
    }
}

/// Errors that no try corrects.
fn hopeless(most_retries: u32) -> Errors {
    flat(0.5, most_retries)
}

fn worn(errors: Errors) -> Ssd {
    ssd(ONE_DIE, &Timing { errors, ..timing() })
}

fn found(drive: &Ssd) -> ReadErrors {
    drive.read_errors().expect("a drive with errors")
}

#[test]
fn a_drive_without_a_table_has_no_errors_and_one_without_wrong_bits_no_retries() {
    assert_eq!(ssd(ONE_DIE, &timing()).read_errors(), None);
    let mut drive = worn(flat(1e-12, 5));
    assert_eq!(answers(&mut drive, &[(0, read(3))]), [READ_NS]);
    assert_eq!(found(&drive), ReadErrors::default());
}

#[test]
fn each_further_try_takes_a_read_more_and_the_last_is_the_last() {
    // Without any that helps, all tries are made, and the read is answered all the same.
    for most_retries in [0, 1, 5] {
        let mut drive = worn(hopeless(most_retries));
        let tries = u64::from(most_retries);
        let answered = answers(&mut drive, &[(0, read(3)), (LATE_NS, read(4))]);
        assert_eq!(answered, [0, LATE_NS].map(|at_ns| at_ns + READ_NS + tries * RETRY_NS));
        let expected = ReadErrors { retries: [2 * tries, 0, 0], uncorrectable: [2, 0, 0] };
        assert_eq!(found(&drive), expected);
        assert_eq!(drive.read_operations(), 2 + 2 * tries);
    }
}

#[test]
fn a_read_that_is_tried_again_holds_its_die_and_others_wait() {
    let mut drive = worn(hopeless(2));
    let one_ns = READ_NS + 2 * RETRY_NS;
    assert_eq!(answers(&mut drive, &[(0, read(3)), (1, read(8))]), [one_ns, 2 * one_ns]);
}

#[test]
fn the_pins_are_low_for_each_try() {
    let mut drive = worn(hopeless(3));
    drive.record_edges();
    answers(&mut drive, &[(0, read(3))]);
    let mut edges = Vec::new();
    drive.take_edges(&mut edges);
    let at_ns: Vec<u64> = edges.iter().map(|edge| edge.at_ns).collect();
    let expected: Vec<u64> =
        (0..4).flat_map(|n| [100 + n * RETRY_NS, 1100 + n * RETRY_NS]).collect();
    assert_eq!(at_ns, expected);
    assert!(edges.iter().enumerate().all(|(at, edge)| edge.busy == (at % 2 == 0)));
}

/// Rates of 1e-12 up to a point, and of a half from there on.
fn steep(erases: Vec<u32>, retention_days: Vec<f64>) -> Errors {
    let (rows, columns) = (erases.len(), retention_days.len());
    let bad = |at: usize| if at + 1 == rows * columns { 0.5 } else { 1e-12 };
    let row = |row: usize| (0..columns).map(|column| bad(row * columns + column)).collect();
    Errors {
        erases,
        retention_days,
        raw_bit_error_rate: (0..rows).map(row).collect(),
        ..hopeless(1)
    }
}

#[test]
fn wear_before_the_run_and_in_it_makes_reads_fail() {
    let fails = |errors: Errors, writes: u64| {
        let mut drive = worn(errors);
        let mut asked: Vec<_> = (0..writes).map(|at| (at * LATE_NS, write(at % 16))).collect();
        asked.push((writes * LATE_NS, read(3)));
        let answered = answers(&mut drive, &asked);
        answered[writes as usize] > writes * LATE_NS + READ_NS
    };
    let table = |worn_erases| Errors { worn_erases, ..steep(vec![0, 9, 10], vec![0.0]) };
    assert!(!fails(table(0), 0) && !fails(table(9), 0) && fails(table(10), 0));
    // Sixteen blocks of four pages: 800 writes erase each of them more than ten times.
    assert!(!fails(table(0), 160) && fails(table(0), 800));
}

#[test]
fn age_before_the_run_and_in_it_makes_reads_fail_until_data_are_written_anew() {
    let day_ns = 86_400_000_000_000;
    let table = |aged_days| Errors { aged_days, ..steep(vec![0], vec![0.0, 3.9, 4.0]) };
    let last = |errors: Errors, asked: &[(u64, IoRequest)]| {
        let mut drive = worn(errors);
        let (at_ns, _) = asked[asked.len() - 1];
        *answers(&mut drive, asked).last().expect("an answer") - at_ns
    };
    assert_eq!(last(table(0.0), &[(0, read(3))]), READ_NS);
    assert_eq!(last(table(4.0), &[(0, read(3))]), READ_NS + RETRY_NS);
    assert_eq!(last(table(0.0), &[(4 * day_ns, read(3))]), READ_NS + RETRY_NS);
    // Four pages fill a block; the next begins one that was programmed now.
    let mut asked: Vec<_> = (0..8).map(|page| (page * LATE_NS, write(page))).collect();
    asked.push((LATE_NS * 9, read(7)));
    assert_eq!(last(table(4.0), &asked), READ_NS);
    asked.push((LATE_NS * 10, read(12)));
    assert_eq!(last(table(4.0), &asked), READ_NS + RETRY_NS);
}

#[test]
fn copies_are_tried_again_and_counted_apart() {
    // Of six blocks, four are full of data, so that victims hold some.
    let shape = Shape { blocks_per_plane: 6, ..ONE_DIE };
    let mut drive = ssd(shape, &Timing { errors: hopeless(1), ..timing() });
    let mut random = Stream::new(1, "writes");
    let asked: Vec<_> = (0..400).map(|at| (at * LATE_NS, write(random.below(16).into()))).collect();
    answers(&mut drive, &asked);
    let ReadErrors { retries: [host, copies, mapping], uncorrectable } = found(&drive);
    assert_eq!((host, mapping), (0, 0));
    assert_eq!(uncorrectable, [0, copies, 0]);
    assert!(copies > 0);
    assert_eq!(drive.read_operations(), 2 * copies);
}

#[test]
fn one_bit_a_cell_has_no_errors() {
    let slc = Slc { static_bytes: 8 * PAGE, ..Slc::default() };
    let mut drive = ssd(ONE_DIE, &Timing { errors: hopeless(1), slc, ..timing() });
    let asked = [(0, write(3)), (LATE_NS, read(3)), (2 * LATE_NS, read(4))];
    answers(&mut drive, &asked);
    assert_eq!(found(&drive).retries, [1, 0, 0]);
}

#[test]
fn retries_are_as_many_as_the_tail_of_the_binomial_says() {
    // Shares of reads with more than 0, 1 and 2 further tries; 40,000 reads of one codeword.
    let errors = Errors {
        erases: vec![0],
        retention_days: vec![0.0],
        raw_bit_error_rate: vec![vec![0.009]],
        codeword_bytes: 4096,
        correctable_bits: 280,
        retry_factor: 0.97,
        most_retries: 2,
        ..Errors::default()
    };
    // More than 280 of 32,768 bits at 0.009, 0.97 and 0.97² of that, as SciPy's binom.sf has them.
    let tails = [0.799_633_862, 0.626_183_496, 0.424_088_687];
    let mut drive = worn(errors);
    let reads = 40_000_u64;
    let asked: Vec<_> =
        (0..reads).map(|at| (at * LATE_NS, of_pages(Op::Read, at % 16, 1))).collect();
    answers(&mut drive, &asked);
    let ReadErrors { retries, uncorrectable } = found(&drive);
    let share = retries[0] as f64 / reads as f64;
    let spread = 3.5 / (reads as f64).sqrt();
    assert!((share - tails[0] - tails[1]).abs() < 2.0 * spread, "{share}, not {tails:?}");
    let lost = uncorrectable[0] as f64 / reads as f64;
    assert!((lost - tails[2]).abs() < spread, "{lost}, not {}", tails[2]);
}
