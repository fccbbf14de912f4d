//! Drive of the grouped managers: placement of pages, collection, and blocks for groups.
//!
//! The valid pages of a victim are placed on its own LUN, in their old group or in the group that
//! they belong to now. The erased block goes to the group that is furthest below its target number
//! of blocks (Listing 3). A collection reads the valid pages into a buffer and then erases the
//! block, so it needs no free page. Paper 3 (§5.4) instead keeps one block free in each group for
//! migration.

use super::candidates::Candidates;
use super::config::Config;
use super::groups::Groups;
use super::intervals::Intervals;
use super::ladder::{Ladder, ladder};
use super::space::Space;
use super::temperature::Temperature;
use crate::error::{Error, Result};
use crate::flash::{Cause, Table, Tap};
use crate::hints::{Group, Hints};
use crate::managers::core::{Core, Exchange, PAGE_LOOKAHEAD};
use crate::observe::GroupLog;

/// Method that determines the group of a page, with its state.
pub(super) enum Oracle {
    /// None: all pages are in one group.
    Nothing,
    Host(HostGroups),
    Filters(Temperature),
    Intervals(Box<Intervals>),
}

/// Groups named by the host's hints.
#[derive(Default)]
pub(super) struct HostGroups {
    pub named_groups: Vec<Group>,
    /// Group of the drive for each group of the host.
    pub group_of_hint: Vec<u8>,
    /// Host group of each logical page, if collection moves pages to the group of their hint.
    pub hint_of_page: Option<Table<u8>>,
}

/// Drive whose blocks belong to groups.
pub(super) struct Grouped<T: Tap> {
    pub name: &'static str,
    pub config: Config,
    pub core: Core<Candidates, T>,
    pub groups: Groups,
    pub space: Space,
    pub oracle: Oracle,
    pub luns: usize,
    /// Largest number of groups at any time.
    pub most_groups: usize,
    /// Number of blocks on all LUNs, without the spare blocks that replace worn-out blocks.
    pub usable_blocks: u32,
    pub interval_pages: u32,
    pub interval_left: u32,
    /// Next LUN to write to, for each group.
    pub next_lun: Vec<usize>,
    /// Number of blocks that each group has given away in this interval because it owned too
    /// many.
    pub moved_blocks: Vec<u32>,
    pub group_log: GroupLog,
    pub migrating: Vec<u32>,
}

impl Oracle {
    /// Prefetches the history of a page.
    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        if let Oracle::Intervals(intervals) = self {
            intervals.prefetch(logical);
        }
    }

    /// Prefetches the history of the page [`PAGE_LOOKAHEAD`] places after index `at`.
    #[inline(always)]
    pub(super) fn prefetch_ahead(&self, pages: &[u32], at: usize) {
        if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD) {
            self.prefetch(logical);
        }
    }

    /// True if groups can be determined ahead of the writes.
    /// False if they depend on the number of valid pages of groups, which each write may change.
    fn can_run_ahead(&self) -> bool {
        !matches!(self, Oracle::Filters(_))
    }

    /// Group for a page that the host writes.
    /// `held_by` returns the group whose block holds the page's previous version, or None for a new
    /// page.
    #[inline(always)]
    pub(super) fn group_of_write(
        &mut self,
        logical: u32,
        hint: Option<u8>,
        held_by: impl FnOnce() -> Option<usize>,
        now: u64,
    ) -> usize {
        match self {
            Oracle::Nothing => 0,
            Oracle::Host(host) => {
                let hint = hint.expect("the host names a group for each page");
                if let Some(hint_of_page) = &mut host.hint_of_page {
                    hint_of_page[logical as usize] = hint;
                }
                usize::from(host.group_of_hint[usize::from(hint)])
            }
            Oracle::Intervals(intervals) => intervals.group_of_write(logical, held_by(), now),
            Oracle::Filters(_) => {
                unreachable!("with Bloom filters, Temperature::group_of_write determines the group")
            }
        }
    }

    /// Memory of the group detector, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Oracle::Nothing => 0,
            Oracle::Host(host) => host.hint_of_page.as_ref().map_or(0, |hints| hints.len()) as u64,
            Oracle::Filters(filters) => filters.bytes(),
            Oracle::Intervals(intervals) => intervals.bytes(),
        }
    }
}

