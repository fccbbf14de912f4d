//! Programs and other operations in time, derived from the manager's flash operations.

use super::requests::Pending;
use super::{Ssd, Waiter};
use crate::error::Result;
use crate::flash::{Cause, FlashOp, Table, filled};
use crate::timing::nand::{NONE, OpId};

/// Incomplete program units, and the pages that collections have read or copied.
#[derive(Debug)]
pub struct Programs {
    /// For each block: the program of its incomplete unit.
    begun: Table<OpId>,
    /// Numbers of the blocks whose incomplete program unit contains host data.
    with_host_data: Vec<u32>,
    /// Pages that were read to be copied, each with the operation that reads it.
    /// After the copy the page is replaced by `NONE`: new data may be written to the same place and
    /// be read again.
    sources: Vec<(u32, OpId)>,
    /// Index in `sources` at which the search for the page of the next copy begins.
    next_source: usize,
    /// Programs that contain copied pages, since the last erase.
    copies: Vec<OpId>,
    /// Block that a wear leveller is filling.
    exchanged: Option<u32>,
    /// Copied logical pages whose mapping-table entries change, if the table has a cache.
    pub moved: Vec<u32>,
}

impl Programs {
    /// Builds the state of a drive with `blocks` blocks and without programs in progress.
    pub fn new(blocks: u32) -> Result<Self> {
        Ok(Programs {
            begun: filled(NONE, blocks as usize)?,
            with_host_data: Vec::new(),
            sources: Vec::new(),
            next_source: 0,
            copies: Vec::new(),
            exchanged: None,
            moved: Vec::new(),
        })
    }

    /// True if host data waits for a full program unit.
    pub fn has_begun(&self) -> bool {
        !self.with_host_data.is_empty()
    }

    /// Returns the read of a page that is copied, or None if the page was already in memory.
    /// Pages are copied in approximately the order in which they were read.
    fn source(&mut self, page: u32) -> Option<OpId> {
        let count = self.sources.len();
        let index = (self.next_source..count)
            .chain(0..self.next_source.min(count))
            .find(|&at| self.sources[at].0 == page)?;
        self.next_source = index + 1;
        let (_, op) = std::mem::replace(&mut self.sources[index], (NONE, NONE));
        (op != NONE).then_some(op)
    }
}

/// Write of a page to flash.
/// `bytes` is the number of bytes that cross the channel. `after` are the operations that must be
/// complete before. `waiter` is notified when the page is programmed.
#[derive(Debug, Clone, Copy)]
pub struct PageWrite {
    pub cause: Cause,
    pub bytes: u32,
    pub after: [Option<OpId>; 2],
    pub waiter: Option<Waiter>,
}

impl Ssd {
    /// Writes a request's pages to flash. The request waits until they are programmed.
    pub(super) fn write_through(&mut self, request: u32, pending: &Pending) -> Result<()> {
        for page in pending.pages(self.page_bytes) {
            let byte_range = pending.part_of(page, self.page_bytes);
            let mut bytes = byte_range.end - byte_range.start;
            if let Some(cache) = &mut self.cache
                && let Some(entry) = cache.remove(page)
            {
                let sectors =
                    super::requests::sectors_of(&byte_range, self.page_bytes) | entry.data.dirty;
                bytes = super::requests::bytes_of(sectors, self.page_bytes);
            }
            self.requests[request].waits += 1;
            self.apply_hint(request, page);
            let waiter = Waiter::Request(request);
            self.write_page((page, pending.tag), bytes, waiter, pending.is_direct)?;
        }
        self.pad_begun();
        Ok(())
    }

    /// Writes a page with its tag to flash.
    /// `bytes` bytes of the page are new; the rest is read first.
    /// The page goes to the SLC cache if the cache accepts it, unless `is_direct`.
    pub(super) fn write_page(
        &mut self,
        (page, tag): (u32, u8),
        bytes: u32,
        waiter: Waiter,
        is_direct: bool,
    ) -> Result<()> {
        if self.slc.is_some() && !is_direct && self.slc_has_room()? {
            return self.write_to_slc((page, tag), bytes, waiter);
        }
        self.collect_if_short()?;
        let write = self.prepare_write(page, bytes, waiter);
        self.forget_in_slc(page);
        self.write_hinted(page, tag)?;
        self.time_ops(Some(write), Cause::Gc, None);
        self.update_table()
    }

