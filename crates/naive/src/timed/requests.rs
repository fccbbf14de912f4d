//! Path of requests through the drive: link, controller, memory and flash.

use std::collections::BTreeSet;
use std::ops::Range;

use super::array::{OpId, Waiter};
use super::profile::{Logical, Profile, transfer_ns};
use super::{Event, RequestKind, TimedDrive};

/// Server of one request after another.
#[derive(Debug, Default)]
pub struct Server {
    free_ns: u64,
}

impl Server {
    /// Returns the time in ns at which a service that is requested now ends.
    pub fn serve(&mut self, now_ns: u64, duration_ns: u64) -> u64 {
        self.free_ns = now_ns.max(self.free_ns) + duration_ns;
        self.free_ns
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub id: u32,
    pub kind: RequestKind,
    pub offset: u64,
    pub length: u64,
    /// Number of operations to wait for, plus 1 until all of them are created.
    waits: usize,
    pub cached_pages: usize,
    /// For a write: interval (between two marks of the host) in which it was served.
    pub interval: usize,
    /// Hints on its pages, if the drive uses any.
    pub hints: Vec<u64>,
    /// True if its pages bypass the SLC cache.
    pub is_direct: bool,
    /// Tag of a write.
    pub tag: u8,
}

impl Request {
    /// Returns the pages that it touches.
    pub fn pages(&self, profile: &Profile) -> Range<u32> {
        let touched = |page: &u32| !self.byte_range_on(*page, profile).is_empty();
        let mut pages = (0..profile.host_pages).filter(touched);
        pages.next().map_or(0..0, |first| first..pages.next_back().unwrap_or(first) + 1)
    }

    /// Returns the range of bytes that it touches on a page, as offsets on the drive.
    fn byte_range_on(&self, page: u32, profile: &Profile) -> Range<u64> {
        let bytes = u64::from(profile.page_bytes);
        let (first, end) = (u64::from(page) * bytes, u64::from(page + 1) * bytes);
        self.offset.max(first)..(self.offset + self.length).min(end)
    }

    fn bytes_of(&self, page: u32, profile: &Profile) -> u32 {
        let range = self.byte_range_on(page, profile);
        (range.end - range.start) as u32
    }

    /// Returns the sectors of a page that it touches.
    pub fn sectors_of(&self, page: u32, profile: &Profile) -> BTreeSet<u32> {
        let range = self.byte_range_on(page, profile);
        let first = u64::from(page) * u64::from(profile.page_bytes);
        range.map(|byte| (byte - first) as u32 / profile.sector_bytes()).collect()
    }
}

impl Profile {
    /// Returns the bytes of a sector: 512, or 1/128 of a page if that is more.
    pub(super) fn sector_bytes(&self) -> u32 {
        512.max(self.page_bytes.div_ceil(128))
    }
}

impl<L: Logical> TimedDrive<L> {
    /// Submits a request; [`Self::step`] returns `id` when it is answered.
    ///
    /// `hints` are the hints on the pages of a write, if the drive uses any. `tag` is its tag.
    pub fn submit(
        &mut self,
        now_ns: u64,
        kind: RequestKind,
        (offset, length): (u64, u64),
        id: u32,
        hints: Vec<u64>,
        tag: u8,
    ) {
        self.clock.now_ns = now_ns;
        self.submitted += 1;
        self.upkeep.moves_left = self.profile.blocks;
        if !hints.is_empty() {
            self.logical.note_hinted_write();
        }
        self.end_idle_folding();
        self.requests.push(Request {
            id,
            kind,
            offset,
            length,
            waits: 1,
            cached_pages: 0,
            interval: 0,
            hints,
            is_direct: false,
            tag,
        });
        let Profile { read_in_ns, write_in_ns, .. } = self.profile;
        let in_ns = if kind == RequestKind::Read { read_in_ns } else { write_in_ns };
        self.clock.at(now_ns + in_ns, Event::AtLink(id));
    }

    pub(super) fn request(&self, id: u32) -> &Request {
        self.requests.iter().find(|request| request.id == id).expect("an unanswered request")
    }

    pub(super) fn request_mut(&mut self, id: u32) -> &mut Request {
        self.requests.iter_mut().find(|request| request.id == id).expect("an unanswered request")
    }

    pub(super) fn on_link(&mut self, id: u32) {
        let Request { kind, length, .. } = *self.request(id);
        let now_ns = self.clock.now_ns;
        let end_ns = match kind {
            RequestKind::Write { .. } => self.link_in.serve(now_ns, self.link_ns(length)),
            _ => now_ns,
        };
        if end_ns == now_ns {
            self.on_controller(id);
        } else {
            self.clock.at(end_ns, Event::AtController(id));
        }
    }

