//! Damage of every kind to each file of a drive: it is detected, or has no effect.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use writeamp_vssd::Drive;
use writeamp_vssd::seal::STATE_AT;

use crate::support::{
    Call, PAGE_BYTES, SIZE_BYTES, beside, config, contents, copy_sparse, counters, open, open_with,
    place, random,
};

const PAGE: usize = PAGE_BYTES as usize;
const DATA: &str = "";
const SUMS: &str = ".sums";
const FLASH: &str = ".flash";
const JOURNAL: &str = ".journal-1";
const HEAD: usize = 4096;
const ROW: usize = 32;
const SEAL: usize = SIZE_BYTES as usize;

/// Damage to the bytes of a file.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip { byte: usize, bit: u32 },
    Zeros { from: usize, length: usize },
    Swap { one: usize, other: usize, length: usize },
    Cut { to: usize },
    Longer { by: usize },
    Gone,
}
use Damage::{Cut, Flip, Gone, Longer, Swap, Zeros};

/// Damages that are always detected, so the drive must not open.
const REFUSED: [(&str, Damage); 40] = [
    (DATA, Flip { byte: 0, bit: 0 }),
    (DATA, Flip { byte: 100 * PAGE + 5, bit: 3 }),
    (DATA, Flip { byte: SEAL - 1, bit: 7 }),
    (DATA, Flip { byte: SEAL + 20, bit: 1 }),
    (DATA, Flip { byte: SEAL + 33, bit: 1 }),
    (DATA, Flip { byte: SEAL + STATE_AT, bit: 1 }),
    (DATA, Flip { byte: SEAL + STATE_AT + 10, bit: 1 }),
    (DATA, Flip { byte: SEAL + STATE_AT + 14, bit: 5 }),
    (DATA, Zeros { from: 0, length: PAGE }),
    (DATA, Zeros { from: 10 * PAGE, length: 40 * PAGE }),
    (DATA, Zeros { from: 0, length: SEAL }),
    (DATA, Zeros { from: SEAL, length: HEAD }),
    (DATA, Zeros { from: SEAL + STATE_AT, length: 24 }),
    (DATA, Swap { one: 3 * PAGE, other: 77 * PAGE, length: PAGE }),
    (DATA, Swap { one: 64 * PAGE, other: 128 * PAGE, length: 16 * PAGE }),
    (DATA, Cut { to: SEAL + HEAD - 1 }),
    (DATA, Cut { to: SEAL }),
    (DATA, Cut { to: 0 }),
    (DATA, Longer { by: HEAD }),
    (DATA, Gone),
    (SUMS, Flip { byte: 9, bit: 0 }),
    (SUMS, Flip { byte: HEAD + 4 * 50, bit: 0 }),
    (SUMS, Swap { one: HEAD, other: HEAD + 400, length: 400 }),
    (SUMS, Zeros { from: 0, length: HEAD }),
    (SUMS, Cut { to: HEAD + 40 }),
    (SUMS, Gone),
    (FLASH, Flip { byte: 40, bit: 2 }),
    (FLASH, Flip { byte: 2000, bit: 2 }),
    (FLASH, Zeros { from: 500, length: 600 }),
    (FLASH, Swap { one: 100, other: 1000, length: 300 }),
    (FLASH, Cut { to: 1000 }),
    (FLASH, Longer { by: 1 }),
    (JOURNAL, Flip { byte: 17, bit: 0 }),
    (JOURNAL, Flip { byte: 513, bit: 2 }),
    (JOURNAL, Flip { byte: HEAD + ROW * 100 + 9, bit: 4 }),
    (JOURNAL, Flip { byte: HEAD + ROW * 499 + 31, bit: 7 }),
    (JOURNAL, Zeros { from: HEAD + ROW * 400, length: ROW * 50 }),
    (JOURNAL, Swap { one: HEAD + ROW * 7, other: HEAD + ROW * 70, length: ROW }),
    (JOURNAL, Cut { to: HEAD + ROW * 300 }),
    (JOURNAL, Gone),
];

/// Damages of unused bytes, which no server reads.
const HARMLESS: [(&str, Damage); 3] = [
    (DATA, Flip { byte: SEAL + 300, bit: 0 }),
    (SUMS, Flip { byte: 300, bit: 0 }),
    (JOURNAL, Flip { byte: HEAD + ROW * 9000, bit: 0 }),
];

impl Damage {
    fn apply(self, path: &Path) {
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len();
        let put = |at: usize, bytes: &[u8]| {
            let mut before = vec![0; bytes.len()];
            file.read_exact_at(&mut before, at as u64).unwrap();
            assert!(before != bytes, "{self:?} changes nothing");
            file.write_all_at(bytes, at as u64).unwrap();
        };
        let get = |at: usize, length: usize| {
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, at as u64).unwrap();
            bytes
        };
        match self {
            Flip { byte, bit } => put(byte, &[get(byte, 1)[0] ^ 1 << bit]),
            Zeros { from, length } => put(from, &vec![0; length]),
            Swap { one, other, length } => {
                let (first, second) = (get(one, length), get(other, length));
                put(one, &second);
                put(other, &first);
            }
            Cut { to } => file.set_len(to as u64).unwrap(),
            Longer { by } => file.set_len(length + by as u64).unwrap(),
            Gone => fs::remove_file(path).unwrap(),
        }
    }
}

