//! Hard disk: link and controller, memory, and one arm.
//!
//! A read of data in memory is answered from there. Other reads wait for the arm, are transferred
//! completely into memory, and then over the link. A write crosses the link first. With
//! `write_back`, it is acknowledged once it is in memory, unless it must be durable. The data is
//! written to the medium when no request waits, when memory is full, or for a flush. Requests are
//! extended to whole sectors. A TRIM is acknowledged and changes nothing.

mod cache;
mod head;
mod mechanics;
mod params;

use std::collections::VecDeque;
use std::ops::Range;

use cache::{Cache, Dirty};
use head::Head;
use mechanics::Mechanics;
pub use params::{DiskOrder, DiskProfile, DiskTimes};

use super::events::Events;
use super::extent::check_extent;
use super::server::{Link, Server};
use super::slab::Slab;
use super::{BlockDevice, Busy, Completion, Interface, IoRequest, SECTOR_BYTES};
use crate::error::Result;
use crate::flash::Counters;
use crate::request::Op;

/// Event of a request, or of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The controller has received the request in this slot.
    Known(u32),
    /// The data of a write is in memory.
    Loaded(u32),
    /// The controller has processed the request.
    Arrived(u32),
    /// The request is complete.
    Complete(u32),
    /// The arm has finished its task.
    HeadDone,
}

/// Request that the disk has received and not answered.
#[derive(Debug, Clone, Copy)]
struct Job {
    id: u32,
    request: IoRequest,
    /// Number of requests that arrived before this request.
    number: u64,
}

/// Task of the arm: a request, or a write from memory to the medium.
#[derive(Debug)]
enum Task {
    Request(u32),
    Dirty(Range<u64>),
}

/// Hard disk in virtual time.
#[derive(Debug)]
pub struct Disk {
    host: Interface,
    order: DiskOrder,
    capacity_bytes: u64,
    writes_back: bool,
    jobs: Slab<Job>,
    events: Events<Event>,
    arrived: u64,
    link: Link,
    controller: Server,
    cache: Cache,
    head: Head,
    task: Option<Task>,
    /// Requests waiting for the arm.
    waiting: Vec<u32>,
    /// Writes waiting for space in memory.
    stalled: VecDeque<u32>,
    /// Flushes that wait until all older writes are on the medium.
    flushes: Vec<u32>,
}

impl Disk {
    /// Builds an idle disk, with its arm over the first sector.
    /// The error names the first invalid value of the profile.
    pub fn new(profile: &DiskProfile) -> Result<Self> {
        let DiskProfile { host, disk } = profile;
        profile.check()?;
        let sector_bytes = u64::from(SECTOR_BYTES);
        let ahead_sectors = disk.read_ahead_bytes / sector_bytes;
        // Of the memory that is not used for read-ahead, one half holds data of the current pass of
        // the heads, and the other half data of earlier passes.
        let behind_sectors = (disk.read_cache_bytes() / sector_bytes - ahead_sectors) / 2;
        let head = Head::new(
            Mechanics::new(disk)?,
            disk.capacity_bytes / sector_bytes,
            ahead_sectors,
            behind_sectors,
        );
        Ok(Disk {
            host: host.clone(),
            order: disk.scheduling,
            capacity_bytes: disk.capacity_bytes,
            writes_back: disk.write_back,
            jobs: Slab::default(),
            events: Events::default(),
            arrived: 0,
            link: Link::new(host),
            controller: Server::default(),
            cache: Cache::new(
                behind_sectors,
                disk.write_cache_bytes() / sector_bytes,
                disk.most_write_segments(),
            ),
            head,
            task: None,
            waiting: Vec::new(),
            stalled: VecDeque::new(),
            flushes: Vec::new(),
        })
    }

    fn on_known(&mut self, now_ns: u64, slot: u32) {
        let IoRequest { op, length, .. } = self.jobs[slot].request;
        let at_ns = match op {
            Op::Write => self.link.send_in(now_ns, length),
            Op::Read | Op::Trim | Op::Flush => now_ns,
        };
        self.events.at(at_ns, Event::Loaded(slot));
    }