    pub(super) fn on_controller(&mut self, id: u32) {
        let now_ns = self.clock.now_ns;
        let end_ns = self.controller.serve(now_ns, self.profile.controller_ns);
        if end_ns == now_ns {
            self.serve(id);
        } else {
            self.clock.at(end_ns, Event::Served(id));
        }
    }

    pub(super) fn serve(&mut self, id: u32) {
        let request = self.request(id).clone();
        let pages = request.pages(&self.profile);
        let counters = &mut self.counters;
        match request.kind {
            RequestKind::Read => {
                counters.read_pages += pages.len() as u64;
                counters.read_bytes += request.length;
                self.serve_read(&request);
            }
            RequestKind::Write { fua } => {
                counters.written_pages += pages.len() as u64;
                counters.written_bytes += request.length;
                self.request_mut(id).interval = self.intervals.len() - 1;
                let is_direct = self.follow_run(request.offset, request.length);
                self.request_mut(id).is_direct = is_direct;
                let request = self.request(id).clone();
                if self.cache.is_some() && (!fua || self.profile.power_safe) {
                    self.waiting.push_back(id);
                    return;
                }
                self.write_through(&request);
            }
            RequestKind::Trim => self.serve_trim(&request),
            // The cache survives a loss of power, so answered writes are already safe, and a flush
            // waits for nothing.
            RequestKind::Flush if self.cache.is_some() && self.profile.power_safe => {
                counters.flushes += 1;
            }
            RequestKind::Flush => {
                counters.flushes += 1;
                self.write_back();
                let begun = self.programs.begun.clone();
                let is_begun = |op: OpId| begun.values().any(|&begun| begun == op);
                let waits = self.array.notify_of_programs(id, is_begun);
                self.request_mut(id).waits += waits;
            }
        }
        self.release(id);
    }

    fn serve_read(&mut self, request: &Request) {
        let mut from_memory_bytes = 0;
        // The last page that was read, its read, and the read of the mapping table for which that
        // read waits. The next page joins this read if one read fetches both.
        let mut last: Option<(u32, OpId, Option<OpId>)> = None;
        for page in request.pages(&self.profile) {
            let bytes = request.bytes_of(page, &self.profile);
            let wanted = request.sectors_of(page, &self.profile);
            let cached = self.cache.as_ref().and_then(|cache| cache.dirty_of(page)).cloned();
            if cached.as_ref().is_some_and(|dirty| dirty.is_empty() || dirty.is_superset(&wanted)) {
                self.cache.as_mut().expect("the cache must hold the page").use_page(page);
                from_memory_bytes += u64::from(bytes);
                continue;
            }
            let entry = self.look_up(page, false);
            let Some(physical) = self.physical(page) else { continue };
            if self.array.is_in_memory(physical) {
                from_memory_bytes += u64::from(bytes);
                continue;
            }
            match last {
                Some((last_page, read, read_entry))
                    if (entry.is_none() || entry == read_entry)
                        && self.profile.is_read_at_once(last_page, physical) =>
                {
                    self.array.add_bytes(read, bytes);
                }
                _ => {
                    if let Some((_, read, _)) = last {
                        self.array.submit(read, &mut self.clock);
                    }
                    let read = self.new_read(physical, bytes);
                    self.array.notify(read, Waiter::Request(request.id));
                    self.request_mut(request.id).waits += 1;
                    if let Some(entry) = entry {
                        self.array.notify(entry, Waiter::Operation(read));
                    }
                    last = Some((physical, read, entry));
                }
            }
            if let Some(cache) = &mut self.cache
                && self.profile.cache_holds_reads
                && cached.is_none()
                && cache.room() > 0
            {
                let (dirty, interval, is_direct, tag) = (BTreeSet::new(), 0, false, 0);
                let cached = super::cache::Cached { page, dirty, interval, is_direct, tag };
                cache.pages.push(cached);
            }
        }
        if let Some((_, read, _)) = last {
            self.array.submit(read, &mut self.clock);
        }
        if from_memory_bytes > 0 {
            let Profile { cache_access_ns, cache_mb_s, .. } = self.profile;
            let duration_ns = cache_access_ns + transfer_ns(from_memory_bytes, cache_mb_s);
            let end_ns = self.memory.serve(self.clock.now_ns, duration_ns);
            self.request_mut(request.id).waits += 1;
            self.clock.at(end_ns, Event::MemoryDone(request.id));
        }
    }