    /// Looks up the mapping of a page to be written, and reads its missing part.
    #[inline(always)]
    pub(super) fn prepare_write(&mut self, page: u32, bytes: u32, waiter: Waiter) -> PageWrite {
        let entry = self.look_up(page, true);
        let missing_bytes = self.page_bytes - bytes;
        let is_merged = missing_bytes > 0 && self.timing.host.read_modify_write;
        let old = self.physical(page).filter(|_| is_merged);
        let rest = old.filter(|&physical| !self.nand.is_in_memory(physical));
        let rest = rest.map(|physical| self.unsubmitted_read(physical, missing_bytes));
        // The read must be queued at the die before the program that depends on it. Otherwise the
        // program could block the read forever.
        if let Some(rest) = rest {
            self.nand.submit(rest, &mut self.events);
        }
        PageWrite {
            cause: if old.is_some() { Cause::ReadModifyWrite } else { Cause::Host },
            bytes: if old.is_some() { self.page_bytes } else { bytes },
            after: [entry, rest],
            waiter: Some(waiter),
        }
    }

    /// Adds a read that other operations will wait for.
    pub(super) fn unsubmitted_read(&mut self, physical: u32, bytes: u32) -> OpId {
        let op = self.nand.add_read(physical);
        self.nand.add_bytes(op, bytes);
        if !self.nand.is_slc(physical) {
            self.upkeep.count_read(self.nand.places.block_of(physical).0);
        }
        op
    }

    /// Assigns times to the operations that the manager has reported.
    /// `write` is the page that the manager was asked to write, if any. Operations of a collection
    /// have the cause `collected`. `collection` is the LUN whose background collection ends with
    /// the erases, if any.
    pub(super) fn time_ops(
        &mut self,
        write: Option<PageWrite>,
        collected: Cause,
        collection: Option<u32>,
    ) {
        let mut ops = self.take_recorded_ops();
        // Consecutive pages that lie in the same flash page are read by one operation.
        let mut last: Option<(u32, OpId)> = None;
        for &op in &ops {
            match op {
                FlashOp::Read { page, .. } => last = self.time_read(page, last),
                FlashOp::Program { page, cause, from, tag, .. } => {
                    self.submit_last(&mut last);
                    self.time_program((page, tag), (cause, collected), from, write.as_ref());
                }
                FlashOp::Erase { block, .. } => {
                    self.submit_last(&mut last);
                    self.submit_exchanged();
                    self.time_erase(block, collection);
                }
            }
        }
        self.submit_last(&mut last);
        if self.timing.collection.paced {
            self.report_free_blocks();
        }
        ops.clear();
        self.recorded_ops = ops;
        self.programs.sources.clear();
        self.programs.next_source = 0;
        self.programs.copies.clear();
    }

    /// Passes each pool's number of free blocks to the array, for the pacing of collection.
    pub(super) fn report_free_blocks(&mut self) {
        let flash = self.drive.flash();
        self.nand.set_free_blocks((0..flash.pools()).map(|pool| flash.free_blocks(pool)));
    }

    /// Submits the incomplete program unit of the block that a wear leveller has filled.
    /// The leveller closes a block as soon as it contains the pages of another block, which is
    /// erased next. The incomplete unit is programmed as it is, because the same write may erase
    /// and reopen the block.
    fn submit_exchanged(&mut self) {
        if let Some(block) = self.programs.exchanged.take() {
            let op = std::mem::replace(&mut self.programs.begun[block as usize], NONE);
            if op != NONE {
                self.nand.submit_unfilled(op, &mut self.events);
            }
        }
    }

    /// Submits the last read, to which no neighbouring page can be added any more.
    pub(super) fn submit_last(&mut self, last: &mut Option<(u32, OpId)>) {
        if let Some((_, op)) = last.take() {
            self.nand.submit(op, &mut self.events);
        }
    }

    fn time_read(&mut self, page: u32, mut last: Option<(u32, OpId)>) -> Option<(u32, OpId)> {
        if self.nand.is_in_memory(page) {
            self.programs.sources.push((page, NONE));
            return last;
        }
        let fetched = self.nand.places.read_of(page);
        let op = match last {
            Some((last_fetched, op)) if last_fetched == fetched => op,
            _ => {
                self.submit_last(&mut last);
                self.upkeep.count_read(self.nand.places.block_of(page).0);
                let read = self.nand.add_read(page);
                self.nand.mark_of_copy(read);
                read
            }
        };
        self.nand.add_bytes(op, self.page_bytes);
        self.programs.sources.push((page, op));
        Some((fetched, op))
    }

