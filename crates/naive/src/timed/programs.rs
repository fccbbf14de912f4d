//! Writes of pages, and the flash operations that they cause.

use std::collections::{BTreeMap, BTreeSet};

use super::TimedDrive;
use super::array::{OpId, Waiter};
use super::profile::{Logical, LogicalOp, ProgramFor};
use crate::tags::{OF_DRIVE, UNTAGGED};

#[derive(Debug, Default)]
pub struct Programs {
    /// Begun program of each block that has one.
    pub begun: BTreeMap<u32, OpId>,
    /// Blocks whose begun program holds data of the host.
    pub with_host_data: Vec<u32>,
    /// Copied pages whose entries of the mapping table must change.
    pub moved: Vec<u32>,
}

/// Write of a page.
struct PageWrite {
    cause: ProgramFor,
    bytes: u32,
    /// Reads that its program waits for.
    after: Vec<OpId>,
    waiter: Option<Waiter>,
    tag: u8,
}

impl<L: Logical> TimedDrive<L> {
    pub(super) fn new_read(&mut self, physical: u32, bytes: u32) -> OpId {
        if physical < self.profile.first_slc_page() {
            self.upkeep.count_read(self.profile.block_of(physical));
        }
        self.array.new_read(physical, bytes)
    }

    /// Writes a page; `bytes` of it are new.
    ///
    /// `is_direct` is true if it bypasses the SLC cache, and `tag` is its tag.
    pub(super) fn write_page(
        &mut self,
        page: u32,
        bytes: u32,
        waiter: Waiter,
        (is_direct, tag): (bool, u8),
    ) {
        if self.slc.is_some() && !is_direct && self.slc_has_room() {
            return self.write_to_slc(page, bytes, waiter, tag);
        }
        self.collect_if_short();
        let (cause, bytes, after) = self.prepare_write(page, bytes);
        self.forget_in_slc(page);
        let ops = self.write_logical(page, self.hint_on(page));
        let written = PageWrite { cause, bytes, after, waiter: Some(waiter), tag };
        self.begin_operations(&ops, Some(&written), ProgramFor::Gc, None);
        self.update_table();
    }

    /// Writes a page on the untimed drive.
    ///
    /// If the profile asks for the shortest queue, the drive first receives the queue of each die.
    fn write_logical(&mut self, page: u32, hint: Option<u64>) -> Vec<LogicalOp> {
        if self.profile.to_shortest_queue {
            let dies = 0..self.profile.dies() as usize;
            let queues: Vec<usize> = dies.map(|die| self.array.queue_of(die)).collect();
            self.logical.steer(&queues);
        }
        self.logical.write(page, hint)
    }

    /// Returns the cause and bytes of a page's program, and the reads that it waits for.
    pub(super) fn prepare_write(&mut self, page: u32, bytes: u32) -> (ProgramFor, u32, Vec<OpId>) {
        let page_bytes = self.profile.page_bytes;
        let entry = self.look_up(page, true);
        let is_part = bytes < page_bytes && self.profile.read_modify_write;
        let old = self.physical(page).filter(|_| is_part);
        let rest = old
            .filter(|&physical| !self.array.is_in_memory(physical))
            .map(|physical| self.new_read(physical, page_bytes - bytes));
        let after: Vec<OpId> = entry.into_iter().chain(rest).collect();
        if let Some(rest) = rest {
            self.array.submit(rest, &mut self.clock);
        }
        match old {
            Some(_) => (ProgramFor::ReadModifyWrite, page_bytes, after),
            None => (ProgramFor::Host, bytes, after),
        }
    }

    /// Writes a page that is folded out of the SLC cache, once `read` is done.
    pub(super) fn write_folded(&mut self, page: u32, read: Option<OpId>) {
        let ops = self.write_logical(page, self.hint_on(page));
        let written = PageWrite {
            cause: ProgramFor::Folding,
            bytes: self.profile.page_bytes,
            after: read.into_iter().collect(),
            waiter: None,
            tag: self.tag_of[&page],
        };
        self.begin_operations(&ops, Some(&written), ProgramFor::Gc, None);
    }

    pub(super) fn count(&mut self, cause: ProgramFor, tag: u8) {
        self.counters.programs[cause as usize] += 1;
        let interval = self.interval();
        interval.programs[cause as usize] += 1;
        *interval.by_tag.entry((tag, cause as usize)).or_default() += 1;
    }

