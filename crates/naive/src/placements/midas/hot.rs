//! Detection of hot pages, and the use of group HOT.

use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HotRule {
    Off,
    AsUsed,
    Modelled,
}

/// Use of group HOT in an epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    /// True if the model searches for the size of HOT.
    pub is_searched: bool,
    /// Share of the host's writes that go to HOT.
    pub traffic: f64,
    /// Share of valid pages in victims of HOT.
    pub valid_share: f64,
    /// Mean age of the blocks of HOT at collection, in host pages written.
    pub age: f64,
}

pub(super) struct Hot {
    rule: HotRule,
    /// Counter of each page, from 0 to 3.
    marks: HashMap<u32, u32>,
    /// Group to which each page was written or last migrated.
    place: HashMap<u32, usize>,
    /// Age A, in host pages written. A page that is rewritten within this age counts as hot.
    age: u64,
    window_ends: u64,
    ages_of_window: Vec<u64>,
    ages_of_epoch: Vec<u64>,
    writes: u64,
}

impl Hot {
    pub(super) fn new(rule: HotRule, logical_pages: u64) -> Self {
        Hot {
            rule,
            marks: HashMap::new(),
            place: HashMap::new(),
            age: logical_pages,
            window_ends: 0,
            ages_of_window: Vec::new(),
            ages_of_epoch: Vec::new(),
            writes: 0,
        }
    }

    pub(super) fn learn_from(&mut self, clock: u64) {
        self.window_ends = clock + self.age;
    }

    pub(super) fn rewritten(&mut self, logical: u32, interval: u64) {
        if self.rule == HotRule::Off || self.place.get(&logical) != Some(&1) {
            return;
        }
        if interval <= self.age {
            let marks = self.marks.entry(logical).or_default();
            *marks = 3.min(*marks + 1);
        } else {
            self.take_off(logical, 1);
        }
    }

    /// Subtracts `count` from a page's counter, down to 0.
    fn take_off(&mut self, logical: u32, count: u32) {
        let marks = self.marks.entry(logical).or_default();
        *marks -= count.min(*marks);
    }

    /// Assigns a page that the host writes to HOT or to group 1; true for HOT.
    pub(super) fn is_hot_write(&mut self, logical: u32) -> bool {
        let is_hot = self.marks.get(&logical) == Some(&3);
        self.place.insert(logical, usize::from(!is_hot));
        self.writes += u64::from(is_hot);
        is_hot
    }

    pub(super) fn migrated(&mut self, logical: u32, from: usize) {
        match from {
            0 => self.take_off(logical, 2),
            1 => self.take_off(logical, 1),
            _ => {}
        }
        self.place.insert(logical, from + 1);
    }

    pub(super) fn collected(&mut self, age: u64, now: u64) {
        self.ages_of_window.push(age);
        self.ages_of_epoch.push(age);
        if now >= self.window_ends {
            let mean = self.ages_of_window.iter().sum::<u64>() / self.ages_of_window.len() as u64;
            self.age = if mean < 2 * self.age {
                u64::midpoint(mean, self.age).max(1)
            } else {
                (3 * self.age).div_ceil(2).max(1)
            };
            self.window_ends = now + self.age;
            self.ages_of_window.clear();
        }
    }

    pub(super) fn begin_epoch(&mut self) {
        self.writes = 0;
        self.ages_of_epoch.clear();
    }

    pub(super) fn used(&self, epoch_pages: u64, valid_share: f64) -> Used {
        let traffic = self.writes as f64 / epoch_pages as f64;
        let is_searched = match self.rule {
            HotRule::Off => false,
            HotRule::AsUsed => traffic >= 0.15 && valid_share <= 0.1,
            HotRule::Modelled => true,
        };
        let victims = self.ages_of_epoch.len().max(1) as f64;
        let age = self.ages_of_epoch.iter().sum::<u64>() as f64 / victims;
        Used { is_searched, traffic, valid_share, age }
    }
}
