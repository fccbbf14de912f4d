//! Drives that are turned off and on again, in one process and from a saved state.

use writeamp_engine::flash::Cause;
use writeamp_engine::state::{pack, unpack};

use super::*;
use crate::record::Record;

/// Serves requests of a host that keeps several outstanding; returns their journal rows.
fn served(timed: &mut TimedFlash, random: &mut Stream) -> Vec<Record> {
    let mut records = Vec::new();
    while records.len() < REQUESTS || timed.unanswered() > 0 {
        if records.len() < REQUESTS && !timed.is_full() {
            let request = draw(random);
            let pages = Pages::of(&request, u64::from(PAGE_BYTES));
            let partly_allocated = pages.mark(request.op, &timed.allocated);
            let sequence = timed.requests.served;
            timed.submit(&request, partly_allocated).unwrap();
            records.push(Record { at_ns: timed.submitted_ns(), request, sequence });
        }
        timed.catch_up().unwrap();
        timed.done.clear();
    }
    records
}

/// Configuration of a drive that also has an SLC cache.
fn cached() -> Config {
    let mut config = config();
    config.times.as_mut().unwrap()["slc"] =
        json!({"static_bytes": 64 * PAGE_BYTES, "program_us": 4, "erase_us": 9, "idle_ms": 0.3});
    config
}

#[test]
fn a_killed_drive_comes_to_what_one_that_was_stopped_did_start_after_start() {
    for config in [config(), cached()] {
        let mut stopped = TimedFlash::new(&config, None).unwrap();
        let mut random = Stream::new(4, "host");
        let mut programs = 0;
        for start in 0..3 {
            let packed = pack(&stopped);
            let records = served(&mut stopped, &mut random);
            let mut killed = TimedFlash::new(&config, None).unwrap();
            unpack(&mut killed, &packed).unwrap();
            for record in &records {
                killed.replay(record).unwrap();
            }
            // The killed drive only knows the times of its requests, so it first catches up to the
            // time at which the other drive is stopped.
            killed.catch_up_to(stopped.settled_ns).unwrap();
            stopped.restart().unwrap();
            killed.restart().unwrap();
            assert_eq!(killed.counters(), stopped.counters(), "start {start}");
            assert_eq!(killed.requests, stopped.requests, "start {start}");
            assert!(pack(&killed) == pack(&stopped), "start {start}");
            assert_eq!(stopped.requests.served, (start + 1) * REQUESTS as u64);
            assert!(stopped.counters().flash_pages() > programs + 1000, "start {start}");
            programs = stopped.counters().flash_pages();
            assert!(stopped.latencies.iter().all(|one| one.requests == 0));
        }
        assert!(stopped.counters().programs(Cause::Gc) > 100);
        assert_eq!(stopped.counters().programs(Cause::Slc) > 0, config == cached());
    }
}

#[test]
fn what_a_host_has_trimmed_stays_so_though_the_drive_was_asked_too_late_to_write_it() {
    let mut timed = TimedFlash::new(&config(), None).unwrap();
    // The trim arrives while the data of the write still cross the link.
    for (op, at_ns) in [(Op::Write, 1000), (Op::Trim, 1001)] {
        let request = Request::new(op, 3 * u64::from(PAGE_BYTES), PAGE_BYTES);
        timed.replay(&Record { at_ns, request, sequence: 0 }).unwrap();
    }
    timed.turn_off().unwrap();
    assert!(timed.flash().physical(3).is_some());
    let mut again = TimedFlash::new(&config(), None).unwrap();
    again.allocated.set(0..8, true);
    unpack(&mut again, &pack(&timed)).unwrap();
    assert!((0..u64::from(PAGES)).all(|page| !again.allocated.holds(page)));
}

#[test]
fn a_drive_with_other_times_is_refused_by_the_first_that_differs() {
    let packed = pack(&TimedFlash::new(&config(), None).unwrap());
    let refused = |change: fn(&mut Value)| {
        let mut config = config();
        change(config.times.as_mut().unwrap());
        let error = unpack(&mut TimedFlash::new(&config, None).unwrap(), &packed).unwrap_err();
        error.to_string()
    };
    let slower = refused(|times| times["timing"]["program_us"] = json!(10));
    assert!(slower.contains("timing.program_us was 9 and is 10 now"), "{slower}");
    let more = refused(|times| times["slc"] = json!({"static_bytes": 1 << 18}));
    assert!(more.contains(r#"slc was null and is {"static_bytes":262144} now"#), "{more}");
    let less = refused(|times| drop(times.as_object_mut().unwrap().remove("scheduling")));
    assert!(less.contains("scheduling was"), "{less}");
}
