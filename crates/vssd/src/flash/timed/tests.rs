//! Replays of the requests of a timed drive give the same times to the nanosecond.

mod kept;

use std::sync::{Arc, Mutex};

use serde_json::json;
use writeamp_engine::request::Request as PageRequest;
use writeamp_engine::rng::Stream;
use writeamp_engine::timing::{Busy, Limits, TimedRun, Window};
use writeamp_engine::workloads;

use super::*;

const PAGE_BYTES: u32 = 4096;
const PAGES: u32 = 512;
const REQUESTS: usize = 3_000;

/// Time of arrival and of the answer of each request, in the order of arrival.
type Log = Vec<(u64, Option<u64>)>;

/// A drive that logs the times when requests arrive and are answered.
struct Logged {
    ssd: Ssd,
    log: Arc<Mutex<Log>>,
    /// Index in the log of each outstanding request, by its id.
    places: HashMap<u32, usize>,
}

impl BlockDevice for Logged {
    fn capacity_bytes(&self) -> u64 {
        self.ssd.capacity_bytes()
    }

    fn depth(&self) -> u32 {
        self.ssd.depth()
    }

    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> writeamp_engine::Result<()> {
        let mut log = self.log.lock().unwrap();
        self.places.insert(id, log.len());
        log.push((now_ns, None));
        self.ssd.submit(now_ns, request, id)
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.ssd.next_event_ns()
    }

    fn step(&mut self, completed: &mut Vec<Completion>) -> writeamp_engine::Result<()> {
        let known = completed.len();
        self.ssd.step(completed)?;
        for Completion { id, at_ns } in &completed[known..] {
            self.log.lock().unwrap()[self.places[id]].1 = Some(*at_ns);
        }
        Ok(())
    }

    fn sync(&mut self, now_ns: u64) -> writeamp_engine::Result<()> {
        self.ssd.sync(now_ns)
    }

    fn busy(&self, now_ns: u64) -> Vec<Busy> {
        self.ssd.busy(now_ns)
    }

    fn counters(&self) -> Option<Counters> {
        self.ssd.counters()
    }
}

/// Configuration of a small drive with few dies, whose write cache loses its data with power.
fn config() -> Config {
    let geometry = json!({
        "channels": 1, "chips_per_channel": 2, "dies_per_chip": 1, "planes_per_die": 1,
        "blocks_per_plane": 24, "pages_per_block": 16, "page_bytes": PAGE_BYTES,
        "erase_unit": "block", "stripe_pages": 1,
    });
    serde_json::from_value(json!({
        "drive": {"geometry": geometry, "logical_pages": PAGES, "layout": "striped-per-lun",
                  "manager": "sepgc", "victims": null, "wear_leveling": null, "seed": 7},
        "size_bytes": PAGES * PAGE_BYTES,
        "times": {
            "timing": {"read_us": 3, "program_us": 9, "erase_us": 40, "read_spread": 0.1, "program_spread": 0.1},
            "host": {"depth": 16, "controller_ns": 500, "link_mb_s": 2000},
            "write_cache": {"bytes": 32 * PAGE_BYTES, "idle_flush_ms": 0.1},
            "scheduling": {"reads_first": true},
        },
    }))
    .unwrap()
}

fn draw(random: &mut Stream) -> Request {
    let kind = random.below(10);
    if kind == 0 {
        return Request::flush();
    }
    let (first, pages) = (random.below(PAGES - 4), 1 + random.below(4));
    let (mut offset, mut length) = (u64::from(first * PAGE_BYTES), pages * PAGE_BYTES);
    let op = match kind {
        1..=6 => Op::Write,
        7..=8 => Op::Read,
        _ => Op::Trim,
    };
    if op != Op::Trim && random.below(3) == 0 {
        (offset, length) = (offset + 512, length - 1024);
    }
    Request { op, offset, length, fua: op == Op::Write && random.below(6) == 0 }
}

/// Requests that a drive has served, their times and answers, and the counters at the end.
struct Live {
    requests: Vec<PageRequest>,
    log: Log,
    counters: Counters,
    window: Window,
}

