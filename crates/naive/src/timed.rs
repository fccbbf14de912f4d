//! Naive timed flash drive, which the tests hold the engine's timed drive against.
//!
//! What is done to the flash is told to it ([`Logical`]); when each part of it ends, it works out
//! from these rules. Events of one time happen in the order in which they were scheduled.
//!
//! **Requests.** A request comes after `read_in_ns` or `write_in_ns`. A write then crosses the link
//! in whole packets; every request passes the controller; the answer of a read crosses the link
//! (another one if it is full-duplex), and each answer takes `out_ns` more. Link, controller and
//! cache memory serve one after another in the order of asking. A stage that takes no time is no
//! event. A request is served at one moment and answered once all that it waits for is done. One of
//! no length touches no page.
//!
//! **Dies.** A die (a chip where dies are not interleaved) does one operation at a time: command on
//! the channel, with the data of a program; array; data out of a read. Programs and erases queue in
//! order, and one that must wait for another holds up those behind it. A read joins the queue once
//! it waits for nothing, or a queue of its own that goes first, and those for entries of the mapping table
//! before other reads. When an operation ends, the
//! operations that wait for it are freed, the one that came last first, and then the die goes on.
//! A channel serves data that leave a die before commands, or commands first; the die whose transfer has ended
//! goes on, and then the next transfer begins.
//!
//! **Suspension.** A read that comes while the array is at a program or an erase suspends it, if it
//! may still be suspended so often, has longer to go than suspending takes, and no data are being
//! loaded. Reads go before it is resumed; what was left is then prolonged by the resumption.
//!
//! **Planes.** Where they read for themselves, a read is one of a flash page, waits for its plane and goes through
//! command, array and data there, while other planes do; the first of the planes with something to read goes first. The
//! die begins nothing else as long as a plane has something to read.
//!
//! **Dispatch.** Before a page is written, the books may hear how many programs and erases each die has to do.
//!
//! **Bounds.** Where copies yield, reads of pages that are copied go after all other reads, and suspend nothing.
//! Programs and erases (suspended ones first) go after all reads. Where waiting has a bound, what could begin
//! but for others that went first goes before them once that has lasted so long, and is not suspended then;
//! of two such, the one that was passed first, copies before programs.
//!
//! **Pacing.** Where collection is paced, programs that hold copies only and erases queue apart from those of the
//! host, but in the order of submission where they are of one block on one die. When no other read waits, what is
//! suspended goes on; else collection (copies, then the head of its queue) and the head of the host's queue take
//! turns. If both could begin, collection does if its credit is above 0, and the array's time of that is taken
//! from it. When a program of the host begins, the credit grows by the array's time of what collection has waiting
//! at the die over the number of programs that the die's erased blocks have room for (one at least). When nothing
//! of collection waits any more, the credit is 0. An erase waits for copies in the host's queue too. The hard
//! limit is the soft one.
//!
//! **Cache program.** While the array programs, the data of the next program cross the channel, if
//! it is next in the queue, waits for nothing, and no read waits to go first.
//!
//! **Program units.** A program begins with the first page of its unit (or, of a unit that was
//! begun before time, with what is left of it) and is queued with the last.
//! From its first page until it is done, its pages are read from memory, at no cost but the
//! memory's. A copy waits for the read of its page. An erase waits for the queued programs on other
//! dies that hold copies made since the erase before. Neighbours that lie in one flash page (on all
//! planes) are read at once. A wear leveller closes a block with whatever it holds, and what is begun
//! there is queued then, before the erase of the block that the data were in. A flush, and a write
//! that is not cached, fills begun units that hold data of the host, not only of the mapping table; where that cannot be, they count
//! as safe. Where the cache survives a loss of power, a flush waits for nothing, and such a write is cached.
//!
//! **Writes of parts.** The rest of a page that is mapped is read first, unless it is in memory.
//!
//! **Write cache.** Pages stand in it in the order of last use. A write needs a place for each page
//! that is not in it; writes get places in order. After each, and after all, so many of the oldest
//! pages leave that sixteen units a die (at most half of the cache) are free or becoming so; and if
//! there is no place and nothing for the flash to do, begun units are filled. The place of a page
//! that leaves is free when its program is done. A read is served by a page that holds all that it wants; a page
//! without anything to write holds all.
//!
//! **Intervals.** The host may mark moments. What a page of the cache takes of the flash when it leaves,
//! with all that its write brings about at once, counts to the interval in which the host wrote it last;
//! all else to the interval in which it is done.
//!
//! **Hints.** What a write says of a page holds once the cache has a place for the page, or it is written to
//! flash; a page is programmed with what was said of it last. The host's clock counts the pages that it has
//! written; what is left by it of a page's life begins when the page is programmed, and is one page at least.
//!
//! **Mapping table.** An entry that is not in memory is read first, and the oldest segment makes
//! room; if that was changed, its page of the table is written, which cleans the other segments of
//! that page, and if not all of them are in memory the rest of the page is read first. Copies change
//! entries as soon as these are in memory. A trim changes them without waiting. At least 512 bytes
//! are read for an entry. An entry that is not in memory, and whose page of the table is being read, comes
//! with that read. Neighbours that wait for the same read of the table are read at once.
//!
//! **SLC cache.** Its rows have a block on each die; their programs, of one flash page on the planes
//! that are programmed at once, lie on the dies in turn. A page of the host goes there, unless the cache is full and
//! folds in pauses only, or the page belongs to a sequential run of writes that is long enough to pass it by; the version
//! behind the cache is unmapped. Before a program there is begun, the oldest row is folded by as many programs as
//! rows are in use from the watermark on, and before a row is begun until there is room for one more. Folding reads what
//! a program holds, unless it is in memory, writes it as the host would, and erases the row after its last; the erase
//! waits for the programs that were queued on other dies. A row that holds nothing is given up for nothing. In a pause,
//! so many programs are folded at once as make whole ones on all dies, whenever nothing is to be done, until no full row
//! is left. The cache may have as many rows as its own bytes and its share of the free space make, and two at least.
//!
//! **Read errors.** Of a drive with a table of bit error rates, a read of flash behind the SLC cache is tried again
//! until it is corrected: when its data have crossed the channel, its die waits for the decoder and begins again with
//! the command; nothing else comes between. The rate is the table's, geometrically interpolated, for the erases of the
//! block and the time since its first page was programmed, times the flash page's own factor. A read needs more than k further tries where
//! its number is below the probability that a codeword of it has more wrong bits than are corrected, at the rate
//! that k tries leave. The number is that of the read's place among all that were submitted.
//!
//! **Upkeep** follows every event: blocks that were read too often or are too old are moved; LUNs
//! whose units have run out of work, the last unit first, collect below the soft limit while it is
//! idle; evicted segments are written, the last first. Before each page that is written, LUNs below
//! the hard limit collect. The soft limit is a quarter of a LUN's spare blocks at most (but one), and
//! the hard one no higher. A LUN collects again once the erases of the collection before are done. Between two requests, idle
//! collection and refresh move no more blocks than there are.

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

