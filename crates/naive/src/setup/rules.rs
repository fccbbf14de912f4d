//! Rules of a manager with groups, read from the text of its spec's parameters.

/// Groups that a drive begins with if it creates and merges them (paper 3, §5.2).
pub(crate) const FEWEST_GROUPS: usize = 2;

/// Parameters of a manager with groups. Symbols are those of paper 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupRules {
    pub(crate) detector: Detector,
    /// Of FDP: pages of each class count as written so many times as often as those of the next
    /// colder one. Nothing is measured, and blocks go to neighbours only.
    pub(crate) assumed_ratio: Option<f64>,
    pub(crate) allocation: Allocation,
    /// Groups are created and merged.
    pub(crate) adapts: bool,
    /// Groups stand in the order of their numbers.
    pub(crate) keeps_order: bool,
    pub(crate) following: Following,
    pub(crate) groups_at_first: usize,
    pub(crate) max_groups: usize,
    /// h, per logical page.
    pub(crate) interval: f64,
    /// a
    pub(crate) weight: f64,
    /// Q
    pub(crate) ratio: f64,
    /// w
    pub(crate) hold_intervals: u32,
    /// F, in blocks on each LUN.
    pub(crate) smallest_blocks: u32,
    pub(crate) exceptions: Exceptions,
}

/// Source of the group of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Detector {
    /// Nothing: there is one group.
    Nothing,
    /// The host. A page that collection moves goes by what the host said last, or by what it
    /// would say now.
    Host { current: bool },
    /// Two Bloom filters a group.
    Filters { false_positives: f64, demotion: f64 },
    /// The intervals between a page's writes, which tell its life; groups stand `ratio` apart.
    Intervals { ratio: f64 },
}

/// Method of dividing the spare space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocation {
    /// Shares by size (eq. 6).
    Size,
    /// Shares by writes (eq. 7, corrected).
    Frequency,
    /// Shares by the mean of both (eq. 8, corrected).
    ClosedForm,
    /// Shares of the least write amplification (eqs. 3 to 5).
    Optimal,
    /// Shares of the least write amplification, for groups as collection finds them.
    Marginal,
}

/// Speed at which effective sizes follow what collection finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Following {
    /// Part of the way that is gone in an interval.
    pub pace: f64,
    /// Part of the victims so far that counts in the next one.
    pub memory: f64,
}

/// Exceptions that keep a cold group alive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exceptions {
    /// Under the closed form, a coldest group below that part of the next one's hit rate …
    pub coldest_ratio: f64,
    /// … gets that part of its size (§5.5.3).
    pub coldest_op: f64,
    /// Part of its size that every group gets at least.
    pub floor: f64,
}

impl GroupRules {
    /// Rules of `wolf` or `wolf-interval`; `text` is the text of each parameter, or its default.
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
            smallest_blocks: whole(&text("smallest")) as u32,
            ..shared(&text, groups_at_first)
        }
    }

    /// Rules of `fdp-frequency`.
    pub fn fdp(text: impl Fn(&str) -> String) -> Self {
        let detector = detector(&text, text("class") == "current");
        let finds_groups = matches!(detector, Detector::Filters { .. });
        let groups_at_first = if finds_groups { whole(&text("groups")) } else { 1 };
        let assumed_ratio = Some(number(&text("ratio")));
        GroupRules { detector, assumed_ratio, ..shared(&text, groups_at_first) }
    }

    /// Free blocks of each LUN that only migrated pages may open.
    ///
    /// One, where such a page may change its group.
    pub(crate) fn reserve_blocks(&self) -> usize {
        match self.detector {
            Detector::Nothing | Detector::Host { current: false } => 0,
            Detector::Host { current: true }
            | Detector::Filters { .. }
            | Detector::Intervals { .. } => 1,
        }
    }
}

/// Reads the rules that Wolf and FDP have in common.
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
            other => panic!("no such allocation: {other}"),
        },
        adapts: false,
        keeps_order: false,
        following: Following { pace: 0.02, memory: 0.98 },
        groups_at_first,
        max_groups: whole(&text("max_groups")).max(groups_at_first),
        interval: number(&text("interval")),
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
        other => panic!("no such detector: {other}"),
    }
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn whole(text: &str) -> usize {
    number(text) as usize
}
