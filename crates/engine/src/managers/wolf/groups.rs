//! Groups of a drive: statistics, order from coldest to hottest, and target space.
//!
//! This is plain arithmetic without blocks.

use super::allocation::{Allocation, Demand, Exceptions, allocate};
use super::measured::{Measured, Pace};
use crate::state::state;

/// Rules for groups. One-letter symbols are those of paper 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// a: weight of the last interval in the average of the measured write shares.
    pub weight: f64,
    /// Q: two neighbouring groups are similar if their write rates per page differ by less than
    /// this factor.
    pub ratio: f64,
    /// w: number of intervals for which a new group keeps its place.
    /// Two neighbouring groups merge if they are similar in more than this number of consecutive
    /// intervals.
    pub hold_intervals: u32,
    /// F: smallest size of a group, in pages.
    /// Smaller groups are merged into a neighbour, and no group is created above a hottest group
    /// that is smaller.
    pub smallest_pages: u32,
    /// True if groups are created and merged.
    pub adaptive: bool,
    /// True if groups stay in the order of their numbers, instead of being sorted by write rate.
    pub keeps_order: bool,
    /// Speed with which effective sizes of groups approach the measured sizes.
    pub pace: Pace,
    /// Assumed ratio of a group's writes per page to those of the next colder group (FDP). The
    /// order is then fixed. None: write rates are measured.
    pub assumed_ratio: Option<f64>,
    /// Rule that divides the over-provisioned pages among the groups.
    pub allocation: Allocation,
    /// Exceptions from the allocation rule for some groups.
    pub exceptions: Exceptions,
}

/// Change of the groups at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A new group without pages was created.
    Created {
        /// Number of the created group.
        group: usize,
    },
    /// The pages of `from` join `into`.
    Merged {
        /// Group that ceases to exist.
        from: usize,
        /// Group that receives the pages.
        into: usize,
    },
}

/// Statistics of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Statistics {
    /// p: measured share of the host's writes.
    pub write_share: f64,
    pub interval_writes: u32,
    /// Remaining intervals for which the group keeps its place in the order.
    pub held: u32,
    pub measured: Measured,
}

state!(Statistics { value write_share, value interval_writes, value held, nested measured });

impl Statistics {
    pub(super) fn new(write_share: f64) -> Self {
        let measured = Measured::new(write_share);
        Statistics { write_share, interval_writes: 0, held: 0, measured }
    }
}

/// Groups of a drive. Numbers of merged groups are reused.
#[derive(Debug, Clone)]
pub struct Groups {
    pub(super) rules: Rules,
    pub(super) statistics: Vec<Statistics>,
    /// Existing groups, coldest first.
    pub(super) order: Vec<usize>,
    /// For each place in the order: number of consecutive intervals in which the group at that
    /// place and the next colder group had similar write rates per page. Similar groups exchange
    /// places often, so the count belongs to the place and not to the group.
    pub(super) alike: Vec<u32>,
    /// For each group, the number of steps of the assumed ratio that it is hotter than the
    /// coldest group.
    steps: Vec<i32>,
}

state! {
    Groups {
        fixed rules,
        nested statistics,
        list order,
        list alike,
        table steps,
    } where is_sound
}

impl Groups {
    /// Builds `count` groups, of which group 0 is the coldest. There may be `most` groups later.
    pub fn new(rules: Rules, count: usize, most: usize) -> Self {
        let mut groups = Groups {
            rules,
            statistics: vec![Statistics::new(0.0); most],
            order: (0..count).collect(),
            alike: vec![0; count],
            steps: (0..).take(most).collect(),
        };
        for group in 0..count {
            groups.statistics[group] = Statistics::new(1.0 / count as f64);
        }
        groups
    }

    fn is_sound(&self) -> bool {
        let mut seen = vec![false; self.statistics.len()];
        let is_new = |seen: &mut bool| !std::mem::replace(seen, true);
        let writes: u64 = self.statistics.iter().map(|s| u64::from(s.interval_writes)).sum();
        !self.order.is_empty()
            && self.order.iter().all(|&group| seen.get_mut(group).is_some_and(is_new))
            && self.alike.len() == self.order.len()
            && writes < u64::from(u32::MAX / 2)
    }

    /// Adds groups until there are `count`.
    pub fn grow(&mut self, count: usize) {
        self.order.extend(self.order.len()..count);
        self.alike.resize(self.order.len(), 0);
    }

    /// Assumed ratio of write rates; see [`Rules::assumed_ratio`].
    pub fn assumed_ratio(&self) -> Option<f64> {
        self.rules.assumed_ratio
    }

    /// Sets the assumed number of steps between the coldest group and each group.
    pub fn assume(&mut self, steps: &[i32]) {
        self.steps[..steps.len()].copy_from_slice(steps);
    }

    /// Existing groups, coldest first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Adds a group without pages to the order, which is by group number.
    pub fn open(&mut self, group: usize) {
        let place = self.order.iter().take_while(|&&other| other < group).count();
        self.order.insert(place, group);
        self.alike.insert(place, 0);
        self.statistics[group] = Statistics::new(0.0);
    }

