//! Naive timed flash drive, the reference for tests of the engine's timed drive.
//!
//! The untimed drive ([`Logical`]) decides which pages are read and programmed, and which blocks
//! are erased. This module computes when each stage of these operations ends, by the rules below.
//! These rules specify the timing of a drive without the engine. Events with the same time happen in
//! the order in which they were scheduled.
//!
//! **Requests.**
//! - A read reaches the drive after `read_in_ns`, any other request after `write_in_ns`.
//! - A write then crosses the link in whole packets.
//! - Every request passes the controller.
//! - The answer of a read crosses the link. A full-duplex link has a second lane for answers.
//! - Each answer takes `out_ns` more.
//! - The link, the controller and the cache memory each serve one request after another, in the
//!   order in which the requests reach them.
//! - A stage that takes no time schedules no event.
//! - A request is served at one moment. It is answered once everything it waits for is done.
//! - A request of length 0 touches no page.
//!
//! **Dies.**
//! - A die does one operation at a time. Where dies are not interleaved, a chip does one operation
//!   at a time, and these rules hold for the chip.
//! - An operation has these stages: the command on the channel, with the data of a program; the
//!   array; and the data out, of a read.
//! - Programs and erases are queued in order. One that must wait for another operation blocks those
//!   behind it.
//! - A read is queued once it waits for nothing. If reads go first, they have a queue of their own,
//!   which goes before that of programs and erases. Otherwise they join that queue.
//! - In the queue of reads, reads of entries of the mapping table go before other reads.
//! - When an operation ends, the operations that wait for it are released, the one that was added
//!   last first. Then the die begins its next operation.
//! - A channel serves data that leave a die before commands, or commands before such data; the
//!   profile decides which.
//! - When a transfer ends, its die continues first. Then the channel begins its next transfer.
//!
//! **Suspension.** These rules hold where operations may be suspended.
//! - A read that arrives while the array is busy with a program or an erase suspends this operation
//!   if three conditions hold: the operation was suspended fewer times than the profile allows; it
//!   has longer to go than suspending takes; no data of a next program are loaded or being loaded.
//! - Reads go before a suspended operation is resumed.
//! - The time that resuming takes is added to the time that the operation had left.
//!
//! **Planes.** These rules hold where planes read independently.
//! - A read covers one flash page, and waits for its plane.
//! - Its command, array and data stages run on that plane while other planes do the same.
//! - Of the planes with something to read, the one with the lowest number begins first.
//! - As long as any plane has something to read, the die begins nothing else.
//!
//! **Dispatch.**
//! - If the profile asks for the shortest queue, the untimed drive receives the number of programs
//!   and erases that each die has to do. It receives them before each page that is written.
//!
//! **Bounds.**
//! - Where copies yield, reads of pages that are copied go after all other reads. They suspend
//!   nothing.
//! - Programs and erases go after all reads. Suspended ones go before the others.
//! - Where waiting has a bound, an operation that could begin, but is passed over, becomes overdue
//!   after that time. An overdue operation goes before the others, and is not suspended then.
//! - Of two overdue operations, the one that was passed over first goes first. If both were passed
//!   over at the same time, a copy goes before a program.
//!
//! **Pacing.** These rules hold where collection is paced.
//! - Programs that hold only copies, and erases, have a queue apart from the programs of the host.
//! - Programs and erases of one block on one die keep the order of submission across both queues.
//! - When only reads of copies wait, or none, a suspended operation is resumed first. If there is
//!   none, collection or the head of the host's queue begins. Of collection, reads of copies go
//!   first, then the head of its queue.
//! - If both an operation of collection and one of the host could begin, collection begins if its
//!   credit is above 0. The array time of its operation is then subtracted from the credit.
//! - When a program of the host begins, the credit grows by B / P. B is the array time of the
//!   operations of collection that wait at the die. P is the number of programs that the die's
//!   erased blocks have room for, and 1 at least.
//! - When no operation of collection waits any more, the credit is 0.
//! - An erase waits for copies in the host's queue too.
//! - The hard limit is the same as the soft limit.
//!
//! **Cache program.**
//! - While the array programs, the data of another program cross the channel if this program is
//!   next in the queue, it waits for nothing, and no read waits that goes first.
//!
//! **Program units.**
//! - A program begins with the first page of its unit. If the unit was begun before time 0, its
//!   program begins with the first of the remaining pages.
//! - It is queued with the last page of its unit.
//! - From its first page until it is done, its pages are read from memory. This takes only the time
//!   of the memory.
//! - A program that holds a copy waits for the read of the copied page.
//! - An erase waits for the queued programs on other dies that hold copies made since the previous
//!   erase.
//! - Neighbouring pages of one flash page (on all planes) are read at once.
//! - A wear leveller may close a block that is not full. The program that is begun there is then
//!   queued, before the erase of the block from which the data were moved.
//! - A flush fills up the begun units that hold pages written by the host. So does a write that is
//!   not cached. Units with only copies, folded pages or pages of the mapping table are not filled
//!   up.
//! - No request waits for a unit that cannot be filled up; the pages of the unit count as safe.
//! - If the cache survives a loss of power, a flush waits for nothing, and a write that otherwise
//!   would not be cached is cached.
//!
//! **Partial writes.**
//! - If the profile reads before it modifies, a write of a part of a mapped page first reads the
//!   rest of the page, unless that is in memory.
//!
//! **Write cache.**
//! - Pages are in the order of last use.
//! - A write needs a place for each of its pages that is not in the cache. Writes get places in
//!   order.
//! - The oldest pages leave until enough places are free, or will be once programs are done.
//!   Enough is sixteen units for each die, but at most half of the cache, and at least one place.
//!   This happens after each page that gets a place, and after all of them.
//! - If no place is free, and the flash has nothing to do, begun units are filled up.
//! - The place of a page that leaves is free when its program is done.
//! - A read is served by a cached page that holds all of its sectors. A page with nothing to write
//!   holds all sectors.
//!
//! **Intervals.**
//! - The host may mark moments. An interval lies between two marks.
//! - When a page leaves the cache, the programs and erases that its write immediately causes count
//!   for the interval in which the host wrote the page last.
//! - All other programs and erases count for the interval in which they are done.
//!
//! **Hints.**
//! - The hint of a write on a page is valid once the cache has a place for the page, or once the
//!   page is written to flash.
//! - A page is programmed with its latest valid hint.
//! - The host's clock is the number of pages that it has written.
//! - If the hint is a time, the page's remaining life is computed by that clock when the page is
//!   programmed. It is 1 page at least.
//!
//! **Mapping table.**
//! - An entry that is not in memory is read first. The segment used longest ago makes room.
//! - If that segment was changed, its page of the table is written. This write cleans the other
//!   segments of that page. If not all of them are in memory, the rest of the page is read first.
//! - Copies change entries as soon as these are in memory.
//! - A trim changes entries without waiting.
//! - At least 512 bytes are read for an entry.
//! - If an entry is not in memory, and its page of the table is being read, it arrives with that
//!   read.
//! - Neighbouring pages that wait for the same read of the table are read at once.
//!
//! **SLC cache.**
//! - Each row of the cache has a block on each die.
//! - A program writes one flash page on the planes that are programmed at once. The programs lie on
//!   the dies in turn.
//! - A page of the host goes to the cache, with two exceptions. The cache takes no page if it is
//!   full and folds in pauses only. It takes no page of a sequential run of writes that is long
//!   enough to bypass it.
//! - When a page goes to the cache, its version behind the cache is unmapped.
//! - If the cache does not fold in pauses only, the oldest row is folded before each program in the
//!   cache is begun. The number of programs to fold is the number of rows in use from the watermark
//!   on.
//! - Before a row is begun, rows are folded until there is room for one more.
//! - Folding reads the pages of a program, unless they are in memory, and writes them as the host
//!   would. After its last program, the row is erased.
//! - The erase of a row waits for the programs that were queued on other dies.
//! - Folding a row without valid pages reads and writes nothing. Such rows are released also where
//!   the cache folds in pauses only.
//! - In a pause of the host, whenever the drive has nothing to do, as many programs are folded at
//!   once as make whole programs on all dies. This is repeated until no full row is left.
//! - The cache may have as many rows as fit into its own bytes and its share of the free space, and
//!   2 at least.
//!
//! **Read errors.** These rules hold for a drive with a table of bit error rates.
//! - A read of flash behind the SLC cache is tried again until it is corrected, or the profile allows
//!   no further try.
//! - When the data of a failed try have crossed the channel, the die waits for the decoder, and
//!   begins again with the command. The die does nothing else in between.
//! - The error rate depends on the erases of the block, and on the time since its first page was
//!   programmed. It is interpolated geometrically in the table, and multiplied by a factor of the
//!   flash page.
//! - Each read has a random number. More than k further tries are needed if it is below the
//!   probability that any of its codewords has more wrong bits than can be corrected. This
//!   probability is computed at the error rate that k tries leave.
//! - The random number follows from the read's index among all such reads that were submitted.
//!
//! **Upkeep** follows every event, in this order:
//! - Blocks that were read too often, or are too old, are moved.
//! - LUNs of dies that have run out of work collect, those of the last such die first. A LUN
//!   collects if it is below the soft limit while its die is idle.
//! - Rows of the SLC cache are folded, in a pause of the host.
//! - Evicted segments of the mapping table are written, the last first.
//!
//! These rules limit the upkeep:
//! - Before each page that is written, LUNs below the hard limit collect.
//! - The soft limit is a quarter of a LUN's spare blocks at most, but 1 at least. The hard limit is
//!   not above the soft limit.
//! - A LUN collects again once the erases of its previous collection are done.
//! - Between two requests, idle collection and refresh move no more blocks than the drive has.