    pub(super) fn write_table_page(&mut self, table_page: u32, is_partial: bool) {
        let page = self.profile.host_pages + table_page;
        let old = self.logical.physical(page).filter(|_| is_partial);
        let rest = old
            .filter(|&physical| !self.array.is_in_memory(physical))
            .map(|physical| self.new_read(physical, self.profile.page_bytes));
        if let Some(rest) = rest {
            self.array.submit(rest, &mut self.clock);
        }
        let ops = self.write_logical(page, None);
        let written = PageWrite {
            cause: ProgramFor::Mapping,
            bytes: self.profile.page_bytes,
            after: rest.into_iter().collect(),
            waiter: None,
            tag: OF_DRIVE,
        };
        self.begin_operations(&ops, Some(&written), ProgramFor::Gc, None);
    }

    /// Begins the operations of a collection; its copies are counted for `cause`.
    ///
    /// `lun` is the LUN of a background collection, else None.
    pub(super) fn begin_collection(
        &mut self,
        ops: &[LogicalOp],
        cause: ProgramFor,
        lun: Option<usize>,
    ) {
        self.begin_operations(ops, None, cause, lun);
    }

    /// Begins the operations that the untimed drive reported.
    ///
    /// `written` describes the page that was written, if any. Copies of collection are counted for
    /// `collected`.
    fn begin_operations(
        &mut self,
        ops: &[LogicalOp],
        written: Option<&PageWrite>,
        collected: ProgramFor,
        lun: Option<usize>,
    ) {
        // Reads of the pages that are not copied yet. Pages in memory need no read.
        let mut sources: BTreeMap<u32, OpId> = BTreeMap::new();
        // Programs with copies made since the last erase.
        let mut copies: BTreeSet<OpId> = BTreeSet::new();
        let mut last: Option<(u32, OpId)> = None;
        // Block to which wear levelling moves data.
        let mut leveled: Option<u32> = None;
        for op in ops {
            if !matches!(op, LogicalOp::Read { .. })
                && let Some((_, read)) = last.take()
            {
                self.array.submit(read, &mut self.clock);
            }
            match *op {
                LogicalOp::Read { page } => {
                    if let Some(read) = self.read_to_copy(page, &mut last) {
                        sources.insert(page, read);
                    }
                }
                LogicalOp::Erase { block } => {
                    if let Some(leveled) = leveled.take() {
                        self.queue_begun(leveled);
                    }
                    self.erase(block, &std::mem::take(&mut copies), lun);
                }
                LogicalOp::Program { page, logical, cause, from } => {
                    let program = self.program_of(page);
                    let is_written = matches!(cause, ProgramFor::Host | ProgramFor::Mapping);
                    let written = written.filter(|_| is_written);
                    let (cause, bytes) = match (cause, written) {
                        (_, Some(written)) => (written.cause, written.bytes),
                        (ProgramFor::Padding, _) => (cause, 0),
                        (ProgramFor::Gc, _) => (collected, self.profile.page_bytes),
                        _ => (cause, self.profile.page_bytes),
                    };
                    let tag = match written {
                        Some(written) => written.tag,
                        None if cause == ProgramFor::Padding => OF_DRIVE,
                        None => self.tag_of.get(&logical).copied().unwrap_or(UNTAGGED),
                    };
                    self.tag_of.insert(logical, tag);
                    self.count(cause, tag);
                    if cause == ProgramFor::WearLeveling {
                        leveled = Some(self.profile.block_of(page));
                    }
                    if let Some(from) = from {
                        if let Some(read) = sources.remove(&from) {
                            self.array.notify(read, Waiter::Operation(program));
                        }
                        copies.insert(program);
                        self.array.mark_contents(program, true);
                        self.programs.moved.push(self.logical.logical_at(page));
                    }
                    if let Some(written) = written {
                        self.array.mark_contents(program, false);
                        self.attach_write(page, program, written);
                    }
                    self.fill(page, program, bytes);
                }
            }
        }
        if let Some((_, read)) = last {
            self.array.submit(read, &mut self.clock);
        }
        self.note_free_blocks();
    }

