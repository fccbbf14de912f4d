//! End of an interval: updates of groups, and new targets for their space.
//! (Paper 3, Listing 2.)

use super::drive::{Grouped, Oracle, valid_pages};
use super::groups::Change;
use crate::error::Result;
use crate::flash::{Notice, Tap};
use crate::observe::{ChangeKind, GroupChange};

impl<T: Tap> Grouped<T> {
    /// Updates the groups and their target space, and moves blocks towards the targets (Listing
    /// 2).
    pub fn end_interval(&mut self) -> Result<()> {
        self.interval_left = self.interval_pages;
        let moved = std::mem::replace(&mut self.moved_blocks, vec![0; self.most_groups]);
        for (group, &blocks) in moved.iter().enumerate().filter(|(_, blocks)| **blocks > 0) {
            self.note(ChangeKind::Moved { blocks }, group);
        }
        let sizes = self.sizes();
        self.follow_collection(&sizes);
        let unused = self.unused_group();
        for change in self.groups.end_interval(&sizes, unused) {
            self.follow(change);
            if let Oracle::Filters(temperature) = &mut self.oracle {
                temperature.on_change(change)?;
            }
        }
        self.open_and_close_groups();
        self.set_targets();
        for lun in 0..self.luns {
            self.balance(lun)?;
        }
        Ok(())
    }

    /// Opens groups whose pages or writes justify open blocks, and merges the others into
    /// neighbours. Does nothing unless groups are defined by lifetime.
    fn open_and_close_groups(&mut self) {
        let Oracle::Intervals(intervals) = &mut self.oracle else { return };
        let block_pages =
            f64::from(self.core.flash.geometry().pages_per_block()) * self.luns as f64;
        let (weight, logical_pages) = (self.groups.rules.weight, intervals.logical_pages());
        intervals.groups().end_interval(self.interval_pages, weight, logical_pages);
        for group in 0..self.most_groups {
            let Oracle::Intervals(intervals) = &mut self.oracle else { return };
            let change = intervals.groups().change(group, self.groups.order(), block_pages);
            let Some(change) = change else { continue };
            match change {
                Change::Created { group } if self.has_left_open(group) => continue,
                Change::Created { group } => self.groups.open(group),
                Change::Merged { from, into } => self.groups.merge(from, into),
            }
            self.follow(change);
        }
        if let Oracle::Intervals(intervals) = &mut self.oracle {
            intervals.set_open(self.groups.order());
        }
    }

    /// Applies a change of groups to the drive, and logs it.
    fn follow(&mut self, change: Change) {
        match change {
            Change::Created { group } => {
                self.core.flash.notify(&Notice::GroupCreated { group: group as u32 });
                self.note(ChangeKind::Created, group);
            }
            Change::Merged { from, into } => {
                self.merge(from, into);
                let notice = Notice::GroupMerged { from: from as u32, into: into as u32 };
                self.core.flash.notify(&notice);
                self.note(ChangeKind::Merged { into: into as u8 }, from);
            }
        }
    }

    /// True if the frontier of a group number still has room on a LUN.
    /// The number may be of a merged group, whose open block is not full yet; it cannot be reused
    /// before.
    fn has_left_open(&self, group: usize) -> bool {
        (0..self.luns).any(|lun| !self.core.frontiers[self.space.subgroup(group, lun)].is_full())
    }

    fn follow_collection(&mut self, sizes: &[u32]) {
        if !self.groups.follows_collection() {
            return;
        }
        let pages_per_block = self.core.flash.geometry().pages_per_block();
        let owned_blocks = |group: usize| -> i64 {
            let subgroups = (0..self.luns).map(|lun| self.space.subgroup(group, lun));
            subgroups.map(|subgroup| i64::from(self.space.owned(subgroup))).sum()
        };
        let owned_pages: Vec<i64> = (0..self.most_groups)
            .map(|group| owned_blocks(group) * i64::from(pages_per_block))
            .collect();
        self.groups.follow(sizes, &owned_pages, pages_per_block);
    }

    /// Group number without pages and without an open block, or None if all are in use.
    fn unused_group(&self) -> Option<usize> {
        (0..self.most_groups)
            .find(|group| !self.groups.order().contains(group) && !self.has_left_open(*group))
    }

    fn merge(&mut self, from: usize, into: usize) {
        for lun in 0..self.luns {
            let [from, into] = [from, into].map(|group| self.space.subgroup(group, lun));
            self.core.candidates_mut().merge(from, into);
            self.space.merge(from, into);
        }
    }

    pub fn set_targets(&mut self) {
        let pages_per_block = self.core.flash.geometry().pages_per_block();
        let usable_pages = f64::from(self.usable_blocks * pages_per_block);
        let op_pages = usable_pages - f64::from(self.core.flash.mapped_pages());
        let targets = self.groups.target_pages(&self.sizes(), op_pages);
        let pages_of_a_block_each = self.luns as f64 * f64::from(pages_per_block);
        self.space.set_targets(targets.into_iter().map(|pages| pages / pages_of_a_block_each));
    }

    /// Number of valid pages of each group.
    fn sizes(&self) -> Vec<u32> {
        (0..self.most_groups)
            .map(|group| valid_pages(self.core.candidates(), group, self.luns))
            .collect()
    }

    fn note(&mut self, kind: ChangeKind, group: usize) {
        let groups = self.groups.order().len() as u8;
        self.group_log.add(GroupChange {
            host_pages: self.core.now(),
            kind,
            group: group as u8,
            groups,
        });
    }
}
