//! Managers whose blocks belong to groups of pages of like update frequency: Wolf, and FDP (Stoica
//! & Ailamaki 2013) as paper 3 describes it.
//!
//! Both share one mechanism: a [`Space`] account of blocks by group and LUN, [`Candidates`] queued
//! by the same, and [`Groups`], which say how much space each should have. Wolf measures how often
//! its groups are written, creates and merges them, and moves space as soon as that changes; FDP
//! has a fixed order with assumed frequencies, and blocks seep from neighbour to neighbour.

mod allocation;
mod balance;
mod candidates;
mod config;
mod drive;
mod groups;
mod intervals;
mod ladder;
mod measured;
mod order;
mod space;
mod state;
mod temperature;

pub use allocation::{Allocation, Demand, Exceptions, allocate};
pub use config::{Config, Knowledge};
pub use groups::{Change, Groups, Rules};
pub use intervals::Intervals;
pub use ladder::{Ladder, ladder};
pub use temperature::{FilterRules, Temperature};

use candidates::{Candidates, Collect};
use config::Defaults;
use drive::{Grouped, HostGroups, Oracle};
use space::Space;

use super::core::Core;
use super::served::Policy;
use super::{BlockManager, Compiled, Layout, Manager, Setup};
use crate::error::{Error, Result};
use crate::flash::{Tap, filled};
use crate::hints::{Hears, Hints};
use crate::leveling;
use crate::observe::{GroupChange, GroupLog};
use crate::spec::{Param, Params, Spec};

/// Paper 3.
pub struct Wolf;

impl Manager for Wolf {
    const NAME: &'static str = "wolf";
    const SUMMARY: &'static str = "groups by measured update frequency, between which space moves";
    const PARAMS: &'static [Param] = &config::wolf_params(&Defaults {
        detector: "oracle",
        allocation: "marginal",
        floor: "0.02",
        max_groups: "16",
    });
    const EXAMPLE: &'static str = "wolf";

    fn build<T: Compiled>(params: &Params, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
        build::<Self, T>(params, Config::wolf(params)?, setup, tap)
    }
}

/// Wolf as we would build it: it needs no host that tells, and no model of a group.
pub struct WolfInterval;

impl Manager for WolfInterval {
    const NAME: &'static str = "wolf-interval";
    const SUMMARY: &'static str =
        "wolf with detector=interval and allocation=marginal: better where nobody tells the groups";
    const PARAMS: &'static [Param] = &config::wolf_params(&Defaults {
        detector: "interval",
        allocation: "marginal",
        floor: "0.05",
        max_groups: "12",
    });
    const EXAMPLE: &'static str = "wolf-interval";

    fn build<T: Compiled>(params: &Params, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
        build::<Self, T>(params, Config::wolf(params)?, setup, tap)
    }
}

/// The baseline of paper 3.
pub struct FdpFrequency;

impl Manager for FdpFrequency {
    const NAME: &'static str = "fdp-frequency";
    const SUMMARY: &'static str = "groups in a fixed order, each assumed twice as hot as the next";
    const PARAMS: &'static [Param] = &[
        config::DETECTOR,
        Param {
            name: "class",
            default: "last",
            help: "oracle: a page that collection moves has the class of its last write, or its current",
        },
        Param { name: "groups", default: "8", help: "bloom: number of groups" },
        Param {
            name: "ratio",
            default: "2",
            help: "assumed ratio of the update frequencies of pages in neighbouring groups",
        },
        Param { default: "optimal", ..config::ALLOCATION },
        Param {
            help: "writes between two looks at the sizes of groups, per logical page",
            ..config::INTERVAL
        },
        config::COLDEST_RATIO,
        config::COLDEST_OP,
        config::FLOOR,
        config::DEMOTION,
        config::FALSE_POSITIVES,
        config::MAX_GROUPS,
    ];
    const EXAMPLE: &'static str = "fdp-frequency";

    fn default_victims(_params: &Params) -> Result<String> {
        Ok("fifo".into())
    }

    fn build<T: Compiled>(params: &Params, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
        build::<Self, T>(params, Config::fdp(params)?, setup, tap)
    }
}

/// The victim policies that groups can keep their blocks by.
fn collect_by(name: &str, victims: &str) -> Result<Collect> {
    let spec = Spec::parse("victim policy", victims)?;
    spec.resolve("victim policy", crate::victims::ENTRIES)?;
    match spec.name.as_str() {
        "greedy" => Ok(Collect::MostInvalid),
        "fifo" => Ok(Collect::FirstClosed),
        other => Err(Error::Spec(format!(
            "{name} collects within a group by a policy of its own list, and '{other}' is not on \
             it; valid: greedy, fifo"
        ))),
    }
}

