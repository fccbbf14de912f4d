//! Balance of space: which groups collect, give blocks away and receive them.
//! (Paper 3, §5.3 and Listing 3.)

use super::drive::Grouped;
use crate::error::Result;
use crate::flash::Tap;

impl<T: Tap> Grouped<T> {
    /// Settles debts, and moves space away from groups that own too much (§5.3).
    /// Continues until no group owns a block that it can give away, or until the interval has had
    /// its most movement operations.
    pub fn balance(&mut self, lun: usize) -> Result<()> {
        loop {
            self.settle(lun)?;
            let moves = self.moved_blocks.iter().fold(0, |sum: u32, &n| sum.saturating_add(n));
            if moves >= self.config.most_moves {
                return Ok(());
            }
            let Some(giver) = self.giver(lun) else { return Ok(()) };
            self.moved_blocks[giver] += 1;
            let subgroup = self.space.subgroup(giver, lun);
            if self.space.credits(subgroup) > 0 {
                let receiver = self.neediest(giver, lun);
                self.space.pass(subgroup, self.space.subgroup(receiver, lun));
            } else {
                self.collect(giver, lun, None)?;
            }
        }
    }

    /// Group with the greatest surplus of blocks over its target, or None if no group can give
    /// one. A group can give a block if its surplus is at least one block and it can free two.
    fn giver(&self, lun: usize) -> Option<usize> {
        let block_pages = i64::from(self.core.flash.geometry().pages_per_block());
        let can_give = |group: &usize| {
            let subgroup = self.space.subgroup(*group, lun);
            let has_any = self.space.credits(subgroup) > 0
                || self.core.candidates().invalid_pages(subgroup) > 0;
            self.space.surplus(*group, lun) >= 1.0
                && has_any
                && self.reclaimable_pages(subgroup) >= 2 * block_pages
        };
        self.richest(lun, can_give)
    }

    /// Gains free blocks for groups that opened more blocks than they had (a debt).
    /// Stops if the LUN has no free block and no invalid page.
    fn settle(&mut self, lun: usize) -> Result<()> {
        loop {
            let in_debt =
                |group: &&usize| self.space.credits(self.space.subgroup(**group, lun)) < 0;
            let Some(&debtor) = self.groups.order().iter().find(in_debt) else { return Ok(()) };
            if !self.gain(debtor, lun)? {
                return Ok(());
            }
        }
    }

    /// Advances `group` towards a free block.
    /// Returns false if no free block can be gained. The group collects if its own invalid pages
    /// suffice for a free block. Otherwise it receives a free block of another group. If no group
    /// has one, the group with the most invalid pages collects and gives it the erased block.
    pub fn gain(&mut self, group: usize, lun: usize) -> Result<bool> {
        let subgroup = self.space.subgroup(group, lun);
        let block_pages = i64::from(self.core.flash.geometry().pages_per_block());
        // On a new drive the coldest group has all free blocks. If blocks moved only to
        // neighbouring groups and only when erased, other groups would collect full blocks while
        // blocks are unused.
        if !self.config.moves_space && self.space.has_unused(lun) && self.borrow(group, lun) {
            return Ok(true);
        }
        if self.core.candidates().invalid_pages(subgroup) > 0
            && self.reclaimable_pages(subgroup) >= block_pages
        {
            self.collect(group, lun, None)?;
            return Ok(true);
        }
        if self.borrow(group, lun) {
            return Ok(true);
        }
        let collector = self.most_invalid(lun);
        if let Some(collector) = collector {
            self.collect(collector, lun, Some(group))?;
        }
        Ok(collector.is_some())
    }

    /// Collects a block of the group with the most invalid pages, without a fixed receiver.
    pub fn collect_most_invalid(&mut self, lun: usize) -> Result<bool> {
        let collector = self.most_invalid(lun);
        if let Some(collector) = collector {
            self.collect(collector, lun, None)?;
        }
        Ok(collector.is_some())
    }

    /// Group with the most invalid pages in closed blocks of a LUN; of equal groups, the coldest.
    fn most_invalid(&self, lun: usize) -> Option<usize> {
        let invalid_pages =
            |group: usize| self.core.candidates().invalid_pages(self.space.subgroup(group, lun));
        let order = self.groups.order().iter().copied();
        order.filter(|&group| invalid_pages(group) > 0).reduce(|most, group| {
            if invalid_pages(group) > invalid_pages(most) { group } else { most }
        })
    }

    /// Gives `group` a free block of another group: the one with the greatest surplus that has
    /// one.
    fn borrow(&mut self, group: usize, lun: usize) -> bool {
        let has_credit = |other: &usize| {
            *other != group && self.space.credits(self.space.subgroup(*other, lun)) > 0
        };
        let Some(giver) = self.richest(lun, has_credit) else { return false };
        self.space.pass(self.space.subgroup(giver, lun), self.space.subgroup(group, lun));
        true
    }

    /// Number of free pages of a subgroup, plus the pages that it could free by collecting.
    pub fn reclaimable_pages(&self, subgroup: usize) -> i64 {
        let block_pages = i64::from(self.core.flash.geometry().pages_per_block());
        i64::from(self.core.candidates().invalid_pages(subgroup))
            + i64::from(self.core.frontiers[subgroup].room_pages())
            + i64::from(self.space.credits(subgroup)) * block_pages
    }

    /// Group with the greatest surplus of blocks among those that `accept` allows.
    /// Of equal groups, the coldest is returned.
    fn richest(&self, lun: usize, accept: impl Fn(&usize) -> bool) -> Option<usize> {
        let groups = self.groups.order().iter().copied().filter(accept);
        groups.reduce(|best, group| {
            if self.space.surplus(group, lun) > self.space.surplus(best, lun) {
                group
            } else {
                best
            }
        })
    }

    /// Group with the greatest deficit of blocks; of equal groups, the coldest.
    /// Only groups that may receive a block of `giver` are considered, and `giver` itself.
    pub fn neediest(&self, giver: usize, lun: usize) -> usize {
        let reaches = |group: &usize| {
            self.config.moves_space
                || *group == giver
                || *group == self.groups.hotter(giver)
                || *group == self.groups.colder(giver)
        };
        let groups = self.groups.order().iter().copied().filter(reaches);
        let neediest = groups.reduce(|best, group| {
            if self.space.surplus(group, lun) < self.space.surplus(best, lun) {
                group
            } else {
                best
            }
        });
        neediest.expect("the giver itself is always a possible receiver")
    }
}
