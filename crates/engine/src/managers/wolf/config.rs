//! Configuration of the grouped managers, read from their specs.

use std::ops::Bound::{Excluded, Included, Unbounded};

use super::allocation::{Allocation, Exceptions};
use super::candidates::Collect;
use super::groups::{Groups, Rules};
use super::measured::Pace;
use super::order::FEWEST_GROUPS;
use super::temperature::FilterRules;
use crate::error::{Error, Result};
use crate::hints::RequiredHints;
use crate::managers::{Declared, Layout, Needs, Only};
use crate::params::{Domain, Extent, Param, Params, U32_MAX, words};

/// Method that determines the group of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knowledge {
    /// None: all pages are in one group.
    Nothing,
    /// Host hints with each write. If `current` is false, a migrated page stays in its group.
    /// Otherwise it goes to the group that its last hint names now.
    Host {
        /// True if migrated pages go to the group of their last hint.
        current: bool,
    },
    /// Bloom filters of each group, which detect pages that are too hot or too cold.
    Filters(FilterRules),
    /// Write intervals of each page, which predict its lifetime.
    /// Page lifetimes of neighbouring groups differ by the factor `ratio`. A group gets open blocks
    /// only if it has enough pages or receives enough writes.
    Intervals {
        /// Ratio of the page lifetimes of a group to those of the next hotter group.
        ratio: f64,
    },
}

/// Settings of a grouped manager, from its spec.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    /// Method that determines the group of a page.
    pub knowledge: Knowledge,
    /// True: an erased or free block goes to any group, and moves as soon as a group has too many
    /// (Wolf). False: a block goes only to a group next to its own in the order, and only when it
    /// is erased (FDP).
    pub moves_space: bool,
    /// Most movement operations (§5.3) in an interval.
    pub most_moves: u32,
    /// Number of groups at the start.
    pub groups: usize,
    /// Largest number of groups at any time.
    pub max_groups: usize,
    /// Host pages written in an interval, divided by the number of logical pages (h).
    interval: f64,
    /// Smallest group size F, in blocks per LUN.
    smallest_blocks: u32,
    rules: Rules,
}

pub const DETECTOR: Param = Param::new(
    "detector",
    "oracle",
    Domain::Word(&["oracle", "bloom", "interval", "none"]),
    "what determines a page's group: oracle (the workload), bloom (two Bloom filters per group), \
     interval (write intervals of each page) or none (one group)",
);
pub const ALLOCATION: Param = Param::new(
    "allocation",
    "closed-form",
    Domain::Word(&words(&Allocation::ALL)),
    "rule that divides the spare pages among the groups; marginal is the same as effective-size",
);
pub const INTERVAL: Param = Param::new(
    "interval",
    "0.001",
    Domain::Number(Excluded(0.0), Included(1.0)),
    "h: host page writes between two updates of the groups, divided by the number of logical pages",
);
pub const WEIGHT: Param = Param::new(
    "weight",
    "0.015",
    Domain::Number(Excluded(0.0), Included(1.0)),
    "a: weight of the last interval in the moving average of each group's share of host writes",
);
pub const PACE: Param = Param::new(
    "pace",
    "0.02",
    Domain::Number(Excluded(0.0), Included(1.0)),
    "effective-size (marginal): share of the difference between the used and the newly measured \
     size that each interval corrects",
);
pub const MEMORY: Param = Param::new(
    "memory",
    "0.98",
    Domain::SHARE,
    "effective-size (marginal): each interval multiplies the weight of earlier victims by this",
);
pub const RATIO: Param = Param::new(
    "ratio",
    "2",
    Domain::Number(Included(1.0), Unbounded),
    "Q: neighbouring groups merge if their writes per page differ by less than this factor; with \
     detector=interval, factor between the page lifetimes of neighbouring groups",
);
pub const HOLD: Param = Param::new(
    "hold",
    "50",
    Domain::Whole(0, U32_MAX),
    "w: number of intervals for which a new group keeps its place in the order, and for which two \
     groups must be similar before they merge",
);
pub const SMALLEST: Param = Param::new(
    "smallest",
    "1",
    Domain::Whole(1, U32_MAX),
    "F: smallest size of a group, in blocks per LUN; smaller groups are merged",
)
.extent(Extent::Blocks);
pub const COLDEST_RATIO: Param = Param::new(
    "coldest_ratio",
    "0.05",
    Domain::SHARE,
    "closed-form: if the coldest group's writes per page, over those of the next group, are below \
     this, coldest_op sets its space",
);
pub const COLDEST_OP: Param = Param::new(
    "coldest_op",
    "0.05",
    Domain::SHARE,
    "closed-form: spare pages per page of the coldest group, if coldest_ratio applies",
);
pub const FLOOR: Param = Param::new(
    "floor",
    "0.02",
    Domain::SHARE,
    "smallest number of spare pages of any group, per page of its data",
);
pub const DEMOTION: Param = Param::new(
    "demotion",
    "0.125",
    Domain::SHARE,
    "bloom: probability that collection moves a page that neither filter contains to the next \
     colder group",
);
pub const FALSE_POSITIVES: Param = Param::new(
    "false_positives",
    "0.3",
    Domain::Number(Included(0.0001), Included(0.9)),
    "bloom: share of the pages not in a full filter that it wrongly reports as written",
);
pub const MAX_GROUPS: Param = Param::new(
    "max_groups",
    "16",
    Domain::Whole(1, MOST_GROUPS),
    "largest number of groups; a drive with few spare pages has fewer",
);
pub const MOVES: Param = Param::new(
    "moves",
    "unlimited",
    Domain::Either(&Domain::Word(&["unlimited"]), &Domain::Whole(0, U32_MAX)),
    "largest number of movement operations per interval: blocks that groups with a surplus give \
     away or collect; paper 3 has no limit",
)
.extent(Extent::Blocks)
.later();

