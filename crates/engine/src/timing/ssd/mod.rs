//! Flash drive in time: a block manager decides the flash operations, and this module their
//! times.
//!
//! A request crosses the link and waits for the controller. When the controller starts it,
//! the manager updates its state immediately, and the flash operations that it reports are queued
//! at their dies. The request is answered when the operations that it waits for are complete, or
//! when the write cache has its data.

mod cached;
mod hinting;
mod off;
mod programs;
mod reads;
mod requests;
mod slc;
mod tagging;
mod upkeep;

use std::any::Any;
use std::collections::VecDeque;

use hinting::Hinting;
use programs::Programs;
use requests::Pending;
use slc::SlcCache;
use tagging::Tagging;
use upkeep::Upkeep;

use super::device::{BlockDevice, Busy, Completion, Edge, IoRequest, Ran, SlcWear};
use super::errors::ReadErrors;
use super::late::{Lateness, Shift, TagShift};
use super::map_cache::MapCache;
use super::nand::{Nand, Waiter};
use super::params::{Rate, Timing};
use super::schedule::{Event, Schedule};
use super::server::{Link, Server};
use super::slab::Slab;
use super::write_cache::WriteCache;
use crate::error::{Error, Result};
use crate::flash::{Counters, FlashOp, Recorder, TagCounters};
use crate::hints::{Hints, RequiredHints};
use crate::managers::BlockManager;
use crate::request::Op;

/// Flash drive in virtual time.
pub struct Ssd {
    drive: Box<dyn BlockManager>,
    timing: Timing,
    page_bytes: u32,
    /// Number of host pages. Pages of the mapping table have the numbers that follow.
    host_pages: u32,
    nand: Nand,
    events: Schedule,
    link: Link,
    controller: Server,
    memory: Server,
    memory_rate: Rate,
    requests: Slab<Pending>,
    /// Number of requests submitted since the device was new.
    submitted: u64,
    cache: Option<WriteCache>,
    /// Requests waiting for space in the cache, in order.
    waiting: VecDeque<u32>,
    map: Option<MapCache>,
    slc: Option<Box<SlcCache>>,
    programs: Programs,
    upkeep: Upkeep,
    /// Store of the host's hints, or None if the manager requires none.
    hinting: Option<Box<Hinting>>,
    counters: Counters,
    late: Lateness,
    /// Counters by tag, if the drive counts by tag.
    tagging: Option<Box<Tagging>>,
    /// Operations that the manager has reported and that have no time yet.
    recorded_ops: Vec<FlashOp>,
}

impl Ssd {
    /// Logical pages of a drive with `host_pages` host pages, including its mapping table on
    /// flash.
    pub fn logical_pages(timing: &Timing, host_pages: u32, page_bytes: u32) -> u32 {
        let table_pages = MapCache::table_pages(&timing.map_cache, host_pages, page_bytes);
        // If the sum overflows, the largest number is used. It exceeds the flash, so building the
        // drive fails.
        host_pages.saturating_add(table_pages)
    }

    /// Number of mapping-table pages with blocks of their own: [`Setup::table_pages`].
    /// It is 0 if the whole table fits in memory, because it is then not written again.
    ///
    /// [`Setup::table_pages`]: crate::managers::Setup::table_pages
    pub fn pages_apart(timing: &Timing, host_pages: u32, page_bytes: u32) -> u32 {
        let params = &timing.map_cache;
        if params.own_blocks && !MapCache::holds_all(params, host_pages, page_bytes) {
            MapCache::table_pages(params, host_pages, page_bytes)
        } else {
            0
        }
    }

    /// Builds a drive at time 0, whose manager was built with a [`Recorder`] as its observer.
    /// `seed` determines the random durations of flash operations.
    pub fn new(
        drive: Box<dyn BlockManager>,
        timing: Timing,
        host_pages: u32,
        seed: u64,
    ) -> Result<Self> {
        let geometry = *drive.flash().geometry();
        timing.check(&geometry)?;
        let page_bytes = geometry.page_bytes();
        let slc = SlcCache::new(&timing, &*drive, host_pages)?;
        let tagging = Tagging::new(drive.flash(), slc.is_some(), host_pages)?;
        let slc_blocks = slc.as_deref().map(SlcCache::blocks);
        let mut nand = Nand::new(&timing, &geometry, slc_blocks, seed)?;
        nand.reports_idle = timing.collection.background;
        nand.expect_errors(&timing, drive.flash(), seed)?;
        let cached_pages = timing.write_cache.bytes / u64::from(page_bytes);
        let cached_pages = cached_pages.min(u64::from(host_pages)) as u32;
        // The manager's counters include the initial fill. The counters of the timed device begin
        // at 0, so they are separate.
        let mut ssd = Ssd {
            page_bytes,
            host_pages,
            link: Link::new(&timing.host),
            controller: Server::default(),
            memory: Server::default(),
            memory_rate: Rate::new(timing.write_cache.mb_s),
            requests: Slab::default(),
            submitted: 0,
            cache: (cached_pages > 0).then(|| WriteCache::new(cached_pages)),
            waiting: VecDeque::new(),
            map: MapCache::new(&timing.map_cache, page_bytes),
            slc,
            programs: Programs::new(geometry.blocks())?,
            upkeep: Upkeep::new(&timing, &geometry, drive.flash().logical_pages())?,
            hinting: Hinting::new(drive.required_hints(), host_pages)?,
            counters: Counters::default(),
            late: Lateness::default(),
            tagging,
            recorded_ops: Vec::new(),
            events: Schedule::new(nand.arrays()),
            nand,
            timing,
            drive,
        };
        let Some(recorder) = ssd.recorder() else {
            return Err(Error::Spec(
                "the drive has no Recorder as its observer; build a timed drive with one".into(),
            ));
        };
        recorder.is_on = true;
        recorder.ops.clear();
        ssd.report_free_blocks();
        Ok(ssd)
    }

