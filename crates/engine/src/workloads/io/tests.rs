use super::*;
use crate::foresight::Foresight;
use crate::hints::NEVER;
use crate::state::{pack, unpack};
use crate::workloads::{self, Context, build, build_for, characteristics};

const PAGES: u32 = 1000;
const SPACE_BYTES: u64 = 4096 * PAGES as u64;

fn requests(text: &str, count: usize) -> Vec<Request> {
    let mut workload = build(text, PAGES, Context::root(1)).unwrap();
    std::iter::from_fn(|| workload.next_request()).take(count).collect()
}

/// The first byte of a request, and the byte behind it.
fn extent(request: &Request) -> (u64, u64) {
    let start = u64::from(request.first_page) * 4096 + u64::from(request.head_bytes);
    (start, start + request.bytes(4096))
}

fn extents(requests: &[Request], op: Op) -> Vec<(u64, u64)> {
    requests.iter().filter(|request| request.op == op).map(extent).collect()
}

/// Whether `count` of `draws` is within 4 standard deviations of their `share`.
fn is_share(count: usize, draws: usize, share: f64) -> bool {
    let expected = draws as f64 * share;
    (count as f64 - expected).abs() <= 4.0 * (expected * (1.0 - share)).sqrt()
}

fn refusal(text: &str) -> String {
    let error = build(text, PAGES, Context::root(1)).err();
    error.unwrap_or_else(|| panic!("{text} was accepted")).to_string()
}

#[test]
fn requests_of_each_kind_get_their_shares() {
    let all = requests("io:write=0.3,flush=0.1,trim=0.2,fua=0.4", 100_000);
    let count = |op| all.iter().filter(|request| request.op == op).count();
    assert!(is_share(count(Op::Flush), all.len(), 0.1), "{}", count(Op::Flush));
    assert!(is_share(count(Op::Trim), all.len(), 0.2), "{}", count(Op::Trim));
    assert!(is_share(count(Op::Write), all.len(), 0.7 * 0.3), "{}", count(Op::Write));
    assert!(is_share(count(Op::Read), all.len(), 0.7 * 0.7), "{}", count(Op::Read));
    let fua = all.iter().filter(|request| request.fua);
    assert!(fua.clone().all(|request| request.op == Op::Write));
    assert!(is_share(fua.count(), count(Op::Write), 0.4));
}

#[test]
fn shares_of_nothing_and_of_all_are_exact() {
    for (text, op) in [("random", Op::Write), ("random:write=0", Op::Read)] {
        assert!(requests(text, 10_000).iter().all(|r| r.op == op && !r.fua), "{text}");
    }
    let all = requests("sequential:bs=4k,fua=1", 1000);
    assert!(all.iter().all(|request| request.fua));
}

#[test]
fn each_direction_has_its_own_size_and_random_ones_lie_at_multiples_of_it() {
    let all = requests("io:write=0.5,write_size=12k,read_size=2k", 20_000);
    for (op, size) in [(Op::Write, 12 << 10), (Op::Read, 2 << 10)] {
        let found = extents(&all, op);
        let is_aligned = |&(start, end): &(u64, u64)| start % size == 0 && end == start + size;
        assert!(found.iter().all(is_aligned), "{op:?}");
        assert!(found.iter().all(|(_, end)| *end <= SPACE_BYTES), "{op:?}");
    }
}

#[test]
fn uniform_access_reaches_every_place_alike_the_first_and_the_last_too() {
    // 12 KiB fit 333 times; the last 4 KiB are no place to start.
    let mut counts = [0usize; 333];
    for (start, _) in extents(&requests("random:bs=12k", 100_000), Op::Write) {
        counts[(start / (12 << 10)) as usize] += 1;
    }
    let expected = 100_000.0 / 333.0;
    let chi_square: f64 = counts.iter().map(|n| (*n as f64 - expected).powi(2) / expected).sum();
    // 332 degrees of freedom: mean 332, standard deviation 25.8.
    assert!((chi_square - 332.0).abs() < 5.0 * 25.8, "{chi_square}");
    assert!(counts[0] > 0 && counts[332] > 0);
}

#[test]
fn places_are_multiples_of_the_alignment_plus_the_offset() {
    let found = extents(&requests("random:bs=4k,align=512", 20_000), Op::Write);
    assert!(found.iter().all(|(start, end)| start % 512 == 0 && *end <= SPACE_BYTES));
    let unaligned = found.iter().filter(|(start, _)| start % 4096 != 0).count();
    assert!(is_share(unaligned, found.len(), 7.0 / 8.0), "{unaligned}");
    let found = extents(&requests("random:bs=4k,offset=512", 20_000), Op::Write);
    assert!(found.iter().all(|(start, end)| start % 4096 == 512 && *end <= SPACE_BYTES));
}