/// Default parameters that differ between the variants of `wolf`.
pub struct Defaults {
    pub detector: &'static str,
    pub allocation: &'static str,
    pub interval: &'static str,
    pub pace: &'static str,
    pub memory: &'static str,
    pub floor: &'static str,
    pub max_groups: &'static str,
}

/// Parameters of `wolf`, with these default values.
pub const fn wolf_params(defaults: &Defaults) -> [Param; 17] {
    let groups = Param::new(
        "groups",
        "adaptive",
        Domain::Either(&Domain::Word(&["adaptive"]), &Domain::Whole(1, MOST_GROUPS)),
        "bloom: number of groups, or adaptive: groups are created and merged during the run",
    );
    [
        DETECTOR.default(defaults.detector),
        groups,
        ALLOCATION.default(defaults.allocation),
        INTERVAL.default(defaults.interval),
        WEIGHT,
        PACE.default(defaults.pace),
        MEMORY.default(defaults.memory),
        RATIO,
        HOLD,
        SMALLEST,
        COLDEST_RATIO,
        COLDEST_OP,
        FLOOR.default(defaults.floor),
        DEMOTION,
        FALSE_POSITIVES,
        MAX_GROUPS.default(defaults.max_groups),
        MOVES,
    ]
}

/// Most groups whose numbers fit in one byte.
pub const MOST_GROUPS: u64 = 255;

impl Config {
    /// Reads the configuration of `wolf` from its parameters.
    pub fn wolf(params: &Params) -> Result<Self> {
        let knowledge = knowledge(params, false);
        let finds_groups = matches!(knowledge, Knowledge::Filters { .. });
        let adaptive = params.text("groups") == "adaptive";
        if params.is_given("groups") && !finds_groups {
            return Err(Error::Spec(format!(
                "{}: groups= is only valid with detector=bloom; remove it",
                params.entry().name
            )));
        }
        let groups = match finds_groups {
            true if adaptive => FEWEST_GROUPS,
            true => params.integer("groups"),
            false => 1,
        };
        let rules = Rules {
            weight: params.number("weight"),
            ratio: params.number("ratio"),
            hold_intervals: params.integer("hold"),
            adaptive: adaptive && finds_groups,
            keeps_order: matches!(knowledge, Knowledge::Intervals { .. }),
            pace: Pace { pace: params.number("pace"), memory: params.number("memory") },
            assumed_ratio: None,
            ..rules(params)
        };
        Ok(Config {
            knowledge,
            moves_space: true,
            most_moves: match params.text("moves") {
                "unlimited" => u32::MAX,
                _ => params.integer("moves"),
            },
            groups,
            max_groups: max_groups(params, groups)?,
            interval: params.number("interval"),
            smallest_blocks: params.integer("smallest"),
            rules,
        })
    }

    /// Configuration of `fdp-frequency`.
    pub fn fdp(params: &Params) -> Result<Self> {
        let knowledge = knowledge(params, params.text("class") == "current");
        let filters = matches!(knowledge, Knowledge::Filters { .. });
        let groups = if filters { params.integer("groups") } else { 1 };
        for (name, only) in [("groups", true), ("class", false)] {
            if params.is_given(name) && filters != only {
                return Err(Error::Spec(format!(
                    "fdp-frequency: {name}= is only valid with detector={}; remove it",
                    if only { "bloom" } else { "oracle" }
                )));
            }
        }
        Ok(Config {
            knowledge,
            moves_space: false,
            most_moves: 0,
            groups,
            max_groups: max_groups(params, groups)?,
            interval: params.number("interval"),
            smallest_blocks: 1,
            rules: Rules { assumed_ratio: Some(params.number("ratio")), ..rules(params) },
        })
    }