mod array;
mod cache;
mod durations;
mod errors;
mod profile;
mod programs;
mod requests;
mod slc;
mod table;
mod upkeep;

use std::collections::{BTreeMap, VecDeque};

use crate::tags::TagCounts;
use array::{Array, DieOrPlane, Waiter};
use cache::Cache;
pub use errors::ErrorTable;
use errors::Errors;
pub use profile::{Logical, LogicalOp, Profile, ProgramFor};
use programs::Programs;
use requests::{Request, Server};
use slc::Slc;
use table::Table;
use upkeep::Upkeep;

/// Kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    Read,
    Write { fua: bool },
    Trim,
    Flush,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    ChannelFree(usize),
    ArrayDone(DieOrPlane),
    /// Cancelled end of an array operation that was suspended.
    Cancelled,
    AtLink(u32),
    AtController(u32),
    Served(u32),
    MemoryDone(u32),
    Answered(u32),
    Idle(u64),
    SlcIdle(u64),
}

/// Simulated time and scheduled events.
#[derive(Debug, Default)]
struct Clock {
    now_ns: u64,
    scheduled: u64,
    events: Vec<(u64, u64, Event)>,
}

impl Clock {
    fn at(&mut self, at_ns: u64, event: Event) {
        self.events.push((at_ns, self.scheduled, event));
        self.scheduled += 1;
    }

