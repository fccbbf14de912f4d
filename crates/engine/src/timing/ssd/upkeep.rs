//! Upkeep of a drive by itself: its mapping table, refresh, and collection in the background.

use std::collections::VecDeque;

use super::Ssd;
use super::programs::PageWrite;
use crate::error::Result;
use crate::flash::{Cause, Geometry, Table, filled};
use crate::managers::BlockManager;
use crate::state::state;
use crate::timing::map_cache::{Evicted, Found};
use crate::timing::nand::{OpId, Waiter};
use crate::timing::params::{Collection, Timing};

/// State of the upkeep: the work to be done.
#[derive(Debug)]
pub struct Upkeep {
    /// Parts of the table that must be written.
    pub evicted: Vec<Evicted>,
    /// Erases of background collections that are not done, by LUN.
    pub collecting: Vec<u32>,
    soft_blocks: u32,
    hard_blocks: u32,
    /// Reads of each block since its erase; empty if reads do no harm.
    reads: Table<u32>,
    most_reads: u32,
    retention_ns: u64,
    /// Blocks in the order of their last program, with when that was and their erases then.
    programmed: VecDeque<(u64, u32, u32)>,
    /// Blocks whose data must be moved.
    fading: Vec<u32>,
    /// Moves of blocks that are left to the drive itself before the host's next request.
    /// They are limited so that what never gets better (a limit of free blocks out of reach, data
    /// that fade as they are moved) ends.
    moves_left: u32,
    blocks: u32,
}

state!(Upkeep {
    scratch evicted,
    scratch collecting,
    fixed soft_blocks,
    fixed hard_blocks,
    table reads,
    fixed most_reads,
    fixed retention_ns,
    value programmed,
    list fading,
    scratch moves_left,
    fixed blocks,
} where is_sound);

impl Upkeep {
    /// Starts with nothing to do, on a new drive with so many logical pages.
    pub fn new(timing: &Timing, geometry: &Geometry, logical_pages: u32) -> Result<Self> {
        let soft_blocks = soft_blocks(timing, geometry, logical_pages);
        let Collection { hard_blocks, paced, .. } = timing.collection;
        let most_reads = timing.refresh.reads_per_block;
        let counted = if most_reads > 0 { geometry.blocks() as usize } else { 0 };
        Ok(Upkeep {
            evicted: Vec::new(),
            collecting: vec![0; geometry.luns() as usize],
            soft_blocks,
            hard_blocks: if paced { soft_blocks } else { hard_blocks.min(soft_blocks) },
            reads: filled(0, counted)?,
            most_reads,
            retention_ns: (timing.refresh.retention_s * 1e9) as u64,
            programmed: VecDeque::new(),
            fading: Vec::new(),
            moves_left: geometry.blocks(),
            blocks: geometry.blocks(),
        })
    }

    fn is_sound(&self) -> bool {
        let mut blocks =
            self.programmed.iter().map(|&(_, block, _)| block).chain(self.fading.iter().copied());
        blocks.all(|block| block < self.blocks)
            && self.reads.iter().all(|&reads| reads < self.most_reads)
    }

    /// Hears that the host asks for something.
    pub fn hear_request(&mut self) {
        self.moves_left = self.blocks;
    }

    /// Leaves everything as it is until the host asks for something.
    pub fn rest(&mut self) {
        self.moves_left = 0;
    }

    /// Counts a read of a block, which may be one too many.
    #[inline(always)]
    pub fn count_read(&mut self, block: u32) {
        if let Some(reads) = self.reads.get_mut(block as usize) {
            *reads += 1;
            if *reads >= self.most_reads {
                *reads = 0;
                self.fading.push(block);
            }
        }
    }

    /// Forgets the reads of a block that is erased: they do no harm after that.
    pub fn forget_reads(&mut self, block: u32) {
        if let Some(reads) = self.reads.get_mut(block as usize) {
            *reads = 0;
        }
    }

    /// Watches the data of a block that was programmed to its end.
    pub fn watch_retention(&mut self, block: u32, erases: u32, now_ns: u64) {
        if self.retention_ns > 0 {
            self.programmed.push_back((now_ns, block, erases));
        }
    }
}

/// Free blocks of a LUN up to which it collects while it is idle.
/// They are what the profile says, but no more than a quarter of the spare ones.
fn soft_blocks(timing: &Timing, geometry: &Geometry, logical_pages: u32) -> u32 {
    let spare_pages = geometry.physical_pages() - logical_pages;
    let spare_blocks = spare_pages / geometry.pages_per_block() / geometry.luns();
    timing.collection.soft_blocks.min((spare_blocks / 4).max(1))
}