    /// Starts recording the edges of Ready/Busy pins.
    pub fn record_edges(&mut self) {
        self.nand.edges = Some(Vec::new());
    }

    /// Block manager of the drive.
    pub fn drive(&self) -> &dyn BlockManager {
        &*self.drive
    }

    fn recorder(&mut self) -> Option<&mut Recorder> {
        let observer: &mut dyn Any = self.drive.observer_mut()?;
        observer.downcast_mut()
    }

    /// Takes the operations that the manager has reported.
    fn take_recorded_ops(&mut self) -> Vec<FlashOp> {
        let empty = std::mem::take(&mut self.recorded_ops);
        let recorder = self.recorder().expect("a timed drive is built with a Recorder");
        std::mem::replace(&mut recorder.ops, empty)
    }

    #[inline(always)]
    fn on_event(&mut self, event: Event, completed: &mut Vec<Completion>) -> Result<()> {
        match event {
            Event::ChannelFree(channel) => self.nand.on_channel_free(channel, &mut self.events),
            Event::ArrayDone(unit) => self.nand.on_array_done(unit, &mut self.events),
            Event::CalledOff => {}
            Event::AtLink(request) => self.on_link(request)?,
            Event::AtController(request) => self.on_controller(request)?,
            Event::Serve(request) => self.serve(request)?,
            Event::MemoryDone(request) => self.release(request),
            Event::Answered(request) => {
                let Pending { id, .. } = self.requests.remove(request);
                completed.push(Completion { id, at_ns: self.events.now_ns() });
                self.watch_idleness();
            }
            Event::Idle(submitted) => {
                if submitted == self.submitted {
                    self.write_back()?;
                }
            }
            Event::SlcIdle(submitted) => self.begin_idle_folding(submitted),
        }
        self.settle()
    }

    /// Handles completed operations and their consequences, until none remain.
    #[inline(always)]
    fn settle(&mut self) -> Result<()> {
        loop {
            while let Some(waiter) = self.nand.released.pop() {
                match waiter {
                    Waiter::Request(request) => self.release(request),
                    Waiter::CachedPage => {
                        self.cache
                            .as_mut()
                            .expect("the drive has a write cache, which the page has left")
                            .leaving -= 1;
                    }
                    Waiter::Collection(lun) => self.upkeep.collecting[lun as usize] -= 1,
                    Waiter::TablePage(page) => {
                        self.map
                            .as_mut()
                            .expect(
                                "a page of the mapping table was read, so the drive has a cache of \
                                 the table",
                            )
                            .end_read(page);
                    }
                    Waiter::Op(_) => unreachable!(
                        "waiting operations are notified at once and never stored here"
                    ),
                }
            }
            if self.cache.is_some() {
                self.admit_waiting()?;
            }
            self.perform_upkeep()?;
            if self.nand.released.is_empty() {
                return Ok(());
            }
        }
    }

    #[inline(always)]
    fn on_link(&mut self, request: u32) -> Result<()> {
        let Pending { op, length, .. } = self.requests[request];
        let now_ns = self.events.now_ns();
        if op == Op::Write {
            let end_ns = self.link.send_in(now_ns, length);
            if end_ns > now_ns {
                self.events.at(end_ns, Event::AtController(request));
                return Ok(());
            }
        }
        self.on_controller(request)
    }

    #[inline(always)]
    fn on_controller(&mut self, request: u32) -> Result<()> {
        let now_ns = self.events.now_ns();
        let end_ns = self.controller.serve(now_ns, self.timing.host.controller_ns);
        if end_ns > now_ns {
            self.events.at(end_ns, Event::Serve(request));
            return Ok(());
        }
        self.serve(request)
    }

