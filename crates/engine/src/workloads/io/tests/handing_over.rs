//! Ways to hand over requests: in batches, one by one, saved, restored, foreseen, hinted at.
//! The requests are the same.

use super::*;
use crate::foresight::Foresight;
use crate::hints::NEVER;
use crate::state::{pack, unpack};

const MIXED: [&str; 5] = [
    "io:write=0.4,write_size=20k,align=512,flush=0.05,trim=0.1,fua=0.2",
    "io:write=0.7,write_size=4k,read_size=16k,write_random=0.2,access=zipf,trim=0.3",
    "random:bs=512,write=0.9,rate=1e5",
    "sequential:bs=130k,write=0.5,stride=512,qd=9",
    "phases:writes=7/13,of=random(bs=18k,align=512,write=0.8,trim=0.1,flush=0.05)/uniform",
];

/// Writes and TRIMs of each page, in order.
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
                partial_pages: sum(Op::Write, Request::partial_pages),
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
fn hints_are_those_of_the_skew_where_a_write_is_one_slot_of_whole_pages() {
    let text = "io:write=0.5,write_size=12k,read_size=12k,offset=4k,access=hot-cold(f=0.1,r=0.9)";
    let mut workload = build(text, PAGES, Context::root(1)).unwrap();
    let groups = workload.groups().unwrap();
    assert_eq!(groups.iter().map(|group| group.pages).collect::<Vec<_>>(), [99, 900, 1]);
    let mut buffer = vec![0; 30_000];
    workload.next(&mut buffer);
    let mut group_of = vec![0; buffer.len()];
    workload.find_groups(&buffer, &mut group_of);
    let cold: u32 = group_of.iter().map(|group| u32::from(*group)).sum();
    assert!(is_share(cold as usize / 3, buffer.len() / 3, 0.1), "{cold}");
    assert_eq!(group_of.iter().max(), Some(&1));
    let mut ends = [0; 3];
    workload.find_groups(&[0, 1, 999], &mut ends);
    assert_eq!(ends, [2, 0, 1], "the page before the offset is in no slot");
    for text in ["random:bs=4k,align=512,access=zipf", "random:bs=2k,access=zipf"] {
        assert!(build(text, PAGES, Context::root(1)).unwrap().groups().is_none(), "{text}");
    }
}

#[test]
fn a_host_that_only_reads_has_requests_but_no_batch_of_writes() {
    let mut workload = build("io:write=0,flush=0.5", PAGES, Context::root(1)).unwrap();
    assert!(!workload.writes());
    assert_eq!(workload.next(&mut [0; 10]), Step::End);
    assert!(workload.next_request().is_some());
    assert!(build("io", PAGES, Context::root(1)).unwrap().writes());
}
