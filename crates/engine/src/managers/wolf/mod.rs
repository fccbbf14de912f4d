//! Grouped managers, whose blocks belong to groups of pages of similar update frequency.
//! They are Wolf, and FDP (Stoica & Ailamaki 2013) as described by paper 3.
//!
//! Both use the same parts: [`Space`] counts the blocks of each group and LUN, [`Candidates`]
//! queues them, and [`Groups`] computes their target space. Wolf measures the write rates of its
//! groups, creates and merges groups, and moves space as soon as the rates change. FDP has a fixed
//! order with assumed frequencies, and blocks move from neighbour to neighbour.

mod ahead;
mod allocation;
mod balance;
mod candidates;
mod config;
mod drive;
mod groups;
mod interval_end;
mod intervals;
mod ladder;
mod life_table;
mod measured;
mod open_groups;
mod order;
mod space;
mod span;
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

use std::ops::Bound::Included;

use super::core::Core;
use super::served::{Policy, by_fields, shortest};
use super::{BlockManager, Compiled, Declared, Layout, Manager, Setup};
use crate::error::Result;
use crate::flash::{Tap, filled};
use crate::hints::{Hints, RequiredHints};
use crate::leveling;
use crate::observe::{GroupLog, Report};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs};

/// Implements a grouped manager whose parameters are read by a function.
macro_rules! grouped_by {
    ($read:path) => {
        fn declared(params: &Params) -> Result<Declared> {
            Ok($read(params)?.declared())
        }

        fn build<T: Compiled>(
            params: &Params,
            victims: &str,
            setup: Setup,
            tap: T,
        ) -> Result<Box<dyn BlockManager>> {
            build(params.entry().name, $read(params)?, victims, setup, tap)
        }
    };
}

/// Wolf of paper 3, with its defaults.
pub struct Wolf;

impl Manager for Wolf {
    const ENTRY: Entry = Entry::new("wolf", "groups of pages by measured update frequency; spare space moves between the groups").params(&config::wolf_params(&Defaults {
        detector: "oracle",
        allocation: "marginal",
        interval: "0.001",
        pace: "0.02",
        memory: "0.98",
        floor: "0.02",
        max_groups: "16",
    })).variants(&[
        "wolf:interval=0.05,allocation=closed-form,weight=0.3,coldest_op=1",
        "wolf:detector=bloom,interval=0.01,weight=0.2,hold=4,ratio=1.3,demotion=0.5,allocation=size",
        "wolf:detector=bloom,groups=3,max_groups=3,interval=0.02,weight=0.2,allocation=frequency,floor=0.4,moves=1",
        "wolf:detector=none",
        "wolf:detector=bloom,allocation=marginal,interval=0.01,weight=0.2,hold=4,ratio=1.3",
        "wolf:detector=bloom,interval=0.02,weight=0.6,hold=2,ratio=1.6,demotion=1,max_groups=6",
    ]).candidates(&[
        Pairs::rare(&["wolf", "wolf:detector=bloom"], &["greedy"]),
        Pairs::rare(&["wolf"], &["fifo"]),
    ]);

    grouped_by!(Config::wolf);
}

/// Wolf without host hints: interval detector, and space divided by effective group sizes.
pub struct WolfInterval;

impl Manager for WolfInterval {
    const ENTRY: Entry = Entry::new(
        "wolf-interval",
        "wolf with detector=interval and allocation=marginal, for hosts that give no hints",
    )
    .params(&config::wolf_params(&Defaults {
        detector: "interval",
        allocation: "marginal",
        interval: "0.01",
        pace: "0.05",
        memory: "0.95",
        floor: "0.02",
        max_groups: "12",
    }))
    .variants(&["wolf-interval:weight=0.2,ratio=1.2"])
    .candidates(&[Pairs::rare(&["wolf-interval"], &["greedy", "fifo"])]);

    grouped_by!(Config::wolf);
}

/// FDP (Stoica & Ailamaki 2013), the baseline with which paper 3 compares Wolf.
pub struct FdpFrequency;

