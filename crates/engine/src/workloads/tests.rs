use super::*;

/// Workloads whose writes are those of an application.
pub const OF_APPLICATIONS: [&str; 4] = ["lsm", "btree", "log-rewrite", "kv-offload"];

/// The example of every registered workload, and workloads that change within one another.
fn specs() -> impl Iterator<Item = &'static str> {
    let further = [
        "groups:sizes=5/4/3/2/1,freq=1/2/4/8/16,swap_at=5001,swap=1/3,period=7003",
        "phases:writes=10001/20001,of=drift(f=0.2,r=0.7,period=7001,steps=70)/tpcc",
        "database:updates=groups(sizes=1/1,freq=1/9,swap_at=5003,period=7001),log=0.3,evict=0.7",
        "tpcc:clusters=0.2/0.3/0.5,means=1/9/20,deviations=9/1/1,tail_share=0,tail=50/60",
        "btree:page=8k,row=100,pool=30%,log=5%,commit=3,protect=images",
    ];
    WORKLOADS.entries.iter().map(|entry| entry.example).chain(further)
}

/// The first `count` pages that a workload writes, drawn into a buffer of `buffer_pages`.
pub fn drawn(text: &str, pages: u32, count: usize, buffer_pages: usize) -> Vec<u32> {
    let mut workload = build(text, pages, Context::root(1)).unwrap();
    let (mut out, mut buffer) = (Vec::new(), vec![0; buffer_pages]);
    while out.len() < count {
        let most = buffer_pages.min(count - out.len());
        match workload.next(&mut buffer[..most]) {
            Step::Writes(n) => out.extend_from_slice(&buffer[..n]),
            Step::Request(trim) => assert_eq!(trim.op, Op::Trim, "{text}"),
            Step::End => panic!("{text}: synthetic workloads have no end"),
        }
    }
    out
}

/// Applies a step of a workload to the pages that hold data. Returns whether it is a TRIM.
/// Writes must fill pages without data, and TRIMs must cover pages with data.
pub fn applied(step: Step, buffer: &[u32], is_held: &mut [bool], text: &str) -> bool {
    match step {
        Step::Writes(count) => {
            for &page in &buffer[..count] {
                assert!(!std::mem::replace(&mut is_held[page as usize], true), "{text}");
            }
            false
        }
        Step::Request(request) => {
            assert_eq!(request.op, Op::Trim, "{text}");
            for page in request.range() {
                assert!(std::mem::replace(&mut is_held[page as usize], false), "{text}");
            }
            true
        }
        Step::End => panic!("{text} ended"),
    }
}