    fn write_through(&mut self, request: &Request) {
        for page in request.pages(&self.profile) {
            let mut bytes = request.bytes_of(page, &self.profile);
            if let Some(cached) = self.cache.as_mut().and_then(|cache| cache.remove(page)) {
                let mut sectors = request.sectors_of(page, &self.profile);
                sectors.extend(&cached.dirty);
                bytes = self.profile.sector_bytes() * sectors.len() as u32;
                bytes = bytes.min(self.profile.page_bytes);
            }
            self.request_mut(request.id).waits += 1;
            self.store_hint(request, page);
            let waiter = Waiter::Request(request.id);
            self.write_page(page, bytes, waiter, (request.is_direct, request.tag));
        }
        self.pad_begun();
    }

    /// Stores the hint that a write gives for a page, as the latest hint of the page.
    ///
    /// If hints are times, the number of pages from this page to the end of the write is added.
    pub(super) fn store_hint(&mut self, request: &Request, page: u32) {
        let first = request.pages(&self.profile).start;
        let at = (page - first) as usize;
        if let Some(&hint) = request.hints.get(at) {
            let later = if self.profile.hints_are_times { request.hints.len() - at } else { 0 };
            self.hints.insert(page, hint.saturating_add(later as u64));
        }
    }

    /// Returns the hint on a page that is programmed now, if any.
    ///
    /// A time becomes the remaining life, in pages that the host writes.
    pub(super) fn hint_on(&self, page: u32) -> Option<u64> {
        let hint = *self.hints.get(&page)?;
        if !self.profile.hints_are_times {
            return Some(hint);
        }
        let left = hint.saturating_sub(self.counters.written_pages).max(1);
        Some(if hint == u64::MAX { hint } else { left })
    }

    fn serve_trim(&mut self, request: &Request) {
        let bytes = |page| request.bytes_of(page, &self.profile);
        let pages: Vec<u32> = request
            .pages(&self.profile)
            .filter(|&page| bytes(page) == self.profile.page_bytes)
            .collect();
        self.counters.trimmed_pages += pages.len() as u64;
        self.counters.trimmed_bytes += request.length;
        let unmapped_earlier = self.logical.unmapped_pages();
        for &page in &pages {
            let is_on_flash = self.physical(page).is_some();
            let cached = self.cache.as_mut().and_then(|cache| cache.remove(page));
            let is_only_in_memory =
                !is_on_flash && cached.is_some_and(|cached| !cached.dirty.is_empty());
            self.counters.unmapped_pages += u64::from(is_only_in_memory);
            if let Some(table) = &mut self.table {
                table.touch(page, true);
            }
            self.counters.unmapped_pages += u64::from(self.forget_in_slc(page));
            self.logical.trim(page..page + 1);
        }
        self.counters.unmapped_pages += self.logical.unmapped_pages() - unmapped_earlier;
    }

    /// Counts one operation fewer to wait for, and answers the request if none is left.
    pub(super) fn release(&mut self, id: u32) {
        self.request_mut(id).waits -= 1;
        let Request { waits, kind, length, .. } = *self.request(id);
        if waits > 0 {
            return;
        }
        let now_ns = self.clock.now_ns;
        let link_ns = self.link_ns(length);
        let end_ns = match (kind, self.profile.full_duplex) {
            (RequestKind::Read, true) => self.link_out.serve(now_ns, link_ns),
            (RequestKind::Read, false) => self.link_in.serve(now_ns, link_ns),
            _ => now_ns,
        };
        self.clock.at(end_ns + self.profile.out_ns, Event::Answered(id));
    }

    fn link_ns(&self, length: u64) -> u64 {
        let Profile { link_packet_bytes, link_mb_s, .. } = self.profile;
        transfer_ns(length.div_ceil(link_packet_bytes) * link_packet_bytes, link_mb_s)
    }

    /// If the drive is idle, schedules the write-back of its memory and folding of its SLC cache.
    pub(super) fn schedule_idle_work(&mut self) {
        let has_dirty =
            |cache: &super::cache::Cache| cache.pages.iter().any(|cached| !cached.dirty.is_empty());
        let has_data = self.cache.as_ref().is_some_and(has_dirty)
            || !self.programs.with_host_data.is_empty()
            || self.slc.as_ref().is_some_and(super::slc::Slc::has_begun);
        let idle_ns = self.profile.idle_flush_ns;
        if self.requests.is_empty() && has_data && idle_ns > 0 {
            self.clock.at(self.clock.now_ns + idle_ns, Event::Idle(self.submitted));
        }
        self.schedule_idle_folding();
    }
}