#[test]
fn a_share_of_the_requests_of_each_direction_is_random_and_the_others_go_on_after_the_stride() {
    let all = requests(
        "io:write=0.5,write_random=0.3,read_random=0.8,read_stride=64k,write_stride=512",
        50_000,
    );
    for (op, stride, random) in [(Op::Write, 512, 0.3), (Op::Read, 64 << 10, 0.8)] {
        let found = extents(&all, op);
        let goes_on = |pair: &&[(u64, u64)]| {
            let next = pair[0].1 + stride;
            pair[1].0 == if next + 4096 > SPACE_BYTES { 0 } else { next }
        };
        let going_on = found.windows(2).filter(goes_on).count();
        // One random place of a thousand continues by chance, and 4 in a thousand at the end.
        let share = 1.0 - random + random * 0.001;
        assert!(
            is_share(going_on, found.len() - 1, share),
            "{op:?}: {going_on} of {}",
            found.len()
        );
    }
}

#[test]
fn sequential_requests_follow_each_other_and_begin_again_at_the_end_of_the_space() {
    let found = extents(&requests("sequential:bs=6k,stride=1k,offset=512", 3000), Op::Write);
    let start = found[0].0 - 512;
    assert!(start % (6 << 10) == 0 && start > 0, "{start}");
    let mut wraps = 0;
    for pair in found.windows(2) {
        let next = pair[0].1 + 1024;
        let expected = if next + (6 << 10) > SPACE_BYTES { 512 } else { next };
        assert_eq!(pair[1], (expected, expected + (6 << 10)));
        wraps += usize::from(expected == 512);
    }
    assert!((4..=6).contains(&wraps), "{wraps}");
}

#[test]
fn a_request_as_large_as_the_space_goes_to_its_only_place() {
    for text in ["random:bs=4000k", "sequential:bs=4000k"] {
        let found = extents(&requests(text, 3), Op::Write);
        assert_eq!(found, [(0, SPACE_BYTES); 3], "{text}");
    }
}

#[test]
fn a_skew_chooses_the_places_of_both_directions() {
    let all = requests("io:write=0.5,read_size=16k,access=hot-cold(f=0.1,r=0.9)", 50_000);
    for op in [Op::Write, Op::Read] {
        let found = extents(&all, op);
        let hot = found.iter().filter(|(start, _)| *start < SPACE_BYTES / 10).count();
        assert!((hot as f64 / found.len() as f64 - 0.9).abs() < 0.01, "{op:?}: {hot}");
    }
    let counts = |op| {
        let all = requests("io:write=0.5,access=zipf(s=1.5)", 40_000);
        let mut counts = vec![0; PAGES as usize];
        extents(&all, op).iter().for_each(|(start, _)| counts[(start / 4096) as usize] += 1);
        counts
    };
    let hottest = |counts: Vec<u32>| (0..counts.len()).max_by_key(|at| counts[*at]);
    assert_eq!(hottest(counts(Op::Write)), hottest(counts(Op::Read)));
    assert_ne!(counts(Op::Write), counts(Op::Read), "each direction has draws of its own");
}

#[test]
fn a_request_has_the_parts_of_pages_that_it_leaves_alone_and_a_trim_none() {
    let all = requests("sequential:bs=10k,offset=512,trim=0.5", 500);
    for request in &all {
        let (start, end) = extent(request);
        assert!(request.head_bytes < 4096 && request.tail_bytes < 4096 && request.pages > 0);
        if request.op == Op::Trim {
            assert_eq!((start % 4096, end % 4096), (0, 0));
            assert!(end - start <= 10 << 10);
        } else {
            assert_eq!(end - start, 10 << 10);
        }
    }
}

#[test]
fn requests_of_other_pages_touch_fewer_of_them() {
    let context = Context::root(1);
    let site = Site { pages: 250, page_bytes: 16384, context };
    let mut coarse = build_for("random:bs=4k,align=512", &site).unwrap();
    for fine in requests("random:bs=4k,align=512", 2000) {
        let found = coarse.next_request().unwrap();
        let start = u64::from(found.first_page) * 16384 + u64::from(found.head_bytes);
        assert_eq!((start, start + found.bytes(16384)), extent(&fine));
        assert!((1..=2).contains(&found.pages));
    }
}

