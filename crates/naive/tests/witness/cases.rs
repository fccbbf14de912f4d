//! Drives to compare: all registered policies, on small random geometries.

use std::fmt;

use proptest::bool::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use writeamp_engine::Result;
use writeamp_engine::catalogue;
use writeamp_engine::flash::{EraseUnit, Geometry, Recorder, Shape, Wear};
use writeamp_engine::leveling::WEAR_LEVELERS;
use writeamp_engine::managers::MANAGERS;
use writeamp_engine::managers::{self, BlockManager, CustomPolicies, Layout, Setup};
use writeamp_engine::registry::Registry;
use writeamp_engine::victims::VICTIMS;

/// Largest number of physical pages.
///
/// It is enough for several LUNs with several blocks, and fast enough for many cases.
const MAX_PHYSICAL_PAGES: u32 = 1500;

/// Sizes of blocks that divide a 64-bit word, fill it, or differ from it by one page.
const ROUND_PAGES_PER_BLOCK: [u32; 6] = [2, 16, 32, 63, 64, 65];

/// Number of tags of the host.
pub const TAGS: u8 = 3;

/// Environment variable with the only registered policy to test; `make check-policy` sets it.
const ONLY: &str = "WRITEAMP_POLICY";

/// Returns the only registered policy to test, or None for all.
pub fn only() -> Option<String> {
    let name = std::env::var(ONLY).ok()?;
    catalogue::of(&name).unwrap_or_else(|error| panic!("{ONLY}: {error}"));
    Some(name)
}

/// A spec with parameters that have an effect on small drives, and its registered entry.
#[derive(Clone, Copy)]
struct Small {
    spec: &'static str,
    name: &'static str,
    index: usize,
}

fn small_specs(registry: &'static Registry) -> impl Iterator<Item = Small> {
    registry.entries.iter().enumerate().flat_map(|(index, entry)| {
        entry.small_specs().map(move |spec| Small { spec, name: entry.name, index })
    })
}

/// The specs of the policies of a drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Combination {
    pub victims: &'static str,
    pub manager: &'static str,
    pub layout: Layout,
    pub wear_leveling: Option<&'static str>,
}

impl Combination {
    /// True if the manager can have an own stream beside its streams.
    pub fn may_have_own_stream(&self) -> bool {
        let geometry = Geometry::flat(1000, 2).expect("a small shape");
        let own_pages = Some([true].into());
        let custom = CustomPolicies { own_pages, ..CustomPolicies::default() };
        managers::build(self.manager, Setup { custom, ..Setup::new(geometry).op(1.0) }).is_ok()
    }

    /// Returns the values of the four factors of the pairwise selection.
    pub fn factors(&self) -> [String; 4] {
        let layout = self.layout.name();
        let leveler = self.wear_leveling.unwrap_or("none");
        [self.manager, self.victims, layout, leveler].map(str::to_owned)
    }
}

/// Lists the combinations that managers declare to serve, under each wear leveller and none.
///
/// If only one registered entry is tested, its combinations are listed. Otherwise, the first two
/// managers, and those that are not placements, have all victim policies that they declare. Each
/// other placement has a third of them, because all placements share their code of collection.
pub fn combinations() -> Vec<Combination> {
    const STAND_INS: usize = 2;
    let only = only();
    let levelers: Vec<_> = small_specs(&WEAR_LEVELERS).map(Some).chain([None]).collect();
    let mut all = Vec::new();
    for manager in small_specs(&MANAGERS) {
        let declared = managers::declared(manager.spec).expect("a spec of its entry");
        let served = declared.victims();
        for victims in small_specs(&VICTIMS).filter(|victims| served.contains(&victims.name)) {
            let meets = !declared.is_placement
                || manager.index < STAND_INS
                || (manager.index + victims.index).is_multiple_of(3);
            for leveler in &levelers {
                let names = [Some(manager.name), Some(victims.name), leveler.map(|of| of.name)];
                let is_asked = only.as_deref().map_or(meets, |name| names.contains(&Some(name)));
                let of_layout = |&layout: &Layout| Combination {
                    victims: victims.spec,
                    manager: manager.spec,
                    layout,
                    wear_leveling: leveler.map(|of| of.spec),
                };
                all.extend(declared.layouts().iter().filter(|_| is_asked).map(of_layout));
            }
        }
    }
    all
}