    /// Declaration of a manager with this configuration.
    pub fn declared(&self) -> Declared {
        let (fewest_streams, most_streams) = match self.knowledge {
            Knowledge::Nothing => (1, 1),
            _ => (self.fewest_groups(), self.max_groups),
        };
        let uses_host_hints = matches!(self.knowledge, Knowledge::Host { .. });
        Declared {
            layouts: Some(Only {
                these: &Layout::WITHIN_LUNS,
                because: "writes to any LUN with room, and each collection stays within one group \
                on one LUN",
            }),
            victims: Some(Only {
                these: &Collect::NAMES,
                because: "keeps its own order of victims in each group",
            }),
            default_victims: if self.moves_space { "greedy" } else { "fifo" }.into(),
            required_hints: if uses_host_hints {
                RequiredHints::Groups
            } else {
                RequiredHints::Nothing
            },
            ..Declared::of(Needs {
                fewest_streams: fewest_streams as u32,
                most_streams: most_streams as u32,
                reserve_blocks: self.reserve_blocks(),
            })
        }
    }

    /// Fewest groups for which a drive must have room.
    /// If the host names groups, this is two, because hints are of use only with at least two
    /// groups. The result is never more than `max_groups`.
    fn fewest_groups(&self) -> usize {
        let fewest = if let Knowledge::Host { .. } = self.knowledge { 2 } else { self.groups };
        fewest.min(self.max_groups)
    }

    /// Free blocks reserved on each LUN.
    /// One is reserved if a victim's pages may go to different groups: a second group may then need
    /// a new block.
    pub fn reserve_blocks(&self) -> u32 {
        match self.knowledge {
            Knowledge::Nothing | Knowledge::Host { current: false } => 0,
            Knowledge::Host { current: true }
            | Knowledge::Filters(_)
            | Knowledge::Intervals { .. } => 1,
        }
    }

    /// Most groups on a drive with `blocks_per_lun` usable blocks in each of its LUNs.
    /// Open and reserved blocks may occupy at most half of the spare pages. The result is at least
    /// [`Self::fewest_groups`].
    pub fn groups_that_fit(
        &self,
        luns: u32,
        blocks_per_lun: u32,
        pages_per_block: u32,
        logical_pages: u32,
        reserve_blocks: u32,
    ) -> usize {
        if self.knowledge == Knowledge::Nothing {
            return 1;
        }
        let usable_pages = u64::from(luns * blocks_per_lun) * u64::from(pages_per_block);
        let spare_pages = usable_pages.saturating_sub(u64::from(logical_pages));
        let spare_blocks = spare_pages / (2 * u64::from(luns) * u64::from(pages_per_block));
        let by_space = (spare_blocks + 1).saturating_sub(u64::from(reserve_blocks));
        let by_blocks = u64::from(blocks_per_lun.saturating_sub(1 + reserve_blocks));
        let fit = by_space.min(by_blocks).min(self.max_groups as u64) as usize;
        fit.max(self.fewest_groups())
    }

    /// Length of an interval, in host pages written: h times the number of logical pages.
    ///
    /// It is rounded, and at least 1.
    pub fn interval_pages(&self, logical_pages: u32) -> u32 {
        ((self.interval * f64::from(logical_pages)).round() as u32).max(1)
    }

    /// Initial groups of a drive that can hold `most_groups`.
    pub fn groups(&self, luns: u32, pages_per_block: u32, most_groups: usize) -> Groups {
        let smallest_pages = self.smallest_pages(luns, pages_per_block);
        Groups::new(Rules { smallest_pages, ..self.rules }, self.groups, most_groups)
    }

    /// Smallest group size F, in pages.
    pub fn smallest_pages(&self, luns: u32, pages_per_block: u32) -> u32 {
        self.smallest_blocks.saturating_mul(luns).saturating_mul(pages_per_block)
    }
}

fn knowledge(params: &Params, current: bool) -> Knowledge {
    match params.text("detector") {
        "none" => Knowledge::Nothing,
        "oracle" => Knowledge::Host { current },
        "bloom" => Knowledge::Filters(FilterRules {
            false_positives: params.number("false_positives"),
            demotion: params.number("demotion"),
        }),
        "interval" => Knowledge::Intervals { ratio: params.number("ratio") },
        other => unreachable!("detector={other} was rejected before"),
    }
}

/// Value of `max_groups`, raised to the number of groups at the start.
/// Returns an error if the spec sets it to less.
fn max_groups(params: &Params, groups: usize) -> Result<usize> {
    let most: usize = params.integer("max_groups");
    if most < groups && params.is_given("max_groups") {
        return Err(params.outside("max_groups", most, Domain::Whole(groups as u64, MOST_GROUPS)));
    }
    Ok(most.max(groups))
}

/// Rules for groups that both managers (Wolf and FDP) read from their parameters.
fn rules(params: &Params) -> Rules {
    Rules {
        weight: 1.0,
        ratio: 1.0,
        hold_intervals: 0,
        smallest_pages: 0,
        adaptive: false,
        keeps_order: false,
        pace: Pace { pace: 0.02, memory: 0.98 },
        assumed_ratio: None,
        allocation: params.choice("allocation", &Allocation::ALL),
        exceptions: Exceptions {
            coldest_ratio: params.number("coldest_ratio"),
            coldest_op: params.number("coldest_op"),
            floor: params.number("floor"),
        },
    }
}