fn build<M: Manager, T: Tap>(
    params: &Params,
    config: Config,
    setup: Setup,
    tap: T,
) -> Result<Box<dyn BlockManager>> {
    if setup.layout == Layout::Striped {
        return Err(Error::Geometry(format!(
            "{} collects within a group on one LUN, so no collection can span LUNs; valid \
             layouts: flat, striped-per-lun",
            M::NAME
        )));
    }
    let collect = collect_by(M::NAME, &setup.victims::<M>(params)?)?;
    let (geometry, logical_pages) = (setup.geometry, setup.logical_pages);
    let pages_per_block = geometry.pages_per_block();
    let luns = if setup.layout == Layout::Flat { 1 } else { geometry.luns() };
    let usable_blocks = setup.layout.pools().usable_blocks(&geometry, setup.wear)?;
    let leveler = setup.wear_leveling.as_ref().map(|spec| leveling::build(spec, &geometry));
    let leveler_blocks = leveler.transpose()?.map_or(0, |leveler| leveler.reserve_blocks());
    let reserve_blocks = config.reserve_blocks().saturating_add(leveler_blocks);
    let most_groups = config.groups_that_fit(
        luns,
        usable_blocks / luns,
        pages_per_block,
        logical_pages,
        reserve_blocks,
    );
    let oracle = match config.knowledge {
        Knowledge::Nothing => Oracle::Nothing,
        Knowledge::Host { current } => Oracle::Host(HostGroups {
            said: Vec::new(),
            group_of_hint: Vec::new(),
            hint_of_page: current.then(|| filled(0, logical_pages as usize)).transpose()?,
        }),
        Knowledge::Filters(rules) => {
            let smallest_pages = config.smallest_pages(luns, pages_per_block);
            let random = setup.random("demotions");
            Oracle::Filters(Temperature::new(rules, smallest_pages, most_groups, random)?)
        }
        Knowledge::Intervals { ratio } => {
            Oracle::Intervals(Intervals::new(ratio, most_groups, logical_pages)?)
        }
    };
    let subgroups = most_groups * luns as usize;
    let candidates = Candidates::new(collect, geometry.blocks(), pages_per_block, subgroups)?;
    // The candidates keep LUNs apart by themselves, so the drive is one domain of collection.
    let setup = match setup.layout {
        Layout::StripedPerLun => Setup { layout: Layout::Striped, ..setup },
        _ => setup,
    };
    let core =
        Core::new(M::NAME, candidates, &setup, most_groups as u32, config.reserve_blocks(), tap)?;
    let blocks_per_lun = usable_blocks / luns - reserve_blocks;
    let interval_pages = config.interval_pages(logical_pages);
    let mut drive = Grouped {
        name: M::NAME,
        config,
        core,
        groups: config.groups(luns, pages_per_block, most_groups),
        space: Space::new(most_groups, luns as usize, blocks_per_lun.cast_signed()),
        oracle,
        luns: luns as usize,
        most_groups,
        usable_blocks: blocks_per_lun * luns,
        interval_pages,
        interval_left: interval_pages,
        next_lun: vec![0; most_groups],
        moved_blocks: vec![0; most_groups],
        group_log: GroupLog::default(),
        migrating: Vec::with_capacity(pages_per_block as usize),
    };
    drive.set_targets();
    Ok(Box::new(drive))
}

impl<T: Tap> Policy for Grouped<T> {
    type Victims = Candidates;
    type Tap = T;

    fn name(&self) -> &'static str {
        self.name
    }

    fn core(&self) -> &Core<Candidates, T> {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core<Candidates, T> {
        &mut self.core
    }

    fn write_pages(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        self.hear(hints)?;
        let mut first = 0;
        while first < pages.len() {
            let count = (self.interval_left as usize).min(pages.len() - first);
            let run = first..first + count;
            let hint_of_run = hints.group_of.get(run.clone()).unwrap_or_default();
            self.write_run(&pages[run], hint_of_run)?;
            self.interval_left -= count as u32;
            if self.interval_left == 0 {
                self.end_interval()?;
            }
            first += count;
        }
        Ok(())
    }

    fn hears(&self) -> Hears {
        if matches!(self.oracle, Oracle::Host(_)) { Hears::Groups } else { Hears::Nothing }
    }

    fn without_hints(&self) -> &'static str {
        "give it a detector, as in wolf:detector=interval"
    }

    fn collect_idle(&mut self, pool: usize) -> Result<bool> {
        self.collect_most_invalid(pool)
    }

    fn group_changes(&self) -> &[GroupChange] {
        self.group_log.changes()
    }

    /// What tells the group of a page, and the group of each block.
    fn scheme_bytes(&self) -> u64 {
        let blocks = u64::from(self.core.flash.geometry().blocks());
        self.oracle.bytes() + blocks * size_of::<u32>() as u64
    }

    fn assert_books(&self) {
        if let Err(broken) = self.check_books() {
            panic!("{broken}");
        }
    }
}
