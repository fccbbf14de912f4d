//! Wolf and FDP, from paper 3 and, for blocks, from `docs/wolf-algorithm.md`.
//!
//! Counts of pages and blocks are found by a search of all blocks, not updated step by step. A group
//! may open as many more blocks as it owns, less those that it holds. The arithmetic does not use
//! the engine: the optimum, moving averages and filters are computed by other steps.
//!
//! The counters of both drives must agree exactly, although some decisions compare floating-point
//! numbers. Short formulas are therefore computed in the order in which the paper or the docs write
//! them, so that equal values are equal in both drives. The optimum and the effective sizes are
//! computed in other ways than in the engine, and differ in the last digits. These values are
//! irrational in general. Two such values are equal only if their inputs are equal, and then they
//! are equal in both drives.
//!
//! One case depends on rounding. In it, the optimum gives a group all space that the lower limits
//! of other groups leave free. The group then has exactly one block too many. A test that meets
//! this case should change its sizes.

mod balance;
mod opening;

use std::collections::{BTreeMap, HashMap};

use writeamp_engine::rng::Stream;

use super::{NaiveDrive, Page};
use crate::grouping::{Change, Filters, Groups, Intervals, classes};
use crate::setup::{Detector, GroupRules, HostGroup, Setup};
use crate::victims::Candidate;

/// State of a manager with groups.
pub(super) struct GroupState {
    rules: GroupRules,
    groups: Groups,
    source: GroupSource,
    most_groups: usize,
    /// Number of blocks that each (group, LUN) owns, including owned blocks that are not opened
    /// yet.
    owned: BTreeMap<(usize, usize), i64>,
    /// Number of blocks that each group should own on each LUN, by group.
    targets: Vec<f64>,
    /// Number of blocks that all groups together may use on each LUN.
    blocks_each: u32,
    /// Number of openings of blocks so far, for each LUN.
    pub(super) opened: HashMap<usize, u32>,
    /// Length of an interval, in host pages written: h times the number of logical pages.
    ///
    /// It has at least one page for each possible group.
    interval_pages: u32,
    /// Host pages still to be written until the end of the interval.
    interval_left: u32,
    /// Movement operations in this interval.
    moves: u32,
}

/// Data that determine the group of a page.
enum GroupSource {
    Nothing,
    Host {
        /// Group of the drive for each group of the host.
        class_of: Vec<usize>,
        /// Host's group of each page. None if pages that collection moves stay in their group.
        current: Option<HashMap<u32, usize>>,
    },
    Filters(Filters),
    Intervals(Intervals),
}

impl GroupState {
    /// Removes the history of a page that was unmapped.
    pub(super) fn on_unmapped(&mut self, logical: u32) {
        if let GroupSource::Intervals(intervals) = &mut self.source {
            intervals.on_unmapped(logical);
        }
    }

    pub(super) fn new(rules: GroupRules, setup: &Setup, luns: u32, reserve_blocks: u32) -> Self {
        let Setup { blocks, pages_per_block, logical_pages, wear, seed, .. } = *setup;
        let usable_blocks = blocks / luns - wear.spare_blocks_per_pool;
        let spare_pages =
            (luns * usable_blocks * pages_per_block).saturating_sub(logical_pages) as usize;
        // The number of groups is limited so that open and reserved blocks occupy at most half of
        // the spare pages.
        let fits = |&groups: &usize| {
            let tied_up_blocks = groups - 1 + reserve_blocks as usize;
            2 * tied_up_blocks * (luns * pages_per_block) as usize <= spare_pages
                && groups + 1 + reserve_blocks as usize <= usable_blocks as usize
        };
        let least = match rules.detector {
            Detector::Nothing => 1,
            Detector::Host { .. } => rules.max_groups.min(2),
            _ => rules.groups_at_first,
        };
        let fitting = (1..=rules.max_groups).filter(fits).max().unwrap_or(0);
        let most_groups = if rules.detector == Detector::Nothing { 1 } else { fitting.max(least) };
        let smallest_pages = rules.smallest_blocks * luns * pages_per_block;
        let groups = Groups::new(rules, smallest_pages);
        let source = match rules.detector {
            Detector::Nothing => GroupSource::Nothing,
            Detector::Host { current } => {
                GroupSource::Host { class_of: Vec::new(), current: current.then(HashMap::new) }
            }
            Detector::Filters { false_positives, demotion } => {
                let random = Stream::new(seed, "demotions");
                let rates = (false_positives, demotion);
                GroupSource::Filters(Filters::new(rates, smallest_pages, most_groups, random))
            }
            Detector::Intervals { ratio } => {
                GroupSource::Intervals(Intervals::new(ratio, most_groups, logical_pages))
            }
        };
        let blocks_each = usable_blocks - reserve_blocks;
        // An interval has `interval` × logical pages host writes, but at least one write for each
        // possible group.
        let interval_pages =
            (rules.interval * f64::from(logical_pages)).round().max(most_groups as f64) as u32;
        GroupState {
            rules,
            groups,
            source,
            most_groups,
            owned: (0..luns as usize).map(|lun| ((0, lun), i64::from(blocks_each))).collect(),
            targets: Vec::new(),
            blocks_each,
            opened: HashMap::new(),
            interval_pages,
            interval_left: interval_pages,
            moves: 0,
        }
    }

