//! Wolf and FDP, as a transcript of what `docs/wolf.md` says of blocks and pages.
//!
//! Every number is a search: what a group owns less what it holds is what it may still open. How
//! large groups should be and which pages look hot is plain arithmetic, and shared with the engine.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use writeamp_engine::hints::Group;
use writeamp_engine::managers::wolf::{
    Change, Config, Groups, Intervals, Knowledge, Ladder, Temperature, ladder,
};
use writeamp_engine::rng::Stream;

use super::{Candidate, NaiveDrive, Page, Setup};

/// What the manager knows beside the drive.
pub(super) struct Books {
    config: Config,
    groups: Groups,
    temperature: Option<Temperature>,
    intervals: Option<Intervals>,
    most_groups: usize,
    class_of: Vec<usize>,
    hint_of_page: HashMap<u32, usize>,
    /// Blocks that each group has on each LUN, free ones included.
    owned: BTreeMap<(usize, usize), i64>,
    /// Blocks that each group should have on each LUN.
    targets: Vec<f64>,
    /// Blocks on a LUN that groups may use, and how often one was opened.
    blocks_each: u32,
    pub(super) opened: HashMap<usize, u32>,
    interval_pages: u32,
    interval_left: u32,
}

impl Books {
    pub(super) fn new(
        config: Config,
        hints: [Group; 2],
        logical_pages: u32,
        setup: &Setup,
        (luns, reserve_blocks): (u32, u32),
    ) -> Self {
        let Setup { blocks, pages_per_block, wear, seed, .. } = *setup;
        let usable_blocks = blocks / luns - wear.spare_blocks_per_pool;
        let most_groups = config.groups_that_fit(
            luns,
            usable_blocks,
            pages_per_block,
            logical_pages,
            reserve_blocks,
        );
        let mut groups = config.groups(luns, pages_per_block, most_groups);
        let mut class_of = vec![0, 1];
        if let Knowledge::Host { .. } = config.knowledge {
            groups.grow(hints.len());
            if let Some(ratio) = groups.assumed_ratio() {
                let Ladder { class_of: classes, steps } = ladder(&hints, ratio);
                groups.assume(&steps);
                class_of = classes.into_iter().map(usize::from).collect();
            }
        }
        let temperature = if let Knowledge::Filters(rules) = config.knowledge {
            let random = Stream::new(seed, "demotions");
            let smallest_pages = config.smallest_pages(luns, pages_per_block);
            Some(
                Temperature::new(rules, smallest_pages, most_groups, random)
                    .expect("small filters"),
            )
        } else {
            None
        };
        let intervals = if let Knowledge::Intervals { ratio } = config.knowledge {
            Some(Intervals::new(ratio, most_groups, logical_pages).expect("a small drive"))
        } else {
            None
        };
        let interval_pages = config.interval_pages(logical_pages);
        Books {
            config,
            groups,
            temperature,
            intervals,
            most_groups,
            class_of,
            hint_of_page: HashMap::new(),
            owned: (0..luns as usize)
                .map(|lun| ((0, lun), i64::from(usable_blocks - reserve_blocks)))
                .collect(),
            targets: Vec::new(),
            blocks_each: usable_blocks - reserve_blocks,
            opened: HashMap::new(),
            interval_pages,
            interval_left: interval_pages,
        }
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
        self.peek().groups.order().to_vec()
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
        let now = self.physical(logical).map(|page| page / self.setup.pages_per_block);
        let now = now.map(|block| self.opened_for[&block]);
        let sizes = self.sizes();
        let written = self.clock.now;
        let books = self.books();
        match books.config.knowledge {
            Knowledge::Nothing => 0,
            Knowledge::Host { .. } => {
                books.hint_of_page.insert(logical, hint);
                books.class_of[hint]
            }
            Knowledge::Intervals { .. } => {
                let intervals = books.intervals.as_mut().expect("intervals");
                intervals.group_of_write(logical, now, written)
            }
            Knowledge::Filters { .. } => {
                let temperature = books.temperature.as_mut().expect("filters");
                let size = |group: usize| sizes[group];
                temperature
                    .group_of_write(logical, now, &books.groups, size)
                    .expect("small filters")
            }
        }
    }

