//! Unexpected files: opening the drive returns an error, and changes no file.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use writeamp_vssd::Error;
use writeamp_vssd::seal::{SEAL_BYTES, STATE_AT};

use crate::support::{
    Call, PAGE_BYTES, SIZE_BYTES, config, contents, counters, on_small_disk, open, open_with,
    place, random,
};

fn refused(path: &Path) -> Error {
    let Err(error) = open(path) else { panic!("it was opened") };
    error
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

fn journal(path: &Path) -> PathBuf {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.display().to_string().contains(".journal-"));
    assert_eq!(paths.len(), 1);
    paths.remove(0)
}

/// Creates a drive, uses and closes it. It takes no snapshot meanwhile.
fn used(path: &Path) {
    let drive = open_with(&{
        let mut config = config("sepgc", Some(path));
        config.longest_replay_ms = 1 << 20;
        config
    });
    let (drive, mut random) = (drive.unwrap(), random(3));
    (0..500).for_each(|_| Call::draw(&mut random).request(&drive).unwrap());
    drive.close().unwrap();
}

fn flip(path: &Path, at: u64) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn a_drive_of_an_earlier_build_is_refused() {
    let (_directory, path) = place();
    used(&path);
    // In an earlier version, the data had no seal.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(SIZE_BYTES).unwrap();
    assert!(refused(&path).sentence.contains("or an earlier version of writeamp made it"));
}

#[test]
fn files_that_are_none_of_a_drive_stay_beside_a_new_one_and_an_old_one() {
    let (_directory, path) = place();
    let endings = [".journal-1", ".journal-7", ".journal-+7", ".journal-0009", ".journal-2024"];
    for ending in endings {
        fs::write(beside(&path, ending), "somebody's diary").unwrap();
    }
    for _ in 0..3 {
        let drive = open(&path).unwrap();
        let mut random = random(4);
        for _ in 0..200 {
            Call::draw(&mut random).request(&drive).unwrap();
            drive.settle();
        }
    }
    for ending in endings {
        assert_eq!(fs::read(beside(&path, ending)).unwrap(), b"somebody's diary", "{ending}");
    }
}

#[test]
fn journals_of_a_drive_whose_flash_is_gone_make_room_for_a_new_one() {
    let (_directory, path) = place();
    used(&path);
    fs::remove_file(&path).unwrap();
    fs::remove_file(beside(&path, ".flash")).unwrap();
    fs::write(beside(&path, ".journal-0001"), fs::read(journal(&path)).unwrap()).unwrap();
    drop(open(&path).unwrap());
    assert!(beside(&path, ".journal-0001").exists());
    open(&path).unwrap();
}

#[test]
fn checksums_do_not_replace_a_file_that_is_none_of_a_drive() {
    let (_directory, path) = place();
    fs::write(beside(&path, ".sums"), "accounts").unwrap();
    assert!(refused(&path).sentence.contains("which is not a drive's"));
    assert_eq!(fs::read(beside(&path, ".sums")).unwrap(), b"accounts");
}

