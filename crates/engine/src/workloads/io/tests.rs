mod handing_over;
mod specs;

use super::*;
use crate::workloads::{Context, build, build_for};

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

/// χ² of counts, in standard deviations from its mean.
fn chi_square(counts: &[usize], shares: &[f64]) -> f64 {
    let all = counts.iter().sum::<usize>() as f64;
    let of_cell =
        |(&count, &share): (&usize, &f64)| (count as f64 - all * share).powi(2) / (all * share);
    let degrees = counts.len() as f64 - 1.0;
    (counts.iter().zip(shares).map(of_cell).sum::<f64>() - degrees) / (2.0 * degrees).sqrt()
}

#[test]
fn jesd219_has_its_sizes_and_zones() {
    let percent = |number: u32| f64::from(number) / 100.0;
    let all = requests("jesd219", 200_000);
    let writes = all.iter().filter(|request| request.op == Op::Write).count();
    assert!(is_share(writes, all.len(), 0.6), "{writes}");
    for op in [Op::Read, Op::Write] {
        let found = extents(&all, op);
        assert!(found.iter().all(|(start, end)| start % 4096 == 0 && *end <= SPACE_BYTES));
        let (sizes, shares): (Vec<u64>, Vec<u32>) = jesd219::SIZES.iter().copied().unzip();
        let shares: Vec<f64> = shares.into_iter().map(percent).collect();
        let count = |size: &u64| found.iter().filter(|(start, end)| end - start == *size).count();
        let deviation = chi_square(&sizes.iter().map(count).collect::<Vec<_>>(), &shares);
        assert!(deviation < 4.0, "{op:?}: {deviation}");
        // Tenths of each zone, among the positions at which 64 KiB fit.
        let last = (SPACE_BYTES - (64 << 10)) / 4096;
        let zones = [(0.0, 0.05, 0.5), (0.05, 0.2, 0.3), (0.2, 1.0, 0.2)];
        let mut tenths = vec![0; 30];
        for (start, _) in &found {
            let place = (*start / 4096) as f64 / (last + 1) as f64;
            let zone = zones.iter().position(|(_, end, _)| place < *end).unwrap();
            let (first, end, _) = zones[zone];
            tenths[zone * 10 + ((place - first) / (end - first) * 10.0) as usize] += 1;
        }
        let in_zone = |zone: usize| tenths[zone * 10..zone * 10 + 10].iter().sum::<usize>();
        let shares = zones.map(|(.., share)| share);
        let deviation = chi_square(&[0, 1, 2].map(in_zone), &shares);
        assert!(deviation < 4.0, "{op:?}: {deviation}");
        // A tenth of the first zone has 4 or 5 of its 49 positions, so only larger zones are tested.
        let deviation = chi_square(&tenths[20..], &[0.1; 10]);
        assert!(deviation < 6.0, "{op:?}: {deviation}");
    }
}

#[test]
fn the_zones_of_jesd219_are_groups_on_pages_of_any_size() {
    for (page_bytes, pages) in [(2048, 500), (4096, 60), (4096, 1000), (16_384, 40), (6144, 300)] {
        let site = Site { pages, page_bytes, context: Context::root(1) };
        let mut workload = build_for("jesd219:offset=8k", &site).unwrap();
        let groups = workload.groups().unwrap();
        assert_eq!(groups.iter().map(|group| group.pages).sum::<u32>(), pages);
        let (mut drawn, mut buffer) = ([0usize; 3], [0; 512]);
        let mut group_of = [0; 512];
        for _ in 0..1000 {
            let Step::Writes(count) = workload.next(&mut buffer) else { unreachable!() };
            workload.find_groups(&buffer[..count], &mut group_of[..count]);
            group_of[..count].iter().for_each(|&group| drawn[usize::from(group)] += 1);
        }
        let all = drawn.iter().sum::<usize>() as f64;
        for (drawn, group) in drawn.into_iter().zip(&groups) {
            let error = drawn as f64 / all - group.write_share;
            assert!(error.abs() < 0.008, "{page_bytes}, {pages}: {error}");
        }
    }
}

#[test]
fn the_client_workload_of_jesd219_is_refused_with_the_reason() {
    let error = build("jesd219-client", PAGES, Context::root(1)).err().unwrap().to_string();
    assert!(
        error.starts_with("the workload jesd219-client does not exist: it is a trace"),
        "{error}"
    );
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
    assert!(start.is_multiple_of(6 << 10) && start > 0, "{start}");
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
        for (start, _) in extents(&all, op) {
            counts[(start / 4096) as usize] += 1;
        }
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
