//! `FORMAT.md` against the files of a drive: each field lies where the page says.

use std::fs;
use std::path::Path;

use crc32fast::Hasher;
use writeamp_vssd::Drive;
use writeamp_vssd::seal::{SEAL_BYTES, STATE_AT};
use writeamp_vssd::segment::{FILE_BYTES, ROWS};

use crate::support::{PAGE_BYTES, PAGES, SIZE_BYTES, beside, config, open_with, place};

const PAGE: &str = include_str!("../../FORMAT.md");

/// A row of a table of fields.
struct Field<'a> {
    offset: usize,
    size: Option<usize>,
    kind: &'a str,
    name: &'a str,
}

/// The table of fields below a heading.
fn fields(heading: &str) -> Vec<Field<'static>> {
    let section =
        PAGE.split("\n#").find(|part| part.trim_start_matches(['#', ' ']).starts_with(heading));
    let section = section.unwrap_or_else(|| panic!("no heading {heading}"));
    let cells = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let fields: Vec<_> = section
        .lines()
        .map(cells)
        .filter(|cells| cells.len() == 7)
        .filter_map(|cells| {
            let (offset, size) = (cells[1].parse().ok()?, cells[2].parse().ok());
            Some(Field { offset, size, kind: cells[3], name: cells[4] })
        })
        .collect();
    assert!(fields.len() > 2, "{heading} has no table of fields");
    for pair in fields.windows(2) {
        assert_eq!(
            pair[0].size.map(|size| pair[0].offset + size),
            Some(pair[1].offset),
            "{heading}"
        );
    }
    fields
}

/// Bytes of a file, read by a table of fields.
struct Read<'a>(&'a [u8], Vec<Field<'static>>);

impl<'a> Read<'a> {
    fn bytes(&self, name: &str) -> &'a [u8] {
        let field = self.1.iter().find(|field| field.name == name);
        let field = field.unwrap_or_else(|| panic!("no field {name}"));
        &self.0[field.offset..field.offset + field.size.expect("a field of fixed size")]
    }

    fn number(&self, name: &str) -> u64 {
        let bytes = self.bytes(name);
        let bits = self.1.iter().find(|field| field.name == name).unwrap().kind;
        assert_eq!(bits, format!("u{}", 8 * bytes.len()), "{name}");
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn cell(&self, name: &str) -> u64 {
        let word = u64::from_ne_bytes(self.bytes(name).try_into().unwrap());
        let (value, check) = (word >> 16, word & 0xFFFF);
        let found = crc(&value.to_le_bytes(), 0) ^ crc(&[0; 8], 0);
        assert_eq!(u64::from(found & 0xFFFF), check, "{name}");
        value
    }
}

fn crc(bytes: &[u8], start: u32) -> u32 {
    let mut hasher = Hasher::new_with_initial(start);
    hasher.update(bytes);
    hasher.finalize()
}

/// Checks a label; its identity and numbers.
fn label(file: &str, bytes: &[u8]) -> (Vec<u8>, u64, u64) {
    let read = Read(bytes, fields("Label"));
    assert!(PAGE.contains(&format!("| `{file}` | `{}` |", magic(read.bytes("magic")))), "{file}");
    assert!(PAGE.contains(&format!("The version of labels is {}.", read.number("version"))));
    assert_eq!(read.number("zero"), 0);
    let check = read.1.last().unwrap().offset;
    assert_eq!(u64::from(crc(&bytes[..check], 0)), read.number("check"));
    (read.bytes("identity").to_vec(), read.number("first number"), read.number("second number"))
}

