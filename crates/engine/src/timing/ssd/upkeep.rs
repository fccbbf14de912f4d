//! Upkeep of a drive: its mapping table, refresh, and background collection.

use std::collections::VecDeque;

use super::Ssd;
use super::programs::PageWrite;
use crate::error::Result;
use crate::flash::{Cause, Geometry, Table, filled};
use crate::hints::OF_DRIVE;
use crate::managers::BlockManager;
use crate::state::state;
use crate::timing::map_cache::{EntryState, Evicted};
use crate::timing::nand::{OpId, Waiter};
use crate::timing::params::{Collection, Timing};

/// Pending upkeep work.
#[derive(Debug)]
pub struct Upkeep {
    /// Evicted parts of the mapping table that must be written to flash.
    pub evicted: Vec<Evicted>,
    /// Number of erases of background collections that are not complete, by LUN.
    pub collecting: Vec<u32>,
    soft_blocks: u32,
    hard_blocks: u32,
    /// Number of reads of each block since its erase. Empty without read disturb.
    reads: Table<u32>,
    most_reads: u32,
    retention_ns: u64,
    /// Blocks in order of their last program.
    /// Each has the time of that program and the block's erase count at that time.
    programmed: VecDeque<(u64, u32, u32)>,
    /// Blocks whose data must be moved, to prevent data loss.
    fading: Vec<u32>,
    /// Number of blocks that the drive may still collect or move on its own before the host's
    /// next request. Without this limit, upkeep would never end if the required number of free
    /// blocks cannot be reached, or if data must be refreshed again as soon as it is moved.
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
    /// Builds the upkeep of a new drive with `logical_pages`.
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

    /// Records that the host submits a request.
    pub fn note_request(&mut self) {
        self.moves_left = self.blocks;
    }

    /// Stops refresh and idle-time collection until the host submits a request.
    pub fn rest(&mut self) {
        self.moves_left = 0;
    }

    /// Counts a read of a block. At the limit of reads, the block is listed for a refresh.
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

    /// Resets the read count of a block that is erased.
    pub fn forget_reads(&mut self, block: u32) {
        if let Some(reads) = self.reads.get_mut(block as usize) {
            *reads = 0;
        }
    }

    /// Tracks the retention of a block that was fully programmed.
    pub fn watch_retention(&mut self, block: u32, erases: u32, now_ns: u64) {
        if self.retention_ns > 0 {
            self.programmed.push_back((now_ns, block, erases));
        }
    }
}

/// Number of free blocks of a LUN below which the LUN collects while idle.
/// This is the profile's value, but at most a quarter of the spare blocks.
fn soft_blocks(timing: &Timing, geometry: &Geometry, logical_pages: u32) -> u32 {
    let spare_pages = geometry.physical_pages() - logical_pages;
    let spare_blocks = spare_pages / geometry.pages_per_block() / geometry.luns();
    timing.collection.soft_blocks.min((spare_blocks / 4).max(1))
}

impl Ssd {
    /// Lets a drive that runs without timing collect as many blocks as during a long idle time.
    pub fn rest(drive: &mut dyn BlockManager, timing: &Timing) -> Result<()> {
        if !timing.collection.background {
            return Ok(());
        }
        let geometry = *drive.flash().geometry();
        let blocks = soft_blocks(timing, &geometry, drive.flash().logical_pages());
        for lun in 0..geometry.luns() as usize {
            let pool = if drive.flash().pools() == 1 { 0 } else { lun };
            // The limit is the same as for a drive with timing: the largest number of blocks
            // collected before the host's next request.
            for _ in 0..geometry.blocks() {
                if drive.flash().free_blocks(pool) >= blocks || !drive.collect_idle(lun)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Looks up the entry of a page in the mapping table, and starts to read it if necessary.
    /// Returns the read that loads the entry, which may have been in progress before. Returns None
    /// if the entry is in memory or was never written to flash.
    pub(super) fn look_up(&mut self, page: u32, is_changed: bool) -> Option<OpId> {
        let map = self.map.as_mut()?;
        match map.touch(page, is_changed, &mut self.upkeep.evicted) {
            EntryState::InMemory => return None,
            EntryState::OnItsWay(read) => return Some(read),
            EntryState::Missing => {}
        }
        let (table_page, bytes) = (map.table_page(page), map.read_bytes);
        let physical = self.drive.flash().physical(self.host_pages + table_page)?;
        if self.nand.is_in_memory(physical) {
            return None;
        }
        let read = self.unsubmitted_read(physical, bytes);
        self.map.as_mut()?.begin_read(page, read);
        self.nand.add_waiter(read, Waiter::TablePage(table_page));
        self.nand.mark_of_table(read);
        self.nand.submit(read, &mut self.events);
        Some(read)
    }

    /// Updates the mapping-table entries of copied pages, and writes all evicted segments.
    pub(super) fn update_table(&mut self) -> Result<()> {
        loop {
            let Some(map) = &mut self.map else { return Ok(()) };
            // This check saves time: usually no page was copied.
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
        self.write_hinted(page, OF_DRIVE)?;
        let write = PageWrite {
            cause: Cause::Mapping,
            bytes: self.page_bytes,
            after: [rest, None],
            waiter: None,
        };
        self.time_ops(Some(write), Cause::Gc, None);
        Ok(())
    }

    /// Performs the drive's own work that is due: refresh, collection, folding and table writes.
    #[inline(always)]
    pub(super) fn perform_upkeep(&mut self) -> Result<()> {
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
        if self.map.is_some() { self.update_table() } else { Ok(()) }
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
                self.time_ops(None, Cause::Refresh, None);
            }
        }
        Ok(())
    }

    /// Starts collection on idle LUNs with few free blocks.
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

    /// Starts collection on LUNs that are almost out of free blocks.
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
            self.time_ops(None, Cause::Gc, Some(lun));
        }
        Ok(has_collected)
    }
}