    fn group_of_migration(&mut self, logical: u32, now: usize) -> usize {
        let written = self.clock.now;
        let books = self.books();
        match books.config.knowledge {
            Knowledge::Nothing | Knowledge::Host { current: false } => now,
            Knowledge::Host { current: true } => books.class_of[books.hint_of_page[&logical]],
            Knowledge::Intervals { .. } => books
                .intervals
                .as_ref()
                .expect("intervals")
                .group_of_migration(logical, now, written),
            Knowledge::Filters { .. } => {
                let temperature = books.temperature.as_mut().expect("filters");
                temperature.group_of_migration(logical, now, &books.groups)
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

    /// Debts are paid, and whoever has too much gives.
    fn balance(&mut self, lun: usize) {
        loop {
            while let Some(debtor) =
                self.first_in_order(|drive, group| drive.credits(group, lun) < 0)
            {
                if !self.gain(debtor, lun) {
                    break;
                }
            }
            let Some(giver) = self.giver(lun) else { return };
            if self.credits(giver, lun) > 0 {
                let receiver = self.neediest(giver, lun);
                self.books().pass(giver, receiver, lun);
            } else {
                self.collect_in(giver, lun, None);
            }
        }
    }

    fn first_in_order(&self, accept: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        self.order().into_iter().find(|&group| accept(self, group))
    }

    fn giver(&self, lun: usize) -> Option<usize> {
        let two_blocks = 2 * i64::from(self.setup.pages_per_block);
        let can_give = |group: usize| {
            self.peek().config.moves_space
                && self.peek().surplus(group, lun) >= 1.0
                && (self.credits(group, lun) > 0 || self.invalid_pages_of(group, lun) > 0)
                && self.reclaimable_pages(group, lun) >= two_blocks
        };
        self.richest(lun, can_give)
    }

    fn gain(&mut self, group: usize, lun: usize) -> bool {
        let can_lend = |other: usize| other != group && self.credits(other, lun) > 0;
        let books = self.peek();
        let opened = books.opened.get(&lun).copied().unwrap_or(0);
        if !books.config.moves_space
            && opened < books.blocks_each
            && let Some(giver) = self.richest(lun, can_lend)
        {
            self.books().pass(giver, group, lun);
            return true;
        }
        let a_block = i64::from(self.setup.pages_per_block);
        if self.invalid_pages_of(group, lun) > 0 && self.reclaimable_pages(group, lun) >= a_block {
            self.collect_in(group, lun, None);
            return true;
        }
        if let Some(giver) = self.richest(lun, can_lend) {
            self.books().pass(giver, group, lun);
            return true;
        }
        let order = self.order();
        let places = 0..order.len();
        let most = places.max_by_key(|&at| (self.invalid_pages_of(order[at], lun), Reverse(at)));
        let collector = order[most.expect("a group")];
        if self.invalid_pages_of(collector, lun) == 0 {
            return false;
        }
        self.collect_in(collector, lun, Some(group));
        true
    }

    fn collect_in(&mut self, group: usize, lun: usize, receiver: Option<usize>) {
        let blocks = self.closed_of(group, lun);
        let candidates: Vec<Candidate> =
            blocks.iter().map(|&block| self.candidate(block)).collect();
        let victim = blocks[self.rule.choose(&candidates, &mut self.random)];
        let pages = self.erase_victim(victim);
        let pages_per_block = self.setup.pages_per_block;
        self.books().groups.count_victim(group, pages.len() as u32, pages_per_block);
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
        let unused = (0..self.peek().most_groups).find(|group| {
            !self.order().contains(group) && self.open.keys().all(|(other, _)| other != group)
        });
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
            if let Some(temperature) = &mut self.books().temperature {
                temperature.on_change(change).expect("small filters");
            }
            if let Change::Merged { from, into } = change {
                self.merge_groups(from, into);
            }
        }
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

    /// The blocks of `from` come last among those of `into`, in their old order.
    fn merge_groups(&mut self, from: usize, into: usize) {
        for lun in 0..self.pools {
            let closed = self.closed_of(from, lun);
            for at in [Self::changed_event, Self::closed_event] {
                let mut in_order = closed.clone();
                in_order.sort_by_key(|&block| *at(self, block));
                for block in in_order {
                    self.clock.event += 1;
                    *at(self, block) = self.clock.event;
                }
            }
            let moved = self.closed_for.remove(&(from, lun)).unwrap_or_default();
            self.closed_for.entry((into, lun)).or_default().extend(moved);
            let blocks = self.books().owned.remove(&(from, lun)).unwrap_or(0);
            *self.books().owned.entry((into, lun)).or_default() += blocks;
        }
        self.opened_for
            .values_mut()
            .filter(|group| **group == from)
            .for_each(|group| *group = into);
    }

    fn changed_event(&mut self, block: u32) -> &mut u64 {
        &mut self.changed_at.get_mut(&block).expect("a closed block").event
    }

    fn closed_event(&mut self, block: u32) -> &mut u64 {
        &mut self.closed_at.get_mut(&block).expect("a closed block").event
    }

    fn neediest(&self, giver: usize, lun: usize) -> usize {
        let order = self.order();
        let place = order.iter().position(|&group| group == giver).expect("a group");
        let reached = if self.peek().config.moves_space {
            &order[..]
        } else {
            &order[place.saturating_sub(1)..(place + 2).min(order.len())]
        };
        let surplus = |group: usize| self.peek().surplus(group, lun);
        let least = reached.iter().map(|&group| surplus(group)).fold(f64::INFINITY, f64::min);
        let neediest = reached.iter().find(|&&group| surplus(group) <= least);
        *neediest.expect("a group reaches itself")
    }

    fn richest(&self, lun: usize, accept: impl Fn(usize) -> bool) -> Option<usize> {
        let groups: Vec<usize> = self.order().into_iter().filter(|&group| accept(group)).collect();
        let surplus = |group: usize| self.peek().surplus(group, lun);
        let most = groups.iter().map(|&group| surplus(group)).fold(f64::NEG_INFINITY, f64::max);
        groups.into_iter().find(|&group| surplus(group) >= most)
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

    fn credits(&self, group: usize, lun: usize) -> i64 {
        let held = self.closed_of(group, lun).len() as u32 + self.open_of(group, lun);
        self.peek().owned(group, lun) - i64::from(held)
    }

    fn invalid_pages_of(&self, group: usize, lun: usize) -> u32 {
        self.closed_of(group, lun).into_iter().map(|block| self.invalid_pages(block)).sum()
    }

    fn reclaimable_pages(&self, group: usize, lun: usize) -> i64 {
        let erased = |&block: &u32| {
            self.pages_of(block).iter().filter(|page| **page == Page::Erased).count() as u32
        };
        i64::from(self.invalid_pages_of(group, lun))
            + i64::from(self.open.get(&(group, lun)).map_or(0, erased))
            + self.credits(group, lun) * i64::from(self.setup.pages_per_block)
    }

    /// Valid pages of each group.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.peek().most_groups];
        for (at, page) in self.pages.iter().enumerate() {
            if let Page::Valid(_) = page {
                sizes[self.opened_for[&(at as u32 / self.setup.pages_per_block)]] += 1;
            }
        }
        sizes
    }
}
