//! Faster writes of many pages at once.
//! The groups of several pages are determined before the invalid pages of blocks are counted.

use super::candidates::Candidates;
use super::drive::{Grouped, Oracle};
use super::groups::Groups;
use super::space::Space;
use crate::error::Result;
use crate::flash::{Director, Loss, NextPage, Stop, Tap};
use crate::victims::VictimPolicy;

impl<T: Tap> Grouped<T> {
    /// Writes pages that are all within one interval, with the group of several pages determined
    /// first.
    pub(super) fn write_ahead(&mut self, pages: &[u32], hint_of: &[u8]) -> Result<()> {
        self.core.flash.prefetch_run(pages);
        let mut decided = None;
        let mut at = 0;
        while at < pages.len() {
            let group = match decided.take() {
                Some(group) => group,
                None => self.group_of_write(pages[at], hint_of.get(at).copied())?,
            };
            let lun = self.lun_with_room(group)?;
            let first = self.space.subgroup(group, lun);
            let Grouped { core, oracle, groups, space, next_lun, luns, .. } = self;
            let each = core.program_each(&pages[at..], first, |candidates| PageByPage {
                candidates,
                oracle,
                groups,
                space,
                next_lun,
                luns: *luns,
                pages: &pages[at..],
                hint_of: hint_of.get(at..).unwrap_or_default(),
            });
            at += each.pages;
            match each.stop {
                Stop::End => {}
                Stop::Full(subgroup) => {
                    self.core.close(subgroup);
                }
                Stop::NoRoom(subgroup) => {
                    let group = self.space.group_of(subgroup);
                    self.next_lun[group] = subgroup % self.luns;
                    decided = Some(group);
                }
            }
        }
        Ok(())
    }
}

/// Choice of write frontiers for `Core::program_each`: determines the group of each page.
struct PageByPage<'a> {
    candidates: &'a mut Candidates,
    oracle: &'a mut Oracle,
    groups: &'a mut Groups,
    space: &'a Space,
    next_lun: &'a mut [usize],
    luns: usize,
    pages: &'a [u32],
    hint_of: &'a [u8],
}

impl Director for PageByPage<'_> {
    #[inline(always)]
    fn target(&mut self, page: &NextPage) -> usize {
        self.oracle.prefetch_ahead(self.pages, page.at);
        let held_by =
            || page.holder.map(|block| self.space.group_of(self.candidates.subgroup_of(block)));
        let hint = self.hint_of.get(page.at).copied();
        let group = self.oracle.group_of_write(page.logical, hint, held_by, page.now);
        let lun = self.next_lun[group];
        self.next_lun[group] = if lun + 1 == self.luns { 0 } else { lun + 1 };
        self.space.subgroup(group, lun)
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        self.candidates.prefetch(block);
    }

    #[inline(always)]
    fn on_program(&mut self, subgroup: usize) {
        self.candidates.add_page(subgroup);
        self.groups.count_write(self.space.group_of(subgroup));
    }

    #[inline(always)]
    fn on_invalidate(&mut self, Loss { block, invalid_pages }: Loss, now: u64) {
        self.candidates.on_invalidate(block, invalid_pages, now);
    }
}
