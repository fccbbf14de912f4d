//! The flash array in time: operations queue at dies, cross channels, and keep arrays busy.
//!
//! A die does one operation at a time. It asks its channel for the command (with the data of a
//! program); the array then works, while R/B# is low; a read asks the channel for its data last. An
//! operation waits in its queue until what it depends on is done: a copy for its read, an erase for
//! the copies. Queues are served in order, so pages of a block are programmed in order, and nothing
//! can wait for itself: what an operation depends on was queued before it.

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

/// Counts of operations since the device was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OpCounts {
    /// Reads of flash pages, each try of them.
    pub reads: u64,
    /// Programs of program units.
    pub programs: u64,
    /// Erases of blocks, one for each die that a block lies on.
    pub erases: u64,
}

/// Channels, dies, and the operations that they have to do.
#[derive(Debug)]
pub struct Nand {
    /// Places of pages, as far as time depends on them.
    pub places: Places,
    /// Operations that were begun.
    pub counts: OpCounts,
    /// Waiters for operations that are done, who are still to be told.
    pub told: Vec<Waiter>,
    /// Units that have run out of work since this was looked at, if anyone looks.
    pub idle_units: Vec<u32>,
    /// True if someone looks at idle units.
    pub reports_idle: bool,
    /// Edges of Ready/Busy pins, if they are recorded.
    pub edges: Option<Vec<Edge>>,
    units: Vec<Unit>,
    unit_of_die: Vec<u32>,
    channels: Vec<Channel>,
    arbitration: Arbitration,
    ops: Ops,
    /// Operations that were submitted and are not done.
    submitted: u64,
    durations: Durations,
    commands: Commands,
    scheduling: Scheduling,
    suspend_ns: u64,
    resume_ns: u64,
    most_wait_ns: u64,
    cache_program: bool,
    /// Mark of each page that is in the controller's memory.
    /// It is programmed as far as the managers know, but not yet in the array, so that its data are
    /// in the controller's memory.
    in_memory: Table<u64>,
    /// Erases of each block that were asked for.
    erases: Table<u32>,
    /// Turns of collection and the host, where collection is paced.
    pacing: Option<Pacing>,
    /// Planes that read beside each other, where dies have such.
    planes: Option<Box<Planes>>,
    /// The blocks of an SLC cache.
    slc: Option<Box<SlcArray>>,
    /// Bit errors of reads, where there are any.
    retrying: Option<Box<Retrying>>,
    /// The number of its first page: those of the others end there.
    first_slc_page: u32,
    /// Programs and erases of each die that were submitted and are not done.
    /// Empty where pages go to the dies in turn, whatever waits there.
    pub queues: Vec<u32>,
    /// The last operation of each write queue of each die, for who waits for all of them.
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
    /// The array of a drive, with nothing to do.
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
            told: Vec::new(),
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

    /// A read of the flash page that holds `page`; it waits to be submitted.
    pub fn add_read(&mut self, page: u32) -> OpId {
        if self.is_slc(page) {
            return self.add_slc_read(page);
        }
        let place = self.places.of(page);
        let array_ns = self.durations.read_ns(place.page_index);
        self.counts.reads += 1;
        self.ops.add(Kind::Read, place.die, page, array_ns)
    }

    /// Says that a read which is not submitted yet is of the mapping table.
    pub fn mark_of_table(&mut self, read: OpId) {
        self.ops.get_mut(read).is_of_table = true;
    }

    /// Says that a read which is not submitted yet is of a page that is copied.
    #[inline(always)]
    pub fn mark_of_copy(&mut self, read: OpId) {
        self.ops.get_mut(read).is_of_copy = true;
    }

    /// Adds a program of the unit that `page` lies in, its first of so many pages.
    /// The program waits to be filled and submitted.
    pub fn add_program(&mut self, page: u32, pages: u32) -> OpId {
        let place = self.places.of(page);
        let array_ns = self.durations.program_ns(place.program_index);
        self.counts.programs += 1;
        let op = self.ops.add(Kind::Program, place.die, page, array_ns);
        let (block, _) = self.places.block_of(page);
        let found = self.ops.get_mut(op);
        (found.missing, found.erases_before) = (pages, self.erases[block as usize]);
        op
    }

    /// An erase of a block on one of its dies; it waits to be submitted.
    pub fn add_erase(&mut self, block: u32, die: u32) -> OpId {
        self.erases[block as usize] += 1;
        let array_ns = self.durations.erase_ns();
        self.counts.erases += 1;
        self.ops.add(Kind::Erase, die, block, array_ns)
    }