    /// Accepts a request from the host. Returns its slot number, which is not its `id`.
    fn take(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<u32> {
        let end = request.offset.saturating_add(request.length);
        if end > self.capacity_bytes() {
            return Err(Error::OffTheEnd {
                page: (end / u64::from(self.page_bytes)).min(u64::from(u32::MAX)) as u32,
                logical_pages: self.host_pages,
            });
        }
        self.events.advance(now_ns);
        self.submitted += 1;
        self.upkeep.note_request();
        self.end_idle_folding();
        let host = &self.timing.host;
        let in_ns = if request.op == Op::Read { host.read_in_ns } else { host.write_in_ns };
        let pending = self.requests.insert(Pending::new(request, id));
        self.events.at(now_ns + in_ns, Event::AtLink(pending));
        Ok(pending)
    }

    /// Serves a request as far as is possible immediately.
    fn serve(&mut self, request: u32) -> Result<()> {
        let pending = self.requests[request];
        match pending.op {
            Op::Read => self.serve_read(request, &pending),
            Op::Write => {
                self.count_written(&pending);
                self.requests[request].written_in = self.late.now();
                self.requests[request].is_direct = self.is_direct(&pending);
                if self.cache.is_some() && (self.is_power_safe() || !pending.fua) {
                    self.waiting.push_back(request);
                    return Ok(());
                }
                let pending = self.requests[request];
                self.write_through(request, &pending)?;
            }
            Op::Trim => self.serve_trim(&pending)?,
            Op::Flush => {
                self.counters.host.flushes += 1;
                if !self.is_power_safe() {
                    self.write_back()?;
                    let programs = self.nand.wait_for_all_programs(Waiter::Request(request));
                    self.requests[request].waits += programs;
                }
            }
        }
        // Until now the request had one extra dependency, so that it could not be answered while it
        // was being submitted.
        self.release(request);
        Ok(())
    }

    /// True if acknowledged data survives a power loss before it is on flash.
    fn is_power_safe(&self) -> bool {
        self.cache.is_some() && self.timing.write_cache.power_safe
    }

    /// Removes one dependency of a request. Without dependencies, it is answered.
    fn release(&mut self, request: u32) {
        let pending = &mut self.requests[request];
        pending.waits -= 1;
        if pending.waits > 0 {
            return;
        }
        let Pending { op, length, .. } = *pending;
        let (now_ns, out_ns) = (self.events.now_ns(), self.timing.host.out_ns);
        let end_ns = if op == Op::Read { self.link.send_out(now_ns, length) } else { now_ns };
        self.events.at(end_ns + out_ns, Event::Answered(request));
    }

    /// Transfers data of a request to or from the memory of the write cache.
    /// The memory serves one request at a time, in order. The end of the transfer removes one
    /// dependency of the request.
    fn use_memory(&mut self, request: u32, bytes: u64) {
        let duration_ns = self.timing.write_cache.access_ns + self.memory_rate.ns(bytes);
        let end_ns = self.memory.serve(self.events.now_ns(), duration_ns);
        self.events.at(end_ns, Event::MemoryDone(request));
    }

    fn count_written(&mut self, pending: &Pending) {
        let host = &mut self.counters.host;
        host.written_pages += u64::from(pending.pages(self.page_bytes).len() as u32);
        host.written_bytes += pending.length;
        host.partial_pages += pending.partial_pages(self.page_bytes);
        if let Some(tagging) = &mut self.tagging {
            let pages = pending.pages(self.page_bytes).len() as u64;
            tagging.count_host(pending.tag, pages, pending.length);
        }
    }

    fn serve_trim(&mut self, pending: &Pending) -> Result<()> {
        let host = &mut self.counters.host;
        let pages = pending.whole_pages(self.page_bytes);
        host.trimmed_pages += pages.len() as u64;
        host.trimmed_bytes += pending.length;
        if pages.is_empty() {
            return Ok(());
        }
        for page in pages.clone() {
            let Some(cache) = &mut self.cache else { break };
            let was_written = cache.remove(page).is_some_and(|entry| entry.data.dirty != 0);
            let is_only_there = was_written && self.physical(page).is_none();
            self.counters.unmapped_pages += u64::from(is_only_there);
        }
        if let Some(map) = &mut self.map {
            for page in pages.clone() {
                map.touch(page, true, &mut self.upkeep.evicted);
            }
        }
        self.counters.unmapped_pages += self.trim_slc(pages.clone());
        let unmapped_before = self.drive.flash().counters().unmapped_pages;
        self.drive.trim(pages)?;
        self.counters.unmapped_pages +=
            self.drive.flash().counters().unmapped_pages - unmapped_before;
        Ok(())
    }

    /// Schedules a check whether the device is still idle, if an idle device would then have
    /// work.
    fn watch_idleness(&mut self) {
        if !self.requests.is_empty() {
            return;
        }
        let has_data = self.cache.as_ref().is_some_and(|cache| cache.dirty_pages() > 0)
            || self.programs.has_begun()
            || self.slc.as_deref().is_some_and(SlcCache::has_begun);
        let idle_ns = (self.timing.write_cache.idle_flush_ms * 1e6) as u64;
        if has_data && idle_ns > 0 {
            self.events.at(self.events.now_ns() + idle_ns, Event::Idle(self.submitted));
        }
        self.watch_slc_idleness();
    }
}

impl Ssd {
    /// Prefetches the map entry of a host page.
    /// If `is_near`, the entry was prefetched before, and the records of the physical page are
    /// prefetched.
    fn prefetch_page(&self, page: u32, is_near: bool, is_written: bool) {
        let flash = self.drive.flash();
        if !is_near {
            flash.prefetch_map(page);
        } else if let Some(physical) = flash.physical(page) {
            self.nand.prefetch_mark(physical);
            if is_written {
                flash.prefetch_invalidation(page);
            }
        }
    }
}

impl BlockDevice for Ssd {
    fn capacity_bytes(&self) -> u64 {
        u64::from(self.host_pages) * u64::from(self.page_bytes)
    }

