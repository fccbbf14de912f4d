//! Many threads at one drive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

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
fn pages_that_two_write_at_once_are_of_one_of_them() {
    const RUN_BYTES: usize = 64 << 10;
    let (_directory, path) = place();
    for backing in [None, Some(path.as_path())] {
        let drive = open_with(&config("sepgc", backing)).unwrap();
        let is_over = AtomicBool::new(false);
        let check = |found: &[u8]| {
            for page in found.chunks(PAGE_BYTES as usize) {
                assert!(page.iter().all(|byte| *byte == page[0]), "a page of two writes");
            }
        };
        thread::scope(|scope| {
            for fill in [1, 2] {
                let (drive, is_over) = (&drive, &is_over);
                scope.spawn(move || {
                    for _ in 0..2000 {
                        drive.write(0, &[fill; RUN_BYTES], false).unwrap();
                    }
                    is_over.store(true, Ordering::Release);
                });
            }
            let mut found = vec![0; RUN_BYTES];
            while !is_over.load(Ordering::Acquire) {
                drive.read(0, &mut found).unwrap();
                check(&found);
            }
        });
        let mut found = vec![0; RUN_BYTES];
        drive.read(0, &mut found).unwrap();
        check(&found);
    }
}