    /// Adds data to an operation: so many bytes that cross the channel.
    #[inline(always)]
    pub fn add_bytes(&mut self, op: OpId, bytes: u32) {
        self.ops.get_mut(op).bytes += bytes;
    }

    /// Adds a page to a program; true if it was the last.
    /// Its data are in memory until the program is done.
    #[inline(always)]
    pub fn fill(&mut self, op: OpId, page: u32, bytes: u32) -> bool {
        self.in_memory[page as usize / 64] |= 1 << (page % 64);
        let op = self.ops.get_mut(op);
        op.filled += 1;
        op.missing -= 1;
        op.bytes += bytes;
        op.missing == 0
    }

    /// True if the data of a page are in the controller's memory.
    #[inline(always)]
    pub fn is_in_memory(&self, page: u32) -> bool {
        self.in_memory[page as usize / 64] >> (page % 64) & 1 == 1
    }

    /// Fetches what [`Self::is_in_memory`] will look at.
    #[inline(always)]
    pub fn prefetch_mark(&self, page: u32) {
        prefetch(&self.in_memory, page as usize / 64);
    }

    /// Puts an operation that is complete into the queue of its die.
    #[inline(always)]
    pub fn submit(&mut self, op: OpId, events: &mut Schedule) {
        if self.pacing.is_some() {
            self.enter_paced(op);
        }
        let Op { kind, die, is_collection, .. } = *self.ops.get(op);
        self.submitted += 1;
        // Nothing depends on the order of reads, so that one that waits holds up no other.
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

    /// Number of a die's queue of the host's programs, or of those of collections.
    #[inline(always)]
    fn queue_of(&self, die: u32, is_collection: bool) -> usize {
        die as usize + if is_collection { self.places.dies as usize } else { 0 }
    }

    /// Submits a program that is complete with less than its unit.
    pub fn submit_unfilled(&mut self, op: OpId, events: &mut Schedule) {
        self.ops.get_mut(op).missing = 0;
        self.submit(op, events);
    }

    /// Takes one from what an operation waits for.
    #[inline(always)]
    fn satisfy(&mut self, op: OpId, events: &mut Schedule) {
        let found = self.ops.get_mut(op);
        found.waits -= 1;
        if found.waits > 0 {
            return;
        }
        let (kind, die, is_of_table) = (found.kind, found.die, found.is_of_table);
        let yields = found.is_of_copy && self.scheduling.copies_yield;
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

    /// Tells everyone who waits for an operation, and gives it up.
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
            // What was programmed since the block's next erase stands in the same places.
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
                _ => self.told.push(waiter),
            }
        }
        self.ops.remove(op);
        self.submitted -= 1;
    }

    /// True if a program is in another queue than the erases of a die, or under way from there.
    pub fn is_submitted_elsewhere(&self, op: OpId, die: u32) -> bool {
        let found = self.ops.get(op);
        let is_other = found.die != die || self.pacing.is_some() && !found.is_collection;
        is_other && found.missing == 0
    }

    /// Says what a program holds that is not submitted yet: pages that are copied, or data.
    #[inline(always)]
    pub fn mark_contents(&mut self, program: OpId, are_copied: bool) {
        let op = self.ops.get_mut(program);
        op.holds_copies |= are_copied;
        op.holds_data |= !are_copied;
    }

    /// The unit that a die belongs to.
    pub fn unit_of(&self, die: u32) -> u32 {
        self.unit_of_die[die as usize]
    }

    /// True if a unit has nothing to do.
    pub fn is_idle(&self, unit: u32) -> bool {
        self.units[unit as usize].is_idle()
    }

    /// True if operations were submitted that are not done.
    pub fn has_work(&self) -> bool {
        self.submitted > 0
    }

    /// Busy time of the channels, and of the units that work at one time, up to now.
    pub fn busy_ns(&self, now_ns: u64) -> (u64, u64) {
        let channels = self.channels.iter().map(|channel| channel.busy_ns).sum();
        (channels, self.units.iter().map(|unit| unit.busy_until(now_ns)).sum())
    }

    /// Arrays whose work ends at times of their own: units, and planes that read for themselves.
    pub fn arrays(&self) -> u32 {
        self.units() + self.planes.as_ref().map_or(0, |planes| planes.count())
    }

    /// Units that work at one time: dies, or chips where dies are not interleaved.
    pub fn units(&self) -> u32 {
        self.units.len() as u32
    }
}