    fn depth(&self) -> u32 {
        self.timing.host.depth
    }

    fn submit(&mut self, now_ns: u64, request: &IoRequest, id: u32) -> Result<()> {
        let pending = self.take(now_ns, request, id)?;
        if request.op == Op::Write { self.store_hints(pending, &Hints::default()) } else { Ok(()) }
    }

    fn required_hints(&self) -> RequiredHints {
        self.drive.required_hints()
    }

    fn submit_hinted(
        &mut self,
        now_ns: u64,
        request: &IoRequest,
        id: u32,
        hints: &Hints,
    ) -> Result<()> {
        let pending = self.take(now_ns, request, id)?;
        self.store_hints(pending, hints)
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.events.next_ns()
    }

    fn step(&mut self, completed: &mut Vec<Completion>) -> Result<()> {
        if let Some(event) = self.events.next_before(u64::MAX) {
            self.on_event(event, completed)?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        before_ns: u64,
        most_events: u64,
        completed: &mut Vec<Completion>,
    ) -> Result<Ran> {
        let mut ran = Ran::default();
        while completed.is_empty()
            && ran.events < most_events
            && let Some(event) = self.events.next_before(before_ns)
        {
            ran = Ran { events: ran.events + 1, last_ns: self.events.now_ns() };
            self.on_event(event, completed)?;
        }
        Ok(ran)
    }

    fn prefetch(&self, request: &IoRequest, is_near: bool) {
        let page = (request.offset / u64::from(self.page_bytes)) as u32;
        if page < self.host_pages {
            self.prefetch_page(page, is_near, request.op == Op::Write);
        }
    }

    fn sync(&mut self, now_ns: u64) -> Result<()> {
        self.events.advance(now_ns);
        self.write_back()?;
        self.settle()
    }

    fn busy(&self, now_ns: u64) -> Vec<Busy> {
        let (channels_ns, units_ns) = self.nand.busy_ns(now_ns);
        vec![
            Busy { level: "channel", parts: self.nand.places.channels, busy_ns: channels_ns },
            Busy { level: "die", parts: self.nand.units(), busy_ns: units_ns },
            Busy { level: "link", parts: self.link.ways(), busy_ns: self.link.busy_ns(now_ns) },
            Busy { level: "controller", parts: 1, busy_ns: self.controller.busy_ns(now_ns) },
        ]
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }

    fn tag_counters(&self) -> Option<TagCounters> {
        self.tagging.as_ref().map(|tagging| tagging.counters().clone())
    }

    fn tag_shifts(&self) -> Vec<TagShift> {
        self.tagging.as_ref().map_or_else(Vec::new, |tagging| tagging.shifts().to_vec())
    }

    fn mark(&mut self) {
        self.late.mark();
    }

    fn begin_load(&mut self) {
        self.late.begin_load();
        if let Some(tagging) = &mut self.tagging {
            tagging.begin_load();
        }
    }

    fn shifts(&self) -> Vec<Shift> {
        self.late.shifts().to_vec()
    }

    fn slc_wear(&self) -> Option<SlcWear> {
        self.slc.as_deref().map(SlcCache::wear)
    }

    fn read_errors(&self) -> Option<ReadErrors> {
        self.nand.read_errors()
    }

    fn program_operations(&self) -> u64 {
        self.nand.counts.programs
    }

    fn read_operations(&self) -> u64 {
        self.nand.counts.reads
    }

    fn take_edges(&mut self, edges: &mut Vec<Edge>) {
        if let Some(recorded) = &mut self.nand.edges {
            edges.append(recorded);
        }
    }
}
