//! Files of another drive with the same options, or of another time: the drive is not opened.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use writeamp_vssd::segment::FILE_BYTES;
use writeamp_vssd::{Config, Drive};

use crate::support::{Call, beginning, config, contents, counters, open_with, place, random};

/// Copy of all files of a drive, by the endings of their names.
/// Journals are sparse, and the copy has their beginning only.
type Copy = BTreeMap<String, Vec<u8>>;

fn options(path: &Path, longest_replay_ms: u64) -> Config {
    let mut config = config("sepgc", Some(path));
    config.longest_replay_ms = longest_replay_ms;
    config
}

fn copy(path: &Path) -> Copy {
    let name = path.file_name().unwrap().to_str().unwrap();
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap());
    let of = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    entries
        .map(|entry| (of(&entry)[name.len()..].to_owned(), beginning(&entry.path()).unwrap()))
        .collect()
}

/// Opens a copy of a drive in a temporary directory.
fn opened(files: &Copy, longest_replay_ms: u64) -> writeamp_vssd::Result<Drive> {
    let (_directory, path) = place();
    for (ending, bytes) in files {
        let file = fs::File::create(format!("{}{ending}", path.display())).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        if kind(ending) == "journal" {
            file.set_len(FILE_BYTES as u64).unwrap();
        }
    }
    // The directory is removed at the end, but open files remain until they are closed.
    open_with(&options(&path, longest_replay_ms))
}

fn use_it(drive: &Drive, seed: u64) {
    let mut random = random(seed);
    (0..300).for_each(|_| Call::draw(&mut random).request(drive).unwrap());
    drive.settle();
}

/// Returns copies of a drive after each of two uses. Each ends with a close, or without one.
fn twice_used(is_closed: bool, longest_replay_ms: u64) -> [Copy; 2] {
    let (_directory, path) = place();
    [1, 2].map(|seed| {
        let drive = open_with(&options(&path, longest_replay_ms)).unwrap();
        use_it(&drive, seed);
        if is_closed {
            drive.close().unwrap();
        }
        drop(drive);
        copy(&path)
    })
}

/// Returns all mixtures of the files of two copies, with the exchanged kinds of files.
fn mixed(one: &Copy, other: &Copy) -> Vec<(String, Copy)> {
    let kinds = ["", ".flash", ".sums", "journal"];
    let mix = |chosen: u32| {
        let names: Vec<_> = (0..4).filter(|at| chosen >> at & 1 == 1).map(|at| kinds[at]).collect();
        let mut files = one.clone();
        files.retain(|ending, _| !names.contains(&kind(ending)));
        let others = other.iter().filter(|(ending, _)| names.contains(&kind(ending)));
        files.extend(others.map(|(ending, bytes)| (ending.clone(), bytes.clone())));
        (names.join(", "), files)
    };
    (1..15).map(mix).collect()
}

fn kind(ending: &str) -> &str {
    if ending.starts_with(".journal-") { "journal" } else { ending }
}

fn none_is_opened(one: &Copy, other: &Copy, longest_replay_ms: u64, what: &str) {
    for (names, files) in mixed(one, other) {
        // If the exchanged files are equal, the mixture is one of the copies, which may be opened.
        if files == *one || files == *other {
            continue;
        }
        let found = opened(&files, longest_replay_ms);
        let Err(error) = found else {
            panic!("{what}: with {names:?} of the other, it was opened")
        };
        assert!(error.sentence.contains("drive.wa"), "{error}");
    }
}

#[test]
fn files_of_another_drive_of_the_same_options_are_refused_alone_and_together() {
    for (is_closed, longest_replay_ms) in [(true, 1 << 20), (false, 1 << 20), (true, 0)] {
        let [_, one] = twice_used(is_closed, longest_replay_ms);
        let [_, other] = twice_used(is_closed, longest_replay_ms);
        drop(opened(&one, longest_replay_ms).unwrap());
        none_is_opened(&one, &other, longest_replay_ms, "another drive");
    }
}

#[test]
fn older_copies_of_some_files_are_refused() {
    for longest_replay_ms in [0, 1 << 20] {
        let [before, after] = twice_used(true, longest_replay_ms);
        none_is_opened(&after, &before, longest_replay_ms, "an older copy");
    }
}

#[test]
fn older_copies_of_data_flash_or_journal_of_a_killed_server_are_refused() {
    let [before, after] = twice_used(false, 1 << 20);
    none_is_opened(&after, &before, 1 << 20, "an older copy");
}

#[test]
fn older_copies_of_all_files_are_the_drive_as_it_was() {
    let (_directory, path) = place();
    let drive = open_with(&options(&path, 1 << 20)).unwrap();
    use_it(&drive, 1);
    drive.close().unwrap();
    let files = copy(&path);
    let (expected, counted) = (counters(&drive), contents(&drive));
    let found = opened(&files, 1 << 20).unwrap();
    assert_eq!(counters(&found), expected);
    assert!(contents(&found) == counted);
}
