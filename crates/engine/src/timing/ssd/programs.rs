//! Programs and other operations in time, made from what the manager does to the flash.

use super::requests::Pending;
use super::{Ssd, Waiter};
use crate::error::Result;
use crate::flash::{Cause, FlashOp, Table, filled};
use crate::timing::nand::{NONE, OpId};

/// Program units that are begun, and what collections have read and copied.
#[derive(Debug)]
pub struct Programs {
    /// The program of the unit that is begun in each block.
    begun: Table<OpId>,
    /// Blocks whose begun unit holds data of the host.
    with_host_data: Vec<u32>,
    /// Pages that were read to be copied, and the reads.
    /// It is `NONE` for one that was copied, as what is programmed in its place since may be read
    /// in its turn.
    sources: Vec<(u32, OpId)>,
    /// Index of the source where the next copy's page stands, most likely.
    next_source: usize,
    /// Programs with copies, since the last erase.
    copies: Vec<OpId>,
    /// The block that a wear leveller is filling.
    exchanged: Option<u32>,
    /// Logical pages that were copied, whose entries in the table change, where it has a cache.
    pub moved: Vec<u32>,
}

impl Programs {
    /// Starts with no programs, on a drive of so many blocks.
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

    /// True if data of the host wait for their program unit to be full.
    pub fn has_begun(&self) -> bool {
        !self.with_host_data.is_empty()
    }

    /// The read of a page that is copied. Copies come in the order of reads, or nearly so.
    fn source(&mut self, page: u32) -> Option<OpId> {
        let count = self.sources.len();
        let found = (self.next_source..count)
            .chain(0..self.next_source.min(count))
            .find(|&at| self.sources[at].0 == page)?;
        self.next_source = found + 1;
        let (_, op) = std::mem::replace(&mut self.sources[found], (NONE, NONE));
        (op != NONE).then_some(op)
    }
}

/// A page that is written to flash: its cause, bytes, preconditions and waiters.
/// It says for what cause it is written, which of its bytes cross the channel, what must be done
/// before, and who is told when it is programmed.
#[derive(Debug, Clone, Copy)]
pub struct PageWrite {
    pub cause: Cause,
    pub bytes: u32,
    pub after: [Option<OpId>; 2],
    pub waiter: Option<Waiter>,
}

impl Ssd {
    /// Writes a request's pages to flash; the request waits for them.
    pub(super) fn write_through(&mut self, request: u32, pending: &Pending) -> Result<()> {
        for page in pending.pages(self.page_bytes) {
            let part = pending.part_of(page, self.page_bytes);
            let mut bytes = part.end - part.start;
            if let Some(cache) = &mut self.cache
                && let Some(entry) = cache.remove(page)
            {
                let sectors =
                    super::requests::sectors_of(&part, self.page_bytes) | entry.data.dirty;
                bytes = super::requests::bytes_of(sectors, self.page_bytes);
            }
            self.requests[request].waits += 1;
            self.apply_hint(request, page);
            self.write_page(page, bytes, Waiter::Request(request), pending.is_direct)?;
        }
        self.pad_begun();
        Ok(())
    }

    /// Writes a page to flash, of which so many bytes are new; what is missing is read first.
    /// It goes to the SLC cache, if there is one that takes it and it `is_direct` not.
    pub(super) fn write_page(
        &mut self,
        page: u32,
        bytes: u32,
        waiter: Waiter,
        is_direct: bool,
    ) -> Result<()> {
        if self.slc.is_some() && !is_direct && self.slc_has_room()? {
            return self.write_to_slc(page, bytes, waiter);
        }
        self.collect_if_short()?;
        let write = self.prepare_write(page, bytes, waiter);
        self.forget_in_slc(page);
        self.write_hinted(page)?;
        self.give_time(Some(write), Cause::Gc, None);
        self.keep_table()
    }

