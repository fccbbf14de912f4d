use super::*;
use crate::registry::Registered;
use crate::workloads::tests::applied;
use crate::workloads::{Context, WORKLOADS};

fn logs(text: &str, pages: u32) -> LogRewrite {
    let site = Site { pages, page_bytes: 4096, context: Context::root(3) };
    LogRewrite::build(&WORKLOADS.read(text).unwrap(), &site).unwrap()
}

/// Pages that the logs hold. Each belongs to one log.
fn held(workload: &LogRewrite) -> Vec<bool> {
    let mut is_held = vec![false; workload.pages as usize];
    for page in workload.logs.iter().flat_map(|log| workload.ranges_of(log)).flatten() {
        assert!(!std::mem::replace(&mut is_held[page as usize], true), "page {page} is held twice");
    }
    is_held
}

#[test]
fn writes_fill_the_logs_and_trims_cover_exactly_the_deleted_ones() {
    for text in [
        "log-rewrite",
        "log-rewrite:logs=1,growth=0.3,extent=2%,bs=4k",
        "log-rewrite:logs=3,growth=2,used=60%,extent=1.1%,bs=20k",
    ] {
        let mut workload = logs(text, 3001);
        let mut is_held = vec![true; 3001];
        let (mut buffer, mut trims) = ([0; 61], 0);
        for _ in 0..20_000 {
            let step = workload.next(&mut buffer);
            trims += i32::from(applied(step, &buffer, &mut is_held, text));
            if workload.activities.is_empty() {
                assert_eq!(is_held, held(&workload), "{text}");
                assert!(workload.is_sound(), "{text}");
            }
        }
        assert!(trims > 100, "{text}: {trims}");
    }
}

/// The data of a log are written once in each growth.
/// A page of the application thus costs 1 + 1 / growth pages of the host.
#[test]
fn a_log_is_rewritten_each_time_that_it_has_grown_by_its_growth() {
    for (text, factor) in [
        ("log-rewrite:discard=off", 2.0),
        ("log-rewrite:growth=0.5,discard=off,logs=3", 3.0),
        ("log-rewrite:growth=4,discard=off,logs=1", 1.25),
    ] {
        let mut workload = logs(text, 50_000);
        let sizes = |workload: &LogRewrite| -> u64 {
            workload.logs.iter().map(|log| u64::from(log.pages)).sum()
        };
        let start = sizes(&workload);
        let (mut host_pages, mut buffer) = (0, [0; 512]);
        while host_pages < 3_000_000 || !workload.activities.is_empty() {
            let Step::Writes(count) = workload.next(&mut buffer) else { panic!("a TRIM") };
            host_pages += count as u64;
        }
        let appended = workload.application_pages;
        let (live, growth) = (workload.live_pages, workload.growth_pages);
        let rewrites = (host_pages - appended) / u64::from(live);
        assert_eq!(rewrites * u64::from(live), host_pages - appended, "{text}");
        assert_eq!(start + appended, sizes(&workload) + rewrites * u64::from(growth), "{text}");
        let measured = host_pages as f64 / appended as f64;
        assert!((measured / factor - 1.0).abs() < 0.02, "{text}: {measured}");
    }
}

/// χ² of the requests over the logs.
#[test]
fn each_request_goes_to_each_log_with_equal_probability() {
    let mut workload = logs("log-rewrite:logs=20,bs=4k,discard=off", 20_000);
    let (mut counts, mut page) = ([0.0_f64; 20], [0]);
    let requests = 100_000.0;
    while workload.application_pages < requests as u64 {
        let appended = workload.application_pages;
        workload.next(&mut page);
        if workload.application_pages > appended {
            counts[workload.current as usize] += 1.0;
        }
    }
    let expected = requests / 20.0;
    let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    // Probabilities of 10⁻⁵ above and below, as in equal numbers of requests.
    assert!((3.5..56.0).contains(&chi_square), "{chi_square} of 19");
}

#[test]
fn extents_that_cannot_hold_the_logs_are_refused() {
    let site = Site { pages: 1000, page_bytes: 4096, context: Context::root(1) };
    for text in ["log-rewrite:extent=0.5", "log-rewrite:logs=1000"] {
        let refused = LogRewrite::build(&WORKLOADS.read(text).unwrap(), &site);
        let error = refused.err().unwrap_or_else(|| panic!("{text} was accepted"));
        assert!(error.to_string().contains("too few for"), "{error}");
    }
}
