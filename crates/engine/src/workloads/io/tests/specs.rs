//! Specs of requests: what they mean, which mean the same, and which are refused.

use super::*;
use crate::workloads::WORKLOADS;
use crate::workloads::characteristics;

fn refusal(text: &str) -> String {
    let error = build(text, PAGES, Context::root(1)).err();
    error.unwrap_or_else(|| panic!("{text} was accepted")).to_string()
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
    let canonical = |text| WORKLOADS.read(text).unwrap().canonical();
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
fn a_bad_spec_is_refused_in_a_sentence_that_says_what_is_valid() {
    for (text, words) in [
        ("io:qd=4,rate=100", "qd=4 and rate=100 exclude each other"),
        ("io:arrivals=constant", "arrivals= needs rate=, because it is for open loops"),
        ("io:write=1e-5", "write is 0 or a number from 0.0001 to 1"),
        ("io:write=1.1", "write is a number from 0 to 1"),
        ("io:flush=0.5,trim=0.5", "add up to at most 0.99"),
        ("io:access=tpcc", "access is uniform, zipf or hot-cold"),
        ("io:access=random", "random must be a whole workload; it cannot be part of another"),
        ("io:access=zipf(trim=0.1)", "for a whole workload"),
        ("io:access=hot-cold(f=0.0001,r=0.9)", "at least one hot and one cold page"),
        ("random:bs=1000", "bs is a multiple of 512 bytes"),
        ("random:bs=0", "bs is a size from 512 to 67108864 bytes, as 512, 4k"),
        ("random:bs=128M", "bs is a size from 512 to 67108864 bytes"),
        ("random:bs=4kb", "bs is a size"),
        ("random:bs=4kB", "bs is a multiple of 512 bytes"),
        ("random:bs=4k,align=700", "align is a multiple of 512 bytes"),
        ("random:qd=0", "qd is auto or a whole number from 1 to 65536"),
        ("random:rate=0", "rate is none or a number from 0.001 to 1000000000"),
        ("random:bs=8M", "a write of 8388608 bytes does not fit in the 4096000 available bytes"),
        ("random:bs=8M,write=0", "a read of 8388608 bytes does not fit"),
        ("random:bs=4000k,offset=512", "does not fit in the 4095488 available bytes"),
        ("random:offset=1G", "an offset of 1073741824 bytes is beyond the drive's 4096000"),
        ("random:trim=0.1,bs=512", "may cover no whole page of 4096"),
        ("random:trim=0.1,bs=6k", "or a size of at least 8192 bytes"),
        ("random:trim=0.1,offset=512", "may cover no whole page"),
        ("sequential:bs=4k,stride=4M", "a stride of 4194304 bytes after a write of 4096"),
        ("sequential:qd=4", "qd= needs bs=, as in sequential:bs=128k"),
        ("sequential:bs=4k,access=zipf", "unknown parameter"),
    ] {
        let error = refusal(text);
        assert!(error.contains(words), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let huge = Site { pages: u32::MAX, page_bytes: 16384, context: Context::root(1) };
    let error = build_for("random:align=512", &huge).err().unwrap().to_string();
    assert!(error.contains("32 bits can number; give a larger align than 512"), "{error}");
    let mut random = build_for("random:bs=16k", &huge).unwrap();
    assert!((0..1000).all(|_| random.next_request().unwrap().range().end < u32::MAX));
}