    fn on_arrived(&mut self, now_ns: u64, slot: u32) {
        self.jobs[slot].number = self.arrived;
        self.arrived += 1;
        let request = self.jobs[slot].request;
        match request.op {
            Op::Read => self.on_read(now_ns, slot),
            Op::Write if self.writes_back && !request.fua && self.fits(slot) => {
                self.stalled.push_back(slot);
                self.admit_writes(now_ns);
            }
            Op::Write => self.waiting.push(slot),
            Op::Trim => self.answer(now_ns, slot),
            Op::Flush => {
                self.flushes.push(slot);
                self.answer_flushes(now_ns);
            }
        }
        self.dispatch(now_ns);
    }

    fn on_read(&mut self, now_ns: u64, slot: u32) {
        let sectors = self.sectors(slot);
        if self.head.has_read(now_ns, &sectors) {
            if self.task.is_none() {
                self.head.read_further(now_ns, &sectors);
            }
            self.deliver(now_ns, slot);
        } else if self.cache.hits(&sectors) {
            self.deliver(now_ns, slot);
        } else {
            self.waiting.push(slot);
        }
    }

    /// Moves waiting writes to memory in order and acknowledges them, as long as there is space.
    fn admit_writes(&mut self, now_ns: u64) {
        while let Some(&slot) = self.stalled.front() {
            let (sectors, number) = (self.sectors(slot), self.jobs[slot].number);
            if !self.cache.take_write(&sectors, number) {
                return;
            }
            self.stalled.pop_front();
            self.answer(now_ns, slot);
        }
    }

    /// Acknowledges the flushes whose preceding writes are all on the medium.
    fn answer_flushes(&mut self, now_ns: u64) {
        let written = match &self.task {
            Some(Task::Dirty(_)) => None,
            _ => Some(self.cache.dirty.iter().map(|dirty| dirty.number).min().unwrap_or(u64::MAX)),
        };
        let Some(oldest) = written else { return };
        for at in (0..self.flushes.len()).rev() {
            let slot = self.flushes[at];
            if self.jobs[slot].number < oldest {
                self.flushes.remove(at);
                self.answer(now_ns, slot);
            }
        }
    }

    fn on_head_done(&mut self, now_ns: u64) {
        match self.task.take().expect("the arm has a task when it finishes one") {
            Task::Request(slot) => {
                self.head.read_ahead(now_ns);
                match self.jobs[slot].request.op {
                    Op::Read => self.deliver(now_ns, slot),
                    _ => self.answer(now_ns, slot),
                }
            }
            Task::Dirty(sectors) => {
                self.cache.release(&sectors);
                self.admit_writes(now_ns);
                self.answer_flushes(now_ns);
            }
        }
        self.dispatch(now_ns);
    }

    /// Starts the next task of the arm, if it is idle.
    /// A task is a waiting request, or a write from memory to the medium. Writes from memory start
    /// only if no request waits, or if a request waits for space or for a flush.
    fn dispatch(&mut self, now_ns: u64) {
        if self.task.is_some() {
            return;
        }
        let of_requests = self.first_of_waiting(now_ns);
        let must_write = !self.stalled.is_empty() || !self.flushes.is_empty();
        let of_dirty =
            if of_requests.is_none() || must_write { self.first_of_dirty(now_ns) } else { None };
        let (done_ns, left) = match (of_requests, of_dirty) {
            (None, None) => return,
            (Some((key, at)), other) if other.is_none_or(|(other, _)| key < other) => {
                let slot = self.waiting.remove(at);
                let sectors = self.sectors(slot);
                self.task = Some(Task::Request(slot));
                match self.jobs[slot].request.op {
                    Op::Read => self.head.read(now_ns, &sectors),
                    _ => self.head.write(now_ns, &sectors),
                }
            }
            (_, Some((_, at))) => {
                let sectors = self.cache.dirty.swap_remove(at).sectors;
                let started = self.head.write(now_ns, &sectors);
                self.task = Some(Task::Dirty(sectors));
                started
            }
            (Some(_), None) => {
                unreachable!("without data to write out, a waiting request is served")
            }
        };
        if let Some(sectors) = left {
            self.cache.keep(sectors);
        }
        self.events.at(done_ns, Event::HeadDone);
        // The write in progress does not count in the limit of separate writes, so another one may
        // enter.
        self.admit_writes(now_ns);
    }

