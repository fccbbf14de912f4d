//! Concurrent requests of many threads to one drive.

use std::thread::{self, ScopedJoinHandle};

use writeamp_vssd::Drive;

use crate::support::{PAGE_BYTES, SIZE_BYTES, config, contents, counters, open, open_with, place};

#[test]
fn threads_that_write_parts_of_the_same_pages_lose_nothing() {
    let (_directory, path) = place();
    for backing in [None, Some(path.as_path())] {
        let drive = open_with(&config("sepgc", backing)).unwrap();
        thread::scope(|scope| {
            for part in 0..8u64 {
                let drive = &drive;
                scope.spawn(move || {
                    for page in 0..SIZE_BYTES / PAGE_BYTES {
                        let at = page * PAGE_BYTES + part * 512;
                        drive.write(at, &[part as u8 + 1; 512], false).unwrap();
                    }
                });
            }
        });
        for (at, byte) in contents(&drive).iter().enumerate() {
            assert_eq!(usize::from(*byte), at % 4096 / 512 + 1, "byte {at}");
        }
        let found = counters(&drive);
        assert_eq!(found["host"]["written_bytes"], SIZE_BYTES);
        assert_eq!(found["read_modify_write_pages"], 7 * SIZE_BYTES / PAGE_BYTES);
    }
}

#[test]
fn flushes_of_many_threads_while_journals_are_rotated_come_back() {
    let (_directory, path) = place();
    let drive = open(&path).unwrap();
    thread::scope(|scope| {
        for part in 0..4u64 {
            let drive = &drive;
            scope.spawn(move || {
                for step in 0..300u64 {
                    let at = (step * 4 + part) % 500 * PAGE_BYTES;
                    drive.write(at, &[1; PAGE_BYTES as usize], step % 7 == 0).unwrap();
                    if step % 10 == 0 {
                        drive.flush().unwrap();
                    }
                }
            });
        }
    });
    let before = counters(&drive);
    drop(drive);
    assert_eq!(counters(&open(&path).unwrap()), before);
}

#[test]
fn two_writes_that_begin_the_same_page_leave_what_one_of_them_wrote() {
    let drive = open_with(&config("sepgc", None)).unwrap();
    for page in 0..SIZE_BYTES / PAGE_BYTES {
        let at = page * PAGE_BYTES;
        thread::scope(|scope| {
            scope.spawn(|| drive.write(at, &[1; PAGE_BYTES as usize], false).unwrap());
            scope.spawn(|| drive.write(at, &[2; 512], false).unwrap());
        });
        let mut found = [0; PAGE_BYTES as usize];
        drive.read(at, &mut found).unwrap();
        assert!(found[..512].iter().all(|byte| *byte == found[0]) && found[0] != 0, "page {page}");
        assert!(found[512..].iter().all(|byte| *byte == 1), "page {page}");
    }
}

#[test]
fn a_page_that_two_write_at_once_is_of_one_of_them() {
    // Storing large requests takes long, so that reads happen meanwhile.
    const LARGE_BYTES: usize = 256 << 10;
    let check = |drive: &Drive, found: &mut [u8]| {
        drive.read(0, found).unwrap();
        assert!(found.iter().all(|byte| *byte == found[0]), "a page of two writes");
    };
    let (_directory, path) = place();
    for backing in [None, Some(path.as_path())] {
        let mut config = config("sepgc", backing);
        config.drive.geometry.page_bytes = LARGE_BYTES as u32;
        config.size_bytes = 4 * LARGE_BYTES as u64;
        config.longest_replay_ms = 1 << 20;
        let drive = open_with(&config).unwrap();
        let mut found = vec![0; LARGE_BYTES];
        thread::scope(|scope| {
            let drive = &drive;
            let write = move |fill: u8| {
                let bytes = vec![fill; LARGE_BYTES];
                (0..3000).for_each(|_| drive.write(0, &bytes, false).unwrap());
            };
            let writers = [1, 2].map(|fill| scope.spawn(move || write(fill)));
            while !writers.iter().all(ScopedJoinHandle::is_finished) {
                check(drive, &mut found);
            }
        });
        check(&drive, &mut found);
    }
}
