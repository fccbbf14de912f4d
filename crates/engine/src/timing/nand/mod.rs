//! Flash array in time: operations queue at dies, use channels, and occupy arrays.
//!
//! A die performs one operation at a time. It requests its channel for the command (with the data
//! of a program). The array then works, while R/B# is low. A read finally requests the channel for
//! its data. An operation waits in its queue until its dependencies are complete: a copy depends on
//! its read, an erase on the copies. Queues are served in order, so that pages of a block are
//! programmed in order. Deadlocks are impossible, because dependencies are queued before the
//! operations that depend on them.

mod channel;
mod draws;
mod off;
mod ops;
mod pacing;
mod places;
mod planes;
mod retries;
mod slc;
mod stages;
mod unit;
mod waiting;

use serde::{Deserialize, Serialize};

use channel::Channel;
use draws::Durations;
pub use ops::{Kind, NONE, OpId, Waiter};
use ops::{Op, Ops};
use pacing::Pacing;
pub use places::Places;
use planes::Planes;
use retries::Retrying;
use slc::SlcArray;
use unit::Unit;

use super::device::Edge;
use super::params::{Arbitration, Dispatch, Rate, Scheduling, Timing, ns_of_us};
use super::schedule::Schedule;
use super::slc::SlcBlocks;
use crate::error::Result;
use crate::flash::{Geometry, Table, filled, prefetch};

/// Numbers of operations since the device was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OpCounts {
    /// Number of reads of flash pages, counting each retry.
    pub reads: u64,
    /// Number of programs of program units.
    pub programs: u64,
    /// Number of erases of blocks, counted for each die of a block.
    pub erases: u64,
}

/// Channels, dies, and their operations.
#[derive(Debug)]
pub struct Nand {
    /// Places (die, plane, program unit) of pages.
    pub places: Places,
    /// Numbers of operations since the device was new.
    pub counts: OpCounts,
    /// Waiters of completed operations that must still be notified.
    pub released: Vec<Waiter>,
    /// Units (dies or chips) that became idle since the last check, if `reports_idle`.
    pub idle_units: Vec<u32>,
    /// True if idle units are recorded.
    pub reports_idle: bool,
    /// Edges of Ready/Busy pins, if they are recorded.
    pub edges: Option<Vec<Edge>>,
    units: Vec<Unit>,
    unit_of_die: Vec<u32>,
    channels: Vec<Channel>,
    arbitration: Arbitration,
    ops: Ops,
    /// Number of submitted operations that are not complete.
    submitted: u64,
    durations: Durations,
    commands: Commands,
    scheduling: Scheduling,
    suspend_ns: u64,
    resume_ns: u64,
    most_wait_ns: u64,
    cache_program: bool,
    /// One bit per page: set while the page's data is in the controller's memory.
    /// These pages count as programmed for the managers, but are not in the array yet.
    in_memory: Table<u64>,
    /// Number of erases of each block that were requested so far.
    erases: Table<u32>,
    /// Order of collection and host programs, if collection is paced.
    pacing: Option<Pacing>,
    /// Planes that read independently, if supported.
    planes: Option<Box<Planes>>,
    /// Blocks of the SLC cache, if there is one.
    slc: Option<Box<SlcArray>>,
    /// Bit errors of reads, if any.
    retrying: Option<Box<Retrying>>,
    /// First page of the SLC cache; all other pages have lower numbers.
    first_slc_page: u32,
    /// For each die, the number of submitted programs and erases that are not complete.
    /// Empty if the profile sends pages to the dies in turn, regardless of queues.
    pub queues: Vec<u32>,
    /// Last operation of each write queue of each die, for requests that wait for all programs.
    last_program: Vec<OpId>,
}

#[derive(Debug)]
struct Commands {
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    data: Rate,
}

impl Nand {
    /// Builds an idle array of a drive.
    pub fn new(
        timing: &Timing,
        geometry: &Geometry,
        slc: Option<SlcBlocks>,
        seed: u64,
    ) -> Result<Self> {
        let pages = u64::from(geometry.physical_pages());
        let pages = pages + slc.as_ref().map_or(0, SlcBlocks::pages);
        let places = Places::new(timing, geometry);
        let interleaved = timing.bus.die_interleaving;
        let unit_of = |die: u32| if interleaved { die } else { places.chip_of(die) };
        let unit_of_die: Vec<u32> = (0..places.dies).map(unit_of).collect();
        let units = if interleaved { places.dies } else { places.chips };
        let scheduling = timing.scheduling.clone();
        let is_paced = timing.collection.paced;
        Ok(Nand {
            counts: OpCounts::default(),
            released: Vec::new(),
            idle_units: Vec::new(),
            reports_idle: false,
            edges: None,
            units: (0..units).map(|unit| Unit::new(places.channel_of(unit))).collect(),
            channels: (0..places.channels).map(|_| Channel::default()).collect(),
            arbitration: timing.bus.arbitration,
            ops: Ops::default(),
            submitted: 0,
            durations: Durations::new(&timing.timing, &timing.slc, seed),
            commands: Commands {
                read_ns: timing.bus.read_command_ns,
                program_ns: timing.bus.program_command_ns,
                erase_ns: timing.bus.erase_command_ns,
                data: Rate::new(timing.bus.channel_mb_s),
            },
            suspend_ns: ns_of_us(scheduling.suspend_us),
            resume_ns: ns_of_us(scheduling.resume_us),
            most_wait_ns: ns_of_us(scheduling.most_wait_us),
            scheduling,
            cache_program: timing.program.cache_program,
            in_memory: filled(0, (pages as usize).div_ceil(64))?,
            erases: filled(0, geometry.blocks() as usize)?,
            retrying: None,
            planes: timing.reading_planes(geometry).map(|per| Box::new(Planes::new(units, per))),
            slc: slc.map(|blocks| Box::new(SlcArray::new(blocks))),
            first_slc_page: geometry.physical_pages(),
            last_program: vec![NONE; places.dies as usize * if is_paced { 2 } else { 1 }],
            pacing: is_paced.then(|| Pacing::new(&places, geometry, &unit_of_die)).transpose()?,
            queues: match timing.scheduling.dispatch {
                Dispatch::InTurn => Vec::new(),
                Dispatch::ShortestQueue => vec![0; places.dies as usize],
            },
            unit_of_die,
            places,
        })
    }