impl Ssd {
    /// Lets a drive collect, without time, as it would if its host left it alone for long.
    pub fn rest(drive: &mut dyn BlockManager, timing: &Timing) -> Result<()> {
        if !timing.collection.background {
            return Ok(());
        }
        let geometry = *drive.flash().geometry();
        let blocks = soft_blocks(timing, &geometry, drive.flash().logical_pages());
        for lun in 0..geometry.luns() as usize {
            let pool = if drive.flash().pools() == 1 { 0 } else { lun };
            // As many moves as a drive in time makes at most before its host's next request.
            for _ in 0..geometry.blocks() {
                if drive.flash().free_blocks(pool) >= blocks || !drive.collect_idle(lun)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Looks up the entry of a page in the mapping table.
    /// Returns the read under way that brings it, if it is not in memory. Who needs an entry whose
    /// page is on its way joins that read, whatever other entries it was begun for.
    pub(super) fn look_up(&mut self, page: u32, is_changed: bool) -> Option<OpId> {
        let map = self.map.as_mut()?;
        match map.touch(page, is_changed, &mut self.upkeep.evicted) {
            Found::InMemory => return None,
            Found::OnItsWay(read) => return Some(read),
            Found::Missing => {}
        }
        let (table_page, bytes) = (map.table_page(page), map.read_bytes);
        let physical = self.drive.flash().physical(self.host_pages + table_page)?;
        if self.nand.is_in_memory(physical) {
            return None;
        }
        let read = self.unsubmitted_read(physical, bytes);
        self.map.as_mut()?.begin_read(page, read);
        self.nand.tell(read, Waiter::TablePage(table_page));
        self.nand.mark_of_table(read);
        self.nand.submit(read, &mut self.events);
        Some(read)
    }

    /// Keeps the mapping table: takes in changes by copies, and writes what left its cache.
    pub(super) fn keep_table(&mut self) -> Result<()> {
        loop {
            let Some(map) = &mut self.map else { return Ok(()) };
            // Nearly always nothing was moved, and to drain nothing is not for nothing.
            if !self.programs.moved.is_empty() {
                for logical in self.programs.moved.drain(..) {
                    if logical < self.host_pages {
                        map.change_lazily(logical);
                    }
                }
            }
            let Some(evicted) = self.upkeep.evicted.pop() else { return Ok(()) };
            self.write_table_page(evicted)?;
        }
    }

    fn write_table_page(&mut self, evicted: Evicted) -> Result<()> {
        let page = self.host_pages + evicted.table_page;
        let old = self.drive.flash().physical(page).filter(|_| evicted.is_partial);
        let old = old.filter(|&physical| !self.nand.is_in_memory(physical));
        let rest = old.map(|physical| self.unsubmitted_read(physical, self.page_bytes));
        if let Some(rest) = rest {
            self.nand.submit(rest, &mut self.events);
        }
        self.write_hinted(page)?;
        let write = PageWrite {
            cause: Cause::Mapping,
            bytes: self.page_bytes,
            after: [rest, None],
            waiter: None,
        };
        self.give_time(Some(write), Cause::Gc, None);
        Ok(())
    }

    /// Does what a drive does for itself, where it is time for it.
    #[inline(always)]
    pub(super) fn keep_up(&mut self) -> Result<()> {
        if !self.upkeep.fading.is_empty() || !self.upkeep.programmed.is_empty() {
            self.refresh()?;
        }
        if !self.nand.idle_units.is_empty() {
            self.collect_idle()?;
        }
        if let Some(slc) = &self.slc
            && slc.is_folding
        {
            self.fold_while_idle()?;
        }
        if self.map.is_some() { self.keep_table() } else { Ok(()) }
    }

    fn refresh(&mut self) -> Result<()> {
        let oldest_ns = self.events.now_ns().saturating_sub(self.upkeep.retention_ns);
        while let Some(&(at_ns, block, erases)) = self.upkeep.programmed.front()
            && at_ns < oldest_ns
        {
            self.upkeep.programmed.pop_front();
            if self.drive.flash().erase_counts()[block as usize] == erases {
                self.upkeep.fading.push(block);
            }
        }
        while self.upkeep.moves_left > 0
            && let Some(block) = self.upkeep.fading.pop()
        {
            if self.drive.collect_closed(block)? {
                self.upkeep.moves_left -= 1;
                self.give_time(None, Cause::Refresh, None);
            }
        }
        Ok(())
    }

    /// Lets idle LUNs collect that have few free blocks left.
    fn collect_idle(&mut self) -> Result<()> {
        while let Some(unit) = self.nand.idle_units.pop() {
            let luns = self.drive.flash().geometry().luns();
            for lun in 0..luns {
                let is_of_unit = luns == 1 || self.nand.unit_of(lun) == unit;
                if is_of_unit
                    && self.nand.is_idle(unit)
                    && self.upkeep.moves_left > 0
                    && self.collect_below(lun, self.upkeep.soft_blocks)?
                {
                    self.upkeep.moves_left -= 1;
                }
            }
        }
        Ok(())
    }

    /// Lets LUNs collect that are about to run out of free blocks.
    pub(super) fn collect_if_short(&mut self) -> Result<()> {
        if self.timing.collection.background {
            for lun in 0..self.upkeep.collecting.len() as u32 {
                self.collect_below(lun, self.upkeep.hard_blocks)?;
            }
        }
        Ok(())
    }

    fn collect_below(&mut self, lun: u32, blocks: u32) -> Result<bool> {
        let flash = self.drive.flash();
        let pool = if flash.pools() == 1 { 0 } else { lun as usize };
        if flash.free_blocks(pool) >= blocks || self.upkeep.collecting[lun as usize] > 0 {
            return Ok(false);
        }
        let has_collected = self.drive.collect_idle(lun as usize)?;
        if has_collected {
            self.give_time(None, Cause::Gc, Some(lun));
        }
        Ok(has_collected)
    }
}
