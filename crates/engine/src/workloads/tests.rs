use super::*;

fn drawn(text: &str, pages: u32, count: usize, buffer_pages: usize) -> Vec<u32> {
    let mut workload = build(text, pages, Context::root(1)).unwrap();
    let (mut out, mut buffer) = (Vec::new(), vec![0; buffer_pages]);
    while out.len() < count {
        let most = buffer_pages.min(count - out.len());
        match workload.next(&mut buffer[..most]) {
            Step::Write(n) => out.extend_from_slice(&buffer[..n]),
            other => panic!("{text}: {other:?}"),
        }
    }
    out
}

#[test]
fn every_workload_stays_in_its_pages_and_does_not_depend_on_the_buffer() {
    for entry in ENTRIES {
        let whole = drawn(entry.example, 1000, 20_000, 20_000);
        assert!(whole.iter().all(|&page| page < 1000), "{}", entry.name);
        for buffer_pages in [1, 7, 4096] {
            assert_eq!(whole, drawn(entry.example, 1000, 20_000, buffer_pages), "{}", entry.name);
        }
    }
}

#[test]
fn hot_pages_get_their_share_of_the_writes() {
    let pages = drawn("hot-cold:f=0.1,r=0.9", 1000, 100_000, 1024);
    let hot = pages.iter().filter(|&&page| page < 100).count();
    assert!((89_600..90_400).contains(&hot), "{hot}"); // 4 standard deviations
}

#[test]
fn zipf_draws_each_rank_with_its_probability() {
    for s in [0.5, 0.99, 1.0, 1.5] {
        let (n, draws) = (50u32, 200_000);
        let mut counts = vec![0u32; n as usize];
        for page in drawn(&format!("zipf:s={s}"), n, draws, 1024) {
            counts[page as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let norm: f64 = (1..=n).map(|k| f64::from(k).powf(-s)).sum();
        // Sorting by count sorts by rank as long as neighbours differ by more than the noise.
        for rank in [1, 2, 3, 5, 10] {
            let expected = f64::from(rank).powf(-s) / norm * draws as f64;
            let error = (f64::from(counts[rank as usize - 1]) - expected) / expected.sqrt();
            assert!(error.abs() < 5.0, "s={s} rank={rank}: {error} standard deviations");
        }
    }
}

#[test]
fn a_permutation_writes_every_page_once_a_pass_and_never_twice_in_the_same_order() {
    let pages = drawn("permutation", 100, 300, 64);
    let passes: Vec<&[u32]> = pages.chunks(100).collect();
    for pass in &passes {
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
    assert!(passes[0] != passes[1] && passes[1] != passes[2]);
}

#[test]
fn mix_gives_each_region_its_weight_and_pattern() {
    let pages =
        drawn("mix:sizes=1/1/2,weights=1/3/0,of=uniform/sequential/uniform", 400, 40_000, 512);
    let first = pages.iter().filter(|&&page| page < 100).count();
    assert!((9_650..10_350).contains(&first), "{first}");
    assert!(pages.iter().all(|&page| page < 200), "a region of weight 0 is never written");
    let second: Vec<u32> = pages.into_iter().filter(|&page| page >= 100).take(150).collect();
    assert_eq!(second, (0..150).map(|i| 100 + i % 100).collect::<Vec<_>>());
}

#[test]
fn phases_follow_each_other_at_the_stated_writes() {
    let pages = drawn("phases:writes=3/2,of=sequential/sequential", 10, 10, 10);
    assert_eq!(pages, [0, 1, 2, 0, 1, 3, 4, 5, 2, 3]);
}

#[test]
fn a_trace_replays_its_requests_as_often_as_asked() {
    let ops = vec![TraceOp::Write, TraceOp::Write, TraceOp::Trim];
    let mut trace = Trace::new(ops, vec![0, 5, 0], vec![2, 1, 2], 2).unwrap();
    assert_eq!(trace.pages(), 6);
    let mut buffer = [9; 8];
    for _ in 0..2 {
        assert_eq!((trace.next(&mut buffer), &buffer[..3]), (Step::Write(3), &[0, 1, 5][..]));
        assert_eq!((trace.next(&mut buffer), &buffer[..2]), (Step::Trim(2), &[0, 1][..]));
    }
    assert_eq!(trace.next(&mut buffer), Step::End);
    assert!(Trace::new(vec![TraceOp::Trim], vec![0], vec![1], 1).is_err());
}

#[test]
fn extreme_parameters_stay_in_range() {
    let sizes = vec!["1"; 1000].join("/");
    for (text, pages) in [
        ("zipf:s=10", 100_000),
        ("zipf:s=1e-9", 100_000),
        ("zipf:s=0.99", 1),
        ("permutation", 1),
        ("sequential", 1),
        ("uniform", 1),
        ("hot-cold:f=0.5,r=1", 2),
        (&format!("mix:sizes={sizes},weights={sizes}"), 1000),
        ("mix:sizes=1/1,weights=1/1,of=phases(writes=3/5,of=permutation/zipf)/uniform", 1000),
    ] {
        assert!(drawn(text, pages, 5_000, 64).iter().all(|&page| page < pages), "{text}");
    }
}

#[test]
fn bad_parameters_are_refused() {
    let nested = (0..4000).fold("uniform".to_owned(), |of, _| format!("phases(writes=9,of={of})"));
    for text in [
        &nested,
        "mix:sizes=1/1,weights=1e308/1e308",
        "mix:sizes=1e308/1e308,weights=1/1",
        "hot-cold",
        "hot-cold:f=0,r=1",
        "hot-cold:f=1,r=.5",
        "hot-cold:f=.1,r=1.1",
        "zipf:s=0",
        "zipf:s=nan",
        "mix:sizes=1/1,weights=1",
        "mix:sizes=1/1,weights=0/0",
        "mix:sizes=1/-1,weights=1/1",
        "mix:sizes=1/1,weights=1/1,of=unifrom",
        "phases:writes=0,of=uniform",
        "phases:writes=1/2,of=uniform",
        "mix:sizes=1/1e9,weights=1/1",
        "uniform:f=1",
    ] {
        let error = build(text, 1000, Context::root(1))
            .err()
            .unwrap_or_else(|| panic!("{text} was accepted"));
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn groups_add_up_and_get_the_writes_that_they_claim() {
    for entry in ENTRIES {
        let mut workload = build(entry.example, 1000, Context::root(1)).unwrap();
        let mut buffer = [0; 500];
        let (mut drawn, mut expected) = (vec![0.0; 256], vec![0.0; 256]);
        for _ in 0..400 {
            let Step::Write(count) = workload.next(&mut buffer) else { panic!("{}", entry.name) };
            let groups = workload.groups().expect("a synthetic workload knows its groups");
            let pages: u32 = groups.iter().map(|group| group.pages).sum();
            let share: f64 = groups.iter().map(|group| group.write_share).sum();
            assert_eq!(pages, 1000, "{}", entry.name);
            assert!((share - 1.0).abs() < 1e-12, "{}: {share}", entry.name);
            let mut group_of = [0; 500];
            workload.find_groups(&buffer[..count], &mut group_of[..count]);
            group_of[..count].iter().for_each(|&group| drawn[group as usize] += 1.0);
            for (sum, group) in expected.iter_mut().zip(&groups) {
                *sum += group.write_share * count as f64;
            }
        }
        for (drawn, expected) in drawn.iter().zip(&expected) {
            // 5 standard deviations, and what a band of Zipf's law is off by.
            let error: f64 = drawn - expected;
            assert!(error.abs() <= 5.0 * expected.sqrt() + 0.03 * expected, "{}", entry.name);
        }
    }
}