    /// True if blocks move between any groups, as soon as one has too many (Wolf).
    ///
    /// False if they move between neighbours when they are erased (FDP). Only a group that has no
    /// block to open gets one from any group.
    fn moves_space(&self) -> bool {
        self.rules.assumed_ratio.is_none()
    }

    fn owned(&self, group: usize, lun: usize) -> i64 {
        self.owned.get(&(group, lun)).copied().unwrap_or(0)
    }

    fn surplus(&self, group: usize, lun: usize) -> f64 {
        self.owned(group, lun) as f64 - self.targets[group]
    }

    fn pass(&mut self, from: usize, to: usize, lun: usize) {
        *self.owned.entry((from, lun)).or_default() -= 1;
        *self.owned.entry((to, lun)).or_default() += 1;
    }
}

impl NaiveDrive {
    fn group_state_mut(&mut self) -> &mut GroupState {
        self.group_state.as_mut().expect("a manager with groups")
    }

    fn group_state(&self) -> &GroupState {
        self.group_state.as_ref().expect("a manager with groups")
    }

    fn order(&self) -> Vec<usize> {
        self.group_state().groups.order()
    }

    /// Sets the host's groups, if the hints of the host determine the groups of pages.
    pub(super) fn set_groups(&mut self, host_groups: &[HostGroup]) {
        let GroupState { rules, groups, source, .. } = self.group_state_mut();
        let GroupSource::Host { class_of, .. } = source else { return };
        groups.grow(host_groups.len());
        *class_of = (0..host_groups.len()).collect();
        if let Some(ratio) = rules.assumed_ratio {
            let (classes, steps) = classes(host_groups, ratio);
            *class_of = classes;
            groups.assume(&steps);
        }
        self.set_targets();
    }

    pub(super) fn write_to_group(&mut self, logical: u32, hint: usize) {
        let group = self.group_of_write(logical, hint);
        let first = self.next_pool.get(&group).copied().unwrap_or(0);
        let mut in_turn = (first..self.pools).chain(0..first);
        let lun = in_turn.find(|&lun| self.group_has_room(group, lun)).expect("a LUN with room");
        self.next_pool.insert(group, (lun + 1) % self.pools);
        self.host_programs(logical, group, lun);
        self.group_state_mut().groups.count_write(group);
        self.group_state_mut().interval_left -= 1;
        if self.group_state().interval_left == 0 {
            self.end_interval();
        }
    }

    fn group_of_write(&mut self, logical: u32, hint: usize) -> usize {
        let holder = self.physical(logical).map(|page| page / self.setup.pages_per_block);
        let holder = holder.map(|block| self.opened_for[&block]);
        let sizes = self.sizes();
        let now = self.clock.now;
        let GroupState { source, groups, .. } = self.group_state_mut();
        let open = groups.order();
        match source {
            GroupSource::Nothing => 0,
            GroupSource::Host { class_of, current } => {
                if let Some(hints) = current {
                    hints.insert(logical, hint);
                }
                class_of[hint]
            }
            GroupSource::Filters(filters) => {
                filters.group_of_write(logical, holder, groups, &sizes)
            }
            GroupSource::Intervals(intervals) => {
                intervals.group_of_write(logical, holder, &open, now)
            }
        }
    }

    /// Returns the group to which collection moves a page of group `holder`.
    fn group_of_migration(&mut self, logical: u32, holder: usize) -> usize {
        let now = self.clock.now;
        let GroupState { source, groups, .. } = self.group_state_mut();
        let open = groups.order();
        match source {
            GroupSource::Nothing | GroupSource::Host { current: None, .. } => holder,
            GroupSource::Host { class_of, current: Some(hints) } => class_of[hints[&logical]],
            GroupSource::Filters(filters) => filters.group_of_migration(logical, holder, groups),
            GroupSource::Intervals(intervals) => {
                intervals.group_of_migration(logical, holder, &open, now)
            }
        }
    }

    /// Makes room for a write to a group on a LUN; false if that is impossible.
    fn group_has_room(&mut self, group: usize, lun: usize) -> bool {
        if self.open.contains_key(&(group, lun)) {
            return true;
        }
        loop {
            self.balance(lun);
            if self.open.contains_key(&(group, lun)) || self.adopt(group, lun) {
                return true;
            }
            if self.credits(group, lun) > 0 {
                let can_open = self.can_open(lun);
                if can_open {
                    self.open_block(group, lun);
                }
                return can_open;
            }
            if !self.gain(group, lun) {
                return false;
            }
        }
    }

