//! SLC cache, which receives the host's pages before they are folded into the other flash.
//!
//! A page is in the cache or in the other flash, never in both. A write to the cache immediately
//! unmaps the page in the other flash, as in a drive with a single mapping table.

use std::ops::Range;

use super::programs::PageWrite;
use super::requests::Pending;
use super::{Event, Ssd, Waiter};
use crate::error::Result;
use crate::flash::Cause;
use crate::hints::OF_DRIVE;
use crate::managers::BlockManager;
use crate::state::{MOST_PLAUSIBLE, state};
use crate::timing::device::SlcWear;
use crate::timing::nand::OpId;
use crate::timing::params::Timing;
use crate::timing::slc::{Slc, SlcBlocks, SlcLog, WhenFull};

/// SLC cache and the state of its operations.
#[derive(Debug)]
pub struct SlcCache {
    log: SlcLog,
    blocks: SlcBlocks,
    /// Incomplete program, and the number of pages that its unit still needs.
    begun: Option<(OpId, u32)>,
    idle_ns: u64,
    /// True while the cache is folded (its data moved to the other flash) during idle time.
    pub is_folding: bool,
    /// Byte at which the host's last write ended.
    /// The next field is the length in bytes of the sequential run up to there.
    run_end: u64,
    run_bytes: u64,
    /// Number of block erases of the cache.
    erases: u64,
    /// Pages that are being folded (moved to the other flash), with their logical pages.
    moved: Vec<(u32, u32)>,
}

state!(SlcCache {
    nested log,
    fixed blocks,
    scratch begun,
    fixed idle_ns,
    scratch is_folding,
    scratch run_end,
    scratch run_bytes,
    value erases,
    scratch moved,
} where is_plausible);

impl SlcCache {
    /// Builds the empty cache of a drive, if its profile has one.
    pub fn new(
        timing: &Timing,
        drive: &dyn BlockManager,
        host_pages: u32,
    ) -> Result<Option<Box<Self>>> {
        let flash = drive.flash();
        let geometry = flash.geometry();
        let Some(blocks) = SlcBlocks::new(timing, geometry, host_pages) else { return Ok(None) };
        let mapped = (0..host_pages).filter(|&page| flash.physical(page).is_some()).count();
        let first_page = geometry.physical_pages();
        Ok(Some(Box::new(SlcCache {
            log: SlcLog::new(blocks.clone(), first_page, host_pages, mapped as u32)?,
            blocks,
            begun: None,
            idle_ns: (timing.slc.idle_ms * 1e6) as u64,
            is_folding: false,
            run_end: 0,
            run_bytes: 0,
            erases: 0,
            moved: Vec::new(),
        })))
    }

    fn is_plausible(&self) -> bool {
        self.erases < MOST_PLAUSIBLE
    }

    /// Blocks of the SLC cache.
    pub fn blocks(&self) -> SlcBlocks {
        self.blocks.clone()
    }

    /// Wear and contents of the cache: block erases so far, and pages with data.
    /// Blocks are erased one row (one block per die) at a time.
    pub fn wear(&self) -> SlcWear {
        let SlcBlocks { dies, row_pages, most_rows, .. } = self.blocks;
        let rows_erased = self.erases / u64::from(dies);
        SlcWear {
            erases: self.erases,
            blocks: u64::from(most_rows) * u64::from(dies),
            erased_pages: rows_erased.saturating_mul(u64::from(row_pages)),
            valid_pages: self.log.valid_pages(),
        }
    }

    /// True if the cache contains a logical page.
    pub fn holds(&self, page: u32) -> bool {
        self.log.find(page).is_some()
    }

    /// Sets the number of logical pages with data, in the cache or in the other flash.
    pub fn set_mapped_pages(&mut self, pages: u32) {
        self.log.mapped_pages = pages;
    }

    /// True if host data waits for a full program unit.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }
}

impl Ssd {
    /// Physical page of a logical page, in the SLC cache or in the other flash.
    #[inline(always)]
    pub(super) fn physical(&self, page: u32) -> Option<u32> {
        if let Some(slc) = &self.slc
            && let Some(slc_page) = slc.log.find(page)
        {
            return Some(slc_page);
        }
        self.drive.flash().physical(page)
    }

