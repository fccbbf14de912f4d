use super::*;
use crate::workloads::{Context, Site, WORKLOADS, build_for, build_in_units, writes_whole_pages};

const HOST_PAGE_BYTES: u32 = 4096;
const UNITS: u32 = 1000;

fn site(pages: u32, page_bytes: u32) -> Site {
    Site { pages, page_bytes, context: Context::root(1) }
}

fn in_units_of(pages_per_unit: u32, text: &str) -> Box<dyn Workload> {
    let site = site(UNITS, HOST_PAGE_BYTES * pages_per_unit);
    build_in_units(text, &site, HOST_PAGE_BYTES).unwrap()
}

#[test]
fn groups_of_units_add_up_and_get_the_writes_that_they_claim() {
    for text in ["hot-cold:f=0.1003,r=0.9", "groups:sizes=5/4/3/2/1,freq=1/2/4/8/16", "cachelib"] {
        for pages_per_unit in [3, 4, 16] {
            let mut workload = in_units_of(pages_per_unit, text);
            let groups = workload.groups().expect("groups that are ranges");
            assert_eq!(groups.iter().map(|group| group.pages).sum::<u32>(), UNITS, "{text}");
            let (all, mut group_of): (Vec<u32>, _) = ((0..UNITS).collect(), vec![0; 1000]);
            workload.find_groups(&all, &mut group_of);
            for (group, of) in groups.iter().zip(0..) {
                let units = (0..UNITS as usize).filter(|&unit| group_of[unit] == of).count();
                assert_eq!(group.pages as usize, units, "{text}");
            }
            let (mut buffer, mut written) = ([0; 500], vec![0.0; groups.len()]);
            for _ in 0..400 {
                assert_eq!(workload.next(&mut buffer), Step::Writes(500), "{text}");
                workload.find_groups(&buffer, &mut group_of[..500]);
                group_of[..500].iter().for_each(|&group| written[usize::from(group)] += 1.0);
            }
            for (written, group) in written.iter().zip(&groups) {
                let expected = 200_000.0 * group.write_share;
                // 5 standard deviations, and a unit at the boundary of two groups.
                let error: f64 = written - expected;
                let most = 5.0 * expected.sqrt() + 0.02 * expected;
                assert!(error.abs() <= most, "{text}: {written} of {expected}");
            }
        }
    }
}

#[test]
fn scattered_and_moving_groups_are_unknown_in_units() {
    let drift = "drift:f=0.1,r=0.9,period=1e5,steps=500";
    for text in
        ["zipf:s=0.9", "tpcc", drift, "groups:sizes=2/1,freq=1/9,swap_at=5001,swap=0/1,period=7003"]
    {
        assert!(in_units_of(4, text).groups().is_none(), "{text}");
        assert!(in_units_of(1, text).groups().is_some(), "{text}");
    }
    assert_eq!(in_units_of(4, "uniform").groups().unwrap().len(), 1);
}

#[test]
fn workloads_of_pages_write_whole_pages() {
    let further = ["phases:writes=1000/2000,of=uniform/jesd219", "jesd219", "zipf:s=0.9,trim=0.1"];
    let mut whole = 0;
    for text in WORKLOADS.entries.iter().map(|entry| entry.example).chain(further) {
        let mut workload = build_for(text, &site(20_000, HOST_PAGE_BYTES)).unwrap();
        let requests = std::iter::from_fn(|| workload.next_request());
        let partial: u64 = requests.take(5000).map(|request| request.partial_bytes()).sum();
        let is_whole = writes_whole_pages(text).unwrap();
        assert!(!is_whole || partial == 0, "{text}");
        whole += u32::from(is_whole);
    }
    assert!(whole > 10);
    for text in &further[..2] {
        assert!(!writes_whole_pages(text).unwrap(), "{text}");
    }
}