/// A drive whose logical size is not determined yet.
#[derive(Debug, Clone)]
pub struct Blueprint {
    pub geometry: Geometry,
    pub policies: Combination,
    pub seed: u64,
    pub wear: Wear,
    /// True if the last pages hold a mapping table.
    pub has_table: bool,
    /// True if some pages have a stream of their own, beside the streams of a placement.
    pub has_own_stream: bool,
}

impl Blueprint {
    pub fn build(&self, logical_pages: u32) -> Result<Box<dyn BlockManager>> {
        let (manager, setup) = (self.policies.manager, self.setup(logical_pages));
        if self.has_table {
            // Only a drive with a recorder of flash operations gives the table blocks of its own.
            return managers::build_observed(manager, setup, Box::new(Recorder::default()));
        }
        managers::build(manager, setup)
    }

    /// True if the drive counts operations by placement handles, not by the host's tags.
    pub fn counts_handles(&self) -> bool {
        let declared = managers::declared(self.policies.manager).expect("a spec of its entry");
        declared.handles > 0 && !self.has_own_stream && !self.seed.is_multiple_of(4)
    }

    /// Pages of the mapping table, if the manager keeps them apart from data.
    pub fn table_pages(&self, logical_pages: u32) -> u32 {
        let declared = managers::declared(self.policies.manager).expect("a spec of its entry");
        if self.has_table && declared.is_placement { logical_pages.div_ceil(5) } else { 0 }
    }

    /// For each logical page, true if it belongs to the own stream; None without an own stream.
    pub fn own_pages(&self, logical_pages: u32) -> Option<Vec<bool>> {
        self.has_own_stream.then(|| (0..logical_pages).map(|page| page % 3 == 1).collect())
    }

    fn setup(&self, logical_pages: u32) -> Setup {
        let Combination { victims, layout, wear_leveling, .. } = self.policies;
        let own_pages = self.own_pages(logical_pages).map(Into::into);
        Setup {
            logical_pages,
            layout,
            victims: Some(victims.to_owned()),
            wear_leveling: wear_leveling.map(str::to_owned),
            seed: self.seed,
            wear: self.wear,
            table_pages: self.table_pages(logical_pages),
            tags: (!self.counts_handles()).then_some(TAGS),
            counts_handles: self.counts_handles(),
            custom: CustomPolicies { own_pages, ..CustomPolicies::default() },
            ..Setup::new(self.geometry)
        }
    }

    /// Returns the largest number of logical pages that the engine accepts, or 0.
    pub fn most_logical_pages(&self) -> u32 {
        let sizes: Vec<u32> = (1..self.geometry.physical_pages()).collect();
        sizes.partition_point(|&pages| self.build(pages).is_ok()) as u32
    }
}

/// A drive to compare.
#[derive(Clone)]
pub struct Case {
    pub blueprint: Blueprint,
    pub logical_pages: u32,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Blueprint { geometry, policies, seed, wear, has_table, has_own_stream } =
            &self.blueprint;
        let Combination { victims, manager, layout, wear_leveling } = policies;
        write!(
            f,
            "{victims} on {manager}, {wear_leveling:?}, {layout:?}, seed {seed}: {} logical pages on \
             {} LUNs × {} blocks × {} pages, from {:?}, with {wear:?}, with a table: {has_table}, \
             with an own stream: {has_own_stream}",
            self.logical_pages,
            geometry.luns(),
            geometry.blocks_per_lun(),
            geometry.pages_per_block(),
            geometry.shape(),
        )
    }
}

/// Generates random drives, a third of which are as full as the engine allows.
pub fn drives() -> impl Strategy<Value = Case> {
    let has_parts = (weighted(0.25), weighted(0.3));
    let blueprints = (geometries(), select(combinations()), 0..1000u64, wears(), has_parts)
        .prop_map(|(geometry, policies, seed, wear, (has_table, own))| Blueprint {
            geometry,
            policies,
            seed,
            wear,
            has_table,
            has_own_stream: own && policies.may_have_own_stream(),
        });
    let share_percent = prop_oneof![1 => Just(100), 2 => 30..100u32];
    (blueprints, share_percent).prop_filter_map("a drive of any size", |(blueprint, share)| {
        let logical_pages = (blueprint.most_logical_pages() * share).div_ceil(100);
        (logical_pages > 0).then_some(Case { blueprint, logical_pages })
    })
}

/// Generates limits of wear: mostly none.
///
/// Other limits are so low that small drives reach them in their bursts. Drives with a limit have
/// few spare blocks.
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
