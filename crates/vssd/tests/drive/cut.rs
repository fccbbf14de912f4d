//! Files that are truncated, removed, or lose their disk space while a drive uses them.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::Command;

use writeamp_vssd::Drive;

use crate::support::{
    Call, PAGE_BYTES, SIZE_BYTES, beside, config, contents, on_small_disk, open_with, place,
};

const PAGE: usize = PAGE_BYTES as usize;
const HALF: u64 = SIZE_BYTES / 2;
const STORES: [Call; 5] = [
    Call::Write { offset: 0, length: PAGE_BYTES, fill: 9, fua: false },
    Call::Write { offset: HALF + 5, length: 10, fill: 9, fua: true },
    Call::Trim { offset: HALF, length: PAGE_BYTES, fua: false },
    Call::Zero { offset: HALF - 100, length: 2 * PAGE_BYTES, may_trim: true, fua: false },
    Call::Zero { offset: HALF, length: PAGE_BYTES, may_trim: false, fua: false },
];
const READ: Call = Call::Read { offset: HALF, length: PAGE_BYTES };

/// Returns a drive that takes no snapshots, with data in all pages up to an offset.
fn written(path: &Path, end: u64) -> Drive {
    let mut config = config("sepgc", Some(path));
    config.longest_replay_ms = 1 << 20;
    let drive = open_with(&config).unwrap();
    for page in 0..end / PAGE_BYTES {
        drive.write(page * PAGE_BYTES, &[1 + (page % 255) as u8; PAGE], false).unwrap();
    }
    drive
}

#[test]
fn a_flush_fails_once_the_data_have_no_name_any_more() {
    let remove = |path: &Path| fs::remove_file(path).unwrap();
    let replace = |path: &Path| {
        fs::write(path.with_extension("new"), b"").unwrap();
        fs::rename(path.with_extension("new"), path).unwrap();
    };
    for lose in [remove as fn(&Path), replace] {
        let (_directory, path) = place();
        let drive = written(&path, PAGE_BYTES);
        drive.flush().unwrap();
        lose(&path);
        let refused = drive.flush().unwrap_err();
        assert!(refused.to_string().contains("removed or replaced"), "{refused}");
        assert!(drive.write(0, &[9; PAGE], true).is_err());
        assert!(drive.close().is_err());
    }
}

#[test]
fn requests_fail_that_need_a_file_which_was_cut_and_reads_go_on() {
    for (ending, length) in
        [("", 0), ("", HALF), ("", SIZE_BYTES), (".journal-1", 0), (".sums", 0), (".sums", 4096)]
    {
        for first in STORES.into_iter().chain([READ, Call::Flush]) {
            let named = format!("{first:?} after drive.wa{ending} was cut to {length}");
            let (_directory, path) = place();
            let drive = written(&path, SIZE_BYTES);
            let bytes = contents(&drive);
            OpenOptions::new()
                .write(true)
                .open(beside(&path, ending))
                .unwrap()
                .set_len(length)
                .unwrap();
            let data_bytes = if ending.is_empty() { length } else { SIZE_BYTES };
            // A request that stores no data changes no checksum.
            let is_served = match first {
                Call::Read { offset, .. } => offset < data_bytes,
                Call::Flush => ending == ".sums",
                _ => false,
            };
            let told = first.request(&drive);
            assert_eq!(told.is_ok(), is_served, "{named}: {told:?}");
            for call in STORES {
                let error = call.request(&drive).unwrap_err();
                assert_eq!(error.errno, libc::EIO, "{named}: {error}");
                let words = format!("drive.wa{ending}: this file was cut to {length} bytes");
                assert!(error.sentence.contains(&words), "{named}: {error}");
            }
            drive.flush().unwrap_err();
            // The requests above touch none of these pages.
            for at in (PAGE..HALF as usize - 2 * PAGE).step_by(23 * PAGE) {
                let mut found = vec![0; PAGE];
                let read = drive.read(at as u64, &mut found);
                assert_eq!(read.is_ok(), ((at + PAGE) as u64) <= data_bytes, "{named}: {read:?}");
                assert!(read.is_err() || found == bytes[at..at + PAGE], "{named}: {at}");
            }
            drive.counters(false).unwrap();
            drive.close().unwrap_err();
            drop(drive);
            let Err(error) = open_with(&config("sepgc", Some(&path))) else {
                panic!("{named}: it was opened")
            };
            assert!(error.sentence.contains(&format!("drive.wa{ending}: ")), "{named}: {error}");
        }
    }
}

#[test]
fn what_was_answered_is_there_after_pages_lost_their_space_on_a_full_disk() {
    on_small_disk(|path| {
        let drive = written(path, HALF);
        // Another program punches a hole where the drive has reserved space, and fills the disk.
        let (quarter, hole) = ((HALF / 2).to_string(), "--punch-hole");
        let punch = Command::new("fallocate").args([hole, "--length", &quarter]).arg(path).status();
        assert!(punch.unwrap().success());
        fs::write(path.with_file_name("other"), vec![1; 4 << 20]).unwrap_err();
        let error = drive.write(PAGE_BYTES, &[9; PAGE], false).unwrap_err();
        assert_eq!(error.errno, libc::ENOSPC, "{error}");
        assert!(error.sentence.contains("stored (No space left on device"));
        // After a failure of the mapping, writes fail, and reads use system calls instead.
        drive.write(HALF - PAGE_BYTES, &[9; PAGE], false).unwrap_err();
        let (first, page) = (HALF / 2 / PAGE_BYTES, &mut [0; PAGE]);
        for at in first..HALF / PAGE_BYTES {
            drive.read(at * PAGE_BYTES, page).unwrap();
            assert_eq!(*page, [1 + (at % 255) as u8; PAGE]);
        }
        let error = drive.read(3 * PAGE_BYTES, page).unwrap_err();
        assert!(error.sentence.contains("page 3 differs from its checksum"), "{error}");
        drop(drive);
        fs::remove_file(path.with_file_name("other")).unwrap();
        let Err(error) = open_with(&config("sepgc", Some(path))) else { panic!("it was opened") };
        assert!(error.sentence.contains("page 0 differs from its checksum"), "{error}");
    });
}