impl<T: Tap> Grouped<T> {
    /// Updates the groups from the host's hints.
    pub fn update_hinted_groups(&mut self, hints: &Hints) -> Result<()> {
        let Oracle::Host(host) = &mut self.oracle else { return Ok(()) };
        if hints.groups.len() > self.most_groups {
            return Err(Error::Spec(format!(
                "the workload has {} groups of pages, but {} supports at most {} on this drive; \
                 use fewer groups, or a larger max_groups, op or drive",
                hints.groups.len(),
                self.name,
                self.most_groups
            )));
        }
        if host.named_groups != hints.groups {
            host.named_groups = hints.groups.to_vec();
            self.groups.grow(hints.groups.len());
            host.group_of_hint = (0..hints.groups.len() as u8).collect();
            if let Some(ratio) = self.groups.assumed_ratio() {
                let Ladder { class_of, steps } = ladder(hints.groups, ratio);
                host.group_of_hint = class_of;
                self.groups.assume(&steps);
            }
            self.set_targets();
        }
        Ok(())
    }

    /// Writes pages that are all within one interval.
    pub fn write_run(&mut self, pages: &[u32], hint_of: &[u8]) -> Result<()> {
        if !T::IS_OPEN && self.oracle.can_run_ahead() {
            return self.write_ahead(pages, hint_of);
        }
        for (at, &logical) in pages.iter().enumerate() {
            self.core.prefetch(pages, at);
            self.oracle.prefetch_ahead(pages, at);
            let group = self.group_of_write(logical, hint_of.get(at).copied())?;
            let lun = self.lun_with_room(group)?;
            let subgroup = self.space.subgroup(group, lun);
            self.core.program(logical, subgroup);
            self.core.candidates_mut().add_page(subgroup);
            self.groups.count_write(group);
            if self.core.frontiers[subgroup].is_full() {
                self.core.close(subgroup);
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn group_of_write(&mut self, logical: u32, hint: Option<u8>) -> Result<usize> {
        let holder = self.core.flash.physical(logical).map(|page| self.core.flash.block_of(page));
        let held_by =
            holder.map(|block| self.space.group_of(self.core.candidates().subgroup_of(block)));
        if let Oracle::Filters(temperature) = &mut self.oracle {
            let pages = |group| valid_pages(self.core.candidates(), group, self.luns);
            return temperature.group_of_write(logical, held_by, &self.groups, pages);
        }
        Ok(self.oracle.group_of_write(logical, hint, || held_by, self.core.now()))
    }

    /// Group to which collection moves a page that is now in group `now`.
    fn group_of_migration(&mut self, logical: u32, now: usize) -> usize {
        match &mut self.oracle {
            Oracle::Filters(temperature) => {
                temperature.group_of_migration(logical, now, &self.groups)
            }
            Oracle::Intervals(intervals) => {
                intervals.group_of_migration(logical, now, self.core.now())
            }
            Oracle::Host(HostGroups {
                group_of_hint, hint_of_page: Some(hint_of_page), ..
            }) => {
                // If the host names fewer groups than before, pages of the removed groups stay
                // where they are.
                let hint = usize::from(hint_of_page[logical as usize]);
                group_of_hint.get(hint).map_or(now, |&group| usize::from(group))
            }
            Oracle::Nothing | Oracle::Host(_) => now,
        }
    }

    /// LUN for the next page of `group`: the next LUN in turn that has room.
    #[inline(always)]
    pub(super) fn lun_with_room(&mut self, group: usize) -> Result<usize> {
        let first = self.next_lun[group];
        let mut lun = first;
        loop {
            let next = if lun + 1 == self.luns { 0 } else { lun + 1 };
            let is_full = self.core.frontiers[self.space.subgroup(group, lun)].is_full();
            if !is_full || self.make_room(group, lun)? {
                self.next_lun[group] = next;
                return Ok(lun);
            }
            assert_ne!(
                next, first,
                "the size of the drive was checked, so at least one LUN has or can make room"
            );
            lun = next;
        }
    }

    /// Gives the full frontier of a subgroup a block with room, if possible.
    /// Returns false if the LUN has neither a free block beyond its reserve nor an invalid page.
    #[cold]
    fn make_room(&mut self, group: usize, lun: usize) -> Result<bool> {
        let subgroup = self.space.subgroup(group, lun);
        loop {
            self.balance(lun)?;
            if !self.core.frontiers[subgroup].is_full() || self.adopt(subgroup, lun) {
                return Ok(true);
            }
            if self.space.credits(subgroup) > 0 {
                let can_open = self.core.can_open(lun);
                if can_open {
                    self.open(subgroup, lun);
                }
                return Ok(can_open);
            }
            if !self.gain(group, lun)? {
                return Ok(false);
            }
        }
    }

    /// Continues to fill an open block of a group that was merged into this group, if there is
    /// one.
    fn adopt(&mut self, subgroup: usize, lun: usize) -> bool {
        let left = (0..self.most_groups).map(|group| self.space.subgroup(group, lun)).find(|at| {
            let frontier = &self.core.frontiers[*at];
            !frontier.is_full() && *at != subgroup && {
                let block = self.core.flash.block_behind(frontier);
                self.core.candidates().subgroup_of(block) == subgroup
            }
        });
        if let Some(left) = left {
            self.core.frontiers.swap(left, subgroup);
        }
        left.is_some()
    }

    fn open(&mut self, subgroup: usize, lun: usize) {
        let block = self.core.open(subgroup, lun);
        self.core.candidates_mut().open(block, subgroup);
        self.space.open(subgroup);
    }

    /// Collects one block of `group` on a LUN and gives the erased block to `receiver`.
    /// If `receiver` is None and `group` can free another block by itself, the block goes to the
    /// group with the greatest deficit. Otherwise it stays with `group`.
    pub fn collect(&mut self, group: usize, lun: usize, receiver: Option<usize>) -> Result<()> {
        let subgroup = self.space.subgroup(group, lun);
        self.core.candidates_mut().collect_from(subgroup);
        let victim = self.core.choose_victim(0)?;
        let mut pages = std::mem::take(&mut self.migrating);
        self.core.read_victim(victim, &mut pages);
        for &logical in &pages {
            self.oracle.prefetch(logical);
        }
        let exchange = self.core.erase_read(victim);
        let pages_per_block = self.core.flash.geometry().pages_per_block();
        self.groups.count_victim(group, pages.len() as u32, pages_per_block);
        self.space.take_erased(subgroup);
        self.core.candidates_mut().take_pages(subgroup, pages.len() as u32);
        if let Some(Exchange { young, worn }) = exchange {
            let invalid_pages = self.core.flash.invalid_pages(worn);
            self.core.candidates_mut().exchange(young, worn, invalid_pages);
        }
        for &logical in &pages {
            self.migrate(logical, group, lun);
        }
        self.migrating = pages;
        let block_pages = i64::from(pages_per_block);
        let receiver = receiver.unwrap_or_else(|| {
            let can_give = self.reclaimable_pages(subgroup) >= block_pages;
            if can_give { self.neediest(group, lun) } else { group }
        });
        self.space.give(self.space.subgroup(receiver, lun));
        Ok(())
    }

    /// Writes a migrating page of `group` to the group that it belongs to now.
    /// The page stays in `group` if the other group would need the last free block of the LUN.
    fn migrate(&mut self, logical: u32, group: usize, lun: usize) {
        let group_now = self.group_of_migration(logical, group);
        let mut target = self.space.subgroup(group_now, lun);
        let own = self.space.subgroup(group, lun);
        if self.core.frontiers[target].is_full() && !self.adopt(target, lun) {
            if target == own || self.core.flash.free_blocks(lun) > 1 {
                self.open(target, lun);
            } else {
                target = own;
                if self.core.frontiers[own].is_full() && !self.adopt(own, lun) {
                    self.open(own, lun);
                }
            }
        }
        self.groups.count_migration(group_now, target != own);
        self.core.flash.migrate(logical, &mut self.core.frontiers[target], Cause::Gc);
        self.core.candidates_mut().add_page(target);
        if self.core.frontiers[target].is_full() {
            self.core.close(target);
        }
    }
}

/// Number of valid pages of a group, on all LUNs.
pub(super) fn valid_pages(candidates: &Candidates, group: usize, luns: usize) -> u32 {
    (group * luns..(group + 1) * luns).map(|subgroup| candidates.valid_pages(subgroup)).sum()
}
