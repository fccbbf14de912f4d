//! Rules of a manager with groups, parsed from the parameters of its spec.

/// Initial number of groups of a drive that creates and merges them (paper 3, §5.2).
pub(crate) const FEWEST_GROUPS: usize = 2;

/// Parameters of a manager with groups. Symbols are those of paper 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupRules {
    pub(crate) detector: Detector,
    /// For FDP: assumed ratio of write frequencies of a class and the next colder one.
    ///
    /// With a ratio, frequencies are not measured. Blocks then move between neighbours, except to a
    /// group that has no block to open.
    pub(crate) assumed_ratio: Option<f64>,
    pub(crate) allocation: Allocation,
    /// True if groups are created and merged.
    pub(crate) adapts: bool,
    /// True if the order of groups is the order of their numbers.
    pub(crate) keeps_order: bool,
    pub(crate) following: Following,
    pub(crate) groups_at_first: usize,
    pub(crate) max_groups: usize,
    /// Host pages written in an interval, divided by the number of logical pages (h).
    pub(crate) interval: f64,
    /// Most movement operations (§5.3) in an interval; None for no limit.
    pub(crate) most_moves: Option<u32>,
    /// Weight a of the last interval in moving averages.
    pub(crate) weight: f64,
    /// Ratio Q of the hit rates of neighbours. Below it, they are similar.
    ///
    /// From Q on, a group may be created above the hottest one; above 2·Q, between neighbours.
    pub(crate) ratio: f64,
    /// Number of intervals (w) for which a new group keeps its position in the order.
    pub(crate) hold_intervals: u32,
    /// Least size F of a group, in blocks on each LUN.
    pub(crate) smallest_blocks: u32,
    pub(crate) exceptions: Exceptions,
}

/// Method of finding the group of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Detector {
    /// No detection: all pages are in one group.
    Nothing,
    /// Hints of the host.
    ///
    /// A page that collection moves stays in its group, or goes to the group that its latest hint
    /// means now (`current`).
    Host { current: bool },
    /// Two Bloom filters for each group.
    Filters { false_positives: f64, demotion: f64 },
    /// Intervals between the writes of a page, which predict its life.
    ///
    /// `ratio` is the ratio of the lives of neighbouring groups.
    Intervals { ratio: f64 },
}

/// Method of dividing the spare space between groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// Spare space in proportion to the sizes of groups (eq. 6).
    Size,
    /// Spare space in proportion to the writes of groups (eq. 7, corrected).
    Frequency,
    /// Mean of the spare space by size and by writes (eq. 8, corrected).
    ClosedForm,
    /// Spare space with the least write amplification (eqs. 3 to 5).
    Optimal,
    /// Like `Optimal`, but with effective sizes of groups that are measured by collection.
    Marginal,
}

/// Speed at which effective sizes follow the measurements of collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Following {
    /// Weight from 0 to 1 of the size that is measured at the end of an interval.
    pub pace: f64,
    /// Factor on the weight of earlier victims after each interval.
    pub memory: f64,
}

/// Exceptions that give a cold group some spare space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exceptions {
    /// Limit of the hit rate of the coldest group / that of the next group.
    ///
    /// Under the closed form, the coldest group is an exception if the ratio is below the limit.
    pub coldest_ratio: f64,
    /// Spare space of the coldest group as an exception, as a share of its size (§5.5.3).
    pub coldest_op: f64,
    /// Least spare space of every group, as a share of its size.
    pub floor: f64,
}

impl GroupRules {
    /// Returns the rules of `wolf` or `wolf-interval`.
    ///
    /// `text` returns the text of a parameter, or its default.
    pub fn wolf(text: impl Fn(&str) -> String) -> Self {
        let detector = detector(&text, false);
        let finds_groups = matches!(detector, Detector::Filters { .. });
        let adapts = finds_groups && text("groups") == "adaptive";
        let groups_at_first = match (finds_groups, adapts) {
            (true, true) => FEWEST_GROUPS,
            (true, false) => whole(&text("groups")),
            (false, _) => 1,
        };
        GroupRules {
            detector,
            adapts,
            keeps_order: matches!(detector, Detector::Intervals { .. }),
            following: Following { pace: number(&text("pace")), memory: number(&text("memory")) },
            weight: number(&text("weight")),
            ratio: number(&text("ratio")),
            hold_intervals: whole(&text("hold")) as u32,
            most_moves: text("moves").parse().ok(),
            smallest_blocks: whole(&text("smallest")) as u32,
            ..shared(&text, groups_at_first)
        }
    }

    /// Returns the rules of `fdp-frequency`; `text` as for [`Self::wolf`].
    pub fn fdp(text: impl Fn(&str) -> String) -> Self {
        let detector = detector(&text, text("class") == "current");
        let finds_groups = matches!(detector, Detector::Filters { .. });
        let groups_at_first = if finds_groups { whole(&text("groups")) } else { 1 };
        let assumed_ratio = Some(number(&text("ratio")));
        GroupRules { detector, assumed_ratio, ..shared(&text, groups_at_first) }
    }

    /// Returns the number of free blocks of each LUN that only migrated pages may open.
    ///
    /// It is 1 if a migrated page may change its group, else 0.
    pub(crate) fn reserve_blocks(&self) -> usize {
        match self.detector {
            Detector::Nothing | Detector::Host { current: false } => 0,
            Detector::Host { current: true }
            | Detector::Filters { .. }
            | Detector::Intervals { .. } => 1,
        }
    }
}

/// Returns the rules that Wolf and FDP have in common.
fn shared(text: impl Fn(&str) -> String, groups_at_first: usize) -> GroupRules {
    GroupRules {
        detector: Detector::Nothing,
        assumed_ratio: None,
        allocation: match &text("allocation")[..] {
            "size" => Allocation::Size,
            "frequency" => Allocation::Frequency,
            "closed-form" => Allocation::ClosedForm,
            "optimal" => Allocation::Optimal,
            "marginal" => Allocation::Marginal,
            other => panic!("unknown allocation '{other}'"),
        },
        adapts: false,
        keeps_order: false,
        following: Following { pace: 0.02, memory: 0.98 },
        groups_at_first,
        max_groups: whole(&text("max_groups")).max(groups_at_first),
        interval: number(&text("interval")),
        most_moves: None,
        weight: 1.0,
        ratio: 1.0,
        hold_intervals: 0,
        smallest_blocks: 1,
        exceptions: Exceptions {
            coldest_ratio: number(&text("coldest_ratio")),
            coldest_op: number(&text("coldest_op")),
            floor: number(&text("floor")),
        },
    }
}

fn detector(text: impl Fn(&str) -> String, current: bool) -> Detector {
    match &text("detector")[..] {
        "none" => Detector::Nothing,
        "oracle" => Detector::Host { current },
        "bloom" => Detector::Filters {
            false_positives: number(&text("false_positives")),
            demotion: number(&text("demotion")),
        },
        "interval" => Detector::Intervals { ratio: number(&text("ratio")) },
        other => panic!("unknown detector '{other}'"),
    }
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn whole(text: &str) -> usize {
    number(text) as usize
}