    /// Looks up a page that is written, and reads what is missing of it.
    #[inline(always)]
    pub(super) fn prepare_write(&mut self, page: u32, bytes: u32, waiter: Waiter) -> PageWrite {
        let entry = self.look_up(page, true);
        let missing_bytes = self.page_bytes - bytes;
        let is_merged = missing_bytes > 0 && self.timing.host.read_modify_write;
        let old = self.physical(page).filter(|_| is_merged);
        let rest = old.filter(|&physical| !self.nand.is_in_memory(physical));
        let rest = rest.map(|physical| self.unsubmitted_read(physical, missing_bytes));
        // What a program waits for must stand before it in the queue of a die.
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

    /// A read that others will be made to wait for.
    pub(super) fn unsubmitted_read(&mut self, physical: u32, bytes: u32) -> OpId {
        let op = self.nand.add_read(physical);
        self.nand.add_bytes(op, bytes);
        if !self.nand.is_slc(physical) {
            self.upkeep.count_read(self.nand.places.block_of(physical).0);
        }
        op
    }

    /// Gives what the manager has reported its time: the page that it was asked to write, if any,
    /// and what it did beside, for `collected`, unless wear levelling did it.
    pub(super) fn give_time(
        &mut self,
        write: Option<PageWrite>,
        collected: Cause,
        collection: Option<u32>,
    ) {
        let mut heard = self.take_heard();
        // Neighbours of one flash page are read at once.
        let mut last: Option<(u32, OpId)> = None;
        for op in heard.drain(..) {
            match op {
                FlashOp::Read { page, .. } => last = self.hear_read(page, last),
                FlashOp::Program { page, cause, from, .. } => {
                    self.submit_last(&mut last);
                    self.hear_program(page, (cause, collected), from, write.as_ref());
                }
                FlashOp::Erase { block, .. } => {
                    self.submit_last(&mut last);
                    self.submit_exchanged();
                    self.hear_erase(block, collection);
                }
            }
        }
        self.submit_last(&mut last);
        if self.timing.collection.paced {
            self.tell_free_blocks();
        }
        self.heard = heard;
        self.programs.sources.clear();
        self.programs.next_source = 0;
        self.programs.copies.clear();
    }

    /// Tells the dies how many free blocks the manager has left.
    pub(super) fn tell_free_blocks(&mut self) {
        let flash = self.drive.flash();
        self.nand.set_free_blocks((0..flash.pools()).map(|pool| flash.free_blocks(pool)));
    }

    /// Submits what is begun in the block that a wear leveller has filled.
    /// The leveller closes a block as soon as it holds the pages of another, which is erased next:
    /// what is begun there is programmed as it is. The same write may go on to erase and reopen it.
    fn submit_exchanged(&mut self) {
        if let Some(block) = self.programs.exchanged.take() {
            let op = std::mem::replace(&mut self.programs.begun[block as usize], NONE);
            if op != NONE {
                self.nand.submit_unfilled(op, &mut self.events);
            }
        }
    }

    /// Submits the read to which no further neighbour is added.
    pub(super) fn submit_last(&mut self, last: &mut Option<(u32, OpId)>) {
        if let Some((_, op)) = last.take() {
            self.nand.submit(op, &mut self.events);
        }
    }

    fn hear_read(&mut self, page: u32, mut last: Option<(u32, OpId)>) -> Option<(u32, OpId)> {
        if self.nand.is_in_memory(page) {
            self.programs.sources.push((page, NONE));
            return last;
        }
        let fetched = self.nand.places.read_of(page);
        let op = match last {
            Some((before, op)) if before == fetched => op,
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

    fn hear_program(
        &mut self,
        page: u32,
        (cause, collected): (Cause, Cause),
        from: Option<u32>,
        write: Option<&PageWrite>,
    ) {
        let (block, offset) = self.nand.places.block_of(page);
        let units = self.nand.places.program_units();
        // The first page of its unit, or of what is left of one that the fill has begun.
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
        self.counters.count_programs(cause, 1);
        if cause == Cause::WearLeveling {
            self.programs.exchanged = Some(block);
        }
        if let Some(from) = from {
            self.nand.mark_contents(op, true);
            if let Some(read) = self.programs.source(from) {
                self.nand.tell(read, Waiter::Op(op));
            }
            if self.programs.copies.last() != Some(&op) {
                self.programs.copies.push(op);
            }
            if self.map.is_some() {
                self.programs.moved.push(self.drive.flash().logical_at(page));
            }
        } else if let Some(write) = write.filter(|_| cause != Cause::Padding) {
            self.nand.mark_contents(op, false);
            for &before in write.after.iter().flatten() {
                self.nand.tell(before, Waiter::Op(op));
            }
            if let Some(waiter) = write.waiter {
                self.nand.tell(op, waiter);
            }
            // What is folded waits in the controller's memory, as copies do.
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

    /// Begins an erase, which waits for the copies that lie on other dies.
    /// On its own die, the queue sees to it. Copies that wait for their unit to be full are safe in
    /// the controller's memory.
    fn hear_erase(&mut self, block: u32, collection: Option<u32>) {
        self.counters.erases += 1;
        self.upkeep.forget_reads(block);
        self.nand.note_erased(block);
        for die in self.nand.places.dies_of(block) {
            let erase = self.nand.add_erase(block, die);
            for at in 0..self.programs.copies.len() {
                let copy = self.programs.copies[at];
                if self.nand.is_submitted_elsewhere(copy, die) {
                    self.nand.tell(copy, Waiter::Op(erase));
                }
            }
            if let Some(lun) = collection {
                self.upkeep.collecting[lun as usize] += 1;
                self.nand.tell(erase, Waiter::Collection(lun));
            }
            self.nand.submit(erase, &mut self.events);
        }
        self.programs.copies.clear();
    }

    /// Fills the units up that hold data of the host, so that they are programmed now. Where the
    /// manager has no page to spare for that, the data are safe in the controller's memory.
    pub(super) fn pad_begun(&mut self) {
        self.pad_slc();
        let units = self.nand.places.program_units();
        for block in std::mem::take(&mut self.programs.with_host_data) {
            let op = self.programs.begun[block as usize];
            if self.drive.pad(block, units) {
                self.give_time(None, Cause::Gc, None);
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
        // A victim is read, then a young block, which is copied first; what is copied to the young
        // block is read again.
        programs.sources = vec![(84, victim), (12, young)];
        assert_eq!(programs.source(12), Some(young));
        assert_eq!(programs.source(84), Some(victim));
        programs.sources.push((12, next_victim));
        assert_eq!(programs.source(12), Some(next_victim));
    }
}
