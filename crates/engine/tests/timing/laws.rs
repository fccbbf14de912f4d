//! Queueing theory: latencies of the drive in time against its formulas.
//! Every run here also asserts Little's law and that nothing is busy for longer than there is time
//! (`Measures::assert_laws`).

use writeamp_engine::flash::Cause;
use writeamp_engine::managers::Layout;
use writeamp_engine::request::{Op, Request};
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{Direction, Limits, Ssd, TimedRun, Timing};
use writeamp_engine::workloads::{self, Context, Trace, Workload};

use crate::rig::{ONE_DIE, PAGE, setup, timing, written};

const READ_NS: u64 = 5196;
const PROGRAM_NS: u64 = 14_296;

fn finished(ssd: Ssd, workload: Box<dyn Workload>, requests: u64) -> TimedRun {
    let limits = Limits { requests: Some(requests), ..Limits::default() };
    let mut run = TimedRun::new(Box::new(ssd), workload, PAGE as u32, 1.0, limits)
        .expect("a run that can begin");
    while !run.advance(1 << 20).expect("a run that goes on") {}
    run
}

fn one_die(timing: &Timing) -> Ssd {
    let pages: Vec<u32> = (0..16).collect();
    let drive = written("single", setup(ONE_DIE, Layout::Flat, 16), &pages);
    Ssd::new(drive, timing.clone(), 16, 1).expect("a possible profile")
}

#[test]
fn a_die_in_a_closed_loop_serves_one_program_after_another_without_a_gap() {
    // Sequential writes leave nothing to copy, so that a block's worth of programs and one erase
    // is the service of a block.
    let workload = workloads::build("sequential", 16, Context::root(1)).expect("a workload");
    let run = finished(one_die(&timing()), workload, 400);
    let erases = run.counters().expect("a flash drive").erases;
    let service_ns = 400 * PROGRAM_NS + erases * 50_300;
    assert!(erases > 10, "{erases} erases");
    assert_eq!(run.measures().interval_ns(), (0, service_ns));
    let writes = run.measures().served(Direction::Write);
    assert_eq!((writes.requests, writes.sum_ns), (400, u128::from(service_ns)));
}

#[test]
fn the_measured_interval_ends_with_the_last_answer_and_not_with_what_the_device_does_then() {
    let mut timing = timing();
    timing.write_cache.bytes = 16 * PAGE;
    timing.write_cache.access_ns = 50;
    let workload = workloads::build("sequential", 16, Context::root(1)).expect("a workload");
    let run = finished(one_die(&timing), workload, 3);
    assert_eq!(run.measures().interval_ns(), (0, 3 * 50));
    assert!(run.now_ns() > 100_000_000, "the cache is written out when the device was idle");
}

#[test]
fn a_page_that_leaves_the_cache_late_counts_with_the_writes_of_its_time() {
    let mut timing = timing();
    timing.write_cache.bytes = 8 * PAGE;
    let workload = workloads::build("sequential", 16, Context::root(1)).expect("a workload");
    let run = finished(one_die(&timing), workload, 400);
    let samples = run.measures().samples();
    assert!(samples.len() > 20, "{} samples", samples.len());
    for (at_ns, counters) in samples {
        let programs = counters.programs(Cause::Host);
        assert_eq!(programs, counters.host.written_pages, "at {at_ns} ns");
    }
    let (_, last) = samples.last().expect("a sample at the end");
    assert_eq!(Some(*last), run.counters());
}

/// A write, for a trace must have one, and then reads that come as a Poisson process.
fn poisson_reads(reads: u64, mean_gap_ns: f64, seed: u64) -> Vec<Request> {
    let mut random = Stream::new(seed, "arrivals");
    let mut at_ns = PROGRAM_NS as f64;
    let first = Request::of_pages(Op::Write, 0..1);
    let mut requests = vec![first];
    for at in 0..reads {
        at_ns -= mean_gap_ns * (1.0 - random.unit()).ln();
        let page = (at % 16) as u32;
        let request = Request::of_pages(Op::Read, page..page + 1);
        requests.push(Request { at_ns: at_ns as u64, ..request });
    }
    requests
}

/// The sum of all latencies of a queue with one server and a constant service (Lindley 1952).
fn lindley_ns(requests: &[Request]) -> u128 {
    let mut free_ns = 0;
    let latency = |request: &Request| {
        free_ns = free_ns.max(request.at_ns) + READ_NS;
        u128::from(free_ns - request.at_ns)
    };
    requests.iter().map(latency).sum()
}

#[test]
fn poisson_reads_of_one_die_wait_as_an_m_d_1_queue_says() {
    // Longer for a higher load, at which one wait says much of the next: the standard errors of
    // the means are below a half of the tolerance.
    for (load, reads) in [(0.3, 400_000), (0.6, 1_000_000), (0.9, 5_000_000)] {
        let requests = poisson_reads(reads, READ_NS as f64 / load, 5);
        let lindley_ns = lindley_ns(&requests[1..]);
        let trace = Trace::new(requests, PAGE as u32, 1).expect("a trace");
        let run = finished(one_die(&timing()), Box::new(trace), reads + 1);
        let served = run.measures().served(Direction::Read);
        assert_eq!(served.requests, reads);
        assert_eq!(served.sum_ns, lindley_ns, "load {load}");
        let waiting_ns = served.mean_ns().expect("reads") - READ_NS as f64;
        // Pollaczek and Khinchine's formula for a constant service.
        let expected_ns = load * READ_NS as f64 / (2.0 * (1.0 - load));
        let error = waiting_ns / expected_ns - 1.0;
        assert!(error.abs() < 0.01, "load {load}: {waiting_ns} ns instead of {expected_ns} ns");
        let busy = run.busy();
        let die = busy.iter().find(|busy| busy.level == "die").expect("dies");
        assert_eq!(die.busy_ns, PROGRAM_NS + reads * READ_NS, "utilisation law");
    }
}
