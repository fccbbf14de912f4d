//! Background work: collection, refresh, and writes of the mapping table.

use std::collections::BTreeMap;

use super::TimedDrive;
use super::array::{OpId, Waiter};
use super::profile::{Logical, Profile, ProgramFor};
use super::table::EntryLocation;

#[derive(Debug)]
pub struct Upkeep {
    /// Unfinished erases of background collections, by LUN.
    pub collecting: Vec<usize>,
    reads_of: BTreeMap<u32, u32>,
    most_reads: u32,
    /// Blocks that became full: the time in ns, the block, and its erases then.
    full_blocks: Vec<(u64, u32, u32)>,
    retention_ns: u64,
    /// Blocks that must be refreshed; the last in the list is refreshed first.
    to_refresh: Vec<u32>,
    /// Number of blocks that may be moved before the next request.
    pub moves_left: u32,
    soft_blocks: u32,
    hard_blocks: u32,
}

impl Upkeep {
    pub fn new(profile: &Profile) -> Self {
        let spare_pages = profile.blocks * profile.pages_per_block - profile.logical_pages;
        let spare_blocks = spare_pages / profile.pages_per_block / profile.luns;
        let soft_blocks = profile.soft_blocks.min(spare_blocks / 4).max(1.min(profile.soft_blocks));
        Upkeep {
            soft_blocks,
            hard_blocks: if profile.paced {
                soft_blocks
            } else {
                profile.hard_blocks.min(soft_blocks)
            },
            collecting: vec![0; profile.luns as usize],
            reads_of: BTreeMap::new(),
            most_reads: profile.reads_per_block,
            full_blocks: Vec::new(),
            retention_ns: profile.retention_ns,
            to_refresh: Vec::new(),
            moves_left: profile.blocks,
        }
    }

    pub fn count_read(&mut self, block: u32) {
        let reads = self.reads_of.entry(block).or_insert(0);
        *reads += 1;
        if self.most_reads > 0 && *reads == self.most_reads {
            *reads = 0;
            self.to_refresh.push(block);
        }
    }

    pub fn forget_reads(&mut self, block: u32) {
        self.reads_of.remove(&block);
    }

    pub fn watch_retention(&mut self, block: u32, erases: u32, now_ns: u64) {
        if self.retention_ns > 0 {
            self.full_blocks.push((now_ns, block, erases));
        }
    }
}

impl<L: Logical> TimedDrive<L> {
    /// Uses a page's entry of the mapping table.
    /// Returns the read that must be waited for, if any.
    pub(super) fn look_up(&mut self, page: u32, is_changed: bool) -> Option<OpId> {
        let table = self.table.as_mut()?;
        match table.touch(page, is_changed) {
            EntryLocation::InMemory => return None,
            EntryLocation::InRead(read) => return Some(read),
            EntryLocation::NotInMemory => {}
        }
        let table_page = table.page_of(page);
        let physical = self.logical.physical(self.profile.host_pages + table_page)?;
        if self.array.is_in_memory(physical) {
            return None;
        }
        let read = self.new_read(physical, self.profile.map_segment_bytes.max(512));
        self.table.as_mut()?.read_last(page, read);
        self.array.notify(read, Waiter::TablePage(table_page));
        self.array.mark_of_table(read);
        self.array.submit(read, &mut self.clock);
        Some(read)
    }

    /// Changes the entries of copied pages, and writes the segments that left the memory.
    pub(super) fn update_table(&mut self) {
        loop {
            for page in std::mem::take(&mut self.programs.moved) {
                if let Some(table) = &mut self.table
                    && page < self.profile.host_pages
                {
                    table.change_lazily(page);
                }
            }
            let evicted = self.table.as_mut().and_then(|table| table.evicted.pop());
            let Some(evicted) = evicted else { return };
            self.write_table_page(evicted.table_page, evicted.is_partial);
        }
    }

    pub(super) fn run_upkeep(&mut self) {
        self.refresh();
        self.collect_idle();
        self.fold_while_idle();
        self.update_table();
    }

    fn refresh(&mut self) {
        let now_ns = self.clock.now_ns;
        while let Some(&(at_ns, block, erases)) = self.upkeep.full_blocks.first()
            && at_ns + self.upkeep.retention_ns < now_ns
        {
            self.upkeep.full_blocks.remove(0);
            if self.logical.erases_of(block) == erases {
                self.upkeep.to_refresh.push(block);
            }
        }
        while self.upkeep.moves_left > 0
            && let Some(block) = self.upkeep.to_refresh.pop()
        {
            if let Some(ops) = self.logical.collect_closed(block) {
                self.upkeep.moves_left -= 1;
                self.begin_collection(&ops, ProgramFor::Refresh, None);
            }
        }
    }

    fn collect_idle(&mut self) {
        while let Some(unit) = self.array.idle_units.pop() {
            for lun in 0..self.profile.luns as usize {
                let is_of_unit = self.profile.luns == 1 || self.profile.unit_of(lun) == unit;
                if self.profile.background
                    && is_of_unit
                    && self.array.is_idle(unit)
                    && self.upkeep.moves_left > 0
                    && self.collect_below(lun, self.upkeep.soft_blocks)
                {
                    self.upkeep.moves_left -= 1;
                }
            }
        }
    }

    pub(super) fn collect_if_short(&mut self) {
        for lun in 0..self.profile.luns as usize {
            if self.profile.background {
                self.collect_below(lun, self.upkeep.hard_blocks);
            }
        }
    }

    /// Begins a collection on a LUN that has fewer than `blocks` free blocks; true if it did.
    ///
    /// It does nothing while the previous background collection of the LUN is not done.
    fn collect_below(&mut self, lun: usize, blocks: u32) -> bool {
        if self.logical.free_blocks(lun) < blocks
            && self.upkeep.collecting[lun] == 0
            && let Some(ops) = self.logical.collect_idle(lun)
        {
            self.begin_collection(&ops, ProgramFor::Gc, Some(lun));
            return true;
        }
        false
    }
}