#[test]
fn data_whose_flash_is_gone_are_left_alone() {
    let (_directory, path) = place();
    used(&path);
    fs::remove_file(beside(&path, ".flash")).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(refused(&path).sentence.contains("no flash behind it"));
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn two_servers_cannot_use_one_drive() {
    let (_directory, path) = place();
    let first = open(&path).unwrap();
    assert!(refused(&path).sentence.contains("another server is using this drive"));
    drop(first);
    open(&path).unwrap();
}

#[test]
fn all_files_are_for_their_owner_alone() {
    let (directory, path) = place();
    let mut config = config("sepgc", Some(&path));
    config.record = Some(directory.path().join("recording"));
    let drive = open_with(&config).unwrap();
    Call::Write { offset: 0, length: PAGE_BYTES, fill: 1, fua: true }.request(&drive).unwrap();
    drive.settle();
    let entries = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap());
    let modes: Vec<_> = entries.map(|entry| entry.metadata().unwrap().mode() & 0o777).collect();
    assert!(modes.len() >= 4 && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
}

#[test]
fn data_that_serve_did_not_make_are_left_alone() {
    let (_directory, path) = place();
    fs::write(&path, "an image of somebody's disk").unwrap();
    assert!(refused(&path).sentence.contains("no flash behind it"));
    assert_eq!(fs::read(&path).unwrap(), b"an image of somebody's disk");
}

#[test]
fn data_that_are_missing_are_not_made_anew() {
    let (_directory, path) = place();
    used(&path);
    fs::remove_file(&path).unwrap();
    assert!(refused(&path).sentence.contains("with the data of the drive, is missing"));
    assert!(!path.exists());
}

#[test]
fn data_that_were_cut_are_refused() {
    let (_directory, path) = place();
    used(&path);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(PAGE_BYTES).unwrap();
    assert!(refused(&path).sentence.contains("it was truncated or damaged"));
}

#[test]
fn flash_of_other_options_is_refused_with_what_differs() {
    let (_directory, path) = place();
    used(&path);
    let Err(error) = open_with(&config("sepbit", Some(&path))) else { panic!("opened") };
    assert!(error.sentence.contains("block manager is sepgc, but here it is sepbit"), "{error}");
}

#[test]
fn a_flash_with_any_byte_changed_is_refused() {
    let (_directory, path) = place();
    used(&path);
    let flash = beside(&path, ".flash");
    let length = fs::metadata(&flash).unwrap().len();
    for at in (0..length).step_by(length as usize / 20) {
        flip(&flash, at);
        assert!(refused(&path).sentence.contains("drive.wa.flash"));
        flip(&flash, at);
    }
    open(&path).unwrap();
}

#[test]
fn a_flash_that_was_cut_is_refused() {
    let (_directory, path) = place();
    used(&path);
    let flash = beside(&path, ".flash");
    OpenOptions::new().write(true).open(&flash).unwrap().set_len(100).unwrap();
    assert!(refused(&path).sentence.contains("truncated"));
}

#[test]
fn a_journal_that_is_damaged_where_it_was_durable_is_refused() {
    let (_directory, path) = place();
    used(&path);
    let journal = journal(&path);
    flip(&journal, 4096 + 32 * 100 + 3);
    let told = refused(&path).sentence;
    assert!(told.contains("damaged at request 100, which was durable"), "{told}");
    flip(&journal, 4096 + 32 * 100 + 3);
    flip(&journal, 2);
    assert!(refused(&path).sentence.contains("not a journal of a virtual drive"));
    flip(&journal, 2);
    open(&path).unwrap();
}

#[test]
fn a_journal_that_is_missing_or_cut_is_refused() {
    let (_directory, path) = place();
    used(&path);
    let journal = journal(&path);
    let kept = fs::read(&journal).unwrap();
    fs::write(&journal, &kept[..5000]).unwrap();
    assert!(refused(&path).sentence.contains("this journal should have"));
    fs::remove_file(&journal).unwrap();
    assert!(refused(&path).sentence.contains("the journal of this drive is missing"));
}

#[test]
fn a_drive_whose_making_was_interrupted_is_made() {
    let (_directory, path) = place();
    // States after a kill during creation: data with or without space for the seal, or with a
    // journal.
    for (length, with_journal) in
        [(SIZE_BYTES, false), (SIZE_BYTES, true), (SIZE_BYTES + SEAL_BYTES, false)]
    {
        let file = fs::File::create(&path).unwrap();
        file.set_len(length).unwrap();
        if with_journal {
            fs::write(beside(&path, ".journal-1"), "").unwrap();
        }
        let drive = open(&path).unwrap();
        assert!(contents(&drive).iter().all(|byte| *byte == 0));
        drop(drive);
        fs::remove_file(beside(&path, ".flash")).unwrap();
    }
    // A kill after the seal was written: the seal then states that the drive is unfinished.
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 8], SIZE_BYTES + STATE_AT as u64).unwrap();
    let drive = open(&path).unwrap();
    assert!(contents(&drive).iter().all(|byte| *byte == 0));
}

#[test]
fn a_journal_whose_making_was_interrupted_is_made_anew() {
    let (_directory, path) = place();
    used(&path);
    let label = fs::read(journal(&path)).unwrap();
    for length in [0, 8, 52] {
        let before = counters(&open(&path).unwrap());
        fs::write(beside(&path, ".journal-2"), &label[..length]).unwrap();
        let drive = open(&path).unwrap();
        assert_eq!(counters(&drive), before);
        drop(drive);
        let _ = fs::remove_file(beside(&path, ".journal-2"));
    }
}

#[test]
fn a_full_disk_fails_requests_and_loses_none_that_was_answered() {
    on_small_disk(full_disk);
}

fn full_disk(path: &Path) {
    let drive = open(path).unwrap();
    let (mut failed, mut model) = (0, vec![0; SIZE_BYTES as usize]);
    for page in 0..crate::support::PAGES {
        let call =
            Call::Write { offset: page * PAGE_BYTES, length: PAGE_BYTES, fill: 5, fua: false };
        match call.request(&drive) {
            Ok(()) => call.apply(&mut model),
            Err(error) => {
                assert_eq!(error.errno, libc::ENOSPC, "{error}");
                failed += 1;
            }
        }
    }
    assert!(failed > 0, "the disk was not full");
    assert!(contents(&drive) == model);
    // Space that a trim gives back can be used again.
    let trim = Call::Trim { offset: 0, length: 64 * PAGE_BYTES, fua: true };
    trim.request(&drive).unwrap();
    trim.apply(&mut model);
    let before = counters(&drive);
    drop(drive);
    let drive = open(path).unwrap();
    assert!(contents(&drive) == model);
    assert_eq!(counters(&drive)["host"]["written_pages"], before["host"]["written_pages"]);
}
