//! Temperature of pages: two Bloom filters per group detect pages that are too hot or too
//! cold.
//! (Paper 3, §5.6.)

use super::groups::{Change, Groups};
use crate::detectors::Filter;
use crate::error::Result;
use crate::rng::{Stream, threshold};
use crate::state::state;

/// Parameters of the Bloom filters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilterRules {
    /// False-positive rate of a full filter.
    pub false_positives: f64,
    /// Probability with which collection moves a page that neither filter contains to a colder
    /// group.
    pub demotion: f64,
}

/// Filters of a group: pages that the host wrote in the current and the previous period.
/// A period lasts for as many host writes to the group as the group had pages when the period
/// began.
struct TwoPeriods {
    active: Filter,
    passive: Filter,
    writes_left: u32,
}

state!(TwoPeriods { nested active, nested passive, value writes_left });

/// Filters of all groups, by group number.
pub struct Temperature {
    false_positives: f64,
    demotion: u64,
    least_period_writes: u32,
    of_group: Vec<TwoPeriods>,
    random: Stream,
}

state! {
    Temperature {
        fixed false_positives,
        fixed demotion,
        fixed least_period_writes,
        nested of_group,
        nested random,
    }
}

impl Temperature {
    /// Builds the filters. No period is shorter than `least_period_writes`, even of an empty
    /// group.
    pub fn new(
        rules: FilterRules,
        least_period_writes: u32,
        groups: usize,
        random: Stream,
    ) -> Result<Self> {
        let fresh = |_| TwoPeriods::new(least_period_writes, rules.false_positives);
        Ok(Temperature {
            false_positives: rules.false_positives,
            demotion: threshold(rules.demotion),
            least_period_writes,
            of_group: (0..groups).map(fresh).collect::<Result<_>>()?,
            random,
        })
    }

    /// Memory of all filters, in bytes.
    pub fn bytes(&self) -> u64 {
        self.of_group.iter().map(|periods| periods.active.bytes() + periods.passive.bytes()).sum()
    }

    /// Group for a page that the host writes and that is now in group `now`.
    /// `pages` returns the valid pages of a group. A page written in both periods goes to the next
    /// hotter group. A new page goes to the coldest group.
    pub fn group_of_write(
        &mut self,
        page: u32,
        now: Option<usize>,
        groups: &Groups,
        pages: impl Fn(usize) -> u32,
    ) -> Result<usize> {
        let group = match now {
            None => groups.order()[0],
            Some(now) => {
                let periods = &self.of_group[now];
                let hot = periods.active.contains(page) && periods.passive.contains(page);
                if hot { groups.hotter(now) } else { now }
            }
        };
        let periods = &mut self.of_group[group];
        if periods.writes_left == 0 {
            let writes = pages(group).max(self.least_period_writes);
            let fresh = Filter::new(writes, self.false_positives)?;
            periods.passive = std::mem::replace(&mut periods.active, fresh);
            periods.writes_left = writes;
        }
        periods.writes_left -= 1;
        periods.active.insert(page);
        Ok(group)
    }

    /// Group to which collection moves a page that is now in group `now`.
    /// A page written in neither period goes to the next colder group with the probability
    /// `demotion`.
    pub fn group_of_migration(&mut self, page: u32, now: usize, groups: &Groups) -> usize {
        let periods = &self.of_group[now];
        let cold = !periods.active.contains(page) && !periods.passive.contains(page);
        if cold && self.random.chance(self.demotion) { groups.colder(now) } else { now }
    }

    /// Updates the filters after a change of groups.
    /// A new group begins with empty filters. A merged group keeps the filters of the group that it
    /// joins, because filters of different sizes cannot be combined.
    pub fn on_change(&mut self, change: Change) -> Result<()> {
        if let Change::Created { group } = change {
            self.of_group[group] = TwoPeriods::new(self.least_period_writes, self.false_positives)?;
        }
        Ok(())
    }
}

impl TwoPeriods {
    fn new(writes: u32, false_positives: f64) -> Result<Self> {
        let filter = Filter::new(writes, false_positives)?;
        Ok(TwoPeriods { active: filter.clone(), passive: filter, writes_left: writes })
    }
}