impl Manager for FdpFrequency {
    const ENTRY: Entry = Entry::new(
        "fdp-frequency",
        "groups in a fixed order; each is assumed to be updated more often per page than the next \
         colder one, by the factor ratio",
    )
    .params(&[
        config::DETECTOR,
        Param::new(
            "class",
            "last",
            Domain::Word(&["last", "current"]),
            "oracle: frequency class for a migrated page: its group's class at the page's last \
             write (last), or its group's class now (current)",
        ),
        Param::new("groups", "8", Domain::Whole(1, config::MOST_GROUPS), "bloom: number of groups"),
        Param::new(
            "ratio",
            "2",
            Domain::Number(Included(1.0), Included(1000.0)),
            "assumed ratio of the update frequencies of pages in neighbouring groups",
        ),
        config::ALLOCATION.default("optimal"),
        Param {
            help: "host page writes between two updates of the group sizes, divided by the number \
            of logical pages",
            ..config::INTERVAL
        },
        config::COLDEST_RATIO,
        config::COLDEST_OP,
        config::FLOOR,
        config::DEMOTION,
        config::FALSE_POSITIVES,
        config::MAX_GROUPS,
    ])
    .variants(&[
        "fdp-frequency:class=current,interval=0.02",
        "fdp-frequency:detector=bloom,groups=3,interval=0.02,allocation=closed-form,coldest_ratio=0.9,coldest_op=0.01,floor=0.2",
    ])
    .candidates(&[Pairs::rare(&["fdp-frequency"], &["fifo"])]);

    grouped_by!(Config::fdp);
}

fn build<T: Tap>(
    name: &'static str,
    config: Config,
    victims: &str,
    setup: Setup,
    tap: T,
) -> Result<Box<dyn BlockManager>> {
    let by = Collect::ALL.iter().find(|(policy, _)| *policy == victims);
    let (_, collect) = *by
        .expect("the declaration allows only victim policies in Collect::ALL, without parameters");
    let (geometry, logical_pages) = (setup.geometry, setup.logical_pages);
    let pages_per_block = geometry.pages_per_block();
    let luns = if setup.layout == Layout::Flat { 1 } else { geometry.luns() };
    let usable_blocks = setup.layout.pools().usable_blocks(&geometry, setup.wear)?;
    let leveler_blocks = leveling::reserve_blocks(setup.wear_leveling.as_deref())?;
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
            named_groups: Vec::new(),
            group_of_hint: Vec::new(),
            hint_of_page: current.then(|| filled(0, logical_pages as usize)).transpose()?,
        }),
        Knowledge::Filters(rules) => {
            let smallest_pages = config.smallest_pages(luns, pages_per_block);
            let random = setup.random("demotions");
            Oracle::Filters(Temperature::new(rules, smallest_pages, most_groups, random)?)
        }
        Knowledge::Intervals { ratio } => {
            Oracle::Intervals(Box::new(Intervals::new(ratio, most_groups, logical_pages)?))
        }
    };
    let subgroups = most_groups * luns as usize;
    let candidates = Candidates::new(collect, geometry.blocks(), pages_per_block, subgroups)?;
    // [`Candidates`] already keeps the blocks of each LUN apart, so one victim policy serves all
    // LUNs.
    let setup = match setup.layout {
        Layout::StripedPerLun => Setup { layout: Layout::Striped, ..setup },
        _ => setup,
    };
    let core = Core::new(candidates, &setup, most_groups as u32, config.reserve_blocks(), tap)?;
    let blocks_per_lun = usable_blocks / luns - reserve_blocks;
    // An update of the groups takes about as long as `most_groups` page writes. An interval has at
    // least that many writes, so that updates do not dominate the run time.
    let interval_pages = config.interval_pages(logical_pages).max(most_groups as u32);
    let mut drive = Grouped {
        name,
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
    by_fields!(Candidates, T);

    fn write_pages(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        self.update_hinted_groups(hints)?;
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

    fn required_hints(&self) -> RequiredHints {
        if matches!(self.oracle, Oracle::Host(_)) {
            RequiredHints::Groups
        } else {
            RequiredHints::Nothing
        }
    }

    fn without_hints(&self) -> &'static str {
        "set a detector, as in wolf:detector=interval"
    }

    fn forget(&mut self, logical: u32) {
        if let Oracle::Intervals(intervals) = &mut self.oracle {
            intervals.forget(logical);
        }
    }

    fn steer(&mut self, queues: &[u32]) {
        if self.luns > 1 {
            self.next_lun.iter_mut().for_each(|next| *next = shortest(queues, *next));
        }
    }

    fn collect_idle(&mut self, pool: usize) -> Result<bool> {
        self.collect_most_invalid(pool)
    }

    fn on_padded(&mut self) -> Option<fn(&mut Self, usize)> {
        Some(|drive, frontier| {
            drive.core.close(frontier);
        })
    }

    fn report(&self) -> Report<'_> {
        let lives = match &self.oracle {
            Oracle::Intervals(intervals) => intervals.lives(),
            _ => Vec::new(),
        };
        // The memory of the group of each block is added to that of the group detector.
        let groups = u64::from(self.core.flash.geometry().blocks()) * size_of::<u32>() as u64;
        Report {
            lives,
            scheme_bytes: self.oracle.bytes() + groups,
            group_changes: self.group_log.changes(),
            ..Report::default()
        }
    }

    fn assert_books(&self) {
        if let Err(broken) = self.check_books() {
            panic!("{broken}");
        }
    }
}
