//! Tests of a disk whose times are computed by hand.

use super::*;
use crate::rng::Stream;

/// Time per sector: 6000 revolutions per minute take 10 ms each.
/// At 51.2 MB/s, a revolution passes 1000 sectors of 10 µs each.
const SECTOR_NS: u64 = 10_000;
const TURN_NS: u64 = 10_000_000;
const SWITCH_NS: u64 = 1_000_000;
const STEP_NS: u64 = 2_000_000;

/// Profile with two zones of 1000 and 500 sectors per track.
/// Each zone has 1000 cylinders of two heads.
fn profile() -> DiskProfile {
    DiskProfile {
        host: Interface::default(),
        disk: DiskTimes {
            capacity_bytes: 3000 * 1000 * 512,
            rpm: 6000.0,
            track_to_track_ms: 2.0,
            average_seek_ms: 12.0,
            full_seek_ms: 22.0,
            head_switch_ms: 1.0,
            heads: 2,
            zones: 2,
            outer_mb_s: 51.2,
            inner_mb_s: 25.6,
            cache_bytes: 0,
            write_segments: 0,
            read_ahead_bytes: 0,
            write_back: false,
            scheduling: DiskOrder::Fcfs,
        },
    }
}

fn buffered() -> DiskProfile {
    let mut profile = profile();
    profile.disk.cache_bytes = 1 << 20;
    profile.disk.read_ahead_bytes = 1 << 18;
    profile
}

fn written_back() -> DiskProfile {
    let mut profile = buffered();
    profile.disk.write_back = true;
    profile
}

fn disk(profile: &DiskProfile) -> Disk {
    Disk::new(profile).unwrap()
}

fn request(op: Op, first_sector: u64, sectors: u64) -> IoRequest {
    IoRequest::new(op, first_sector * 512, sectors * 512)
}

fn flush() -> IoRequest {
    request(Op::Flush, 0, 0)
}

/// Submits all requests at `now_ns`. Returns the completion time of each request.
fn times(disk: &mut Disk, now_ns: u64, requests: &[IoRequest]) -> Vec<u64> {
    for (id, request) in requests.iter().enumerate() {
        disk.submit(now_ns, request, id as u32).unwrap();
    }
    let mut completed = Vec::new();
    while completed.len() < requests.len() {
        disk.step(&mut completed).unwrap();
    }
    completed.sort_by_key(|completion| completion.id);
    completed.iter().map(|completion| completion.at_ns).collect()
}

fn time(disk: &mut Disk, now_ns: u64, one: IoRequest) -> u64 {
    times(disk, now_ns, &[one])[0]
}

/// Time at which the last of `count` random requests completes, with `depth` outstanding.
fn closed_loop(disk: &mut Disk, op: Op, depth: u32, count: u32) -> u64 {
    let mut random = Stream::new(3, "requests");
    let mut draw = || request(op, u64::from(random.below(3_000_000 / 8)) * 8, 8);
    (0..depth).for_each(|id| disk.submit(0, &draw(), id).unwrap());
    let (mut completed, mut done, mut last_ns) = (Vec::new(), 0, 0);
    while done < count {
        disk.step(&mut completed).unwrap();
        for Completion { id, at_ns } in completed.drain(..) {
            (done, last_ns) = (done + 1, at_ns);
            disk.submit(at_ns, &draw(), id).unwrap();
        }
    }
    last_ns
}

#[test]
fn a_read_takes_seek_rotation_and_transfer() {
    let profile = profile();
    let mechanics = Mechanics::new(&profile.disk).unwrap();
    // Sector 300,100 is the 101st of cylinder 150. The skew of a switch and a step per cylinder
    // adds 150 · 3 ms, which is exactly 45 revolutions. The sector therefore passes at 1 ms of a
    // revolution.
    let there_ns = mechanics.seek_ns(150);
    assert!((6_000_000..8_000_000).contains(&there_ns), "{there_ns}");
    let expected_ns = 11_000_000 + 8 * SECTOR_NS;
    assert_eq!(time(&mut disk(&profile), 0, request(Op::Read, 300_100, 8)), expected_ns);
    // A write takes the same time, and so does a part of a sector.
    assert_eq!(time(&mut disk(&profile), 0, request(Op::Write, 300_100, 8)), expected_ns);
    let part =
        IoRequest { offset: 300_100 * 512 + 7, length: 7 * 512 + 1, ..request(Op::Read, 0, 0) };
    assert_eq!(time(&mut disk(&profile), 0, part), expected_ns);
}

