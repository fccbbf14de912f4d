//! Timed drives in files: after a stop, a kill or damage, and with other options.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};
use writeamp_engine::flash::Cause;
use writeamp_vssd::record::Record;
use writeamp_vssd::seal::Seal;
use writeamp_vssd::segment::Segment;
use writeamp_vssd::timed::TimedFlash;
use writeamp_vssd::{Config, Drive};

use crate::support::{
    Call, PAGE_BYTES, PAGES, SIZE_BYTES, config, contents, open, open_with, place, random,
};

const MODIFIED: &str = "read_modify_write_pages";

fn timed(path: &Path) -> Config {
    let mut config = config("sepgc", Some(path));
    config.times = Some(json!({
        "timing": {"read_us": 2, "program_us": 9, "erase_us": 40, "program_spread": 0.1},
        "host": {"depth": 4, "controller_ns": 500, "link_mb_s": 2000},
        "write_cache": {"bytes": 32 * PAGE_BYTES, "idle_flush_ms": 0.1},
        "slc": {"static_bytes": 64 * PAGE_BYTES, "program_us": 4, "erase_us": 9},
    }));
    config
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// Sends the requests of several hosts, each to its own part of the drive.
fn request(drive: &Drive, seed: u64, model: &mut [u8]) {
    let part_bytes = SIZE_BYTES / 4;
    let parts = model.chunks_exact_mut(part_bytes as usize);
    thread::scope(|scope| {
        for (part, model) in (0..).zip(parts) {
            scope.spawn(move || {
                let mut random = random(4 * seed + part);
                for _ in 0..150 {
                    let call = Call::draw(&mut random).within(part * part_bytes, part_bytes);
                    call.request(drive).unwrap();
                    call.moved_down(part * part_bytes).apply(model);
                }
            });
        }
    });
}

/// Returns the counters of a drive, without those that depend on the time of the call.
fn counted(drive: &Drive) -> Value {
    let mut found = drive.counters(false).unwrap();
    found.retain(|key, _| ["host", "programs", "erases", MODIFIED].contains(&key.as_str()));
    found.into()
}

/// Returns the rows of the journals of a drive that no server uses.
fn rows(path: &Path) -> Vec<Record> {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let seal = Seal::open(path, &file).unwrap().unwrap();
    let segment = Segment::open(&beside(path, ".journal-1"), seal.identity(), 1).unwrap();
    segment.unwrap().records().unwrap()
}

#[test]
fn a_timed_drive_goes_on_after_it_was_stopped_and_after_it_was_killed() {
    let (_directory, path) = place();
    let mut model = vec![0; SIZE_BYTES as usize];
    let mut before = 0;
    for start in 0..6 {
        let drive = open_with(&timed(&path)).unwrap();
        assert!(contents(&drive) == model, "start {start}");
        request(&drive, start, &mut model);
        let written = counted(&drive)["host"]["written_pages"].as_u64().unwrap();
        assert!(written > before);
        before = written;
        assert_eq!(drive.counters(false).unwrap()["timed"]["unanswered"], 0);
        if start % 2 == 0 {
            drive.close().unwrap();
        }
        drop(drive);
        // No request is lost or counted twice.
        let again = open_with(&timed(&path)).unwrap();
        assert_eq!(counted(&again)["host"]["written_pages"], written, "start {start}");
        assert!(contents(&again) == model, "start {start}");
    }
}

#[test]
fn a_timed_drive_that_was_killed_counts_what_its_requests_come_to_served_anew() {
    let (_directory, path) = place();
    let drive = open_with(&timed(&path)).unwrap();
    request(&drive, 3, &mut vec![0; SIZE_BYTES as usize]);
    drop(drive);
    let rows = rows(&path);
    assert!(rows.len() > 500);

    let mut anew = TimedFlash::new(&timed(&path), None).unwrap();
    for record in &rows {
        anew.replay(record).unwrap();
    }
    anew.turn_off().unwrap();
    let (counters, requests) = (anew.counters(), anew.requests);
    let found = counted(&open_with(&timed(&path)).unwrap());
    for cause in Cause::ALL {
        assert_eq!(found["programs"][cause.name()], counters.programs(cause), "{}", cause.name());
    }
    assert!(counters.programs(Cause::Slc) > 500);
    assert_eq!(found["erases"], counters.erases);
    assert_eq!(found[MODIFIED], requests.read_modify_write_pages);
    let host = &found["host"];
    for (name, count) in [
        ("written_bytes", counters.host.written_bytes),
        ("read_bytes", counters.host.read_bytes),
        ("trimmed_pages", counters.host.trimmed_pages),
        ("flushes", counters.host.flushes),
        ("write_requests", requests.writes),
        ("trim_requests", requests.trims),
    ] {
        assert_eq!(host[name], count, "{name}");
    }
}

#[test]
fn pages_that_are_only_in_memory_when_the_drive_ends_are_there_and_counted() {
    for is_stopped in [false, true] {
        let (_directory, path) = place();
        let mut config = timed(&path);
        config.times.as_mut().unwrap()["write_cache"]["idle_flush_ms"] = json!(0);
        let drive = open_with(&config).unwrap();
        drive.write(0, &[7; 4 * PAGE_BYTES as usize], false).unwrap();
        assert_eq!(counted(&drive)["programs"]["slc"], 0);
        if is_stopped {
            drive.close().unwrap();
        }
        drop(drive);
        let again = open_with(&config).unwrap();
        assert!(contents(&again)[..4 * PAGE_BYTES as usize].iter().all(|byte| *byte == 7));
        assert_eq!(counted(&again)["programs"]["slc"], 4, "stopped: {is_stopped}");
        assert_eq!(again.extents(0, SIZE_BYTES).unwrap().next(), Some((0..4 * PAGE_BYTES, true)));
    }
}

#[test]
fn a_drive_with_time_and_one_without_are_not_taken_for_each_other() {
    let (_directory, path) = place();
    open_with(&timed(&path)).unwrap().close().unwrap();
    let refused = |config: &Config| open_with(config).err().unwrap().sentence;
    let why = open(&path).err().unwrap().sentence;
    assert!(why.contains("drive.wa.flash: ") && why.contains("this is a timed drive"), "{why}");
    let mut slower = timed(&path);
    slower.times.as_mut().unwrap()["timing"]["erase_us"] = json!(41);
    let why = refused(&slower);
    assert!(why.contains("timing.erase_us was 40 and is 41 now"), "{why}");
    open_with(&timed(&path)).unwrap();

    let (_directory, path) = place();
    open(&path).unwrap().close().unwrap();
    let why = refused(&timed(&path));
    assert!(why.contains("drive.wa.flash: ") && why.contains("made without time"), "{why}");
    open(&path).unwrap();
}

#[test]
fn files_of_a_timed_drive_that_were_cut_or_damaged_are_refused() {
    let (_directory, path) = place();
    let drive = open_with(&timed(&path)).unwrap();
    request(&drive, 3, &mut vec![0; SIZE_BYTES as usize]);
    drive.close().unwrap();
    drop(drive);
    let journal = fs::read_dir(path.parent().unwrap()).unwrap().find_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.contains(".journal-").then_some(name)
    });
    let journal = path.with_file_name(journal.unwrap());
    for damaged in [beside(&path, ".flash"), journal] {
        let bytes = fs::read(&damaged).unwrap();
        let mut flipped = bytes.clone();
        flipped[40] ^= 1;
        for wrong in [&bytes[..bytes.len() - 9], &flipped] {
            fs::write(&damaged, wrong).unwrap();
            let why = open_with(&timed(&path)).err().unwrap().sentence;
            assert!(why.starts_with(&*damaged.to_string_lossy()), "{why}");
            assert!(!why.contains('\n'));
        }
        fs::write(&damaged, &bytes).unwrap();
    }
    assert_eq!(open_with(&timed(&path)).unwrap().size_bytes(), PAGES * PAGE_BYTES);
}