#[test]
fn poisson_arrivals_have_the_mean_and_the_spread_of_an_exponential() {
    let times: Vec<u64> = requests("random:rate=3e6", 100_001).iter().map(|r| r.at_ns).collect();
    assert_eq!(times[0], 0);
    let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean * 3e6 / 1e9 - 1.0).abs() < 4.0 / 100_000f64.sqrt(), "{mean}");
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
}

#[test]
fn constant_arrivals_come_at_the_rate_without_a_drift() {
    let times: Vec<u64> =
        requests("random:rate=3e6,arrivals=constant", 3001).iter().map(|r| r.at_ns).collect();
    assert_eq!(times[..3], [0, 333, 666]);
    assert!(times[3000].abs_diff(1_000_000) <= 1, "{}", times[3000]);
}

#[test]
fn a_parameter_leaves_what_the_others_decide_as_it_was() {
    let places = |text| extents(&requests(text, 1000), Op::Write);
    let plain = places("random:bs=4k");
    for text in ["random:bs=4k,fua=0.5", "random:bs=4k,rate=1000", "random:bs=4k,qd=8"] {
        assert_eq!(places(text), plain, "{text}");
    }
    let ordered = places("random:bs=4k,write=0.5,flush=0.1");
    assert_eq!(ordered, plain[..ordered.len()]);
}

const MIXED: [&str; 4] = [
    "io:write=0.4,write_size=20k,align=512,flush=0.05,trim=0.1,fua=0.2",
    "io:write=0.7,write_size=4k,read_size=16k,write_random=0.2,access=zipf,trim=0.3",
    "random:bs=512,write=0.9,rate=1e5",
    "sequential:bs=130k,write=0.5,stride=512,qd=9",
];

/// What is done to pages, in order.
fn changes(requests: &[Request]) -> Vec<(u32, Op)> {
    let changes = requests.iter().filter(|r| matches!(r.op, Op::Write | Op::Trim));
    changes.flat_map(|request| request.range().map(|page| (page, request.op))).collect()
}

fn changes_of_batches(text: &str, batch_pages: usize, count: usize) -> (Vec<(u32, Op)>, Unserved) {
    let mut workload = build(text, PAGES, Context::root(1)).unwrap();
    let (mut found, mut buffer) = (Vec::new(), vec![0; batch_pages]);
    while found.len() < count {
        let most = batch_pages.min(count - found.len());
        match workload.next(&mut buffer[..most]) {
            Step::Writes(count) => found.extend(buffer[..count].iter().map(|p| (*p, Op::Write))),
            Step::Request(trim) => found.extend(trim.range().map(|page| (page, trim.op))),
            Step::End => panic!("it has no end"),
        }
    }
    (found, workload.take_unserved())
}

#[test]
fn merged_batches_change_the_same_pages_as_requests_do_whatever_their_size() {
    for text in MIXED {
        let all = requests(text, 4000);
        let expected = changes(&all);
        for batch_pages in [1, 7, 1024] {
            let (found, unserved) = changes_of_batches(text, batch_pages, expected.len());
            assert_eq!(found, expected, "{text}");
            let last = all.iter().rposition(|r| matches!(r.op, Op::Write | Op::Trim)).unwrap();
            let passed = &all[..=last];
            let sum = |op, of: fn(&Request) -> u64| -> u64 {
                passed.iter().filter(|request| request.op == op).map(of).sum()
            };
            let counted = Unserved {
                read_pages: sum(Op::Read, |request| u64::from(request.pages)),
                read_bytes: sum(Op::Read, |request| request.bytes(4096)),
                flushes: sum(Op::Flush, |_| 1),
                partial_bytes: sum(Op::Write, Request::partial_bytes),
            };
            assert_eq!(unserved, counted, "{text}");
        }
    }
}

#[test]
fn one_seed_gives_the_same_requests_and_another_seed_others() {
    for text in MIXED {
        assert_eq!(requests(text, 500), requests(text, 500), "{text}");
        let mut other = build(text, PAGES, Context::root(2)).unwrap();
        let other: Vec<_> = std::iter::from_fn(|| other.next_request()).take(500).collect();
        assert_ne!(requests(text, 500), other, "{text}");
    }
}

