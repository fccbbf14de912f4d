//! Balance of blocks between groups (paper 3, §5.3 and Listing 3).
//!
//! It determines which group collects, which gives a block away, and which receives it.

use std::cmp::Reverse;

use crate::drive::{NaiveDrive, Page};

impl NaiveDrive {
    /// Restores groups that hold more than they own, then moves surplus blocks to other groups.
    pub(super) fn balance(&mut self, lun: usize) {
        loop {
            while let Some(debtor) =
                self.first_in_order(|drive, group| drive.credits(group, lun) < 0)
            {
                if !self.gain(debtor, lun) {
                    break;
                }
            }
            let state = self.group_state();
            if state.rules.most_moves.is_some_and(|most| state.moves >= most) {
                return;
            }
            let Some(giver) = self.giver(lun) else { return };
            self.group_state_mut().moves += 1;
            if self.credits(giver, lun) > 0 {
                let receiver = self.neediest(giver, lun);
                self.group_state_mut().pass(giver, receiver, lun);
            } else {
                self.collect_in(giver, lun, None);
            }
        }
    }

    fn first_in_order(&self, accept: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        self.order().into_iter().find(|&group| accept(self, group))
    }

    /// Returns the group with the largest surplus that can give a block, if any.
    fn giver(&self, lun: usize) -> Option<usize> {
        let two_blocks = 2 * i64::from(self.setup.pages_per_block);
        let can_give = |group: usize| {
            self.group_state().moves_space()
                && self.group_state().surplus(group, lun) >= 1.0
                && (self.credits(group, lun) > 0 || self.invalid_pages_of(group, lun) > 0)
                && self.reclaimable_pages(group, lun) >= two_blocks
        };
        self.richest(lun, can_give)
    }

    /// Collects, or passes a block of another group, so that a group gets a block on a LUN.
    ///
    /// Returns false if neither is possible.
    pub(super) fn gain(&mut self, group: usize, lun: usize) -> bool {
        let can_lend = |other: usize| other != group && self.credits(other, lun) > 0;
        let state = self.group_state();
        let opened = state.opened.get(&lun).copied().unwrap_or(0);
        if !state.moves_space()
            && opened < state.blocks_each
            && let Some(giver) = self.richest(lun, can_lend)
        {
            self.group_state_mut().pass(giver, group, lun);
            return true;
        }
        let a_block = i64::from(self.setup.pages_per_block);
        if self.invalid_pages_of(group, lun) > 0 && self.reclaimable_pages(group, lun) >= a_block {
            self.collect_in(group, lun, None);
            return true;
        }
        if let Some(giver) = self.richest(lun, can_lend) {
            self.group_state_mut().pass(giver, group, lun);
            return true;
        }
        let collector = self.most_invalid(lun);
        if let Some(collector) = collector {
            self.collect_in(collector, lun, Some(group));
        }
        collector.is_some()
    }

    /// Collects in the group with the most invalid pages on a LUN; false if no page is invalid.
    pub(in crate::drive) fn collect_most_invalid(&mut self, lun: usize) -> bool {
        let collector = self.most_invalid(lun);
        if let Some(collector) = collector {
            self.collect_in(collector, lun, None);
        }
        collector.is_some()
    }

    fn most_invalid(&self, lun: usize) -> Option<usize> {
        let order = self.order();
        let places = 0..order.len();
        let most = places.max_by_key(|&at| (self.invalid_pages_of(order[at], lun), Reverse(at)));
        let collector = order[most.expect("a group")];
        (self.invalid_pages_of(collector, lun) > 0).then_some(collector)
    }

    /// Returns the group with the smallest surplus among `giver` and the groups it may give to.
    pub(super) fn neediest(&self, giver: usize, lun: usize) -> usize {
        let order = self.order();
        let place = order.iter().position(|&group| group == giver).expect("a group");
        let reached = if self.group_state().moves_space() {
            &order[..]
        } else {
            &order[place.saturating_sub(1)..(place + 2).min(order.len())]
        };
        let surplus = |group: usize| self.group_state().surplus(group, lun);
        let least = reached.iter().map(|&group| surplus(group)).fold(f64::INFINITY, f64::min);
        let neediest = reached.iter().find(|&&group| surplus(group) <= least);
        *neediest.expect("a group reaches itself")
    }

    /// Returns the group with the largest surplus of those that `accept` allows, if any.
    ///
    /// Of equals, it is the coldest.
    fn richest(&self, lun: usize, accept: impl Fn(usize) -> bool) -> Option<usize> {
        let groups: Vec<usize> = self.order().into_iter().filter(|&group| accept(group)).collect();
        let surplus = |group: usize| self.group_state().surplus(group, lun);
        let most = groups.iter().map(|&group| surplus(group)).fold(f64::NEG_INFINITY, f64::max);
        groups.into_iter().find(|&group| surplus(group) >= most)
    }

    /// Returns the number of blocks that a group may still open on a LUN; may be negative.
    pub(super) fn credits(&self, group: usize, lun: usize) -> i64 {
        let held = self.closed_of(group, lun).len() as u32 + self.open_of(group, lun);
        self.group_state().owned(group, lun) - i64::from(held)
    }

    pub(super) fn invalid_pages_of(&self, group: usize, lun: usize) -> u32 {
        self.closed_of(group, lun).into_iter().map(|block| self.invalid_pages(block)).sum()
    }

    /// Returns the number of pages that a group can still write on a LUN.
    ///
    /// These are the erased pages of its open block, the pages of blocks that it may open, and the
    /// invalid pages of its closed blocks.
    pub(super) fn reclaimable_pages(&self, group: usize, lun: usize) -> i64 {
        let erased = |&block: &u32| {
            self.pages_of(block).iter().filter(|page| **page == Page::Erased).count() as u32
        };
        i64::from(self.invalid_pages_of(group, lun))
            + i64::from(self.open.get(&(group, lun)).map_or(0, erased))
            + self.credits(group, lun) * i64::from(self.setup.pages_per_block)
    }
}