/// Lets a drive serve a host that keeps several requests outstanding and sometimes waits.
/// Counting begins in the middle.
fn live() -> (Live, TimedFlash) {
    let mut timed = TimedFlash::new(&config(), None).unwrap();
    let mut random = Stream::new(3, "host");
    let (mut requests, mut log, mut ids) = (Vec::new(), Vec::new(), HashMap::new());
    let mut from_ns = 0;
    while requests.len() < REQUESTS || timed.unanswered() > 0 {
        if random.below(500) == 0 {
            std::thread::sleep(Duration::from_micros(u64::from(random.below(400))));
        }
        if requests.len() == REQUESTS / 2 {
            timed.catch_up().unwrap();
            timed.forget_latencies();
            from_ns = timed.settled_ns();
        }
        if requests.len() < REQUESTS && !timed.is_full() {
            let request = draw(&mut random);
            ids.insert(timed.submit(&request, 0).unwrap(), requests.len());
            log.push((timed.submitted_ns(), None));
            let pages = crate::flash::untimed::Pages::of(&request, u64::from(PAGE_BYTES));
            let at_ns = timed.submitted_ns();
            requests.push(PageRequest { at_ns, fua: request.fua, ..pages.request(request.op) });
        }
        timed.catch_up().unwrap();
        for (id, at_ns) in timed.done.drain() {
            log[ids[&id]].1 = Some(at_ns);
        }
    }
    let window = Window { from_ns, until_ns: timed.settled_ns(), unanswered: timed.unanswered() };
    (Live { requests, log, counters: timed.counters(), window }, timed)
}

/// Returns the log of a replay, its counters, and its run.
fn replayed(live: &Live, requests: Vec<PageRequest>) -> (Log, Counters, TimedRun) {
    let config = config();
    let TimedFlash { ssd, .. } = TimedFlash::new(&config, None).unwrap();
    let log = Arc::new(Mutex::new(Log::new()));
    let device = Logged { ssd, log: log.clone(), places: HashMap::new() };
    let count = requests.len() as u64;
    let trace = workloads::Trace::new(requests, PAGE_BYTES, 1).unwrap();
    let limits = Limits { requests: Some(count), window: Some(live.window), ..Limits::default() };
    let mut run =
        TimedRun::new(Box::new(device), Box::new(trace), PAGE_BYTES, 1.0, limits).unwrap();
    while !run.advance(1000).unwrap() {}
    let counters = run.counters().unwrap();
    let log = log.lock().unwrap().clone();
    (log, counters, run)
}

#[test]
fn a_replay_answers_each_request_at_the_nanosecond_and_counts_the_same() {
    use writeamp_engine::timing::Direction;

    let (live, timed) = live();
    let (log, counters, run) = replayed(&live, live.requests.clone());
    assert_eq!(log, live.log);
    assert_eq!(counters, live.counters);
    assert!(counters.programs(writeamp_engine::flash::Cause::Gc) > 100, "{counters:?}");
    assert_eq!(run.now_ns(), live.window.until_ns);
    for (own, direction) in timed.latencies.iter().zip([Direction::Read, Direction::Write]) {
        let found = run.measures().served(direction);
        assert!(own.requests > 100 && own.requests < REQUESTS as u64 / 2);
        assert_eq!(found.latencies, own.latencies);
        let figures = |of: &Served| (of.sum_ns, of.range_ns, of.requests, of.bytes);
        assert_eq!(figures(found), figures(own));
    }
}

#[test]
fn what_the_replay_must_know_cannot_be_left_out() {
    let (live, _) = live();
    let changed = |change: fn(&mut PageRequest)| {
        let mut requests = live.requests.clone();
        requests.iter_mut().for_each(change);
        replayed(&live, requests).0 != live.log
    };
    assert!(!changed(|_| {}));
    assert!(changed(|request| request.fua = false));
    assert!(changed(|request| request.at_ns = request.at_ns.saturating_sub(1000)));
    assert!(changed(|request| (request.head_bytes, request.tail_bytes) = (0, 0)));
}