    /// Adds a read of the flash page that contains `page`, to be submitted later.
    #[inline(always)]
    pub fn add_read(&mut self, page: u32) -> OpId {
        if self.is_slc(page) {
            return self.add_slc_read(page);
        }
        let place = self.places.of(page);
        let array_ns = self.durations.read_ns(place.page_index);
        self.counts.reads += 1;
        self.ops.add(Kind::Read, place.die, page, array_ns)
    }

    /// Marks an unsubmitted read as a read of the mapping table.
    pub fn mark_of_table(&mut self, read: OpId) {
        self.ops.get_mut(read).is_of_table = true;
    }

    /// Marks an unsubmitted read as a read of a page that is copied.
    #[inline(always)]
    pub fn mark_of_copy(&mut self, read: OpId) {
        self.ops.get_mut(read).is_of_copy = true;
    }

    /// Adds a program of the unit that contains `page`, the first of the unit's `pages` pages.
    /// The program must then be filled and submitted.
    pub fn add_program(&mut self, page: u32, pages: u32) -> OpId {
        let place = self.places.of(page);
        let array_ns = self.durations.program_ns(place.program_index);
        self.counts.programs += 1;
        let op = self.ops.add(Kind::Program, place.die, page, array_ns);
        let (block, _) = self.places.block_of(page);
        let entry = self.ops.get_mut(op);
        (entry.needed, entry.erases_before) = (pages, self.erases[block as usize]);
        op
    }

    /// Adds an erase of a block on one of its dies, to be submitted later.
    pub fn add_erase(&mut self, block: u32, die: u32) -> OpId {
        self.erases[block as usize] += 1;
        let array_ns = self.durations.erase_ns();
        self.counts.erases += 1;
        self.ops.add(Kind::Erase, die, block, array_ns)
    }

    /// Adds bytes that an operation transfers over the channel.
    #[inline(always)]
    pub fn add_bytes(&mut self, op: OpId, bytes: u32) {
        self.ops.get_mut(op).bytes += bytes;
    }

    /// Adds a page to a program. Returns true if it was the last page of the program unit.
    /// The data remains in memory until the program is complete.
    #[inline(always)]
    pub fn fill(&mut self, op: OpId, page: u32, bytes: u32) -> bool {
        self.in_memory[page as usize / 64] |= 1 << (page % 64);
        let op = self.ops.get_mut(op);
        op.filled += 1;
        op.bytes += bytes;
        op.filled == op.needed
    }