#[test]
fn the_seek_curve_goes_through_what_the_profile_says() {
    let mechanics = Mechanics::new(&profile().disk).unwrap();
    assert_eq!([0, 1, 1999].map(|distance| mechanics.seek_ns(distance)), [0, STEP_NS, 22_000_000]);
    assert!(
        (1..1999).all(|distance| mechanics.seek_ns(distance) <= mechanics.seek_ns(distance + 1))
    );
    // For d > 0, 2·(C − d) of the C² pairs of cylinders are d cylinders apart.
    let cylinders = 2000_u64;
    let of_pairs = |d: u64| 2.0 * (cylinders - d) as f64 * mechanics.seek_ns(d) as f64;
    let mean_ns = (1..cylinders).map(of_pairs).sum::<f64>() / (cylinders * cylinders) as f64;
    assert!((mean_ns / 12e6 - 1.0).abs() < 0.01, "{mean_ns}");
}

#[test]
fn a_long_read_loses_a_switch_for_each_track_and_nothing_else() {
    // The read covers both tracks of cylinder 0 and the first track of cylinder 1.
    let expected_ns = 3 * TURN_NS + SWITCH_NS + STEP_NS;
    assert_eq!(time(&mut disk(&profile()), 0, request(Op::Read, 0, 3000)), expected_ns);
    // The inner zone has 500 sectors per track, so each sector takes twice the time.
    let mut inner = disk(&profile());
    let start_ns = time(&mut inner, 0, request(Op::Read, 2_000_000, 1));
    let rest_ns = time(&mut inner, start_ns, request(Op::Read, 2_000_001, 999)) - start_ns;
    assert_eq!(rest_ns, 2 * TURN_NS - 2 * SECTOR_NS + SWITCH_NS);
}

#[test]
fn the_mean_of_random_reads_is_seek_and_half_a_turn() {
    let profile = profile();
    let mechanics = Mechanics::new(&profile.disk).unwrap();
    // Tracks of the outer zone are hit twice as often as tracks of the inner zone.
    let weight = |cylinder: u64| if cylinder < 1000 { 2.0 / 3000.0 } else { 1.0 / 3000.0 };
    let from = |a: u64| (0..2000).map(move |b| (a.abs_diff(b), weight(b) * weight(a)));
    let seek_ns: f64 = (0..2000)
        .flat_map(from)
        .map(|(distance, share)| mechanics.seek_ns(distance) as f64 * share)
        .sum();
    let transfer_ns = 8.0 * SECTOR_NS as f64 * 4.0 / 3.0;
    let expected_ns = seek_ns + TURN_NS as f64 / 2.0 + transfer_ns;
    let mean_ns = closed_loop(&mut disk(&profile), Op::Read, 1, 20_000) as f64 / 20_000.0;
    assert!((mean_ns / expected_ns - 1.0).abs() < 0.02, "{mean_ns} and {expected_ns}");
}

#[test]
fn the_shortest_positioning_time_first_beats_the_order_of_arrival() {
    let by = |scheduling| {
        let mut profile = profile();
        profile.disk.scheduling = scheduling;
        move |depth| closed_loop(&mut disk(&profile), Op::Read, depth, 3000)
    };
    let (in_order, shortest) = (by(DiskOrder::Fcfs), by(DiskOrder::Sptf));
    assert_eq!(in_order(1), shortest(1));
    assert!(shortest(32) * 2 < in_order(32), "{} and {}", shortest(32), in_order(32));
    assert!(shortest(32) * 5 < shortest(4) * 4);
}

#[test]
fn reading_ahead_keeps_a_sequential_reader_at_the_rate_of_the_media() {
    let sequential_ns = |profile: &DiskProfile, pause_ns: u64| {
        let mut disk = disk(profile);
        (0..100).fold(0, |now_ns, at| {
            time(&mut disk, now_ns + pause_ns, request(Op::Read, at * 64, 64))
        })
    };
    // 6400 sectors: six tracks and 400 sectors, with three switches of heads and three steps.
    let media_ns = 6400 * SECTOR_NS + 3 * SWITCH_NS + 3 * STEP_NS;
    assert_eq!(sequential_ns(&buffered(), 0), media_ns);
    // If a host pauses after each read, the data of the next read is still in memory.
    let paused_ns = sequential_ns(&buffered(), 1_000_000);
    assert!(paused_ns <= media_ns + 64 * SECTOR_NS + 100 * 1_000_000, "{paused_ns}");
    // Without read-ahead, each pause costs a revolution.
    assert!(sequential_ns(&profile(), 1_000_000) > 100 * (TURN_NS - 1_000_000));
}

