//! Drives to compare: what is registered, and random small geometries that use it.

use std::{fmt, iter};

use proptest::prelude::*;
use proptest::sample::select;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::managers::{self, BlockManager, Layout, Setup};
use writeamp_engine::spec::Entry;
use writeamp_engine::{Result, leveling, victims};

pub const LAYOUTS: [Layout; 3] = [Layout::Flat, Layout::Striped, Layout::StripedPerLun];

/// Parameters beside those of the registry's examples: the edges, and what a small drive feels.
const MORE_VICTIMS: [&str; 6] = [
    "d-choices:d=1",
    "d-choices:d=2",
    "d-choices:d=100",
    "windowed-greedy:window=1",
    "windowed-greedy:window=3",
    "windowed-greedy:window=8",
];

/// Likewise. Small drives have short intervals, and filters that soon know every page.
const MORE_MANAGERS: [&str; 11] = [
    "nvme-fdp:handles=3,isolation=persistent,by=range",
    "hcwf-swap:d_swap=1",
    "wolf:interval=0.05,allocation=closed-form,weight=0.3,coldest_op=1",
    "wolf:detector=bloom,interval=0.01,weight=0.2,hold=4,ratio=1.3,demotion=0.5,allocation=size",
    "wolf:detector=bloom,groups=3,max_groups=3,interval=0.02,weight=0.2,allocation=frequency,\
     floor=0.4",
    "wolf:detector=none",
    "wolf:detector=bloom,allocation=marginal,interval=0.01,weight=0.2,hold=4,ratio=1.3",
    "wolf:detector=bloom,interval=0.02,weight=0.6,hold=2,ratio=1.6,demotion=1,max_groups=6",
    "wolf-interval:interval=0.01,weight=0.2,ratio=1.2",
    "fdp-frequency:class=current,interval=0.02",
    "fdp-frequency:detector=bloom,groups=3,interval=0.02,allocation=closed-form,coldest_ratio=0.9,\
     coldest_op=0.01,floor=0.2",
];

/// Enough pages for several LUNs of several blocks, few enough for many cases.
const MAX_PHYSICAL_PAGES: u32 = 1500;

/// Blocks that divide a 64-bit word, fill it, or end one page to either side of it.
const ROUND_PAGES_PER_BLOCK: [u32; 6] = [2, 16, 32, 63, 64, 65];

/// Specs of every registered victim policy.
pub fn victim_specs() -> Vec<&'static str> {
    victims::ENTRIES.iter().map(|entry| entry.example).chain(MORE_VICTIMS).collect()
}

/// Specs of every registered block manager, with few streams, so that small drives will do.
pub fn manager_specs() -> Vec<&'static str> {
    let small = |entry: &Entry| match entry.name {
        "dac" => "dac:regions=3",
        "oracle" => "oracle:streams=4",
        "sfs" => "sfs:groups=3,samples=32",
        "multilog" => "multilog:logs=3",
        "midas" => "midas:groups=3",
        "eti" => "eti:extents=9",
        "fadac" => "fadac:classes=3",
        "warcip" => "warcip:clusters=3,period=2",
        _ => entry.example,
    };
    managers::ENTRIES.iter().map(small).chain(MORE_MANAGERS).collect()
}

/// Placements share their manager with `single` and `sepgc`, which meet every policy; three will do.
fn victim_specs_for(manager: &str) -> Vec<&'static str> {
    let own_manager = ["single", "sepgc", "hcwf", "wolf", "fdp-frequency"];
    if own_manager.iter().any(|name| manager.starts_with(name)) {
        victim_specs()
    } else {
        vec!["greedy", "random", "cost-benefit"]
    }
}

/// Specs of every registered wear leveller, with parameters that a small drive feels.
pub fn leveler_specs() -> Vec<&'static str> {
    let small = |entry: &Entry| match entry.name {
        "youngest-free" => "youngest-free:reserve=1",
        "static" => "static:threshold=2",
        "dual-pool" => "dual-pool:threshold=2",
        other => panic!("name a spec for the wear leveller '{other}' that a small drive feels"),
    };
    leveling::ENTRIES.iter().map(small).collect()
}

/// HCWF copies back, and Wolf collects within a group on a LUN, so they know no collection that
/// spans LUNs. The queues of a group have one of two orders.
fn serves(manager: &str, victims: &str, layout: Layout) -> bool {
    let is_grouped = manager.starts_with("wolf") || manager.starts_with("fdp-frequency");
    let spans_luns = layout == Layout::Striped;
    !(spans_luns && (is_grouped || manager.starts_with("hcwf")))
        && !(is_grouped && victims != "greedy" && victims != "fifo")
}

/// Every combination of victim policy, block manager and layout.
pub fn combinations() -> Vec<(&'static str, &'static str, Layout)> {
    let mut all = Vec::new();
    for manager in manager_specs() {
        for victims in victim_specs_for(manager) {
            let layouts = LAYOUTS.into_iter().filter(|layout| serves(manager, victims, *layout));
            all.extend(layouts.map(|layout| (victims, manager, layout)));
        }
    }
    all
}

