//! Saved state of the grouped managers, and the invariants of their accounts.

use super::candidates::Candidates;
use super::drive::{Grouped, HostGroups, Oracle};
use crate::error::Result;
use crate::flash::{BlockState, Tap};
use crate::state::{Reader, State, Writer, contradiction, require, state};

state! {
    Grouped<T: Tap> {
        fixed name,
        fixed config,
        nested core,
        nested groups,
        nested space,
        nested oracle,
        fixed luns,
        fixed most_groups,
        fixed usable_blocks,
        fixed interval_pages,
        value interval_left,
        table next_lun,
        table moved_blocks,
        nested group_log,
        scratch migrating,
    } where check
}

impl State for Oracle {
    fn save(&self, to: &mut Writer) {
        match self {
            Oracle::Nothing => {}
            Oracle::Host(host) => host.save(to),
            Oracle::Filters(filters) => filters.save(to),
            Oracle::Intervals(intervals) => intervals.save(to),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        match self {
            Oracle::Nothing => Ok(()),
            Oracle::Host(host) => host.restore(from),
            Oracle::Filters(filters) => filters.restore(from),
            Oracle::Intervals(intervals) => intervals.restore(from),
        }
    }
}

impl State for HostGroups {
    fn save(&self, to: &mut Writer) {
        to.value(&self.named_groups);
        to.list(&self.group_of_hint);
        to.table(self.hint_of_page.as_deref().unwrap_or_default());
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.named_groups = from.value("HostGroups.said")?;
        from.list(&mut self.group_of_hint, "HostGroups.group_of_hint")?;
        from.table(self.hint_of_page.as_deref_mut().unwrap_or_default(), "HostGroups.hint_of_page")
    }
}

/// Blocks and pages of a subgroup (a group on a LUN), counted from the flash.
#[derive(Clone, Copy, Default)]
struct Contents {
    blocks: i64,
    invalid_pages: u32,
    valid_pages: u32,
}

impl<T: Tap> Grouped<T> {
    /// Checks that the restored data is consistent.
    fn check(&self) -> Result<()> {
        let flash = &self.core.flash;
        let is_group = |group: usize| self.groups.order().contains(&group);
        let are_known = (0..flash.geometry().blocks()).all(|block| {
            let subgroup = self.core.candidates().subgroup_of(block);
            !matches!(flash.state(block), BlockState::Open | BlockState::Closed)
                || is_group(subgroup / self.luns)
                    && (self.luns == 1 || flash.pool_of(block) == subgroup % self.luns)
        });
        require(are_known, "the group of a block")?;
        require(
            (1..=self.interval_pages).contains(&self.interval_left),
            "the rest of the interval",
        )?;
        require(self.next_lun.iter().all(|&lun| lun < self.luns), "the next LUN of a group")?;
        require(
            self.moved_blocks.iter().all(|&n| n < u32::MAX / 2),
            "the number of blocks given away",
        )?;
        self.check_books().map_err(|broken| contradiction(&broken))?;
        if let Oracle::Intervals(intervals) = &self.oracle {
            require(intervals.are_open(self.groups.order()), "the groups with open blocks")?;
        }
        let Oracle::Host(HostGroups { named_groups, group_of_hint, .. }) = &self.oracle else {
            return Ok(());
        };
        let are_groups = group_of_hint.len() == named_groups.len()
            && group_of_hint.iter().all(|&group| is_group(usize::from(group)));
        require(are_groups, "the groups that the host has named")
    }

    /// Checks that every page and block is accounted to exactly one group.
    pub(super) fn check_books(&self) -> std::result::Result<(), String> {
        let expect = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let contents = self.contents();
        let mut owned_on = vec![0; self.luns];
        for (subgroup, contents) in contents.iter().enumerate() {
            let owned = i64::from(self.space.owned(subgroup));
            let credits = i64::from(self.space.credits(subgroup));
            expect(owned == contents.blocks + credits, "owned = held + free")?;
            owned_on[subgroup % self.luns] += owned;
            let books: &Candidates = self.core.candidates();
            let invalid_pages = books.invalid_pages(subgroup);
            expect(
                invalid_pages == contents.invalid_pages,
                "counted invalid pages of a subgroup = those on the flash",
            )?;
            let valid_pages = books.valid_pages(subgroup);
            expect(
                valid_pages == contents.valid_pages,
                "counted valid pages of a subgroup = those on the flash",
            )?;
        }
        let usable = i64::from(self.usable_blocks / self.luns as u32);
        let all_owned = owned_on.iter().all(|&owned| owned == usable);
        expect(all_owned, "the groups together own each LUN's usable blocks")
    }

    /// Blocks and pages of each subgroup, counted from the flash.
    fn contents(&self) -> Vec<Contents> {
        let flash = &self.core.flash;
        let pages_per_block = flash.geometry().pages_per_block();
        let mut contents = vec![Contents::default(); self.most_groups * self.luns];
        for block in 0..flash.geometry().blocks() {
            let is_open = flash.state(block) == BlockState::Open;
            if !is_open && flash.state(block) != BlockState::Closed {
                continue;
            }
            let of = &mut contents[self.core.candidates().subgroup_of(block)];
            let invalid_pages = flash.invalid_pages(block);
            of.blocks += 1;
            of.valid_pages += pages_per_block - invalid_pages;
            of.invalid_pages += if is_open { 0 } else { invalid_pages };
        }
        for frontier in self.core.frontiers.iter().filter(|frontier| !frontier.is_full()) {
            let block = flash.block_behind(frontier);
            contents[self.core.candidates().subgroup_of(block)].valid_pages -=
                frontier.room_pages();
        }
        contents
    }
}