use array::{Array, Seat, Waiter};
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
pub enum Asked {
    Read,
    Write { fua: bool },
    Trim,
    Flush,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    ChannelFree(usize),
    ArrayDone(Seat),
    /// An array would have been done now, had it not been suspended.
    Nothing,
    AtLink(u32),
    AtController(u32),
    Served(u32),
    MemoryDone(u32),
    Answered(u32),
    Idle(u64),
    SlcIdle(u64),
}

/// Events to come, and the time.
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

    /// The array of a unit will not be done when it should have been.
    fn call_off_array(&mut self, unit: usize) {
        let done = Event::ArrayDone(Seat::Die(unit));
        let found = self.events.iter_mut().find(|(.., event)| *event == done);
        found.expect("the array was at work").2 = Event::Nothing;
    }
}

/// Counts that the engine is compared with.
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
    /// Pages of the host that lie on the flash now, and how many of them in an SLC cache.
    pub mapped_pages: u64,
    pub slc_pages: u64,
    pub flushes: u64,
    pub program_operations: u64,
    pub read_operations: u64,
    /// Further tries of reads of the host, of copies, of the table; and reads that stay wrong.
    pub retries: [u64; 3],
    pub uncorrectable: [u64; 3],
}

/// Programs and erases of the flash for the writes of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfInterval {
    /// Programs by the index of [`ProgramFor`].
    pub programs: [u64; 9],
    pub erases: u64,
}