    /// Tracks the host's writes. Returns true if a write bypasses the cache as part of a long
    /// run.
    #[inline(always)]
    pub(super) fn is_direct(&mut self, pending: &Pending) -> bool {
        let least_bytes = self.timing.slc.direct_bytes;
        let Some(slc) = &mut self.slc else { return false };
        let is_next = pending.offset == slc.run_end;
        slc.run_bytes = if is_next { slc.run_bytes + pending.length } else { pending.length };
        slc.run_end = pending.offset + pending.length;
        least_bytes > 0 && slc.run_bytes >= least_bytes
    }

    /// Ensures that the cache has a free page. Returns false if the page must be written
    /// elsewhere.
    #[cold]
    pub(super) fn slc_has_room(&mut self) -> Result<bool> {
        if self.slc().begun.is_some() {
            return Ok(true);
        }
        let Slc { when_full, watermark, .. } = self.timing.slc;
        if !self.slc().log.has_open_row() {
            self.make_room_for_row(when_full)?;
            let log = &mut self.slc().log;
            if log.used_rows() >= log.limit() {
                return Ok(false);
            }
            log.open_row();
        }
        if when_full == WhenFull::Fold {
            let log = &self.slc().log;
            let least_rows = (watermark * f64::from(log.limit())).ceil().max(1.0) as u32;
            for _ in least_rows..=log.used_rows() {
                if self.slc().log.has_closed_row() {
                    self.fold_unit()?;
                }
            }
        }
        let log = &mut self.slc().log;
        let first_page = log.next_page();
        let pages = log.unit_pages();
        let op = self.nand.add_slc_program(first_page);
        self.slc().begun = Some((op, pages));
        Ok(true)
    }

    /// Folds rows until there is room for another row, or no row may be folded.
    /// Rows without valid pages may always be folded, others only if the cache is folded when full.
    fn make_room_for_row(&mut self, when_full: WhenFull) -> Result<()> {
        loop {
            let log = &self.slc().log;
            let is_full = log.used_rows() >= log.limit();
            let may_fold = log.has_closed_row() && when_full == WhenFull::Fold;
            if !is_full || !(log.has_stale_row() || may_fold) {
                return Ok(());
            }
            self.fold_unit()?;
        }
    }

    /// Writes a host page to the cache. The cache must have an incomplete program.
    #[cold]
    pub(super) fn write_to_slc(
        &mut self,
        (page, tag): (u32, u8),
        bytes: u32,
        waiter: Waiter,
    ) -> Result<()> {
        let write = self.prepare_write(page, bytes, waiter);
        let is_behind = self.drive.flash().physical(page).is_some();
        if is_behind {
            self.drive.trim(page..page + 1)?;
        }
        let slc = self.slc();
        let is_new = !is_behind && slc.log.find(page).is_none();
        slc.log.mapped_pages += u32::from(is_new);
        let (op, _) = slc.begun.expect("the cache has an incomplete program after room was made");
        for preceding in write.after.into_iter().flatten() {
            self.nand.add_waiter(preceding, Waiter::Op(op));
        }
        self.nand.add_waiter(op, waiter);
        self.tag_in_slc(page, tag);
        self.fill_slc(Some(page), write.bytes);
        self.update_table()
    }

    /// Pads the incomplete program unit, so that it is programmed now.
    #[inline(always)]
    pub(super) fn pad_slc(&mut self) {
        while let Some(slc) = &self.slc
            && slc.has_begun()
        {
            self.fill_slc(None, 0);
        }
    }

    /// Adds a page to the incomplete program.
    /// Submits the program if that was the last page of its unit.
    #[cold]
    fn fill_slc(&mut self, logical: Option<u32>, bytes: u32) {
        let tag = logical.map_or(OF_DRIVE, |page| self.slc_tag(page));
        self.count_program(Cause::Slc, tag);
        let slc = self.slc();
        let physical = slc.log.take_page(logical);
        let (op, missing) =
            slc.begun.expect("the cache has an incomplete program to add a page to");
        slc.begun = (missing > 1).then_some((op, missing - 1));
        if self.nand.fill(op, physical, bytes) {
            self.nand.submit(op, &mut self.events);
        }
    }

    /// Forgets a host page in the cache, which is written to the other flash.
    #[inline(always)]
    pub(super) fn forget_in_slc(&mut self, page: u32) {
        if let Some(slc) = &mut self.slc {
            let was_there = slc.log.forget(page);
            let is_new = !was_there && self.drive.flash().physical(page).is_none();
            slc.log.mapped_pages += u32::from(is_new);
        }
    }