    fn next_ns(&self) -> Option<u64> {
        self.events.iter().map(|&(at_ns, ..)| at_ns).min()
    }

    fn take_next(&mut self) -> Option<Event> {
        self.events.sort_by_key(|&(at_ns, scheduled, _)| (at_ns, scheduled));
        if self.events.is_empty() {
            return None;
        }
        let (at_ns, _, event) = self.events.remove(0);
        self.now_ns = at_ns;
        Some(event)
    }

    /// Cancels the end of a unit's array operation, because it is suspended.
    fn cancel_array(&mut self, unit: usize) {
        let done = Event::ArrayDone(DieOrPlane::Die(unit));
        let scheduled = self.events.iter_mut().find(|(.., event)| *event == done);
        scheduled.expect("the array was busy").2 = Event::Cancelled;
    }
}

/// Counters to compare with those of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimedCounters {
    /// Programs by the index of [`ProgramFor`].
    pub programs: [u64; 9],
    pub erases: u64,
    pub written_pages: u64,
    pub written_bytes: u64,
    pub read_pages: u64,
    pub read_bytes: u64,
    pub trimmed_pages: u64,
    pub trimmed_bytes: u64,
    pub unmapped_pages: u64,
    /// Host pages that are on the flash now, including its SLC cache.
    pub mapped_pages: u64,
    /// Host pages that are in the SLC cache now.
    pub slc_pages: u64,
    pub flushes: u64,
    pub program_operations: u64,
    pub read_operations: u64,
    /// Number of further tries of reads, by purpose: host, copies, mapping table.
    pub retries: [u64; 3],
    /// Number of reads that no try corrects, by purpose: host, copies, mapping table.
    pub uncorrectable: [u64; 3],
}

/// Programs and erases that count for one interval between marks of the host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntervalCounts {
    /// Programs by the index of [`ProgramFor`].
    pub programs: [u64; 9],
    pub erases: u64,
    /// Programs by tag.
    pub by_tag: TagCounts,
}

/// Timed flash drive, with the untimed drive `logical` behind it.
pub struct TimedDrive<L: Logical> {
    logical: L,
    profile: Profile,
    clock: Clock,
    array: Array,
    counters: TimedCounters,
    /// Programs and erases of each interval; the last interval has not ended.
    intervals: Vec<IntervalCounts>,
    /// Interval for which operations count now, if it is not the last.
    charged_interval: Option<usize>,
    link_in: Server,
    link_out: Server,
    controller: Server,
    memory: Server,
    requests: Vec<Request>,
    submitted: u64,
    cache: Option<Cache>,
    waiting: VecDeque<u32>,
    table: Option<Table>,
    slc: Option<Slc>,
    programs: Programs,
    upkeep: Upkeep,
    /// Latest hint on each page.
    hints: BTreeMap<u32, u64>,
    /// Tag of the version of each page on flash, or in the SLC cache.
    tag_of: BTreeMap<u32, u8>,
}