    /// True if the data of a page is in the controller's memory.
    #[inline(always)]
    pub fn is_in_memory(&self, page: u32) -> bool {
        self.in_memory[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// Prefetches the data for [`Self::is_in_memory`].
    #[inline(always)]
    pub fn prefetch_mark(&self, page: u32) {
        prefetch(&self.in_memory, page as usize / 64);
    }

    /// Submits an operation to which all pages, bytes and known dependencies were added.
    /// It starts once its dependencies are complete and its die is free. A read enters a queue only
    /// when its dependencies are complete; other operations enter a queue now.
    #[inline(always)]
    pub fn submit(&mut self, op: OpId, events: &mut Schedule) {
        if self.pacing.is_some() {
            self.enter_paced(op);
        }
        let Op { kind, die, is_collection, .. } = *self.ops.get(op);
        self.submitted += 1;
        // No operation depends on the order of reads. A read with open dependencies is therefore
        // queued only when they are complete, so that it does not block other reads.
        if kind == Kind::Read {
            if self.retrying.is_some() {
                self.decide_retries(op, events.now_ns());
            }
        } else {
            if let Some(queue) = self.queues.get_mut(die as usize) {
                *queue += 1;
            }
            if kind == Kind::Program {
                let queue = self.queue_of(die, is_collection);
                self.last_program[queue] = op;
            }
            let unit = &mut self.units[self.unit_of_die[die as usize] as usize];
            let queue = if is_collection { &mut unit.collections } else { &mut unit.writes };
            queue.push(op, &mut self.ops);
        }
        self.satisfy(op, events);
    }

    /// Queue of a die for host programs, or for programs of collections.
    #[inline(always)]
    fn queue_of(&self, die: u32, is_collection: bool) -> usize {
        die as usize + if is_collection { self.places.dies as usize } else { 0 }
    }

    /// Submits a program whose program unit is not full.
    pub fn submit_unfilled(&mut self, op: OpId, events: &mut Schedule) {
        let entry = self.ops.get_mut(op);
        entry.needed = entry.filled;
        self.submit(op, events);
    }

    /// Removes one dependency of an operation. After the last one, the operation may start.
    #[inline(always)]
    fn satisfy(&mut self, op: OpId, events: &mut Schedule) {
        let entry = self.ops.get_mut(op);
        entry.waits -= 1;
        if entry.waits > 0 {
            return;
        }
        let (kind, die, is_of_table) = (entry.kind, entry.die, entry.is_of_table);
        let yields = entry.is_of_copy && self.scheduling.copies_yield;
        let unit = self.unit_of_die[die as usize];
        if kind == Kind::Read && self.planes.is_some() {
            self.queue_on_plane(unit, op, yields);
        } else if kind == Kind::Read {
            let goes_first = self.scheduling.reads_first;
            let unit = &mut self.units[unit as usize];
            let queue = match (goes_first, is_of_table) {
                (true, true) => &mut unit.table_reads,
                (true, false) if yields => &mut unit.copies,
                (true, false) => &mut unit.reads,
                (false, _) => &mut unit.writes,
            };
            queue.push(op, &mut self.ops);
        }
        self.poke(unit, kind == Kind::Read && !yields, events);
    }

    /// Completes an operation: notifies or lists its waiters, and deletes it.
    /// Waiting operations lose a dependency now. All other waiters are listed in `released`.
    fn finish(&mut self, op: OpId, events: &mut Schedule) {
        if self.pacing.is_some() {
            self.leave_paced(op);
        }
        let Op { kind, die, first_page, filled, erases_before, is_collection, .. } =
            *self.ops.get(op);
        if kind != Kind::Read
            && let Some(queue) = self.queues.get_mut(die as usize)
        {
            *queue -= 1;
        }
        if kind == Kind::Program {
            let erases = if self.is_slc(first_page) {
                self.slc_erases(first_page)
            } else {
                self.erases[self.places.block_of(first_page).0 as usize]
            };
            // After the block's next erase, the marks belong to newer programs of the same pages.
            // If an erase was requested since this program, the marks are left unchanged.
            let is_latest = erases == erases_before;
            let filled = if is_latest { filled } else { 0 };
            for page in first_page..first_page + filled {
                self.in_memory[page as usize / 64] &= !(1 << (page % 64));
            }
            let queue = self.queue_of(die, is_collection);
            let last = &mut self.last_program[queue];
            if *last == op {
                *last = NONE;
            }
        }
        while let Some(waiter) = self.ops.pop_waiter(op) {
            match waiter {
                Waiter::Op(waiting) => self.satisfy(waiting, events),
                _ => self.released.push(waiter),
            }
        }
        self.ops.remove(op);
        self.submitted -= 1;
    }

    /// True if a submitted program is not in the queue of the die's erases.
    /// It may be waiting in another queue, or in progress after being taken from it.
    pub fn is_submitted_elsewhere(&self, op: OpId, die: u32) -> bool {
        let entry = self.ops.get(op);
        let is_other = entry.die != die || self.pacing.is_some() && !entry.is_collection;
        is_other && entry.filled == entry.needed
    }

    /// Marks the contents of an unsubmitted program: copied pages or data.
    #[inline(always)]
    pub fn mark_contents(&mut self, program: OpId, are_copied: bool) {
        let op = self.ops.get_mut(program);
        op.holds_copies |= are_copied;
        op.holds_data |= !are_copied;
    }

    /// Number of the unit (die, or chip without die interleaving) of a die.
    pub fn unit_of(&self, die: u32) -> u32 {
        self.unit_of_die[die as usize]
    }

    /// True if a unit (die or chip) is idle.
    pub fn is_idle(&self, unit: u32) -> bool {
        self.units[unit as usize].is_idle()
    }

    /// True if submitted operations are not complete.
    pub fn has_work(&self) -> bool {
        self.submitted > 0
    }

    /// Busy time of the channels, and of the units (dies or chips), up to now.
    pub fn busy_ns(&self, now_ns: u64) -> (u64, u64) {
        let channels = self.channels.iter().map(|channel| channel.busy_ns).sum();
        (channels, self.units.iter().map(|unit| unit.busy_until(now_ns)).sum())
    }

    /// Number of arrays whose operations end independently.
    /// These are the units, and the planes if they read independently.
    pub fn arrays(&self) -> u32 {
        self.units() + self.planes.as_ref().map_or(0, |planes| planes.count())
    }

    /// Number of units that work in parallel: dies, or chips without die interleaving.
    pub fn units(&self) -> u32 {
        self.units.len() as u32
    }
}