#[test]
fn sequential_writes_are_made_at_the_rate_of_the_media() {
    let sequential_ns = |profile: &DiskProfile| {
        let mut disk = disk(profile);
        let write = |at: u64| request(Op::Write, at * 64, 64);
        let answered_ns = (0..100).fold(0, |now_ns, at| time(&mut disk, now_ns, write(at)));
        time(&mut disk, answered_ns, flush())
    };
    assert_eq!(sequential_ns(&written_back()), 6400 * SECTOR_NS + 3 * SWITCH_NS + 3 * STEP_NS);
    // While the link transfers the data, the next sector passes. Each write therefore waits for a
    // revolution.
    let mut through = profile();
    through.host.out_ns = 1;
    assert!(sequential_ns(&through) > 99 * TURN_NS);
}

#[test]
fn what_memory_holds_takes_no_more_than_the_link() {
    let mut profile = buffered();
    profile.host = Interface { link_mb_s: 512.0, link_packet_bytes: 4096, ..profile.host };
    let mut disk = disk(&profile);
    let read = |sector| request(Op::Read, sector, 1);
    let first_ns = time(&mut disk, 0, read(5));
    // This is the sixth sector of a revolution, and a packet of 4096 bytes, which takes 8 µs.
    assert_eq!(first_ns, 6 * SECTOR_NS + 8000);
    assert_eq!(time(&mut disk, first_ns, read(5)), first_ns + 8000);
    // After a distant read, the sectors of the first pass are still in memory.
    let far_ns = time(&mut disk, first_ns + 8000, read(2_500_000));
    assert_eq!(time(&mut disk, far_ns, read(5)), far_ns + 8000);
    // A quarter of the memory holds data read ahead. Half of the rest holds earlier passes, so that
    // one long pass replaces all others.
    let others = [700_000, 800_000].map(|sector| request(Op::Read, sector, 1500));
    let later_ns = others.iter().fold(far_ns + 8000, |now, other| time(&mut disk, now, *other));
    let fetched_ns = time(&mut disk, later_ns, read(5)) - later_ns;
    assert!(fetched_ns > STEP_NS, "{fetched_ns}");
}

#[test]
fn a_written_back_write_is_answered_at_once_unless_it_must_last() {
    let mut disk = disk(&written_back());
    let write = request(Op::Write, 100, 8);
    assert_eq!(time(&mut disk, 0, write), 0);
    let durable_ns = 108 * SECTOR_NS;
    assert_eq!(time(&mut disk, 0, flush()), durable_ns, "the arm is at the write");
    assert_eq!(time(&mut disk, durable_ns, flush()), durable_ns, "nothing is left");
    let fua = IoRequest { fua: true, ..request(Op::Write, 200, 8) };
    assert_eq!(time(&mut disk, durable_ns, fua), 208 * SECTOR_NS);
}

#[test]
fn a_flush_waits_for_older_writes_only() {
    let mut disk = disk(&written_back());
    let far = request(Op::Write, 2_000_000, 8);
    let all = [request(Op::Write, 100, 8), request(Op::Write, 300, 8), flush(), far];
    assert_eq!(times(&mut disk, 0, &all), [0, 0, 308 * SECTOR_NS, 0]);
}

#[test]
fn a_full_memory_answers_writes_as_fast_as_it_is_emptied() {
    let mut disk = disk(&written_back());
    // Memory has 1024 sectors for writes of 512 sectors each, so the third write waits until the
    // first is on the medium.
    let writes = [0, 5000, 9000].map(|sector| request(Op::Write, sector, 512));
    assert_eq!(times(&mut disk, 0, &writes), [0, 0, 512 * SECTOR_NS]);
    // A write larger than memory is on the medium before it is acknowledged.
    let large = request(Op::Write, 2000, 1025);
    assert!(time(&mut disk, 512 * SECTOR_NS, large) > 512 * SECTOR_NS + 1025 * SECTOR_NS);
}

#[test]
fn memory_holds_no_more_writes_than_it_has_segments() {
    let mut profile = written_back();
    profile.disk.write_segments = 2;
    let mut disk = disk(&profile);
    // The first write is in progress and the next two are in memory, so the fourth waits for a
    // segment.
    let writes = [0, 5000, 9000, 13_000].map(|sector| request(Op::Write, sector, 8));
    assert_eq!(times(&mut disk, 0, &writes), [0, 0, 0, 8 * SECTOR_NS]);
    // A write that continues a write in memory needs no segment of its own.
    assert_eq!(time(&mut disk, 8 * SECTOR_NS, request(Op::Write, 13_008, 8)), 8 * SECTOR_NS);
}

