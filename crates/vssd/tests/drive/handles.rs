//! Counters by placement handle of an untimed drive.

use std::path::Path;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::Value;
use writeamp_vssd::{Config, Drive};

use crate::support::{Call, config, open_with, place};

fn counting(manager: &str, backing: Option<&Path>) -> Config {
    let mut config = config(manager, backing);
    config.drive.counts_handles = true;
    config
}

fn request_at_random(drive: &Drive, calls: usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..calls {
        Call::draw(&mut random).request(drive).unwrap();
    }
}

fn sum(handles: &Value, key: &str) -> u64 {
    handles.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
}

#[test]
fn sums_over_handles_are_the_counts_of_the_drive() {
    for isolation in ["initial", "persistent"] {
        let manager = format!("nvme-fdp:handles=3,by=range,isolation={isolation}");
        let drive = Drive::open(&counting(&manager, None)).unwrap();
        request_at_random(&drive, 4000);
        let counters = drive.counters(false).unwrap();
        let handles = &counters["handles"];
        let programs = counters["programs"].as_object().unwrap();
        let programmed_pages: u64 = programs.values().map(|pages| pages.as_u64().unwrap()).sum();
        assert_eq!(sum(handles, "host_pages"), counters["host"]["written_pages"]);
        assert_eq!(sum(handles, "media_pages"), programmed_pages);
        assert_eq!(sum(handles, "moved_in_pages"), programs["gc"]);
        assert_eq!(sum(handles, "moved_out_pages"), programs["gc"]);
        // Moved pages of initially isolated handles share reclaim units, and others stay.
        for row in handles.as_array().unwrap().iter().filter(|row| !row["handle"].is_null()) {
            let stay = if isolation == "initial" {
                Value::from(0)
            } else {
                row["moved_out_pages"].clone()
            };
            assert_eq!(row["moved_in_pages"], stay);
        }
        let names: Vec<_> = handles.as_array().unwrap().iter().map(|row| &row["handle"]).collect();
        let shared = if isolation == "initial" { &[Value::Null][..] } else { &[] };
        let own = (0..3).map(Value::from).collect::<Vec<_>>();
        assert_eq!(names, own.iter().chain(shared).collect::<Vec<_>>());
    }
}

#[test]
fn a_drive_in_a_file_keeps_its_counters_by_handle() {
    let (_directory, path) = place();
    let config = counting("nvme-fdp:handles=3,by=range", Some(&path));
    let drive = open_with(&config).unwrap();
    request_at_random(&drive, 500);
    let handles = drive.counters(false).unwrap()["handles"].clone();
    drive.close().unwrap();
    drop(drive);
    assert_eq!(open_with(&config).unwrap().counters(false).unwrap()["handles"], handles);
}

#[test]
fn a_drive_whose_manager_has_no_handles_counts_none() {
    let drive = Drive::open(&config("sepgc", None)).unwrap();
    assert!(!drive.counters(false).unwrap().contains_key("handles"));
    let error = Drive::open(&counting("sepgc", None)).err().unwrap();
    assert_eq!(error.sentence, "sepgc has no placement handles to count by");
}