impl<L: Logical> TimedDrive<L> {
    /// Returns a drive at time 0.
    pub fn new(profile: Profile, logical: L, seed: u64) -> Self {
        let mut drive = TimedDrive {
            array: Array::new(&profile, seed),
            cache: Cache::new(&profile),
            table: Table::new(&profile),
            slc: Slc::new(&profile),
            upkeep: Upkeep::new(&profile),
            logical,
            profile,
            clock: Clock::default(),
            counters: TimedCounters::default(),
            intervals: vec![IntervalCounts::default()],
            charged_interval: None,
            link_in: Server::default(),
            link_out: Server::default(),
            controller: Server::default(),
            memory: Server::default(),
            requests: Vec::new(),
            submitted: 0,
            waiting: VecDeque::new(),
            programs: Programs::default(),
            hints: BTreeMap::new(),
            tag_of: BTreeMap::new(),
        };
        drive.note_free_blocks();
        let blocks = 0..drive.profile.blocks;
        let erases: Vec<u32> = blocks.map(|block| drive.logical.erases_of(block)).collect();
        let table = drive.profile.errors.clone();
        drive.array.errors = table.map(|table| Errors::new(table, &erases, seed));
        drive
    }

    /// Returns the untimed drive.
    pub fn logical(&self) -> &L {
        &self.logical
    }

    /// Returns the time of the next event, if any.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.clock.next_ns()
    }

    /// Returns the counters.
    pub fn counters(&self) -> TimedCounters {
        let host_pages = 0..self.profile.host_pages;
        TimedCounters {
            mapped_pages: host_pages.filter(|&page| self.physical(page).is_some()).count() as u64,
            slc_pages: self.slc.as_ref().map_or(0, Slc::valid_pages),
            program_operations: self.array.programs,
            read_operations: self.array.reads,
            retries: self.array.errors.as_ref().map_or([0; 3], |errors| errors.retries),
            uncorrectable: self.array.errors.as_ref().map_or([0; 3], |errors| errors.uncorrectable),
            ..self.counters
        }
    }

    /// Ends the current interval: the host marks this moment.
    pub fn mark(&mut self) {
        self.intervals.push(IntervalCounts::default());
    }

    /// Returns the programs and erases of each interval.
    pub fn intervals(&self) -> &[IntervalCounts] {
        &self.intervals
    }

    fn interval(&mut self) -> &mut IntervalCounts {
        let charged_interval = self.charged_interval.unwrap_or(self.intervals.len() - 1);
        &mut self.intervals[charged_interval]
    }

    /// Processes the next event.
    ///
    /// Returns the id of the request that it answers, if any, and the time in ns.
    pub fn step(&mut self) -> Option<(u32, u64)> {
        let event = self.clock.take_next()?;
        let mut answered = None;
        match event {
            Event::ChannelFree(channel) => self.array.on_channel_free(channel, &mut self.clock),
            Event::ArrayDone(user) => self.array.on_array_done(user, &mut self.clock),
            Event::Cancelled => {}
            Event::AtLink(id) => self.on_link(id),
            Event::AtController(id) => self.on_controller(id),
            Event::Served(id) => self.serve(id),
            Event::MemoryDone(id) => self.release(id),
            Event::Answered(id) => {
                self.requests.retain(|request| request.id != id);
                answered = Some((id, self.clock.now_ns));
                self.schedule_idle_work();
            }
            Event::Idle(submitted) => {
                if submitted == self.submitted {
                    self.write_back();
                }
            }
            Event::SlcIdle(submitted) => self.begin_idle_folding(submitted),
        }
        self.settle();
        answered
    }

    /// Begins to write the cache and the begun units with data of the host to flash.
    pub fn sync(&mut self, now_ns: u64) {
        self.clock.now_ns = self.clock.now_ns.max(now_ns);
        self.write_back();
        self.settle();
    }

    /// Notifies waiters, admits writes and runs the upkeep, until no waiter is left to notify.
    fn settle(&mut self) {
        loop {
            while let Some(waiter) = self.array.to_notify.pop() {
                match waiter {
                    Waiter::Request(id) => self.release(id),
                    Waiter::CachedPage => self.cache.as_mut().expect("a cache").leaving -= 1,
                    Waiter::Collection(lun) => self.upkeep.collecting[lun] -= 1,
                    Waiter::TablePage(page) => {
                        self.table.as_mut().expect("a table").reads.remove(&page);
                    }
                    Waiter::Operation(_) => {
                        unreachable!("a waiting operation must be released when it ends")
                    }
                }
            }
            self.admit_waiting();
            self.run_upkeep();
            if self.array.to_notify.is_empty() {
                return;
            }
        }
    }
}