    /// Removes group `from` from the order, and adds its statistics to those of `into`.
    pub fn merge(&mut self, from: usize, into: usize) {
        let place = self.place(from);
        self.order.remove(place);
        self.alike.remove(place);
        self.alike[0] = 0;
        self.statistics[into].write_share += self.statistics[from].write_share;
        let from = std::mem::replace(&mut self.statistics[from], Statistics::new(0.0));
        self.statistics[into].measured.join(from.measured);
    }

    /// Next hotter group, or the group itself if it is the hottest.
    pub fn hotter(&self, group: usize) -> usize {
        let place = self.place(group);
        *self.order.get(place + 1).unwrap_or(&group)
    }

    /// Next colder group, or the group itself if it is the coldest.
    pub fn colder(&self, group: usize) -> usize {
        let place = self.place(group);
        if place == 0 { group } else { self.order[place - 1] }
    }

    pub(super) fn place(&self, group: usize) -> usize {
        self.order.iter().position(|&other| other == group).expect("the group is in the order")
    }

    /// Counts a host write to a page that is now in `group`.
    #[inline(always)]
    pub fn count_write(&mut self, group: usize) {
        self.statistics[group].interval_writes += 1;
    }

    /// Counts a page that collection moved to `group`, if it `has_changed` its group.
    #[inline(always)]
    pub fn count_migration(&mut self, group: usize, has_changed: bool) {
        self.statistics[group].measured.count_migrations(has_changed.into());
    }

    /// Counts a collected block of `group`.
    pub fn count_victim(&mut self, group: usize, valid_pages: u32, pages_per_block: u32) {
        self.statistics[group].measured.count_victim(valid_pages, pages_per_block);
    }

    /// True if effective sizes are measured by [`Self::follow`].
    pub fn follows_collection(&self) -> bool {
        self.rules.allocation == Allocation::EffectiveSize
    }

    /// Updates the effective size of each group from the valid pages of its victims.
    /// `pages` are the valid pages and `owned_pages` the flash pages of each group.
    pub fn follow(&mut self, pages: &[u32], owned_pages: &[i64], pages_per_block: u32) {
        for &group in &self.order {
            let spare_pages = owned_pages[group] - i64::from(pages[group]);
            self.statistics[group].measured.follow(
                f64::from(pages[group]),
                spare_pages as f64,
                pages_per_block,
                self.rules.pace,
            );
        }
    }

    /// Ends an interval (Listing 2): updates write shares and order, and creates and merges
    /// groups. `pages` are the valid pages of each group, `unused` is a group number that is not in
    /// use. Merges precede creations.
    pub fn end_interval(&mut self, pages: &[u32], unused: Option<usize>) -> Vec<Change> {
        let writes: u32 = self.order.iter().map(|&g| self.statistics[g].interval_writes).sum();
        for &group in &self.order {
            let of_group = &mut self.statistics[group];
            let share = f64::from(of_group.interval_writes) / f64::from(writes.max(1));
            of_group.write_share += self.rules.weight * (share - of_group.write_share);
            of_group.measured.end_interval(of_group.interval_writes, writes, self.rules.weight);
            of_group.interval_writes = 0;
        }
        if self.rules.assumed_ratio.is_some() {
            return Vec::new();
        }
        if !self.rules.keeps_order {
            self.sort(pages);
        }
        if self.rules.adaptive { self.adapt(pages, unused) } else { Vec::new() }
    }

    /// Target flash pages of each group: its data and its part of `op_pages`.
    pub fn target_pages(&self, pages: &[u32], op_pages: f64) -> Vec<f64> {
        let size = |group: usize| f64::from(pages[group]);
        let follows = self.follows_collection();
        let weight = |group: usize| match self.rules.assumed_ratio {
            Some(ratio) => size(group) * ratio.powi(self.steps[group]),
            None if follows => self.statistics[group].measured.arrivals,
            None => self.statistics[group].write_share,
        };
        let effective =
            |group: usize| if follows { self.statistics[group].measured.effective } else { 1.0 };
        let total: f64 = self.order.iter().map(|&group| weight(group)).sum();
        let demand = |&group: &usize| Demand {
            pages: size(group) * effective(group),
            write_share: if total > 0.0 { weight(group) / total } else { 0.0 },
        };
        let demands: Vec<Demand> = self.order.iter().map(demand).collect();
        let op = allocate(self.rules.allocation, self.rules.exceptions, &demands, op_pages);
        let mut targets = vec![0.0; self.statistics.len()];
        for (&group, op) in self.order.iter().zip(op) {
            targets[group] = size(group) + op;
        }
        targets
    }

    /// Hit rate p/s of a group: its measured share of the host's writes, over its size in pages.
    pub(super) fn rate(&self, group: usize, pages: &[u32]) -> f64 {
        self.statistics[group].write_share / f64::from(pages[group].max(1))
    }
}
