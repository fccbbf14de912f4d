use super::*;
use crate::workloads::tests::OF_APPLICATIONS;
use crate::workloads::{Context, WORKLOADS, Workload, build};

const PAGES: u32 = 20_000;

fn examples() -> impl Iterator<Item = &'static str> {
    let of_applications = WORKLOADS.entries.iter();
    of_applications.filter(|entry| OF_APPLICATIONS.contains(&entry.name)).map(|entry| entry.example)
}

fn built(text: &str) -> Box<dyn Workload> {
    build(text, PAGES, Context::root(1)).unwrap()
}

#[test]
fn requests_have_the_same_pages_and_trims_as_steps() {
    for text in examples() {
        let (mut steps, mut requests) = (built(text), built(text));
        let (mut of_steps, mut of_requests, mut buffer) = (Vec::new(), Vec::new(), [0; 61]);
        let mut count = 0;
        while of_requests.len() < 50_000 {
            let request = requests.next_request().unwrap();
            of_requests.extend(request.range().map(|page| (request.op, page)));
            count += 1;
        }
        while of_steps.len() < of_requests.len() {
            match steps.next(&mut buffer) {
                Step::Writes(count) => {
                    of_steps.extend(buffer[..count].iter().map(|&page| (Op::Write, page)));
                }
                Step::Request(request) => {
                    of_steps.extend(request.range().map(|page| (request.op, page)));
                }
                Step::End => panic!("{text} ended"),
            }
        }
        of_steps.truncate(of_requests.len());
        assert!(of_steps == of_requests, "{text}");
        assert!(count < 40_000, "{text}: {count} requests");
    }
}

#[test]
fn requests_are_whole_leaves_appends_and_parts_of_objects() {
    let sizes = |text: &str| -> Vec<u32> {
        let mut workload = built(text);
        let requests = std::iter::from_fn(|| workload.next_request());
        let writes = requests.filter(|request| request.op == Op::Write).take(2000);
        writes.map(|request| request.pages).collect()
    };
    let of_leaves = sizes("btree:commit=1000,log=10%,batch=4");
    assert!(of_leaves.iter().filter(|&&pages| pages == 4).count() > 900, "leaves of 16 KiB");
    assert!(
        sizes("kv-offload:objects=64k,space=1,writes=1,bs=32k").iter().all(|&pages| pages == 8)
    );
    let of_logs = sizes("log-rewrite:bs=8k,extent=2%,used=60%");
    assert!(of_logs.contains(&2) && of_logs.contains(&MOST_REQUEST_PAGES));
    assert!(of_logs.iter().all(|&pages| pages <= MOST_REQUEST_PAGES));
    // Each update is written to the log by itself.
    assert!(sizes("lsm").iter().filter(|&&pages| pages == 1).count() > 100);
}

#[test]
fn long_writes_are_cut_at_multiples_of_the_largest_request() {
    let mut activities = Activities::default();
    activities.write(100..400);
    activities.trim(5..1000);
    let requests = std::iter::from_fn(|| activities.take_request());
    let ranges: Vec<_> = requests.map(|request| (request.op, request.range())).collect();
    let expected = [
        (Op::Write, 100..128),
        (Op::Write, 128..256),
        (Op::Write, 256..384),
        (Op::Write, 384..400),
        (Op::Trim, 5..1000),
    ];
    assert_eq!(ranges, expected);
}

#[test]
fn a_share_of_trims_among_the_writes_of_an_application_is_refused() {
    for text in examples() {
        let join = if text.contains(':') { "," } else { ":" };
        let refused = build(&format!("{text}{join}trim=0.1"), PAGES, Context::root(1));
        let error = refused.err().unwrap_or_else(|| panic!("{text} was accepted")).to_string();
        assert!(error.contains("leave trim out"), "{error}");
    }
}