    /// Forgets trimmed pages, and returns how many of them were in the cache.
    /// Those in the other flash must still be trimmed.
    pub(super) fn trim_slc(&mut self, pages: Range<u32>) -> u64 {
        let Some(slc) = &mut self.slc else { return 0 };
        let mut forgotten = 0;
        for page in pages {
            let was_there = slc.log.forget(page);
            let is_mapped = was_there || self.drive.flash().physical(page).is_some();
            slc.log.mapped_pages -= u32::from(is_mapped);
            forgotten += u64::from(was_there);
        }
        forgotten
    }

    /// Moves the next program unit of the oldest row to the other flash.
    /// After the last unit the row is erased. The erase does not wait for copies whose program unit
    /// is not full, which are safe in the controller's memory.
    #[cold]
    fn fold_unit(&mut self) -> Result<()> {
        let slc = self.slc();
        let mut moved = std::mem::take(&mut slc.moved);
        let is_last = slc.log.next_to_fold(&mut moved);
        let page_bytes = self.page_bytes;
        let reads = self.read_to_fold(&moved);
        for (&(_, logical), read) in moved.iter().zip(reads) {
            self.slc().log.forget(logical);
            self.collect_if_short()?;
            self.write_hinted(logical, self.slc_tag(logical))?;
            let write = PageWrite {
                cause: Cause::Folding,
                bytes: page_bytes,
                after: [read, None],
                waiter: None,
            };
            self.time_ops(Some(write), Cause::Gc, None);
            if self.map.is_some() {
                self.programs.moved.push(logical);
            }
            self.update_table()?;
        }
        let slc = self.slc();
        slc.moved = moved;
        if is_last {
            let row = slc.log.give_up_oldest();
            slc.erases += u64::from(slc.blocks.dies);
            self.nand.erase_slc_row(row, &mut self.events);
        }
        Ok(())
    }

    /// Reads the folded pages that are not in memory, neighbouring pages of a flash page
    /// together.
    /// Returns the read of each page.
    fn read_to_fold(&mut self, moved: &[(u32, u32)]) -> Vec<Option<OpId>> {
        let mut last: Option<(u32, OpId)> = None;
        let mut reads = Vec::with_capacity(moved.len());
        for &(physical, _) in moved {
            if self.nand.is_in_memory(physical) {
                reads.push(None);
                continue;
            }
            let fetched = self.nand.places.read_of(physical);
            let op = match last {
                Some((flash_page, op)) if flash_page == fetched => op,
                _ => {
                    self.submit_last(&mut last);
                    let read = self.nand.add_read(physical);
                    self.nand.mark_of_copy(read);
                    read
                }
            };
            self.nand.add_bytes(op, self.page_bytes);
            reads.push(Some(op));
            last = Some((fetched, op));
        }
        self.submit_last(&mut last);
        reads
    }

    /// Schedules a check whether the device is still idle; if so, its cache is folded.
    #[inline(always)]
    pub(super) fn watch_slc_idleness(&mut self) {
        if let Some(slc) = &self.slc
            && slc.idle_ns > 0
            && self.requests.is_empty()
        {
            self.events.at(self.events.now_ns() + slc.idle_ns, Event::SlcIdle(self.submitted));
        }
    }

    /// Starts folding if no request arrived since `submitted` requests had been submitted.
    pub(super) fn begin_idle_folding(&mut self, submitted: u64) {
        if submitted == self.submitted {
            self.slc().is_folding = true;
        }
    }

    /// Ends idle-time folding when a request arrives.
    pub(super) fn end_idle_folding(&mut self) {
        if let Some(slc) = &mut self.slc {
            slc.is_folding = false;
        }
    }

    /// Folds the next part of the cache during idle time, after the previous part is complete.
    #[cold]
    pub(super) fn fold_while_idle(&mut self) -> Result<()> {
        while self.slc().is_folding && !self.nand.has_work() {
            if !self.slc().log.has_closed_row() {
                self.slc().is_folding = false;
                return Ok(());
            }
            for _ in 0..self.slc().log.units_of_step() {
                if self.slc().log.has_closed_row() {
                    self.fold_unit()?;
                }
            }
        }
        Ok(())
    }

    fn slc(&mut self) -> &mut SlcCache {
        self.slc.as_deref_mut().expect("this drive has an SLC cache")
    }
}
