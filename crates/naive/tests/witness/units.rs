//! The two drives agree on mapping units of several pages of the host.

use writeamp_engine::flash::{Cause, Geometry};
use writeamp_engine::managers::{self, Setup};
use writeamp_engine::request::Op;
use writeamp_engine::simulation::Simulation;
use writeamp_engine::victims::VICTIMS;
use writeamp_engine::workloads::{Context, Site, Workload, build_for, build_in_units};
use writeamp_naive::{HostGroup, Layout, Leveling, UnitDrive, Wear};

use crate::pair::{manager, spec};

const BLOCKS: u32 = 40;
const UNITS_PER_BLOCK: u32 = 16;
const LOGICAL_UNITS: u32 = 500;
const PAGE_BYTES: u32 = 4096;
const REQUESTS: usize = 30_000;
const SEED: u64 = 7;

/// Serves a workload on both drives, with mapping units, and compares the counters.
fn agree(load: &str, pages_per_unit: u32, name: &str) {
    let mut naive = UnitDrive::new(
        writeamp_naive::Setup {
            blocks: BLOCKS,
            pages_per_block: UNITS_PER_BLOCK,
            logical_pages: LOGICAL_UNITS,
            table_pages: 0,
            luns: 1,
            layout: Layout::Flat,
            manager: manager(name),
            own_pages: Vec::new(),
            victims: spec(&VICTIMS, "greedy"),
            leveling: Leveling::None,
            seed: SEED,
            wear: Wear::default(),
            counts_handles: false,
        },
        pages_per_unit,
    );
    let pages = LOGICAL_UNITS * pages_per_unit;
    let context = || Context::root(SEED);
    let host_site = Site { pages, page_bytes: PAGE_BYTES, context: context() };
    let mut host = build_for(load, &host_site).expect("a workload");
    let group_of = |host: &dyn Workload, page: u32| {
        let mut group = [0];
        host.find_groups(&[page], &mut group);
        group[0]
    };
    if name != "single" {
        let mut groups: Vec<HostGroup> = (host.groups().expect("groups").iter())
            .map(|group| HostGroup { pages: 0, write_share: group.write_share })
            .collect();
        for unit in 0..LOGICAL_UNITS {
            groups[usize::from(group_of(&*host, unit * pages_per_unit))].pages += 1;
        }
        naive.set_host_groups(&groups);
    }
    for _ in 0..REQUESTS {
        let request = host.next_request().expect("a workload without end");
        match request.op {
            Op::Write => naive.write(request.range(), |page| group_of(&*host, page)),
            Op::Trim => naive.trim(request.range()),
            Op::Read | Op::Flush => {}
        }
    }

    let geometry = Geometry::flat(BLOCKS, UNITS_PER_BLOCK).expect("a shape");
    let setup = Setup { logical_pages: LOGICAL_UNITS, seed: SEED, ..Setup::new(geometry) };
    let drive = managers::build(name, setup).expect("a drive");
    let page_bytes = PAGE_BYTES * pages_per_unit;
    let site = Site { pages: LOGICAL_UNITS, page_bytes, context: context() };
    let workload = build_in_units(load, &site, PAGE_BYTES).expect("a workload in units");
    let mut simulation = Simulation::new(drive, workload, 64).expect("a simulation");
    let expected = naive.counters();
    simulation.run(expected.host_programs).expect("a run");

    let counters = simulation.counters();
    assert_eq!(counters.programs(Cause::Gc), expected.gc_programs, "{load}");
    assert_eq!(counters.erases, expected.erases, "{load}");
    assert_eq!(counters.host.partial_pages, naive.partial_units(), "{load}");
    assert!(expected.gc_programs > 1000, "{load}: {expected:?}");
}

#[test]
fn writes_of_less_than_a_mapping_unit_agree() {
    for load in ["uniform", "zipf:s=0.9", "hot-cold:f=0.1,r=0.9,trim=0.1"] {
        for pages_per_unit in [1, 4, 16] {
            agree(load, pages_per_unit, "single");
        }
    }
    agree("io:write=0.7,write_size=24k,write_random=1,align=4k", 4, "single");
    agree("phases:writes=700/301,of=uniform/random(bs=20k,align=4k,trim=0.1)", 4, "single");
}

#[test]
fn managers_with_groups_agree_on_the_groups_of_mapping_units() {
    for load in ["hot-cold:f=0.1003,r=0.9", "groups:sizes=1/2/3,freq=9/3/1"] {
        for pages_per_unit in [3, 4] {
            agree(load, pages_per_unit, "wolf");
        }
    }
}