    /// Waiting request that the arm serves best next: its rank and its index.
    /// The lowest rank is served first.
    fn first_of_waiting(&self, now_ns: u64) -> Option<((u64, u64), usize)> {
        let rank = |slot: u32| {
            let Job { request, number, .. } = self.jobs[slot];
            let sectors = sectors_of(&request);
            let ready_ns = match (self.order, request.op) {
                (DiskOrder::Fcfs, _) => 0,
                (DiskOrder::Sptf, Op::Read) => self.head.read_ready_ns(now_ns, &sectors),
                (DiskOrder::Sptf, _) => self.head.write_ready_ns(now_ns, &sectors),
            };
            (ready_ns, number)
        };
        self.waiting.iter().enumerate().map(|(at, &slot)| (rank(slot), at)).min()
    }

    /// Write in memory that the arm serves best next: its rank and its index.
    fn first_of_dirty(&self, now_ns: u64) -> Option<((u64, u64), usize)> {
        let rank = |dirty: &Dirty| match self.order {
            DiskOrder::Fcfs => (0, dirty.number),
            DiskOrder::Sptf => (self.head.write_ready_ns(now_ns, &dirty.sectors), dirty.number),
        };
        self.cache.dirty.iter().enumerate().map(|(at, dirty)| (rank(dirty), at)).min()
    }

    /// Transfers the data of a read to the host.
    fn deliver(&mut self, now_ns: u64, slot: u32) {
        let bytes = self.jobs[slot].request.length;
        let sent_ns = self.link.send_out(now_ns, bytes);
        self.events.at(sent_ns + self.host.out_ns, Event::Complete(slot));
    }

    fn answer(&mut self, now_ns: u64, slot: u32) {
        self.events.at(now_ns + self.host.out_ns, Event::Complete(slot));
    }

    fn fits(&self, slot: u32) -> bool {
        self.cache.is_large_enough(&self.sectors(slot))
    }

    fn sectors(&self, slot: u32) -> Range<u64> {
        sectors_of(&self.jobs[slot].request)
    }
}

/// Sectors that a request covers in full or in part.
fn sectors_of(request: &IoRequest) -> Range<u64> {
    let sector_bytes = u64::from(SECTOR_BYTES);
    request.offset / sector_bytes..(request.offset + request.length).div_ceil(sector_bytes)
}

impl BlockDevice for Disk {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn depth(&self) -> u32 {
        self.host.depth
    }

    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()> {
        check_extent(request, self.capacity_bytes)?;
        let slot = self.jobs.insert(Job { id, request: *request, number: 0 });
        let is_read = request.op == Op::Read;
        let in_ns = if is_read { self.host.read_in_ns } else { self.host.write_in_ns };
        self.events.at(now_ns + in_ns, Event::Known(slot));
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.events.next_ns()
    }

    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()> {
        let Some(event) = self.events.next() else { return Ok(()) };
        let now_ns = self.events.now_ns();
        match event {
            Event::Known(slot) => self.on_known(now_ns, slot),
            Event::Loaded(slot) => {
                let at_ns = self.controller.serve(now_ns, self.host.controller_ns);
                self.events.at(at_ns, Event::Arrived(slot));
            }
            Event::Arrived(slot) => self.on_arrived(now_ns, slot),
            Event::Complete(slot) => {
                completed.push(Completion { id: self.jobs.remove(slot).id, at_ns: now_ns });
            }
            Event::HeadDone => self.on_head_done(now_ns),
        }
        Ok(())
    }

    /// Does nothing: the arm already writes out the memory whenever it is idle.
    fn sync(&mut self, _now_ns: u64) -> Result<()> {
        Ok(())
    }

    fn busy(&self, now_ns: u64) -> Vec<Busy> {
        vec![
            Busy { level: "head", parts: 1, busy_ns: self.head.busy_ns(now_ns) },
            Busy { level: "link", parts: self.link.ways(), busy_ns: self.link.busy_ns(now_ns) },
            Busy { level: "controller", parts: 1, busy_ns: self.controller.busy_ns(now_ns) },
        ]
    }

    fn counters(&self) -> Option<Counters> {
        None
    }
}

#[cfg(test)]
mod tests;