/// A flash drive in time.
pub struct TimedDrive<L: Logical> {
    logical: L,
    profile: Profile,
    clock: Clock,
    array: Array,
    counters: TimedCounters,
    /// The last of them is under way.
    intervals: Vec<OfInterval>,
    /// The interval to which everything counts now, if it is not the one under way.
    charged: Option<usize>,
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
    /// The last hint on each page.
    hints: BTreeMap<u32, u64>,
}

impl<L: Logical> TimedDrive<L> {
    /// A drive at time 0.
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
            intervals: vec![OfInterval::default()],
            charged: None,
            link_in: Server::default(),
            link_out: Server::default(),
            controller: Server::default(),
            memory: Server::default(),
            requests: Vec::new(),
            submitted: 0,
            waiting: VecDeque::new(),
            programs: Programs::default(),
            hints: BTreeMap::new(),
        };
        drive.note_free_blocks();
        let blocks = 0..drive.profile.blocks;
        let erases: Vec<u32> = blocks.map(|block| drive.logical.erases_of(block)).collect();
        let table = drive.profile.errors.clone();
        drive.array.errors = table.map(|table| Errors::new(table, &erases, seed));
        drive
    }

    /// The books behind it.
    pub fn logical(&self) -> &L {
        &self.logical
    }

    /// Time of the next event, if any.
    pub fn next_event_ns(&self) -> Option<u64> {
        self.clock.next_ns()
    }

    /// All that was counted.
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

    /// The host marks a moment.
    pub fn mark(&mut self) {
        self.intervals.push(OfInterval::default());
    }

    /// Programs and erases for the writes between marks.
    pub fn intervals(&self) -> &[OfInterval] {
        &self.intervals
    }

    fn interval(&mut self) -> &mut OfInterval {
        let charged = self.charged.unwrap_or(self.intervals.len() - 1);
        &mut self.intervals[charged]
    }

    /// Lets the next event happen: the request that is answered by it, and when.
    pub fn step(&mut self) -> Option<(u32, u64)> {
        let event = self.clock.take_next()?;
        let mut answered = None;
        match event {
            Event::ChannelFree(channel) => self.array.on_channel_free(channel, &mut self.clock),
            Event::ArrayDone(seat) => self.array.on_array_done(seat, &mut self.clock),
            Event::Nothing => {}
            Event::AtLink(id) => self.on_link(id),
            Event::AtController(id) => self.on_controller(id),
            Event::Served(id) => self.serve(id),
            Event::MemoryDone(id) => self.release(id),
            Event::Answered(id) => {
                self.requests.retain(|request| request.id != id);
                answered = Some((id, self.clock.now_ns));
                self.watch_idleness();
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

    /// Writes out what is in memory.
    pub fn sync(&mut self, now_ns: u64) {
        self.clock.now_ns = self.clock.now_ns.max(now_ns);
        self.write_back();
        self.settle();
    }

    /// Does what follows from operations that are done, until nothing does.
    fn settle(&mut self) {
        loop {
            while let Some(waiter) = self.array.told.pop() {
                match waiter {
                    Waiter::Request(id) => self.release(id),
                    Waiter::CachedPage => self.cache.as_mut().expect("a cache").leaving -= 1,
                    Waiter::Collection(lun) => self.upkeep.collecting[lun] -= 1,
                    Waiter::TablePage(page) => {
                        self.table.as_mut().expect("a table").reads.remove(&page);
                    }
                    Waiter::Operation(_) => unreachable!("operations hear at once"),
                }
            }
            self.admit_waiting();
            self.keep_up();
            if self.array.told.is_empty() {
                return;
            }
        }
    }
}
