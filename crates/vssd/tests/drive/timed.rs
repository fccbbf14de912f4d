//! A timed drive.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use writeamp_vssd::{Config, Drive};

use crate::support::{
    Call, PAGE_BYTES, PAGES, SIZE_BYTES, config, contents, open_with, place, random, timed_config,
    times_with_caches,
};

fn timed(program_us: u64, time_scale: f64) -> Config {
    let mut config = config("sepgc", None);
    config.times = Some(json!({"timing": {"read_us": 20, "program_us": program_us}}));
    config.time_scale = time_scale;
    config
}

#[test]
fn a_request_takes_at_least_as_long_as_its_flash_operation() {
    let drive = open_with(&timed(1000, 5.0)).unwrap();
    let began = Instant::now();
    drive.write(0, &[1; PAGE_BYTES as usize], false).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(5));
    let latency = &drive.counters(false).unwrap()["latency"]["write"];
    assert!(latency["p50_ns"].as_u64().unwrap() >= 999_000, "{latency}");
}

#[test]
fn requests_of_many_threads_are_all_answered() {
    let drive = open_with(&timed(100, 1.0)).unwrap();
    thread::scope(|scope| {
        for part in 0..8 {
            let drive = &drive;
            scope.spawn(move || {
                for page in (part..PAGES).step_by(8) {
                    let at = page * PAGE_BYTES;
                    drive.write(at, &[part as u8 + 1; PAGE_BYTES as usize], false).unwrap();
                }
                drive.flush().unwrap();
            });
        }
    });
    let found = drive.counters(false).unwrap();
    assert_eq!(found["host"]["written_pages"], PAGES);
    assert_eq!(found["latency"]["write"]["requests"], PAGES);
    let bytes = contents(&drive);
    assert!((0..SIZE_BYTES).all(|at| u64::from(bytes[at as usize]) == at / PAGE_BYTES % 8 + 1));
}

#[test]
fn bytes_are_those_that_were_written_whatever_is_still_in_the_cache() {
    let mut config = timed(50, 1.0);
    config.times.as_mut().unwrap()["write_cache"] = json!({"bytes": 16 * PAGE_BYTES});
    let drive = open_with(&config).unwrap();
    let (mut random, mut model) = (random(4), vec![0; SIZE_BYTES as usize]);
    for _ in 0..300 {
        let call = Call::draw(&mut random);
        call.request(&drive).unwrap();
        call.apply(&mut model);
    }
    assert!(contents(&drive) == model);
}

#[test]
fn pages_that_hold_data_are_counted_wherever_they_are_and_through_restarts() {
    for times in times_with_caches() {
        let (_directory, path) = place();
        let config = timed_config(&times, Some(&path));
        let untimed = open_with(&crate::support::config("sepgc", None)).unwrap();
        let (mut random, mut holds) = (random(6), vec![false; PAGES as usize]);
        for start in 0..3 {
            let drive = open_with(&config).unwrap();
            for _ in 0..100 {
                let call = Call::draw(&mut random);
                call.request(&drive).unwrap();
                call.request(&untimed).unwrap();
                call.parts().iter().for_each(|part| part.hold(&mut holds));
            }
            // The drive is closed in every second round, and killed in the others.
            if start % 2 == 0 {
                drive.close().unwrap();
            }
            for drive in [&drive, &untimed] {
                let found = drive.counters(false).unwrap();
                assert_eq!(found["logical_pages"], PAGES, "{times}");
                let expected = holds.iter().filter(|holds| **holds).count();
                assert_eq!(found["mapped_pages"], expected, "{times}");
            }
            let unmapped = |drive: &Drive| drive.counters(false).unwrap()["unmapped_pages"].clone();
            assert_eq!(unmapped(&drive), unmapped(&untimed), "{times}");
        }
    }
}

#[test]
fn pages_of_an_slc_cache_are_mapped_before_and_after_they_are_folded() {
    let times = json!({"slc": {"static_bytes": 64 * PAGE_BYTES}});
    let drive = open_with(&timed_config(&times, None)).unwrap();
    let (mut mapped, mut rows_erased) = (0, false);
    for page in 0..320 {
        drive.write(page * PAGE_BYTES, &[1; PAGE_BYTES as usize], false).unwrap();
        mapped += 1;
        let (found, blocks) = (drive.counters(false).unwrap(), drive.blocks().unwrap());
        assert_eq!(found["mapped_pages"], mapped);
        let slc = &found["slc"];
        let folded = found["programs"]["folding"].as_u64().unwrap();
        assert_eq!(slc["valid_pages"], mapped - folded);
        // A block of 16 pages with three bits per cell has room for five whole pages with one bit
        // per cell.
        assert_eq!(slc["erased_pages"], 5 * slc["erases"].as_u64().unwrap());
        assert_eq!(blocks["free_blocks"], 48 - folded.div_ceil(16));
        rows_erased |= slc["erases"] != 0;
    }
    assert!(rows_erased);
    drive.trim(0, 320 * PAGE_BYTES, false).unwrap();
    let found = drive.counters(false).unwrap();
    let counts = ["mapped_pages", "unmapped_pages"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [0, 320]);
    assert_eq!(found["slc"]["valid_pages"], 0);
}

#[test]
fn what_cannot_be_scaled_is_refused() {
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-30, 1e10] {
        let error = timed(100, scale).check().unwrap_err();
        assert!(error.sentence.contains("time_scale is"));
    }
}
