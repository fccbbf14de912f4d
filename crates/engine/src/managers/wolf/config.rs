//! What the specs of the grouped managers say.

use super::allocation::{Allocation, Exceptions};
use super::groups::{Groups, Rules};
use super::order::FEWEST_GROUPS;
use super::temperature::FilterRules;
use crate::error::{Error, Result};
use crate::spec::{Param, Params};

/// What tells the group of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knowledge {
    /// Nothing: there is one group.
    Nothing,
    /// The host, as it writes. A page that collection moves stays where it is, unless it goes to
    /// the group that is `current` for what the host said of it.
    Host { current: bool },
    /// Bloom filters for each group.
    Filters(FilterRules),
    /// The interval at which each page is written; as many groups as there may be stand so many
    /// times apart.
    Intervals { ratio: f64 },
}

/// Everything that the spec of a grouped manager decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Config {
    pub knowledge: Knowledge,
    /// Blocks go to any group, and are moved as soon as one has too many (Wolf); else they go to
    /// neighbours in the order, as they are erased (FDP).
    pub moves_space: bool,
    /// Groups at the start.
    pub groups: usize,
    pub max_groups: usize,
    /// h, as a share of the logical pages.
    interval: f64,
    /// F, in blocks on each LUN.
    smallest_blocks: u32,
    rules: Rules,
}

pub const DETECTOR: Param = Param {
    name: "detector",
    default: "oracle",
    help: "what tells the group of a page: oracle (the workload), bloom (two filters a group), interval (of each page's writes) or none (one group)",
};
pub const ALLOCATION: Param = Param {
    name: "allocation",
    default: "closed-form",
    help: "how spare space is divided: closed-form, optimal, effective-size, size or frequency",
};
pub const INTERVAL: Param = Param {
    name: "interval",
    default: "0.001",
    help: "h: writes between two looks at the groups, per logical page",
};
pub const WEIGHT: Param = Param {
    name: "weight",
    default: "0.015",
    help: "a: weight of the last interval in the measured write shares",
};
pub const RATIO: Param = Param {
    name: "ratio",
    default: "2",
    help: "Q: ratio of hit rates at which groups are kept apart",
};
pub const HOLD: Param = Param {
    name: "hold",
    default: "50",
    help: "w: intervals for which a new group keeps its place, and alike groups are borne",
};
pub const SMALLEST: Param = Param {
    name: "smallest",
    default: "1",
    help: "F: pages of the smallest group, in blocks on each LUN",
};
pub const COLDEST_RATIO: Param = Param {
    name: "coldest_ratio",
    default: "0.05",
    help: "closed form: the coldest group has a fixed space below so much of the next one's hit rate",
};
pub const COLDEST_OP: Param = Param {
    name: "coldest_op",
    default: "0.05",
    help: "closed form: that fixed spare space, per page of the coldest group",
};
pub const FLOOR: Param = Param {
    name: "floor",
    default: "0.02",
    help: "least spare space of a group, per page of its own",
};
pub const DEMOTION: Param = Param {
    name: "demotion",
    default: "0.125",
    help: "bloom: probability that collection demotes a page which looks cold",
};
pub const FALSE_POSITIVES: Param = Param {
    name: "false_positives",
    default: "0.3",
    help: "bloom: share of unknown pages that a full filter claims to know; 0.0001 to 0.9",
};
pub const MAX_GROUPS: Param =
    Param { name: "max_groups", default: "16", help: "most groups; a small drive holds fewer" };

/// Defaults in which one wolf differs from another.
pub struct Defaults {
    pub detector: &'static str,
    pub allocation: &'static str,
    pub floor: &'static str,
    pub max_groups: &'static str,
}

/// The parameters of `wolf`, with these defaults.
pub const fn wolf_params(defaults: &Defaults) -> [Param; 14] {
    let groups = Param {
        name: "groups",
        default: "adaptive",
        help: "bloom: adaptive (created and merged as the workload asks for) or a number",
    };
    [
        Param { default: defaults.detector, ..DETECTOR },
        groups,
        Param { default: defaults.allocation, ..ALLOCATION },
        INTERVAL,
        WEIGHT,
        RATIO,
        HOLD,
        SMALLEST,
        COLDEST_RATIO,
        COLDEST_OP,
        Param { default: defaults.floor, ..FLOOR },
        DEMOTION,
        FALSE_POSITIVES,
        Param { default: defaults.max_groups, ..MAX_GROUPS },
    ]
}

/// What a byte counts.
const MOST_GROUPS: u64 = 255;

impl Config {
    /// The configuration of `wolf`.
    pub fn wolf(params: &Params) -> Result<Self> {
        let knowledge = knowledge(params, false)?;
        let adaptive = params.text("groups")? == "adaptive";
        if params.is_given("groups") && !matches!(knowledge, Knowledge::Filters { .. }) {
            return Err(Error::Spec(
                "wolf: only detector=bloom finds groups by itself; leave groups= out with another"
                    .into(),
            ));
        }
        let groups = match knowledge {
            Knowledge::Filters { .. } if adaptive => FEWEST_GROUPS,
            Knowledge::Filters { .. } => {
                let valid = "adaptive or a whole number from 1 to 255";
                let given = params.text("groups")?;
                params
                    .integer("groups", 1..=MOST_GROUPS)
                    .map_err(|_| params.outside("groups", &given, valid))? as usize
            }
            _ => 1,
        };
        let rules = Rules {
            weight: params.number("weight", "above 0 and at most 1", |v| v > 0.0 && v <= 1.0)?,
            ratio: params.number("ratio", "at least 1", |v| v >= 1.0)?,
            hold_intervals: params.integer("hold", 0..=u64::from(u32::MAX))? as u32,
            adaptive: adaptive && matches!(knowledge, Knowledge::Filters { .. }),
            assumed_ratio: None,
            ..rules(params)?
        };
        Ok(Config {
            knowledge,
            moves_space: true,
            groups,
            max_groups: max_groups(params, groups)?,
            interval: interval(params)?,
            smallest_blocks: params.integer("smallest", 1..=u64::from(u32::MAX))? as u32,
            rules,
        })
    }

