//! Tests of bytes and counters against a model.
//!
//! The model is an array of bytes, and a drive in memory that serves the same requests.

use serde_json::Value;
use writeamp_vssd::Config;

use crate::support::{
    Call, PAGE_BYTES, SIZE_BYTES, config, contents, counters, counters_after, open, open_with,
    place, random,
};

#[test]
fn a_drive_reads_what_was_written_to_it_in_memory_and_in_a_file() {
    let (_directory, path) = place();
    for backing in [None, Some(path.as_path())] {
        let drive = open_with(&config("sepgc", backing)).unwrap();
        let (mut random, mut model) = (random(1), vec![0; SIZE_BYTES as usize]);
        for step in 0..4000 {
            let call = Call::draw(&mut random);
            call.request(&drive).unwrap();
            call.apply(&mut model);
            if let Call::Read { offset, length } = call {
                let mut found = vec![0; length as usize];
                drive.read(offset, &mut found).unwrap();
                let expected = &model[offset as usize..(offset + length) as usize];
                assert!(found == expected, "step {step}: {call:?}");
            }
        }
        assert!(contents(&drive) == model);
    }
}

#[test]
fn a_drive_that_is_stopped_and_started_goes_on_as_if_it_had_not_been() {
    for manager in ["sepgc", "sepbit", "wolf-interval", "hcwf-swap:detector=bloom"] {
        let (_directory, path) = place();
        let config = |backing| config(manager, backing);
        let whole = open_with(&config(None)).unwrap();
        let (mut random, mut model) = (random(2), vec![0; SIZE_BYTES as usize]);
        for _part in 0..6 {
            let drive = open_with(&config(Some(&path))).unwrap();
            for _ in 0..700 {
                let call = Call::draw(&mut random);
                call.request(&drive).unwrap();
                call.request(&whole).unwrap();
                call.apply(&mut model);
            }
            assert_eq!(counters(&drive), counters(&whole), "{manager}");
            drive.close().unwrap();
        }
        let drive = open_with(&config(Some(&path))).unwrap();
        assert_eq!(counters(&drive), counters(&whole), "{manager}");
        assert!(contents(&drive) == model, "{manager}");
    }
}

#[test]
fn extents_are_holes_exactly_where_pages_hold_no_data() {
    let drive = open_with(&config("sepgc", None)).unwrap();
    drive.write(2 * PAGE_BYTES + 5, &[1; 10], false).unwrap();
    drive.write(7 * PAGE_BYTES, &[1; 3 * PAGE_BYTES as usize], false).unwrap();
    drive.trim(8 * PAGE_BYTES, PAGE_BYTES, false).unwrap();
    let found: Vec<_> = drive.extents(0, SIZE_BYTES).unwrap().collect();
    let page = |first: u64, end: u64| first * PAGE_BYTES..end * PAGE_BYTES;
    let end = SIZE_BYTES / PAGE_BYTES;
    assert_eq!(
        found,
        [
            (page(0, 2), false),
            (page(2, 3), true),
            (page(3, 7), false),
            (page(7, 8), true),
            (page(8, 9), false),
            (page(9, 10), true),
            (page(10, end), false),
        ]
    );
}

#[test]
fn requests_off_the_drive_are_refused_and_count_nothing() {
    let drive = open_with(&config("sepgc", None)).unwrap();
    let none = counters_after([]);
    for (offset, length) in [
        (SIZE_BYTES, 1),
        (SIZE_BYTES - 1, 2),
        (u64::MAX, 1),
        (u64::MAX, u64::MAX),
        (1, u64::MAX),
        (0, 1 << 33),
        (0, SIZE_BYTES + 1),
    ] {
        let mut buffer = vec![0; length.min(2 * SIZE_BYTES) as usize];
        let told = drive.trim(offset, length, false).unwrap_err();
        assert_eq!(told.errno, libc::EINVAL);
        assert!(told.sentence.contains("not on this drive"), "{told}");
        assert!(drive.zero(offset, length, true, false).is_err());
        assert!(drive.extents(offset, length).is_err());
        if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > SIZE_BYTES) {
            assert!(drive.write(offset, &buffer, true).is_err());
            assert!(drive.read(offset, &mut buffer).is_err());
        }
    }
    assert_eq!(counters(&drive), none);
}

#[test]
fn requests_for_nothing_do_nothing() {
    let drive = open_with(&config("sepgc", None)).unwrap();
    drive.write(SIZE_BYTES, &[], false).unwrap();
    drive.read(0, &mut []).unwrap();
    drive.zero(5, 0, true, true).unwrap();
    drive.trim(100, 200, true).unwrap();
    assert_eq!(counters(&drive), counters_after([]));
}

#[test]
fn a_write_of_a_part_of_a_page_is_read_modify_write_once_the_page_holds_data() {
    let drive = open_with(&config("sepgc", None)).unwrap();
    let count = || counters(&drive)["read_modify_write_pages"].as_u64().unwrap();
    drive.write(10, &[1; 20], false).unwrap();
    assert_eq!(count(), 0);
    drive.write(100, &[1; 20], false).unwrap();
    assert_eq!(count(), 1);
    drive.write(PAGE_BYTES - 1, &[1; 2], false).unwrap();
    assert_eq!(count(), 2);
    drive.write(0, &[1; 4096], false).unwrap();
    assert_eq!(count(), 2);
    let host = &counters(&drive)["host"];
    assert_eq!(host["written_bytes"], 20 + 20 + 2 + 4096);
    assert_eq!(host["written_pages"], 1 + 1 + 2 + 1);
}

#[test]
fn writes_of_parts_of_mapping_units_are_a_cause_of_their_own() {
    let plain = open_with(&config("sepgc", None)).unwrap();
    let in_units = Config { host_page_bytes: Some(512), ..config("sepgc", None) };
    let units = open_with(&in_units).unwrap();
    let mut random = random(3);
    for _ in 0..3000 {
        let call = Call::draw(&mut random);
        call.request(&plain).unwrap();
        call.request(&units).unwrap();
    }
    let (plain, units) = (counters(&plain), counters(&units));
    let of = |counters: &Value, cause: &str| counters["programs"][cause].as_u64();
    let partial = units["read_modify_write_pages"].as_u64().unwrap();
    assert!(partial > 100);
    assert_eq!(of(&units, "read_modify_write"), Some(partial));
    assert_eq!(of(&units, "host").map(|whole| whole + partial), of(&plain, "host"));
    assert_eq!(of(&units, "gc"), of(&plain, "gc"));
    assert_eq!(of(&plain, "read_modify_write"), None);
}

#[test]
fn a_page_whose_first_data_are_a_part_of_it_reads_as_zeros_elsewhere() {
    let (_directory, path) = place();
    // The bytes in the file of a page without data have no effect.
    let drive = open(&path).unwrap();
    drive.write(0, &[9; PAGE_BYTES as usize], false).unwrap();
    drive.trim(0, PAGE_BYTES, false).unwrap();
    drop(drive);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[8; PAGE_BYTES as usize], 0).unwrap();
    let drive = open(&path).unwrap();
    assert!(contents(&drive).iter().all(|byte| *byte == 0));
    drive.write(100, &[7; 1], false).unwrap();
    let found = contents(&drive);
    assert_eq!(found.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 7);
}