#[test]
fn everything_that_memory_holds_is_written_in_the_end() {
    let mut disk = disk(&written_back());
    let writes: Vec<_> = (0..40).map(|at| request(Op::Write, at * 70_001, 8)).collect();
    let answered = times(&mut disk, 0, &writes);
    assert!(answered.iter().all(|at_ns| *at_ns == 0));
    disk.sync(0).unwrap();
    let mut end_ns = 0;
    while let Some(at_ns) = disk.next_event_ns() {
        end_ns = at_ns;
        disk.step(&mut Vec::new()).unwrap();
    }
    assert_eq!(time(&mut disk, end_ns, flush()), end_ns);
    assert_eq!(disk.busy(end_ns)[0], Busy { level: "head", parts: 1, busy_ns: end_ns });
}

#[test]
fn a_write_in_memory_is_read_from_there() {
    let mut disk = disk(&written_back());
    let all =
        [request(Op::Write, 2_000_000, 8), request(Op::Write, 500, 8), request(Op::Read, 502, 4)];
    assert_eq!(times(&mut disk, 0, &all), [0, 0, 0]);
}

#[test]
fn the_head_is_busy_while_it_reads_ahead_and_then_rests() {
    let mut disk = disk(&buffered());
    let done_ns = time(&mut disk, 0, request(Op::Read, 0, 100));
    assert_eq!(done_ns, 100 * SECTOR_NS);
    assert_eq!(disk.next_event_ns(), None);
    let head_ns = |disk: &Disk, at_ns| disk.busy(at_ns)[0].busy_ns;
    assert_eq!(head_ns(&disk, done_ns + 5000), done_ns + 5000);
    // Read-ahead stops 512 sectors after the request.
    assert_eq!(head_ns(&disk, TURN_NS), 612 * SECTOR_NS);
}

#[test]
fn the_same_requests_take_the_same_times() {
    let run = || closed_loop(&mut disk(&written_back()), Op::Write, 32, 2000);
    assert_eq!(run(), run());
}

#[test]
fn the_interface_takes_its_times_before_and_after() {
    let mut profile = profile();
    profile.host = Interface {
        read_in_ns: 300,
        write_in_ns: 500,
        out_ns: 70,
        controller_ns: 1000,
        link_mb_s: 512.0,
        ..profile.host
    };
    let read_ns = time(&mut disk(&profile), 0, request(Op::Read, 1, 8));
    assert_eq!(read_ns, 9 * SECTOR_NS + 8000 + 70);
    // A write is in memory after 500 + 8000 ns and processed 1000 ns later, in time for sector 1.
    let write_ns = time(&mut disk(&profile), 0, request(Op::Write, 1, 8));
    assert_eq!(write_ns, 9 * SECTOR_NS + 70);
    let trim = request(Op::Trim, 0, 1000);
    assert_eq!(times(&mut disk(&profile), 0, &[trim, trim]), [1570, 2570]);
}

#[test]
fn impossible_disks_are_refused_by_the_name_of_the_key() {
    type Change = fn(&mut DiskProfile);
    let cases: [(&str, Change); 9] = [
        ("disk.rpm is 0", |p| p.disk.rpm = 0.0),
        ("disk.rpm is NaN", |p| p.disk.rpm = f64::NAN),
        ("disk.average_seek_ms is 1;", |p| p.disk.average_seek_ms = 1.0),
        ("disk.full_seek_ms is 1;", |p| p.disk.full_seek_ms = 1.0),
        ("disk.inner_mb_s is 60;", |p| p.disk.inner_mb_s = 60.0),
        ("disk.capacity_bytes is 1000001;", |p| p.disk.capacity_bytes = 1_000_001),
        ("disk.read_ahead_bytes is 512;", |p| p.disk.read_ahead_bytes = 512),
        ("disk.heads is 0;", |p| p.disk.heads = 0),
        ("host.depth is 0;", |p| p.host.depth = 0),
    ];
    for (words, change) in cases {
        let mut profile = profile();
        change(&mut profile);
        let error = Disk::new(&profile).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let error = DiskProfile::from_json(r#"{"disk": {"rpms": 5400}}"#).unwrap_err().to_string();
    assert!(error.contains("rpms"), "{error}");
    let text = serde_json::to_string(&profile()).unwrap();
    assert_eq!(DiskProfile::from_json(&text).unwrap(), profile());
}