    /// The configuration of `fdp-frequency`.
    pub fn fdp(params: &Params) -> Result<Self> {
        let current = match params.text("class")?.as_str() {
            "last" => false,
            "current" => true,
            other => return Err(params.outside("class", other, "last or current")),
        };
        let knowledge = knowledge(params, current)?;
        let filters = matches!(knowledge, Knowledge::Filters { .. });
        let groups = if filters { params.integer("groups", 1..=MOST_GROUPS)? as usize } else { 1 };
        for (name, only) in [("groups", true), ("class", false)] {
            if params.is_given(name) && filters != only {
                return Err(Error::Spec(format!(
                    "fdp-frequency: {name}= goes with detector={} only; leave it out",
                    if only { "bloom" } else { "oracle" }
                )));
            }
        }
        let ratio = params
            .number("ratio", "at least 1 and at most 1000", |v| (1.0..=1000.0).contains(&v))?;
        Ok(Config {
            knowledge,
            moves_space: false,
            groups,
            max_groups: max_groups(params, groups)?,
            interval: interval(params)?,
            smallest_blocks: 1,
            rules: Rules { assumed_ratio: Some(ratio), ..rules(params)? },
        })
    }

    /// Free blocks that each LUN keeps back, so that a page may go to another group than the rest
    /// of its victim even if that takes a block.
    pub fn reserve_blocks(&self) -> u32 {
        match self.knowledge {
            Knowledge::Nothing | Knowledge::Host { current: false } => 0,
            Knowledge::Host { current: true }
            | Knowledge::Filters(_)
            | Knowledge::Intervals { .. } => 1,
        }
    }

    /// The most groups on a drive with so many usable blocks in each of `luns`: their open blocks,
    /// and the blocks kept back, tie up at most half of the spare pages.
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
        // A host that tells its groups has two or more.
        let least = if let Knowledge::Host { .. } = self.knowledge { 2 } else { self.groups };
        fit.max(least.min(self.max_groups))
    }

    /// h in pages.
    pub fn interval_pages(&self, logical_pages: u32) -> u32 {
        ((self.interval * f64::from(logical_pages)).round() as u32).max(1)
    }

    /// The groups to begin with, on a drive that holds so many.
    pub fn groups(&self, luns: u32, pages_per_block: u32, most_groups: usize) -> Groups {
        let smallest_pages = self.smallest_pages(luns, pages_per_block);
        let mut groups =
            Groups::new(Rules { smallest_pages, ..self.rules }, self.groups, most_groups);
        if let Knowledge::Intervals { .. } = self.knowledge {
            groups.grow(most_groups);
        }
        groups
    }

    /// F in pages.
    pub fn smallest_pages(&self, luns: u32, pages_per_block: u32) -> u32 {
        self.smallest_blocks.saturating_mul(luns).saturating_mul(pages_per_block)
    }
}

fn knowledge(params: &Params, current: bool) -> Result<Knowledge> {
    let text = params.text("detector")?;
    match text.as_str() {
        "none" => Ok(Knowledge::Nothing),
        "oracle" => Ok(Knowledge::Host { current }),
        "bloom" => Ok(Knowledge::Filters(FilterRules {
            false_positives: params
                .number("false_positives", "from 0.0001 to 0.9", |v| (0.0001..=0.9).contains(&v))?,
            demotion: params.number("demotion", "from 0 to 1", |v| (0.0..=1.0).contains(&v))?,
        })),
        "interval" => {
            Ok(Knowledge::Intervals { ratio: params.number("ratio", "at least 1", |v| v >= 1.0)? })
        }
        other => Err(params.outside("detector", other, "oracle, bloom, interval or none")),
    }
}

/// At least as many as there are at the start.
fn max_groups(params: &Params, groups: usize) -> Result<usize> {
    let domain = groups as u64..=MOST_GROUPS;
    if params.is_given("max_groups") {
        return Ok(params.integer("max_groups", domain)? as usize);
    }
    Ok((params.integer("max_groups", 1..=MOST_GROUPS)? as usize).max(groups))
}

fn interval(params: &Params) -> Result<f64> {
    params.number("interval", "above 0 and at most 1", |v| v > 0.0 && v <= 1.0)
}

/// What both managers ask for.
fn rules(params: &Params) -> Result<Rules> {
    let text = params.text("allocation")?;
    let named = Allocation::ALL.iter().find(|(name, _)| *name == text);
    let (_, allocation) = *named.ok_or_else(|| {
        params.outside(
            "allocation",
            &text,
            "closed-form, optimal, effective-size, size or frequency",
        )
    })?;
    let share = |name| params.number(name, "from 0 to 1", |v| (0.0..=1.0).contains(&v));
    Ok(Rules {
        weight: 1.0,
        ratio: 1.0,
        hold_intervals: 0,
        smallest_pages: 0,
        adaptive: false,
        assumed_ratio: None,
        allocation,
        exceptions: Exceptions {
            coldest_ratio: share("coldest_ratio")?,
            coldest_op: share("coldest_op")?,
            floor: share("floor")?,
        },
    })
}