#[test]
fn a_restored_host_goes_on_as_the_one_that_was_saved() {
    for text in MIXED {
        let built = || build(text, PAGES, Context::root(3)).unwrap();
        let mut saved = built();
        // Cut in the middle of a request, and behind requests that were passed over.
        let mut buffer = [0; 3];
        while !matches!(saved.next(&mut buffer), Step::Writes(3)) {}
        let bytes = pack(&saved);
        let mut restored = built();
        restored.next_request();
        unpack(&mut restored, &bytes).unwrap();
        assert_eq!(pack(&restored), bytes, "{text}");
        let mut other = [0; 3];
        for _ in 0..100 {
            let (step, expected) = (restored.next(&mut other), saved.next(&mut buffer));
            let count = if let Step::Writes(count) = step { count } else { 0 };
            assert_eq!((step, &other[..count]), (expected, &buffer[..count]), "{text}");
        }
        for _ in 0..50 {
            assert_eq!(restored.next_request(), saved.next_request(), "{text}");
        }
    }
}

#[test]
fn invalidation_times_are_foreseen_across_reads() {
    let mut workload = build("random:bs=8k,write=0.5", 40, Context::root(1)).unwrap();
    let mut foresight = Foresight::new(&*workload).unwrap();
    let horizon = workload.horizon_writes();
    let (mut times, mut now, mut foreseen) = (Vec::new(), 0, 0);
    let mut last = std::collections::HashMap::new();
    while now < 2000 {
        let request = foresight.next_request(&mut *workload, &mut times, now).unwrap();
        let pages = if request.op == Op::Write { request.range() } else { 0..0 };
        for (page, time) in pages.zip(&times) {
            if let Some((written_at, due)) = last.insert(page, (now, *time)) {
                let is_far = now - written_at > horizon;
                assert_eq!(due, if is_far { NEVER } else { now }, "page {page}");
                foreseen += usize::from(!is_far);
            }
            now += 1;
        }
    }
    assert!(foreseen > 1500, "{foreseen}");
}

#[test]
fn a_host_that_only_reads_has_requests_but_no_batch_of_writes() {
    let mut workload = build("io:write=0,flush=0.5", PAGES, Context::root(1)).unwrap();
    assert!(!workload.writes());
    assert_eq!(workload.next(&mut [0; 10]), Step::End);
    assert!(workload.next_request().is_some());
    assert!(build("io", PAGES, Context::root(1)).unwrap().writes());
}

#[test]
fn pacing_is_closed_unless_a_rate_is_given_and_timed_if_either_is() {
    for (text, pacing, is_timed) in [
        ("random", Pacing::Closed { queue_depth: 1 }, false),
        ("random:qd=1", Pacing::Closed { queue_depth: 1 }, true),
        ("sequential:bs=4k,qd=32", Pacing::Closed { queue_depth: 32 }, true),
        ("io:rate=1e4", Pacing::Open, true),
        ("uniform", Pacing::Closed { queue_depth: 1 }, false),
        ("sequential", Pacing::Closed { queue_depth: 1 }, false),
    ] {
        let workload = build(text, PAGES, Context::root(1)).unwrap();
        assert_eq!((workload.pacing(), workload.is_timed()), (pacing, is_timed), "{text}");
    }
}

#[test]
fn the_short_forms_stand_for_the_full_one() {
    let same = |short: &str, full: &str| {
        let of = |text| characteristics(text).unwrap().expect("requests");
        assert_eq!(of(short), of(full));
        assert_eq!(requests(short, 300), requests(full, 300));
    };
    same("random:bs=8k,write=0.3,qd=4", "io:write=0.3,qd=4,write_size=8k,read_size=8k");
    same(
        "sequential:bs=8k,stride=4k,trim=0.1",
        "io:write=1,write_size=8k,read_size=8k,write_random=0,read_random=0,write_stride=4k,\
         read_stride=4k,trim=0.1",
    );
    assert_eq!(characteristics("sequential").unwrap(), None);
    assert_eq!(characteristics("uniform").unwrap(), None);
}

#[test]
fn canonical_forms_are_in_bytes_and_that_of_plain_pages_has_no_requests() {
    let canonical = |text| crate::registry::Kind::Workloads.read(text).unwrap().canonical();
    assert_eq!(canonical("sequential"), "sequential");
    assert_eq!(canonical("sequential:bs=pages,write=1"), "sequential");
    assert_eq!(canonical("sequential:bs=128k,qd=4"), "sequential(bs=131072,qd=4)");
    assert_eq!(canonical("random:bs=4KiB"), canonical("random"));
    assert_ne!(canonical("random:qd=1"), canonical("random"), "it is timed");
    assert_eq!(
        canonical("io:read_size=16k,access=hot-cold(f=.1,r=0.9)"),
        "io(write=0.5,qd=auto,rate=none,arrivals=poisson,write_size=4096,read_size=16384,\
         write_random=1,read_random=1,write_stride=0,read_stride=0,align=size,offset=0,\
         access=hot-cold(hot_fraction=0.1,hot_write_fraction=0.9),flush=0,fua=0,trim=0)"
    );
}