    /// Updates the number of free blocks of each pool from the untimed drive.
    pub(super) fn note_free_blocks(&mut self) {
        let pools = self.logical.pools();
        self.array.free_blocks = (0..pools).map(|pool| self.logical.free_blocks(pool)).collect();
    }

    /// Submits the begun program of a block that is closed before it is full.
    fn queue_begun(&mut self, block: u32) {
        if let Some(program) = self.programs.begun.remove(&block) {
            self.array.submit(program, &mut self.clock);
        }
    }

    /// Returns the read of a page to be copied, or None if it is in memory.
    ///
    /// `last` is the last read that is not submitted; the page joins it if one read fetches both.
    fn read_to_copy(&mut self, page: u32, last: &mut Option<(u32, OpId)>) -> Option<OpId> {
        if self.array.is_in_memory(page) {
            return None;
        }
        let page_bytes = self.profile.page_bytes;
        if let Some((last_page, read)) = *last {
            if self.profile.is_read_at_once(last_page, page) {
                self.array.add_bytes(read, page_bytes);
                return Some(read);
            }
            self.array.submit(read, &mut self.clock);
        }
        let read = self.new_read(page, page_bytes);
        self.array.mark_of_copy(read);
        *last = Some((page, read));
        Some(read)
    }

    /// Returns the program of a page; begins it if the page is its first.
    fn program_of(&mut self, page: u32) -> OpId {
        let block = self.profile.block_of(page);
        if page.is_multiple_of(self.profile.pages_per_block)
            && let Some(errors) = &mut self.array.errors
        {
            errors.note_first_program(block, self.clock.now_ns);
        }
        *self.programs.begun.entry(block).or_insert_with(|| self.array.new_program(page))
    }

    fn attach_write(&mut self, page: u32, program: OpId, written: &PageWrite) {
        for &read in &written.after {
            self.array.notify(read, Waiter::Operation(program));
        }
        if let Some(waiter) = written.waiter {
            self.array.notify(program, waiter);
        }
        let block = self.profile.block_of(page);
        let is_data = !matches!(written.cause, ProgramFor::Mapping | ProgramFor::Folding)
            && self.profile.program_units() > 1;
        if is_data && !self.programs.with_host_data.contains(&block) {
            self.programs.with_host_data.push(block);
        }
    }

    fn fill(&mut self, page: u32, program: OpId, bytes: u32) {
        self.array.add_page(program, page, bytes);
        if !self.profile.is_last_of_program(page) {
            return;
        }
        let block = self.profile.block_of(page);
        self.programs.begun.remove(&block);
        self.programs.with_host_data.retain(|&other| other != block);
        self.array.submit(program, &mut self.clock);
        if page % self.profile.pages_per_block == self.profile.pages_per_block - 1 {
            let erases = self.logical.erases_of(block);
            self.upkeep.watch_retention(block, erases, self.clock.now_ns);
        }
    }

    fn erase(&mut self, block: u32, copies: &BTreeSet<OpId>, lun: Option<usize>) {
        self.counters.erases += 1;
        self.interval().erases += 1;
        self.upkeep.forget_reads(block);
        if let Some(errors) = &mut self.array.errors {
            errors.note_erased(block);
        }
        for die in self.profile.dies_of(block) {
            let erase = self.array.new_erase(die, block);
            for &copy in copies {
                let is_begun = self.programs.begun.values().any(|&begun| begun == copy);
                let is_other = self.array.op(copy).die != die
                    || self.profile.paced && !self.array.is_collection(copy);
                if !is_begun && is_other {
                    self.array.notify(copy, Waiter::Operation(erase));
                }
            }
            if let Some(lun) = lun {
                self.upkeep.collecting[lun] += 1;
                self.array.notify(erase, Waiter::Collection(lun));
            }
            self.array.submit(erase, &mut self.clock);
        }
    }

    /// Fills up the begun programs that hold data of the host.
    pub(super) fn pad_begun(&mut self) {
        self.pad_slc();
        for block in std::mem::take(&mut self.programs.with_host_data) {
            let program = self.programs.begun[&block];
            match self.logical.pad(block, self.profile.program_units()) {
                Some(ops) => self.begin_operations(&ops, None, ProgramFor::Gc, None),
                None => self.array.release_early(program),
            }
        }
    }
}
