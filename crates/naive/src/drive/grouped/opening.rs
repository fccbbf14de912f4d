//! Opening and closing of groups, and the merge of their blocks.
//!
//! Groups open and close by the forecasts of `detector=interval` in `docs/wolf-algorithm.md`.

use super::{GroupSource, GroupState};
use crate::drive::NaiveDrive;
use crate::grouping::Turn;

impl NaiveDrive {
    /// Opens groups that are worth their blocks; closes groups worth less than half of them.
    ///
    /// Other groups stay as they are. A group also stays closed while a block that was opened under
    /// its number is still open.
    pub(super) fn open_and_close_groups(&mut self) {
        let a_block_each = f64::from(self.setup.pages_per_block) * self.pools as f64;
        let GroupState { rules, source, interval_pages, .. } = self.group_state_mut();
        let GroupSource::Intervals(intervals) = source else { return };
        intervals.end_interval(*interval_pages, rules.weight);
        for group in 0..self.group_state().most_groups {
            let GroupSource::Intervals(intervals) = &self.group_state().source else { return };
            match intervals.turn(group, &self.order(), a_block_each) {
                Turn::Opens if !self.has_left_open(group) => {
                    self.group_state_mut().groups.open(group);
                }
                Turn::Closes { into } => {
                    self.group_state_mut().groups.close(group, into);
                    self.merge_groups(group, into);
                }
                Turn::Opens | Turn::Stays => {}
            }
        }
    }

    /// True if a block that was opened under a group's number is still open.
    pub(super) fn has_left_open(&self, group: usize) -> bool {
        self.open.keys().any(|&(other, _)| other == group)
    }

    /// Moves the closed blocks of group `from` behind the blocks of group `into`, in their old
    /// order.
    pub(super) fn merge_groups(&mut self, from: usize, into: usize) {
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
            let blocks = self.group_state_mut().owned.remove(&(from, lun)).unwrap_or(0);
            *self.group_state_mut().owned.entry((into, lun)).or_default() += blocks;
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
}