#[test]
fn every_workload_stays_in_its_pages_and_does_not_depend_on_the_buffer() {
    for spec in specs() {
        let whole = drawn(spec, 1000, 20_000, 20_000);
        assert!(whole.iter().all(|&page| page < 1000), "{spec}");
        for buffer_pages in [1, 7, 4096] {
            assert_eq!(whole, drawn(spec, 1000, 20_000, buffer_pages), "{spec}");
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
fn zipf_whose_ranks_share_pages_has_the_rates_of_a_larger_drive() {
    for (s, ranks_per_page) in [(0.99, 4.0), (1.3, 3.0), (0.6, 10.0)] {
        let (pages, draws) = (40u32, 200_000);
        let mut counts = vec![0u32; pages as usize];
        let spec = format!("zipf:s={s},ranks_per_page={ranks_per_page}");
        for page in drawn(&spec, pages, draws, 1024) {
            counts[page as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let ranks = (f64::from(pages) * ranks_per_page).round() as u32;
        let mut shares = vec![0.0; pages as usize];
        for rank in 1..=ranks {
            let place = (f64::from(rank - 1) / ranks_per_page) as usize;
            shares[place] += f64::from(rank).powf(-s);
        }
        let norm: f64 = shares.iter().sum();
        for place in [0, 1, 2, 4] {
            let expected = shares[place] / norm * draws as f64;
            let error = (f64::from(counts[place]) - expected) / expected.sqrt();
            assert!(error.abs() < 5.0, "{spec} place={place}: {error} standard deviations");
        }
        let groups = build(&spec, pages, Context::root(1)).unwrap().groups().unwrap();
        assert_eq!(groups.iter().map(|group| group.pages).sum::<u32>(), pages);
        let hottest = groups[0].write_share * norm / shares[0];
        assert!((hottest - 1.0).abs() < 0.05, "{spec}: {hottest}");
        let total: f64 = groups.iter().map(|group| group.write_share).sum();
        assert!((total - 1.0).abs() < 1e-12, "{spec}: {total}");
    }
}

#[test]
fn zipf_with_a_rank_for_each_page_draws_what_it_always_did() {
    let draws = |spec| drawn(spec, 1000, 5000, 64);
    assert_eq!(draws("zipf:s=0.9"), draws("zipf:s=0.9,ranks_per_page=1"));
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

/// χ² over the first places one by one and the others in bands, in standard deviations.
#[test]
fn zipf_follows_its_law_from_head_to_tail() {
    let (pages, draws) = (3000u32, 1_000_000u32);
    for (s, ranks_per_page) in [(0.5, 1), (0.99, 1), (1.0, 1), (1.2, 64), (3.0, 1), (0.9, 300)] {
        let spec = format!("zipf:s={s},ranks_per_page={ranks_per_page}");
        let mut place_of_page = vec![0; pages as usize];
        let mut order: Vec<u32> = (0..pages).collect();
        Stream::new(1, "workload/0").shuffle(&mut order);
        (0..pages).zip(&order).for_each(|(place, &page)| place_of_page[page as usize] = place);
        let cell = |place: u32| if place < 64 { place } else { 58 + place.ilog2() } as usize;
        let mut expected = vec![0.0; cell(pages - 1) + 1];
        for rank in 0..pages * ranks_per_page {
            expected[cell(rank / ranks_per_page)] += f64::from(rank + 1).powf(-s);
        }
        let all: f64 = expected.iter().sum();
        let mut found = vec![0.0; expected.len()];
        for page in drawn(&spec, pages, draws as usize, 1024) {
            found[cell(place_of_page[page as usize])] += 1.0;
        }
        let (mut chi_square, mut degrees) = (0.0, -1.0f64);
        for (expected, found) in expected.iter().zip(&found) {
            let expected = expected / all * f64::from(draws);
            if expected > 20.0 {
                chi_square += (found - expected) * (found - expected) / expected;
                degrees += 1.0;
            }
        }
        let deviation = (chi_square - degrees) / (2.0 * degrees).sqrt();
        assert!(deviation.abs() < 4.5, "{spec}: {chi_square} of {degrees}");
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
fn a_cache_rewrites_small_objects_at_random_and_its_log_in_a_circle() {
    let pages = drawn("cachelib:soc=10%,soc_writes=25%", 1000, 100_000, 512);
    let soc = count_in(&pages, 0..100);
    assert!(is_share(soc, pages.len(), 0.25), "{soc}");
    assert!(is_share(count_in(&pages, 0..50), soc, 0.5), "uniform in place");
    let log: Vec<u32> = pages.into_iter().filter(|&page| page >= 100).collect();
    assert_eq!(log, (0..log.len() as u32).map(|i| 100 + i % 900).collect::<Vec<_>>());
}

fn count_in(pages: &[u32], range: std::ops::Range<u32>) -> usize {
    pages.iter().filter(|page| range.contains(page)).count()
}

/// Whether `count` of `draws` is within 4 standard deviations of their `share`.
fn is_share(count: usize, draws: usize, share: f64) -> bool {
    let expected = draws as f64 * share;
    (count as f64 - expected).abs() <= 4.0 * (expected * (1.0 - share)).sqrt()
}

#[test]
fn groups_get_their_frequencies_and_swap_them_at_the_stated_writes() {
    let spec = "groups:sizes=1/1/2,freq=1/2/7,swap_at=30000/50000,swap=0/2,period=20000";
    let pages = drawn(spec, 400, 110_000, 1024);
    for (from, to, shares) in [
        (0, 30_000, [0.1, 0.2, 0.7]),
        (30_000, 50_000, [0.7, 0.2, 0.1]),
        (50_000, 70_000, [0.1, 0.2, 0.7]),
        (70_000, 90_000, [0.7, 0.2, 0.1]),
        (90_000, 110_000, [0.1, 0.2, 0.7]),
    ] {
        let part = &pages[from..to];
        for (range, share) in [0..100, 100..200, 200..400].into_iter().zip(shares) {
            assert!(is_share(count_in(part, range.clone()), part.len(), share), "{from} {range:?}");
        }
        assert!(is_share(count_in(part, 200..300), part.len(), shares[2] / 2.0), "uniform within");
    }
}

#[test]
fn groups_are_told_as_of_the_write_before_and_after_a_swap() {
    let spec = "groups:sizes=1/3,freq=0.1/0.9,swap_at=1000";
    for buffer_pages in [1, 300, 4096] {
        let mut workload = build(spec, 400, Context::root(1)).unwrap();
        let mut buffer = vec![0; buffer_pages];
        let mut written = 0;
        while written < 3000 {
            let Step::Writes(count) = workload.next(&mut buffer) else { panic!("it ended") };
            assert!(written >= 1000 || written + count <= 1000, "a batch spans the swap");
            let shares = if written < 1000 { [0.1, 0.9] } else { [0.9, 0.1] };
            let groups = workload.groups().unwrap();
            assert_eq!(groups.iter().map(|group| group.write_share).collect::<Vec<_>>(), shares);
            assert_eq!(groups.iter().map(|group| group.pages).collect::<Vec<_>>(), [100, 300]);
            written += count;
        }
    }
}

#[test]
fn the_hot_set_drifts_over_all_pages_once_a_period() {
    let pages = drawn("drift:f=0.1,r=0.9,period=100000,steps=10", 1000, 200_000, 512);
    for (step, part) in (0..).zip(pages.chunks(10_000)) {
        let first = 100 * (step % 10);
        assert!(is_share(count_in(part, first..first + 100), 10_000, 0.9), "step {step}");
        let rest = (first + 500) % 1000;
        assert!(is_share(count_in(part, rest..rest + 100), 10_000, 0.1 / 9.0), "step {step}");
    }
    // A window that goes over from the last page to the first: 0.3 of 10 pages from page 9 on.
    let pages = drawn("drift:f=0.3,r=1,period=1000,steps=10", 10, 1000, 512);
    let mut last = pages[900..].to_vec();
    last.sort_unstable();
    last.dedup();
    assert_eq!(last, [0, 1, 9]);
}

#[test]
fn a_database_logs_every_update_and_writes_dirty_pages_in_order_once_the_log_is_full() {
    let spec = "database:sizes=80/10/5/5,updates=sequential,evict=0.5,sort_every=2,rebuild_every=3";
    let pages = drawn(spec, 100, 200, 64);
    let round = |first: u32| -> Vec<u32> {
        let updates = (0..10).flat_map(|update| {
            let page = first + update;
            [Some(80 + update), page.is_multiple_of(2).then_some(page)].into_iter().flatten()
        });
        updates.chain((first..first + 10).filter(|page| !page.is_multiple_of(2))).collect()
    };
    let (sort, rebuild) = ((95..100).chain(95..100), 90..95);
    let mut expected = [round(0), round(10)].concat();
    expected.extend(sort);
    expected.extend(round(20));
    expected.extend(rebuild);
    assert_eq!(pages[..expected.len()], expected);
}

#[test]
fn a_checkpoint_writes_each_page_that_was_not_evicted_since_its_last_update() {
    let spec = "database:sizes=600/300/50/50,updates=hot-cold(f=0.1,r=0.9),evict=0.2";
    let pages = drawn(spec, 1000, 600, 97);
    let context = Context::root(1).child(0);
    let mut updates = [0; 300];
    build("hot-cold:f=0.1,r=0.9", 600, context).unwrap().next(&mut updates);
    let (mut expected, mut dirty) = (Vec::new(), std::collections::BTreeSet::new());
    for (log_page, update) in (600..900).zip(updates) {
        expected.push(log_page);
        dirty.insert(update);
        // Every fifth update's page is evicted, the third being the first.
        if log_page % 5 == 2 {
            dirty.remove(&update);
            expected.push(update);
        }
    }
    expected.extend(dirty);
    assert!(expected.len() > 400);
    assert_eq!(pages[..expected.len()], expected);
}

#[test]
fn tpcc_updates_its_pages_as_often_as_figure_9_of_paper_3_says() {
    // Over as many draws as there are updates, a page's count is Poisson around its weight.
    let pages = 100_000;
    let draws = (47.0e6 / 802_816.0 * f64::from(pages)) as usize;
    let mut counts = vec![0u32; pages as usize];
    for page in drawn("tpcc", pages, draws, 1024) {
        counts[page as usize] += 1;
    }
    let share = |range: std::ops::RangeInclusive<u32>| {
        let found = counts.iter().filter(|count| range.contains(count)).count();
        found as f64 / f64::from(pages)
    };
    assert!((share(0..=0) - 0.54).abs() < 0.005, "{}", share(0..=0));
    assert!((share(1..=300) - 0.46).abs() < 0.005, "{}", share(1..=300));
    // Noise lifts some of the hotter cluster above 300, but none above 400, where most of the log-
    // uniform tail lies: ln(13300/400)/ln(13300/300) of 0.2%.
    assert!((share(401..=u32::MAX) - 0.00185).abs() < 0.0001, "{}", share(401..=u32::MAX));
    let mean = |range: std::ops::RangeInclusive<u32>| {
        let found: Vec<u32> = counts.iter().copied().filter(|n| range.contains(n)).collect();
        f64::from(found.iter().sum::<u32>()) / found.len() as f64
    };
    let (cooler, hotter) = (mean(1..=70), mean(71..=300));
    assert!((cooler - 25.0).abs() < 0.5, "{cooler}");
    assert!((hotter / cooler - 8.0).abs() < 0.2, "{hotter}");
    let hottest = counts.iter().max().unwrap();
    assert!((11_000..=14_000).contains(hottest), "{hottest}");
    // Scattered: each tenth of the pages gets a tenth of the clusters.
    for tenth in counts.chunks(10_000) {
        let written = tenth.iter().filter(|&&count| count > 0).count();
        assert!(is_share(written, 10_000, 0.462), "{written}");
    }
}

/// Two writes, of three pages in all, with a read and a flush between them, and a TRIM.
fn five_requests() -> Vec<Request> {
    let at = |at_ns, request| Request { at_ns, ..request };
    vec![
        at(10, Request::of_pages(Op::Write, 0..2)),
        at(20, Request { head_bytes: 512, ..Request::of_pages(Op::Read, 0..3) }),
        at(20, Request::flush()),
        at(25, Request { tail_bytes: 96, ..Request::of_pages(Op::Write, 5..6) }),
        at(40, Request::of_pages(Op::Trim, 0..2)),
    ]
}

#[test]
fn a_trace_replays_its_writes_in_batches_as_often_as_asked() {
    let mut trace = Trace::new(five_requests(), 4096, 2).unwrap();
    assert_eq!(trace.pages(), 6);
    let mut buffer = [9; 8];
    for _ in 0..2 {
        assert_eq!((trace.next(&mut buffer), &buffer[..3]), (Step::Writes(3), &[0, 1, 5][..]));
        let Step::Request(trim) = trace.next(&mut buffer) else { panic!("a TRIM") };
        assert_eq!((trim.op, trim.range()), (Op::Trim, 0..2));
    }
    assert_eq!(trace.next(&mut buffer), Step::End);
    let passed_over = Unserved {
        read_pages: 6,
        read_bytes: 2 * (3 * 4096 - 512),
        flushes: 2,
        partial_bytes: 192,
        partial_pages: 2,
    };
    assert_eq!(trace.take_unserved(), passed_over);
    assert_eq!(trace.take_unserved(), Unserved::default());
}

#[test]
fn a_trace_gives_its_requests_whole_and_in_time() {
    let mut trace = Trace::new(five_requests(), 4096, 2).unwrap();
    let found: Vec<Request> = std::iter::from_fn(|| trace.next_request()).collect();
    assert_eq!(found[..5], five_requests());
    let later = |request: Request| Request { at_ns: request.at_ns + 30, ..request };
    assert_eq!(found[5..], five_requests().into_iter().map(later).collect::<Vec<_>>());
}

#[test]
fn a_trace_of_groups_tells_the_share_of_each_and_the_group_of_each_page() {
    let of_groups = |ends: &[u32]| Trace::of_groups(Columns::of(&five_requests()), 4096, 1, ends);
    let trace = of_groups(&[2, 4, 7]).unwrap();
    let group = |pages, write_share| Group { pages, write_share };
    let groups = vec![group(2, 2.0 / 3.0), group(2, 0.0), group(3, 1.0 / 3.0)];
    assert_eq!(trace.groups(), Some(groups));
    let mut group_of = [9; 6];
    trace.find_groups(&[0, 1, 2, 4, 6, 8], &mut group_of);
    assert_eq!(group_of, [0, 0, 1, 2, 2, 2]);
    assert_eq!(of_groups(&[]).unwrap().groups(), None);
    for wrong in [&[2, 5][..], &[0, 6], &[4, 4, 6], &[6, 4]] {
        assert!(
            of_groups(wrong).unwrap_err().to_string().contains("ascending ends up to the last")
        );
    }
    assert!(of_groups(&(1..=256).collect::<Vec<_>>()).is_ok());
    assert!(of_groups(&(1..=257).collect::<Vec<_>>()).is_err());
}

#[test]
fn a_trace_of_impossible_requests_is_refused() {
    let write = Request::of_pages(Op::Write, 0..1);
    for (request, words) in [
        (Request::of_pages(Op::Trim, 0..1), "no write"),
        (Request { pages: 0, ..write }, "a flush must have 0 pages"),
        (Request { pages: 1, ..Request::flush() }, "a flush must have 0 pages"),
        (Request { head_bytes: 4096, ..write }, "tail_bytes leave no byte of it"),
        (Request { first_page: u32::MAX, ..write }, "32 bits"),
    ] {
        let error = Trace::new([request], 4096, 1).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// Pages and whether they are trimmed, drawn through buffers of so many pages.
fn steps(text: &str, pages: u32, buffer_pages: usize, count: usize) -> Vec<(u32, bool)> {
    let mut workload = build(text, pages, Context::root(7)).unwrap();
    let (mut buffer, mut found) = (vec![0; buffer_pages], Vec::new());
    while found.len() < count {
        match workload.next(&mut buffer) {
            Step::Writes(count) => found.extend(buffer[..count].iter().map(|&page| (page, false))),
            Step::Request(request) => {
                assert_eq!(request.op, Op::Trim);
                found.extend(request.range().map(|page| (page, true)));
            }
            Step::End => panic!("synthetic workloads have no end"),
        }
    }
    found.truncate(count);
    found
}

#[test]
fn a_share_of_the_writes_of_every_workload_of_pages_can_be_trims_of_the_same_pages() {
    for entry in OF_PAGES.iter().filter(|entry| !OF_APPLICATIONS.contains(&entry.name)) {
        let join = if entry.example.contains(':') { "," } else { ":" };
        let trimming = format!("{}{join}trim=0.2", entry.example);
        let found = steps(&trimming, 4000, 1000, 20_000);
        let plain = steps(entry.example, 4000, 1000, 20_000);
        let pages = |steps: &[(u32, bool)]| steps.iter().map(|step| step.0).collect::<Vec<_>>();
        assert_eq!(pages(&found), pages(&plain), "{trimming}");
        // Zones are trimmed without a share of TRIMs.
        let of_writes = || found.iter().zip(&plain).filter(|(_, plain)| !plain.1);
        let (trims, writes) = (of_writes().filter(|(step, _)| step.1).count(), of_writes().count());
        assert!(is_share(trims, writes, 0.2), "{trimming}: {trims}");
        assert_eq!(steps(&trimming, 4000, 7, 20_000), found, "{trimming}");
        let trims_itself = trimming.contains("zone=");
        assert!(writes == plain.len() || trims_itself, "{trimming}");
    }
}

/// Steps of a zone workload: first page and pages of each TRIM, and each written page.
fn zone_steps(text: &str, pages: u32, count: usize) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut workload = build(text, pages, Context::root(7)).unwrap();
    let (mut buffer, mut trims, mut written) = ([0; 13], Vec::new(), Vec::new());
    while written.len() < count {
        match workload.next(&mut buffer) {
            Step::Writes(count) => written.extend_from_slice(&buffer[..count]),
            Step::Request(trim) => trims.push((trim.first_page, trim.pages)),
            Step::End => panic!("synthetic workloads have no end"),
        }
    }
    (trims, written)
}

#[test]
fn zones_are_written_in_order_and_trimmed_before_and_only_active_ones_are_written() {
    let (zone_pages, zones, active) = (10, 12, 4);
    for (reset, name) in [("trim", "zones-sequential"), ("none", "nowa"), ("trim", "nowa")] {
        let text = format!("{name}:zone=41k,active={active},bs=9k,reset={reset}");
        // Three pages of the last zone are missing.
        let (trims, written) = zone_steps(&text, 123 + 4, 100_000);
        assert_eq!(trims[0], (zone_pages * zones, 7), "{text}");
        let mut next = vec![None; zones as usize];
        let (mut begun, mut counts) = (0, vec![0; zones as usize]);
        for page in written {
            let (zone, place) = ((page / zone_pages) as usize, page % zone_pages);
            assert_eq!(next[zone].unwrap_or(0), place, "{text}");
            if place == 0 && reset == "trim" {
                begun += 1;
                assert_eq!(trims[begun], (page, zone_pages), "{text}");
            }
            let is_full = place == zone_pages - 1;
            next[zone] = (!is_full).then_some(place + 1);
            counts[zone] += usize::from(is_full);
            assert!(next.iter().flatten().count() <= active, "{text}");
        }
        assert!(begun > 0 || trims.len() == 1, "{text}");
        // Each of 12 zones is rewritten equally often.
        let rewrites: usize = counts.iter().sum();
        assert!(counts.iter().all(|&count| is_share(count, rewrites, 1.0 / 12.0)), "{counts:?}");
    }
}

#[test]
fn nowa_rewrites_together_what_it_wrote_together() {
    let (_, written) = zone_steps("nowa:zone=40k,active=3,bs=4k", 120, 90_000);
    for group in written.chunks_exact(30) {
        let (first, mut pages) = (group[0] / 30 * 30, group.to_vec());
        pages.sort_unstable();
        assert!(pages.into_iter().eq(first..first + 30));
    }
    let is_mixed = written.chunks_exact(30).any(|group| !group.is_sorted());
    assert!(is_mixed, "the zones of a group are written at the same time");
}

#[test]
fn a_part_of_a_workload_cannot_trim_by_itself() {
    let refused = build("mix:sizes=1,weights=1,of=zipf(trim=0.1)", 100, Context::root(1));
    let error = refused.err().expect("a part").to_string();
    assert!(error.contains("whole workload"), "{error}");
    assert!(build("mix:sizes=1,weights=1,of=zipf(trim=0),trim=0.1", 100, Context::root(1)).is_ok());
}

#[test]
fn extreme_parameters_stay_in_range() {
    let sizes = vec!["1"; 1000].join("/");
    for (text, pages) in [
        ("zipf:s=10", 100_000),
        ("zipf:s=1e-9", 100_000),
        ("zipf:s=0.99", 1),
        ("fio-zipf:theta=10", 100_000),
        ("fio-zipf:theta=1.1", 1),
        ("fio-zipf:theta=1.1", 2),
        ("fio-zipf:theta=1e-9,blocks_per_page=1048576", 1000),
        ("fio-pareto:h=0.001", 1),
        ("fio-pareto:h=0.999,blocks_per_page=1.001", 1000),
        ("permutation", 1),
        ("sequential", 1),
        ("uniform", 1),
        ("hot-cold:f=0.5,r=1", 2),
        ("groups:sizes=1,freq=3", 1),
        ("groups:sizes=1/1,freq=0/1,swap_at=1,swap=1/0,period=1", 2),
        ("groups:sizes=1/1,freq=0/1,swap_at=18446744073709551615,period=18446744073709551615", 2),
        ("drift:f=0.5,r=0,period=1,steps=1", 2),
        ("drift:f=0.01,r=1,period=18446744073709551615,steps=1000", 1000),
        ("database:sizes=1/1/1/1,updates=uniform,evict=1,sort_every=1,rebuild_every=1", 4),
        ("database:updates=tpcc,log=0.001,evict=0", 1000),
        ("cachelib:soc=0.5,soc_writes=0", 2),
        ("cachelib:soc=0.5,soc_writes=1", 2),
        ("tpcc", 2),
        ("tpcc:clusters=0,means=1,deviations=1,tail_share=1,tail=1/1000000", 3),
        ("tpcc:clusters=1,means=300,deviations=1e308,tail_share=0", 3),
        ("tpcc:clusters=1,means=2.5,deviations=1e-308,tail_share=0", 3),
        ("zones-sequential:zone=4k,active=1,bs=64M", 2),
        ("nowa:zone=4k,active=499,bs=512", 1000),
        (&format!("mix:sizes={sizes},weights={sizes}"), 1000),
        ("mix:sizes=1/1,weights=1/1,of=phases(writes=3/5,of=permutation/zipf)/uniform", 1000),
    ] {
        assert!(drawn(text, pages, 5_000, 64).iter().all(|&page| page < pages), "{text}");
    }
}

#[test]
fn bad_parameters_are_refused() {
    let nested = (0..4000).fold("uniform".to_owned(), |of, _| format!("phases(writes=9,of={of})"));
    let many = vec!["1"; 257].join("/");
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
        "fio-zipf:theta=1",
        "fio:streams=stream(mode=read)",
        "fio:streams=stream(size=5M)",
        "fio:streams=stream(least=4096/4096)",
        "fio:streams=stream(handle=1)/stream(handle=2)",
        "fio:streams=stream,runs=1,trim=0.1",
        "fio-zipf:theta=0",
        "fio-pareto:h=1",
        "mix:sizes=1/1,weights=1",
        "mix:sizes=1/1,weights=0/0",
        "mix:sizes=1/-1,weights=1/1",
        "mix:sizes=1/1,weights=1/1,of=unifrom",
        "phases:writes=0,of=uniform",
        "phases:writes=1/2,of=uniform",
        "mix:sizes=1/1e9,weights=1/1",
        "uniform:f=1",
        "groups:sizes=1/1,freq=1",
        "groups:sizes=1/1,freq=1/1,swap_at=0",
        "groups:sizes=1/1,freq=1/1,swap_at=5/5",
        "groups:sizes=1/1,freq=1/1,swap_at=1.5",
        "groups:sizes=1/1,freq=1/1,swap_at=9,swap=0/2",
        "groups:sizes=1/1,freq=1/1,swap_at=9,swap=1/1",
        "groups:sizes=1/1,freq=1/1,swap_at=9,swap=1",
        "groups:sizes=1,freq=1,swap_at=9",
        "groups:sizes=1/1,freq=1/1,period=9",
        "groups:sizes=1/1,freq=1/1,swap_at=9,period=0",
        &format!("groups:sizes={many},freq={many}"),
        "drift:f=0.1,r=0.9",
        "drift:f=0.1,r=0.9,period=0",
        "drift:f=0.1,r=0.9,period=1e6,steps=1001",
        "drift:f=0.1,r=0.9,period=100,steps=101",
        "database:sizes=1/1/1",
        "database:sizes=1/1/1/0",
        "database:log=0",
        "database:evict=1.1",
        "database:sort_every=0",
        "database:updates=database(updates=zpf)",
        "cachelib:soc=0",
        "cachelib:soc=100%",
        "cachelib:soc=0.01%",
        "cachelib:soc_writes=1.1",
        "tpcc:clusters=0.5/0.5",
        "tpcc:clusters=0.5,means=9/9,deviations=1",
        "tpcc:clusters=0/0,tail_share=0",
        "tpcc:means=25/301",
        "tpcc:deviations=0/1",
        "tpcc:tail=300",
        "tpcc:tail=300/300",
        "tpcc:tail=1.5/300",
        "mix:sizes=1/1,weights=1/1,of=uniform/random",
        "phases:writes=1/2,of=uniform/sequential(bs=4k,qd=2)",
        "phases:writes=1/2,of=uniform/random(write=0)",
        "phases:writes=1/2,of=uniform/phases(writes=1,of=random)",
        "phases:writes=1/2,of=uniform/phases(writes=1,of=uniform,turns=1)",
        "mix:sizes=1/1,weights=1/1,of=uniform/phases(writes=1,of=random)",
        "phases:writes=1,of=uniform,turns=0",
        "phases:writes=1,of=uniform,turns=1,trim=0.1",
        "database:updates=io",
        "zones-sequential",
        "zones-sequential:zone=0",
        "zones-sequential:zone=512",
        "zones-sequential:zone=4M,active=1",
        "zones-sequential:zone=400k,active=0",
        "zones-sequential:zone=400k,active=10",
        "zones-sequential:zone=400k,active=4294967295",
        "zones-sequential:zone=16T,active=4294967295",
        "zones-sequential:zone=400k,reset=yes",
        "nowa:zone=400k,active=6",
        "nowa:zone=400k,active=4294967295",
        "mix:sizes=1,weights=1,of=nowa(zone=400k)",
    ] {
        let error = build(text, 1000, Context::root(1))
            .err()
            .unwrap_or_else(|| panic!("{text} was accepted"));
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn groups_add_up_and_get_the_writes_that_they_claim() {
    for spec in specs() {
        let mut workload = build(spec, 1000, Context::root(1)).unwrap();
        let mut buffer = [0; 500];
        let (mut drawn, mut expected) = (vec![0.0; 256], vec![0.0; 256]);
        for _ in 0..400 {
            let Step::Writes(count) = workload.next(&mut buffer) else { continue };
            let groups = workload.groups().expect("a synthetic workload knows its groups");
            let pages: u32 = groups.iter().map(|group| group.pages).sum();
            let share: f64 = groups.iter().map(|group| group.write_share).sum();
            assert_eq!(pages, 1000, "{spec}");
            assert!((share - 1.0).abs() < 1e-12, "{spec}: {share}");
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
            assert!(error.abs() <= 5.0 * expected.sqrt() + 0.03 * expected, "{spec}");
        }
    }
}

fn schedule(text: &str) -> (f64, f64) {
    let Schedule { last_change, cycle } = build(text, 1000, Context::root(1)).unwrap().schedule();
    (last_change, cycle)
}

#[test]
fn a_workload_knows_its_last_change_and_its_longest_cycle() {
    assert_eq!(schedule("zipf:s=0.9"), (0.0, 0.0));
    assert_eq!(schedule("drift:f=0.1,r=0.9,period=5000,steps=5"), (0.0, 5000.0));
    assert_eq!(schedule("phases:writes=100/300,of=uniform/sequential"), (0.0, 400.0));
    let twice = "phases:writes=100/300,of=uniform/sequential,turns=2";
    assert_eq!(schedule(twice), (500.0, 0.0));
    assert_eq!(schedule("groups:sizes=1/1,freq=1/9,swap_at=10/70"), (70.0, 0.0));
    // A swap and the next, which undoes it.
    assert_eq!(schedule("groups:sizes=1/1,freq=1/9,swap_at=10,period=40"), (10.0, 80.0));
}

#[test]
fn a_part_changes_as_late_as_its_share_of_the_writes_is_small() {
    let swapping = "groups(sizes=1/1,freq=1/9,swap_at=10)";
    let mix =
        format!("mix:sizes=1/1,weights=1/3,of={swapping}/drift(f=0.1,r=0.9,period=600,steps=2)");
    assert_eq!(schedule(&mix), (40.0, 800.0));
    assert_eq!(schedule(&format!("phases:writes=100/300,of=uniform/{swapping}")), (110.0, 400.0));
}

#[test]
fn trims_are_no_writes_of_the_schedule() {
    assert_eq!(schedule("drift:f=0.1,r=0.9,period=5000,steps=5,trim=0.25"), (0.0, 3750.0));
}