#[test]
fn hints_are_those_of_the_skew_where_a_write_is_one_slot_of_whole_pages() {
    let text = "io:write=0.5,write_size=12k,read_size=12k,offset=4k,access=hot-cold(f=0.1,r=0.9)";
    let mut workload = build(text, PAGES, Context::root(1)).unwrap();
    let groups = workload.groups().unwrap();
    assert_eq!(groups.iter().map(|group| group.pages).collect::<Vec<_>>(), [99, 900, 1]);
    let mut buffer = [0; 30_000];
    workload.next(&mut buffer);
    let mut group_of = vec![0; buffer.len()];
    workload.find_groups(&buffer, &mut group_of);
    let hot = group_of.iter().filter(|group| **group == 0).count();
    assert!(is_share(hot / 3, buffer.len() / 3, 0.9), "{hot}");
    assert!(group_of.iter().all(|group| *group < 2));
    let mut ends = [0; 3];
    workload.find_groups(&[0, 1, 999], &mut ends);
    assert_eq!(ends, [2, 0, 1], "the page before the offset is in no slot");
    for text in ["random:bs=4k,align=512,access=zipf", "random:bs=2k,access=zipf"] {
        assert!(build(text, PAGES, Context::root(1)).unwrap().groups().is_none(), "{text}");
    }
}

#[test]
fn a_bad_spec_is_refused_in_a_sentence_that_says_what_is_valid() {
    for (text, words) in [
        ("io:qd=4,rate=100", "qd=4 and rate=100 exclude each other"),
        ("io:arrivals=constant", "arrivals= is for an open loop, which needs rate="),
        ("io:write=1e-5", "write is 0 or a number from 0.0001 to 1"),
        ("io:write=1.1", "write is a number from 0 to 1"),
        ("io:flush=0.5,trim=0.5", "add up to at most 0.99"),
        ("io:access=tpcc", "access is uniform, zipf or hot-cold"),
        ("io:access=random", "random is a whole workload, and no part of another"),
        ("io:access=zipf(trim=0.1)", "for a whole workload"),
        ("io:access=hot-cold(f=0.0001,r=0.9)", "at least one hot and one cold page"),
        ("random:bs=1000", "bs is a multiple of 512 bytes"),
        ("random:bs=0", "bs is a size from 512 to 67108864 bytes, as 512, 4k"),
        ("random:bs=128M", "bs is a size from 512 to 67108864 bytes"),
        ("random:bs=4kB", "bs is a size"),
        ("random:bs=4k,align=700", "align is a multiple of 512 bytes"),
        ("random:qd=0", "qd is auto or a whole number from 1 to 65536"),
        ("random:rate=0", "rate is none or a number from 0.001 to 1000000000"),
        ("random:bs=8M", "a write of 8388608 bytes does not fit the 4096000 bytes"),
        ("random:bs=8M,write=0", "a read of 8388608 bytes does not fit"),
        ("random:bs=4000k,offset=512", "does not fit the 4095488 bytes"),
        ("random:offset=1G", "an offset of 1073741824 bytes is beyond the 4096000"),
        ("random:trim=0.1,bs=512", "may cover no whole page of 4096"),
        ("random:trim=0.1,bs=6k", "or a size of at least 8192 bytes"),
        ("random:trim=0.1,offset=512", "may cover no whole page"),
        ("sequential:bs=4k,stride=4M", "a stride of 4194304 bytes after a write of 4096"),
        ("sequential:qd=4", "qd= is for requests, which need bs=, as in sequential:bs=128k"),
        ("sequential:bs=4k,access=zipf", "unknown parameter"),
    ] {
        let error = refusal(text);
        assert!(error.contains(words), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let huge = Site { pages: u32::MAX, page_bytes: 16384, context: Context::root(1) };
    let error = build_for("random:align=512", &huge).err().unwrap().to_string();
    assert!(error.contains("32 bits count; give a larger align than 512"), "{error}");
    let mut random = workloads::build_for("random:bs=16k", &huge).unwrap();
    assert!((0..1000).all(|_| random.next_request().unwrap().range().end < u32::MAX));
}
