//! Drives to compare: what is registered, and random small geometries that use it.

use std::fmt;

use proptest::prelude::*;
use proptest::sample::select;
use writeamp_engine::Result;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::managers::{self, BlockManager, Layout, Setup};
use writeamp_engine::registry::Kind;

/// Enough pages for several LUNs of several blocks, few enough for many cases.
const MAX_PHYSICAL_PAGES: u32 = 1500;

/// Blocks that divide a 64-bit word, fill it, or end one page to either side of it.
const ROUND_PAGES_PER_BLOCK: [u32; 6] = [2, 16, 32, 63, 64, 65];

/// The variable that names the one entry to be tested; `make check-policy` sets it.
const ONLY: &str = "WRITEAMP_POLICY";

/// The one entry to be tested, if any.
fn only() -> Option<String> {
    let name = std::env::var(ONLY).ok()?;
    Kind::of(&name).unwrap_or_else(|error| panic!("{ONLY}: {error}"));
    Some(name)
}

/// A spec that small drives feel, and the entry of a registry that it names.
#[derive(Clone, Copy)]
struct Small {
    spec: &'static str,
    name: &'static str,
    index: usize,
}

fn small_specs(kind: Kind) -> impl Iterator<Item = Small> {
    kind.entries().iter().enumerate().flat_map(|(index, entry)| {
        entry.small_specs().map(move |spec| Small { spec, name: entry.name, index })
    })
}

/// The specs of the policies of a drive.
#[derive(Debug, Clone, Copy)]
pub struct Combination {
    pub victims: &'static str,
    pub manager: &'static str,
    pub layout: Layout,
    pub wear_leveling: Option<&'static str>,
}

/// The combinations of victim policy, block manager, wear leveller and layout to be tested. Where one
/// entry is to be tested: all that it is part of. Else a placement, whose manager the first two stand
/// for, meets a third of the victim policies in turn; and a leveller one policy, on managers that
/// remember blocks.
pub fn combinations() -> Vec<Combination> {
    const STAND_INS: usize = 2;
    let only = only();
    let is_only = |small: &Small| only.as_deref() == Some(small.name);
    let mut all = Vec::new();
    for manager in small_specs(Kind::Managers) {
        let declared = managers::declared(manager.spec).expect("a spec of its entry");
        let stands_for_others = !declared.is_placement || manager.index < STAND_INS;
        let can_confuse_blocks = stands_for_others || declared.remembers_blocks;
        let served = declared.victims();
        let victims = small_specs(Kind::Victims).filter(|victims| served.contains(&victims.name));
        for (at, victims) in victims.enumerate() {
            let asked = is_only(&manager) || is_only(&victims);
            let meets = stands_for_others || (manager.index + victims.index).is_multiple_of(3);
            let mut levelings = Vec::new();
            levelings.extend((asked || only.is_none() && meets).then_some(None));
            let levelers = small_specs(Kind::WearLevelers).filter(|leveler| {
                let is_first = at == 0 && (only.is_none() || is_only(leveler));
                can_confuse_blocks && (asked || is_first)
            });
            levelings.extend(levelers.map(|leveler| Some(leveler.spec)));
            for (&layout, wear_leveling) in declared
                .layouts()
                .iter()
                .flat_map(|layout| levelings.iter().map(move |l| (layout, *l)))
            {
                let (victims, manager) = (victims.spec, manager.spec);
                all.push(Combination { victims, manager, layout, wear_leveling });
            }
        }
    }
    all
}

/// A drive, but for its logical size.
#[derive(Debug, Clone)]
pub struct Blueprint {
    pub geometry: Geometry,
    pub policies: Combination,
    pub seed: u64,
    pub wear: Wear,
}

impl Blueprint {
    pub fn build(&self, logical_pages: u32) -> Result<Box<dyn BlockManager>> {
        let Combination { victims, manager, layout, wear_leveling } = self.policies;
        let setup = Setup {
            geometry: self.geometry,
            logical_pages,
            layout,
            victims: Some(victims.to_owned()),
            wear_leveling: wear_leveling.map(str::to_owned),
            seed: self.seed,
            wear: self.wear,
        };
        managers::build(manager, setup)
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
        let Blueprint { geometry, policies, seed, wear } = &self.blueprint;
        let Combination { victims, manager, layout, wear_leveling } = policies;
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
    let levelers: Vec<_> = small_specs(Kind::WearLevelers).map(|leveler| leveler.spec).collect();
    let some_leveler = select(levelers).prop_map(Some);
    let other_leveler = prop_oneof![1 => Just(None), 2 => some_leveler];
    let blueprints = (geometries(), select(combinations()), other_leveler, 0..1000u64, wears())
        .prop_map(|(geometry, mut policies, other_leveler, seed, wear)| {
            policies.wear_leveling = policies.wear_leveling.or(other_leveler);
            Blueprint { geometry, policies, seed, wear }
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
