//! Wolf and FDP, transcribed from paper 3, and from `docs/wolf-algorithm.md` for blocks.
//!
//! Every number is a search: what a group owns less what it holds is what it may still open. The
//! arithmetic is this crate's own, too: nothing of the engine's is called, and where a method has
//! steps (the optimum, a moving average, a filter), the steps are others.
//!
//! Counters must nevertheless agree exactly, though some decisions compare floating-point numbers.
//! Formulas of a line or two are therefore worked out in the order in which the paper or the docs
//! write them, so that what ties in the engine ties here. The optimum and the size that victims
//! speak for come out by another way and differ in the last digits. They are irrational in general,
//! so two of them are equal only if they come of equal numbers, and then they are equal in both
//! drives. What is left to rounding is a group that the optimum leaves all that others' floors do
//! not take, and that has exactly one block too many: a witness that finds such a case should change
//! its sizes.

mod balance;
mod opening;

use std::collections::{BTreeMap, HashMap};

use writeamp_engine::rng::Stream;

use super::{NaiveDrive, Page};
use crate::grouping::{Change, Filters, Groups, Intervals, classes};
use crate::setup::{Detector, GroupRules, HostGroup, Setup};
use crate::victims::Candidate;

/// State of a manager of groups, beside the drive.
pub(super) struct Books {
    rules: GroupRules,
    groups: Groups,
    knowledge: Knowledge,
    most_groups: usize,
    /// Blocks that each group has on each LUN, free ones included.
    owned: BTreeMap<(usize, usize), i64>,
    /// Blocks that each group should have on each LUN.
    targets: Vec<f64>,
    /// Blocks on a LUN that groups may use, and how often one was opened.
    blocks_each: u32,
    pub(super) opened: HashMap<usize, u32>,
    /// h
    interval_pages: u32,
    interval_left: u32,
}

/// Knowledge from which the group of a page is told.
enum Knowledge {
    Nothing,
    Host {
        /// The group of each group of the host.
        class_of: Vec<usize>,
        /// The host's group of each page, if pages that collection moves go by it.
        current: Option<HashMap<u32, usize>>,
    },
    Filters(Filters),
    Intervals(Intervals),
}

impl Books {
    /// Hears that a page holds no data any more.
    pub(super) fn forgets(&mut self, logical: u32) {
        if let Knowledge::Intervals(intervals) = &mut self.knowledge {
            intervals.forgets(logical);
        }
    }

    pub(super) fn new(rules: GroupRules, setup: &Setup, luns: u32, reserve_blocks: u32) -> Self {
        let Setup { blocks, pages_per_block, logical_pages, wear, seed, .. } = *setup;
        let usable_blocks = blocks / luns - wear.spare_blocks_per_pool;
        let spare_pages =
            (luns * usable_blocks * pages_per_block).saturating_sub(logical_pages) as usize;
        // Open blocks, and those kept back, tie up at most half of the spare pages.
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
        let knowledge = match rules.detector {
            Detector::Nothing => Knowledge::Nothing,
            Detector::Host { current } => {
                Knowledge::Host { class_of: Vec::new(), current: current.then(HashMap::new) }
            }
            Detector::Filters { false_positives, demotion } => {
                let random = Stream::new(seed, "demotions");
                let rates = (false_positives, demotion);
                Knowledge::Filters(Filters::new(rates, smallest_pages, most_groups, random))
            }
            Detector::Intervals { ratio } => {
                Knowledge::Intervals(Intervals::new(ratio, most_groups, logical_pages))
            }
        };
        let blocks_each = usable_blocks - reserve_blocks;
        // h, but at least a write for each group that there may be.
        let interval_pages =
            (rules.interval * f64::from(logical_pages)).round().max(most_groups as f64) as u32;
        Books {
            rules,
            groups,
            knowledge,
            most_groups,
            owned: (0..luns as usize).map(|lun| ((0, lun), i64::from(blocks_each))).collect(),
            targets: Vec::new(),
            blocks_each,
            opened: HashMap::new(),
            interval_pages,
            interval_left: interval_pages,
        }
    }

    /// True if space goes to any group, and as soon as one has too much (Wolf). Else it goes to
    /// neighbours, as blocks are erased (FDP).
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
    fn books(&mut self) -> &mut Books {
        self.books.as_mut().expect("a manager with groups")
    }

    fn peek(&self) -> &Books {
        self.books.as_ref().expect("a manager with groups")
    }

    fn order(&self) -> Vec<usize> {
        self.peek().groups.order()
    }