fn magic(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn used(path: &Path) -> Drive {
    let mut config = config("sepgc", Some(path));
    config.longest_replay_ms = 1 << 20;
    let drive = open_with(&config).unwrap();
    drive.write(0, &[7; PAGE_BYTES as usize], false).unwrap();
    drive.trim(2 * PAGE_BYTES, 3 * PAGE_BYTES, true).unwrap();
    drive
}

#[test]
fn the_files_of_a_drive_are_as_the_page_of_their_format_says() {
    let (_directory, path) = place();
    used(&path).close().unwrap();
    let [sums, journal, flash] =
        [".sums", ".journal-1", ".flash"].map(|ending| fs::read(beside(&path, ending)).unwrap());
    let data = fs::read(&path).unwrap();
    let (requests, page) = (2, PAGE_BYTES as usize);

    assert_eq!(data.len() as u64, SIZE_BYTES.next_multiple_of(4096) + 4096);
    let seal = &data[data.len() - SEAL_BYTES as usize..];
    let (identity, size_bytes, page_bytes) = label("FILE", seal);
    assert_eq!((size_bytes, page_bytes), (SIZE_BYTES, PAGE_BYTES));
    let read = Read(seal, fields("FILE: data and seal"));
    assert_eq!((read.cell("state"), read.cell("served"), read.cell("durable")), (1, 2, requests));
    assert_eq!(read.1.iter().find(|field| field.name == "state").unwrap().offset, STATE_AT);
    let last = read.1.last().unwrap();
    assert_eq!(last.offset as u64 + last.size.unwrap() as u64, SEAL_BYTES);

    let salt = crc(&identity, 0);
    assert_eq!(label("FILE.sums", &sums), (identity.clone(), PAGES, PAGE_BYTES));
    assert_eq!(sums.len() as u64, 4096 + 4 * PAGES);
    let first = Read(&sums, fields("FILE.sums")).bytes("first checksum");
    assert_eq!(u32::from_ne_bytes(first.try_into().unwrap()), crc(&data[..page], salt));

    assert_eq!(label("FILE.journal-N", &journal), (identity.clone(), 1, 0));
    assert!(PAGE.contains(&format!("{FILE_BYTES} bytes: a header of 4096 and {ROWS} rows of 32")));
    assert_eq!(journal.len(), FILE_BYTES);
    let read = Read(&journal, fields("FILE.journal-N"));
    assert_eq!(read.cell("mark"), requests);
    let first = read.bytes("first row");
    let second = &journal[journal.len() - ROWS * first.len() + first.len()..][..first.len()];
    for (row, sequence, offset, length, op, flags) in
        [(first, 0, 0, PAGE_BYTES, 0, 0), (second, 1, 2 * PAGE_BYTES, 3 * PAGE_BYTES, 1, 1)]
    {
        let read = Read(row, fields("Row"));
        let found = ["sequence", "offset", "length", "operation", "flags", "zero"]
            .map(|name| read.number(name));
        assert_eq!(found, [sequence, offset, length, op, flags, 0]);
        assert!(read.number("time") > 0);
        let check = read.1.last().unwrap().offset;
        assert_eq!(u64::from(crc(&row[..check], salt)), read.number("check"));
    }

    let read = Read(&flash, fields("FILE.flash"));
    assert!(PAGE.contains(&format!("| `FILE.flash` | `{}` |", magic(read.bytes("magic")))));
    assert!(PAGE.contains(&format!("| {}, the engine's version", read.number("version"))));
    assert_eq!(read.number("length"), flash.len() as u64);
    assert_eq!(read.bytes("identity"), identity);
    assert_eq!(flash[read.1.last().unwrap().offset], 1);
    let (checked, check) = flash.split_at(flash.len() - 4);
    assert_eq!(crc(checked, 0).to_le_bytes(), check);
}

#[test]
fn a_drive_in_use_says_so_in_its_seal() {
    let (_directory, path) = place();
    let drive = used(&path);
    let data = fs::read(&path).unwrap();
    let read = Read(&data[data.len() - SEAL_BYTES as usize..], fields("FILE: data and seal"));
    let run = fs::read("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(read.cell("state"), (1 << 32) + u64::from(crc(&run, 0)));
    drop(drive);
}