/// Every one of these without a wear leveller, and with each.
pub fn leveled_combinations() -> Vec<Combination> {
    let levelers = iter::once(None).chain(leveler_specs().into_iter().map(Some));
    let levelers: Vec<_> = levelers.collect();
    let leveled = |c| levelers.iter().map(move |&leveler| (c, leveler));
    combinations().into_iter().flat_map(leveled).collect()
}

/// Victim policy, block manager and layout, and the wear leveller.
pub type Combination = ((&'static str, &'static str, Layout), Option<&'static str>);

/// The values of its four factors.
pub fn factors(((victims, manager, layout), leveler): &Combination) -> [String; 4] {
    let layout = format!("{layout:?}");
    [*manager, *victims, &layout, leveler.unwrap_or("none")].map(str::to_owned)
}

/// A drive, but for its logical size.
#[derive(Debug, Clone)]
pub struct Blueprint {
    pub geometry: Geometry,
    pub layout: Layout,
    pub manager: &'static str,
    pub victims: &'static str,
    pub wear_leveling: Option<&'static str>,
    pub seed: u64,
    pub wear: Wear,
}

impl Blueprint {
    pub fn build(&self, logical_pages: u32) -> Result<Box<dyn BlockManager>> {
        let setup = Setup {
            geometry: self.geometry,
            logical_pages,
            layout: self.layout,
            victims: Some(self.victims.to_owned()),
            wear_leveling: self.wear_leveling.map(str::to_owned),
            seed: self.seed,
            wear: self.wear,
        };
        managers::build(self.manager, setup)
    }

    /// The most logical pages that the engine accepts; 0 if it accepts none.
    pub fn most_logical_pages(&self) -> u32 {
        let sizes: Vec<u32> = (1..self.geometry.physical_pages()).collect();
        sizes.partition_point(|&pages| self.build(pages).is_ok()) as u32
    }
}

/// A drive to compare.
#[derive(Clone)]
pub struct Drive {
    pub blueprint: Blueprint,
    pub logical_pages: u32,
}

impl fmt::Debug for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Blueprint { geometry, layout, manager, victims, wear_leveling, seed, wear } =
            &self.blueprint;
        write!(
            f,
            "{victims} on {manager}, {wear_leveling:?}, {layout:?}, seed {seed}: {} logical pages on \
             {} LUNs × {} blocks × {} pages, from {:?}, with {wear:?}",
            self.logical_pages,
            geometry.luns(),
            geometry.blocks_per_lun(),
            geometry.pages_per_block(),
            geometry.shape(),
        )
    }
}

/// Random drives; a third of them as full as the engine allows.
pub fn drives() -> impl Strategy<Value = Drive> {
    let blueprints = (
        geometries(),
        select(combinations()),
        prop_oneof![
            2 => Just(None),
            3 => select(leveler_specs()).prop_map(Some),
            1 => Just(Some("youngest-free:reserve=3"))
        ],
        0..1000u64,
        wears(),
    )
        .prop_map(|(geometry, (victims, manager, layout), wear_leveling, seed, wear)| Blueprint {
            geometry,
            layout,
            manager,
            victims,
            wear_leveling,
            seed,
            wear,
        });
    let share_percent = prop_oneof![1 => Just(100), 2 => 30..100u32];
    (blueprints, share_percent).prop_filter_map("a drive of any size", |(blueprint, share)| {
        let logical_pages = (blueprint.most_logical_pages() * share).div_ceil(100);
        (logical_pages > 0).then_some(Drive { blueprint, logical_pages })
    })
}

/// Mostly none; else a limit that small drives reach within their bursts, and few spare blocks.
fn wears() -> impl Strategy<Value = Wear> {
    let worn = (1..=6u32, 0..=4u32)
        .prop_map(|(limit, spare_blocks_per_pool)| Wear { limit, spare_blocks_per_pool });
    prop_oneof![2 => Just(Wear::default()), 1 => worn]
}

fn geometries() -> impl Strategy<Value = Geometry> {
    let erase_unit = prop_oneof![
        5 => Just(EraseUnit::Block),
        1 => Just(EraseUnit::MultiPlane),
        1 => Just(EraseUnit::Superblock),
    ];
    // Channels, chips per channel, dies per chip, planes per die, blocks per plane.
    let blocks = (1..=3u32, 1..=2u32, 1..=2u32, 1..=2u32, 1..=10u32);
    let shapes = (blocks, erase_unit).prop_flat_map(|(blocks, erase_unit)| {
        let (channels, chips, dies, planes, blocks_per_plane) = blocks;
        let count = channels * chips * dies * planes * blocks_per_plane;
        let most = (MAX_PHYSICAL_PAGES / count).min(70);
        let round: Vec<u32> = ROUND_PAGES_PER_BLOCK.into_iter().filter(|n| *n <= most).collect();
        prop_oneof![3 => 2..=most, 1 => select(round)].prop_map(move |pages_per_block| Shape {
            channels,
            chips_per_channel: chips,
            dies_per_chip: dies,
            planes_per_die: planes,
            blocks_per_plane,
            pages_per_block,
            page_bytes: Geometry::PAGE_BYTES,
            erase_unit,
        })
    });
    shapes.prop_map(|shape| Geometry::new(shape).expect("a small shape fits"))
}