/// Returns a drive with data in every page, and then 500 requests in its journal.
fn used(path: &Path, is_closed: bool) -> Drive {
    let mut config = config("sepgc", Some(path));
    config.longest_replay_ms = 1 << 20;
    let drive = open_with(&config).unwrap();
    let mut random = random(8);
    for page in 0..SIZE_BYTES / PAGE_BYTES {
        let byte = 1 + (page % 255) as u8;
        drive.write(page * PAGE_BYTES, &[byte; PAGE], false).unwrap();
    }
    for _ in 0..300 {
        let call = Call::draw(&mut random);
        if !matches!(call, Call::Trim { .. } | Call::Zero { .. }) {
            call.request(&drive).unwrap();
        }
    }
    drive.flush().unwrap();
    if is_closed {
        drive.close().unwrap();
    }
    drive
}

fn copied(from: &Path, to: &Path) {
    for ending in [DATA, SUMS, FLASH, JOURNAL] {
        copy_sparse(&beside(from, ending), &beside(to, ending));
    }
}

#[test]
fn a_drive_with_any_part_damaged_is_refused() {
    for is_closed in [true, false] {
        let (_directory, path) = place();
        drop(used(&path, is_closed));
        for (ending, damage) in REFUSED {
            let (_elsewhere, copy) = place();
            copied(&path, &copy);
            damage.apply(&beside(&copy, ending));
            let named = format!("{damage:?} of drive.wa{ending}");
            let Err(error) = open(&copy) else { panic!("{named}: it was opened") };
            assert!(error.sentence.contains("drive.wa"), "{named}: {error}");
        }
    }
}

#[test]
fn damage_of_what_nobody_reads_changes_nothing() {
    let (_directory, path) = place();
    let drive = used(&path, true);
    let (counted, expected) = (counters(&drive), contents(&drive));
    drop(drive);
    // The last read was after the end, and is in the journal.
    let (_elsewhere, copy) = place();
    copied(&path, &copy);
    for (ending, damage) in HARMLESS {
        damage.apply(&beside(&copy, ending));
    }
    let drive = open(&copy).unwrap();
    assert_eq!(counters(&drive)["programs"], counted["programs"]);
    assert!(contents(&drive) == expected);
}

/// Changed number in a file, with a correct checksum.
///
/// The number is at byte `at` of a block of `length` bytes that begins at `from`. The last four
/// bytes of the block are the checksum.
struct Forged {
    ending: &'static str,
    from: usize,
    length: usize,
    at: usize,
    number: u64,
    is_salted: bool,
}

impl Forged {
    fn label(ending: &'static str, from: usize, at: usize, number: u64) -> Self {
        Forged { ending, from, length: 52, at, number, is_salted: false }
    }

    fn row(at: usize, number: u64) -> Self {
        let from = HEAD + 40 * ROW;
        Forged { ending: JOURNAL, from, length: ROW, at, number, is_salted: true }
    }

    fn write(&self, drive: &Path) {
        let path = beside(drive, self.ending);
        let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut identity = [0; 16];
        file.read_exact_at(&mut identity, 16).unwrap();
        let salt = if self.is_salted { crc32fast::hash(&identity) } else { 0 };
        let mut bytes = vec![0; self.length];
        file.read_exact_at(&mut bytes, self.from as u64).unwrap();
        bytes[self.at..self.at + 8].copy_from_slice(&self.number.to_le_bytes());
        let (checked, checksum) = bytes.split_at_mut(self.length - 4);
        let mut hasher = crc32fast::Hasher::new_with_initial(salt);
        hasher.update(checked);
        checksum.copy_from_slice(&hasher.finalize().to_le_bytes());
        file.write_all_at(&bytes, self.from as u64).unwrap();
    }
}

#[test]
fn numbers_that_no_drive_has_are_refused_whatever_their_checksum() {
    const TIME: usize = 0;
    const OFFSET: usize = 8;
    const NUMBERS: [usize; 2] = [32, 40];
    let (_directory, path) = place();
    drop(used(&path, true));
    for forged in [
        Forged::row(TIME, u64::MAX),
        Forged::row(OFFSET, SIZE_BYTES),
        Forged::row(OFFSET, SIZE_BYTES - 1),
        Forged::row(OFFSET, 1 << 45),
        Forged::row(OFFSET, u64::MAX),
        Forged::label(JOURNAL, 0, NUMBERS[0], u64::MAX),
        Forged::label(JOURNAL, 0, NUMBERS[1], u64::MAX),
        Forged::label(DATA, SEAL, NUMBERS[0], u64::MAX),
        Forged::label(DATA, SEAL, NUMBERS[0], 1 << 63),
        Forged::label(SUMS, 0, NUMBERS[0], u64::MAX),
    ] {
        let (_elsewhere, copy) = place();
        copied(&path, &copy);
        forged.write(&copy);
        let named = format!("{} in {:?} at {}", forged.number, forged.ending, forged.at);
        let Err(error) = open(&copy) else { panic!("{named}: it was opened") };
        assert!(error.sentence.contains("drive.wa"), "{named}: {error}");
    }
}