    /// Reuses a block of a group that merged into this one, if that block is still open.
    ///
    /// The block becomes the group's open block. Returns false if there is none.
    fn adopt(&mut self, group: usize, lun: usize) -> bool {
        let left = self
            .open
            .iter()
            .find(|&(&(other, pool), block)| {
                pool == lun && other != group && self.opened_for[block] == group
            })
            .map(|(&key, &block)| (key, block));
        if let Some((key, block)) = left {
            self.open.remove(&key);
            self.open.insert((group, lun), block);
        }
        left.is_some()
    }

    /// Collects a victim of a group; its block goes to `receiver`.
    ///
    /// Without a `receiver`, the block goes to the group with the smallest surplus. It stays in its
    /// group if that has less than a block of pages that it can still write.
    fn collect_in(&mut self, group: usize, lun: usize, receiver: Option<usize>) {
        let blocks = self.closed_of(group, lun);
        let candidates: Vec<Candidate> =
            blocks.iter().map(|&block| self.candidate(block)).collect();
        let victim = blocks[self.rule.choose(&candidates, &mut self.random)];
        let pages = self.erase_victim(victim);
        self.group_state_mut().groups.count_victim(group, pages.len() as u32);
        *self.group_state_mut().owned.entry((group, lun)).or_default() -= 1;
        for logical in pages {
            self.copy_to_group(logical, group, lun);
        }
        let a_block = i64::from(self.setup.pages_per_block);
        let receiver = receiver.unwrap_or_else(|| {
            let can_give = self.reclaimable_pages(group, lun) >= a_block;
            if can_give { self.neediest(group, lun) } else { group }
        });
        *self.group_state_mut().owned.entry((receiver, lun)).or_default() += 1;
    }

    fn copy_to_group(&mut self, logical: u32, own: usize, lun: usize) {
        let mut group = self.group_of_migration(logical, own);
        let has_frontier = |drive: &mut Self, group| {
            drive.open.contains_key(&(group, lun)) || drive.adopt(group, lun)
        };
        if !has_frontier(self, group) && group != own && self.free[lun].len() < 2 {
            group = own;
        }
        if !has_frontier(self, group) {
            self.open_block(group, lun);
        }
        if group != own {
            self.group_state_mut().groups.count_migration(group);
        }
        self.program(logical, group, lun);
        self.count_gc(logical);
    }

    fn end_interval(&mut self) {
        let unused = (0..self.group_state().most_groups)
            .find(|&group| !self.order().contains(&group) && !self.has_left_open(group));
        let sizes = self.sizes();
        let pages_per_block = self.setup.pages_per_block;
        let state = self.group_state_mut();
        state.interval_left = state.interval_pages;
        state.moves = 0;
        if state.groups.follows_collection() {
            let owned_blocks = |group: usize| -> i64 {
                state
                    .owned
                    .iter()
                    .filter(|((of, _), _)| *of == group)
                    .map(|(_, blocks)| blocks)
                    .sum()
            };
            let owned_pages: Vec<i64> = (0..state.most_groups)
                .map(|group| owned_blocks(group) * i64::from(pages_per_block))
                .collect();
            state.groups.follow(&sizes, &owned_pages, pages_per_block);
        }
        for change in state.groups.end_interval(&sizes, unused) {
            if let GroupSource::Filters(filters) = &mut self.group_state_mut().source {
                filters.on_change(change);
            }
            if let Change::Merged { from, into } = change {
                self.merge_groups(from, into);
            }
        }
        self.open_and_close_groups();
        self.set_targets();
        for lun in 0..self.pools {
            self.balance(lun);
        }
    }

    pub(super) fn set_targets(&mut self) {
        let sizes = self.sizes();
        let usable_blocks: i64 = self.group_state().owned.values().sum();
        let pages_per_block = f64::from(self.setup.pages_per_block);
        let mapped: u32 = sizes.iter().sum();
        let op_pages = usable_blocks as f64 * pages_per_block - f64::from(mapped);
        let targets = self.group_state().groups.target_pages(&sizes, op_pages);
        let scale = self.pools as f64 * pages_per_block;
        self.group_state_mut().targets = targets.into_iter().map(|pages| pages / scale).collect();
    }

    fn closed_of(&self, group: usize, lun: usize) -> Vec<u32> {
        let all = self.closed.iter().flatten().copied();
        all.filter(|&block| self.pool_of(block) == lun && self.opened_for[&block] == group)
            .collect()
    }

    fn open_of(&self, group: usize, lun: usize) -> u32 {
        let blocks = self.open.iter().filter(|((_, pool), _)| *pool == lun);
        blocks.filter(|(_, block)| self.opened_for[*block] == group).count() as u32
    }

    /// Returns the valid pages of each group, by number.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.group_state().most_groups];
        for (&block, &group) in &self.opened_for {
            let is_valid = |page: &&Page| matches!(page, Page::Valid(_));
            sizes[group] += self.pages_of(block).iter().filter(is_valid).count() as u32;
        }
        sizes
    }
}
