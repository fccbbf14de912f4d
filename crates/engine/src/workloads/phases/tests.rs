use crate::workloads::tests::drawn;
use crate::workloads::{Context, Site, Step, build, writes_in_all};

#[test]
fn phases_follow_each_other_at_the_stated_writes() {
    let pages = drawn("phases:writes=3/2,of=sequential/sequential", 10, 10, 10);
    assert_eq!(pages, [0, 1, 2, 0, 1, 3, 4, 5, 2, 3]);
}

#[test]
fn phases_end_after_their_turns() {
    let mut workload =
        build("phases:writes=3/2,of=sequential/sequential,turns=2", 10, Context::root(1)).unwrap();
    let (mut buffer, mut found) = ([0; 4], Vec::new());
    while let Step::Writes(count) = workload.next(&mut buffer) {
        found.extend_from_slice(&buffer[..count]);
    }
    assert_eq!(found, [0, 1, 2, 0, 1, 3, 4, 5, 2, 3]);
    assert!(workload.next_request().is_none());
    assert_eq!(workload.next(&mut buffer), Step::End);
    let site = Site { pages: 1000, page_bytes: 4096, context: Context::root(1) };
    let ends = |text: &str| writes_in_all(text, &site).unwrap();
    assert_eq!(ends("phases:writes=3/2,of=uniform/zipf,turns=2"), Some(10));
    assert_eq!(ends("phases:writes=3/2,of=uniform/zipf"), None);
    assert_eq!(ends("fio:streams=stream(loops=3,size_share=0.5),runs=2"), Some(3000));
    assert_eq!(ends("fio:streams=stream(endless=1),runs=2"), None);
}

#[test]
fn a_phase_of_requests_ends_within_one() {
    let spec = "phases:writes=5/1,of=random(bs=16k)/sequential,turns=3";
    let pages = drawn(spec, 1000, 18, 18);
    for turn in pages.chunks(6) {
        assert!(turn[..4].windows(2).all(|pair| pair[1] == pair[0] + 1), "{turn:?}");
        assert_eq!((turn[0] % 4, turn[4] % 4), (0, 0), "a request begins anew in each turn");
    }
}