    /// The host says what its groups are like now.
    pub(super) fn hear_groups(&mut self, said: &[HostGroup]) {
        let Books { rules, groups, knowledge, .. } = self.books();
        let Knowledge::Host { class_of, .. } = knowledge else { return };
        groups.grow(said.len());
        *class_of = (0..said.len()).collect();
        if let Some(ratio) = rules.assumed_ratio {
            let (classes, steps) = classes(said, ratio);
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
        self.books().groups.count_write(group);
        self.books().interval_left -= 1;
        if self.peek().interval_left == 0 {
            self.end_interval();
        }
    }

    fn group_of_write(&mut self, logical: u32, hint: usize) -> usize {
        let holder = self.physical(logical).map(|page| page / self.setup.pages_per_block);
        let holder = holder.map(|block| self.opened_for[&block]);
        let sizes = self.sizes();
        let now = self.clock.now;
        let Books { knowledge, groups, .. } = self.books();
        let open = groups.order();
        match knowledge {
            Knowledge::Nothing => 0,
            Knowledge::Host { class_of, current } => {
                if let Some(hints) = current {
                    hints.insert(logical, hint);
                }
                class_of[hint]
            }
            Knowledge::Filters(filters) => filters.group_of_write(logical, holder, groups, &sizes),
            Knowledge::Intervals(intervals) => {
                intervals.group_of_write(logical, holder, &open, now)
            }
        }
    }

    /// The group of a page of `holder` that collection moves.
    fn group_of_migration(&mut self, logical: u32, holder: usize) -> usize {
        let now = self.clock.now;
        let Books { knowledge, groups, .. } = self.books();
        let open = groups.order();
        match knowledge {
            Knowledge::Nothing | Knowledge::Host { current: None, .. } => holder,
            Knowledge::Host { class_of, current: Some(hints) } => class_of[hints[&logical]],
            Knowledge::Filters(filters) => filters.group_of_migration(logical, holder, groups),
            Knowledge::Intervals(intervals) => {
                intervals.group_of_migration(logical, holder, &open, now)
            }
        }
    }

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

    /// A block that was left open when its group merged into this one.
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

    fn collect_in(&mut self, group: usize, lun: usize, receiver: Option<usize>) {
        let blocks = self.closed_of(group, lun);
        let candidates: Vec<Candidate> =
            blocks.iter().map(|&block| self.candidate(block)).collect();
        let victim = blocks[self.rule.choose(&candidates, &mut self.random)];
        let pages = self.erase_victim(victim);
        self.books().groups.count_victim(group, pages.len() as u32);
        *self.books().owned.entry((group, lun)).or_default() -= 1;
        for logical in pages {
            self.copy_to_group(logical, group, lun);
        }
        let a_block = i64::from(self.setup.pages_per_block);
        let receiver = receiver.unwrap_or_else(|| {
            let can_give = self.reclaimable_pages(group, lun) >= a_block;
            if can_give { self.neediest(group, lun) } else { group }
        });
        *self.books().owned.entry((receiver, lun)).or_default() += 1;
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
            self.books().groups.count_migration(group);
        }
        self.program(logical, group, lun);
        self.counters.gc_programs += 1;
    }

    fn end_interval(&mut self) {
        let unused = (0..self.peek().most_groups)
            .find(|&group| !self.order().contains(&group) && !self.has_left_open(group));
        let sizes = self.sizes();
        let pages_per_block = self.setup.pages_per_block;
        let books = self.books();
        books.interval_left = books.interval_pages;
        if books.groups.follows_collection() {
            let owned_blocks = |group: usize| -> i64 {
                books
                    .owned
                    .iter()
                    .filter(|((of, _), _)| *of == group)
                    .map(|(_, blocks)| blocks)
                    .sum()
            };
            let owned_pages: Vec<i64> = (0..books.most_groups)
                .map(|group| owned_blocks(group) * i64::from(pages_per_block))
                .collect();
            books.groups.follow(&sizes, &owned_pages, pages_per_block);
        }
        for change in books.groups.end_interval(&sizes, unused) {
            if let Knowledge::Filters(filters) = &mut self.books().knowledge {
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
        let usable_blocks: i64 = self.peek().owned.values().sum();
        let pages_per_block = f64::from(self.setup.pages_per_block);
        let mapped: u32 = sizes.iter().sum();
        let op_pages = usable_blocks as f64 * pages_per_block - f64::from(mapped);
        let targets = self.peek().groups.target_pages(&sizes, op_pages);
        let scale = self.pools as f64 * pages_per_block;
        self.books().targets = targets.into_iter().map(|pages| pages / scale).collect();
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

    /// Valid pages of each group, by number.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.peek().most_groups];
        for (&block, &group) in &self.opened_for {
            let is_valid = |page: &&Page| matches!(page, Page::Valid(_));
            sizes[group] += self.pages_of(block).iter().filter(is_valid).count() as u32;
        }
        sizes
    }
}