    fn time_program(
        &mut self,
        (page, tag): (u32, u8),
        (cause, collected): (Cause, Cause),
        from: Option<u32>,
        write: Option<&PageWrite>,
    ) {
        let (block, offset) = self.nand.places.block_of(page);
        let units = self.nand.places.program_units();
        // The unit has no program yet: this page is the first of its unit, or the first one after
        // the pages that the initial fill wrote.
        if self.programs.begun[block as usize] == NONE {
            if offset == 0 {
                self.nand.note_first_program(block, self.events.now_ns());
            }
            self.programs.begun[block as usize] =
                self.nand.add_program(page, units - offset % units);
        }
        let op = self.programs.begun[block as usize];
        let (cause, bytes) = match (cause, write) {
            (Cause::Host | Cause::Mapping, Some(write)) => (write.cause, write.bytes),
            (Cause::Padding, _) => (Cause::Padding, 0),
            (Cause::Gc, _) => (collected, self.page_bytes),
            _ => (cause, self.page_bytes),
        };
        self.count_program(cause, tag);
        if cause == Cause::WearLeveling {
            self.programs.exchanged = Some(block);
        }
        if let Some(from) = from {
            self.nand.mark_contents(op, true);
            if let Some(read) = self.programs.source(from) {
                self.nand.add_waiter(read, Waiter::Op(op));
            }
            if self.programs.copies.last() != Some(&op) {
                self.programs.copies.push(op);
            }
            if self.map.is_some() {
                self.programs.moved.push(self.drive.flash().logical_at(page));
            }
        } else if let Some(write) = write.filter(|_| cause != Cause::Padding) {
            self.nand.mark_contents(op, false);
            for &preceding in write.after.iter().flatten() {
                self.nand.add_waiter(preceding, Waiter::Op(op));
            }
            if let Some(waiter) = write.waiter {
                self.nand.add_waiter(op, waiter);
            }
            // Data that is moved out of the SLC cache waits in the controller's memory for a full
            // program unit, like copies.
            let is_data = !matches!(cause, Cause::Mapping | Cause::Folding);
            if units > 1 && is_data && !self.programs.with_host_data.contains(&block) {
                self.programs.with_host_data.push(block);
            }
        }
        if self.nand.fill(op, page, bytes) {
            self.programs.begun[block as usize] = NONE;
            self.programs.with_host_data.retain(|&begun| begun != block);
            self.nand.submit(op, &mut self.events);
            if offset + 1 == self.nand.places.pages_per_block() {
                let erases = self.drive.flash().erase_counts()[block as usize];
                self.upkeep.watch_retention(block, erases, self.events.now_ns());
            }
        }
    }

    /// Erases a block on each of its dies. Each erase waits for the copies on other dies.
    /// On the same die, the queue ensures the order. Copies that wait for a full program unit are
    /// safe in the controller's memory.
    fn time_erase(&mut self, block: u32, collection: Option<u32>) {
        self.counters.erases += 1;
        self.upkeep.forget_reads(block);
        self.nand.note_erased(block);
        for die in self.nand.places.dies_of(block) {
            let erase = self.nand.add_erase(block, die);
            for at in 0..self.programs.copies.len() {
                let copy = self.programs.copies[at];
                if self.nand.is_submitted_elsewhere(copy, die) {
                    self.nand.add_waiter(copy, Waiter::Op(erase));
                }
            }
            if let Some(lun) = collection {
                self.upkeep.collecting[lun as usize] += 1;
                self.nand.add_waiter(erase, Waiter::Collection(lun));
            }
            self.nand.submit(erase, &mut self.events);
        }
        self.programs.copies.clear();
    }

    /// Pads the incomplete program units that contain host data, so that they are programmed now.
    /// If the manager has no spare page for padding, the data is safe in the controller's memory.
    pub(super) fn pad_begun(&mut self) {
        self.pad_slc();
        let units = self.nand.places.program_units();
        for block in std::mem::take(&mut self.programs.with_host_data) {
            let op = self.programs.begun[block as usize];
            if self.drive.pad(block, units) {
                self.time_ops(None, Cause::Gc, None);
            } else {
                self.nand.release_early(op);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_waits_for_no_read_of_what_lay_in_its_place_before() {
        let (victim, young, next_victim): (OpId, OpId, OpId) = (0, 1, 2);
        let mut programs = Programs::new(1).unwrap();
        // A victim is read, and then a young block, which is copied first. Pages that were copied
        // to the young block are read again.
        programs.sources = vec![(84, victim), (12, young)];
        assert_eq!(programs.source(12), Some(young));
        assert_eq!(programs.source(84), Some(victim));
        programs.sources.push((12, next_victim));
        assert_eq!(programs.source(12), Some(next_victim));
    }
}
