//! Write cache: admission and eviction of pages.

use std::collections::BTreeSet;

use super::array::Waiter;
use super::profile::{Logical, Profile, transfer_ns};
use super::{Event, TimedDrive};

/// Page in the cache.
#[derive(Debug)]
pub struct Cached {
    pub page: u32,
    /// Sectors that must be written to flash.
    pub dirty: BTreeSet<u32>,
    /// Interval in which the host wrote it last.
    pub interval: usize,
    /// True if it bypasses the SLC cache.
    pub is_direct: bool,
    /// Tag of its last write.
    pub tag: u8,
}

#[derive(Debug)]
pub struct Cache {
    /// Cached pages in the order of last use; the most recent is last.
    pub pages: Vec<Cached>,
    pub places: usize,
    /// Pages that left the cache, whose space is occupied until their programs are done.
    pub leaving: usize,
}

impl Cache {
    pub fn new(profile: &Profile) -> Option<Self> {
        let places = (profile.cache_bytes / u64::from(profile.page_bytes)) as usize;
        let places = places.min(profile.host_pages as usize);
        (places > 0).then(|| Cache { pages: Vec::new(), places, leaving: 0 })
    }

    pub fn room(&self) -> usize {
        self.places.saturating_sub(self.pages.len() + self.leaving)
    }

    pub fn dirty_of(&self, page: u32) -> Option<&BTreeSet<u32>> {
        self.pages.iter().find(|cached| cached.page == page).map(|cached| &cached.dirty)
    }

    pub fn remove(&mut self, page: u32) -> Option<Cached> {
        let at = self.pages.iter().position(|cached| cached.page == page)?;
        Some(self.pages.remove(at))
    }

    /// Returns a page if it is in the cache, and makes it the one used last.
    pub fn use_page(&mut self, page: u32) -> Option<&mut Cached> {
        let cached = self.remove(page)?;
        self.pages.push(cached);
        self.pages.last_mut()
    }
}

impl<L: Logical> TimedDrive<L> {
    /// Admits waiting writes in order, until the cache has no space for the next write.
    pub(super) fn admit_waiting(&mut self) {
        if self.cache.is_none() {
            return;
        }
        while let Some(&id) = self.waiting.front() {
            if !self.admit(id) {
                break;
            }
            self.waiting.pop_front();
            let length = self.request(id).length;
            let Profile { cache_access_ns, cache_mb_s, .. } = self.profile;
            let duration_ns = cache_access_ns + transfer_ns(length, cache_mb_s);
            let end_ns = self.memory.serve(self.clock.now_ns, duration_ns);
            self.clock.at(end_ns, Event::MemoryDone(id));
        }
        self.keep_room();
    }

    /// Reserves space in the cache for the pages of a write.
    /// Returns false if space for some is missing.
    fn admit(&mut self, id: u32) -> bool {
        let request = self.request(id).clone();
        for page in request.pages(&self.profile).skip(request.cached_pages) {
            let sectors = request.sectors_of(page, &self.profile);
            let (interval, is_direct, tag) = (request.interval, request.is_direct, request.tag);
            if self.cached().dirty_of(page).is_some() || self.cached().room() > 0 {
                self.store_hint(&request, page);
            }
            if let Some(cached) = self.cached().use_page(page) {
                cached.dirty.extend(sectors);
                cached.interval = interval;
                cached.is_direct = is_direct;
                cached.tag = tag;
            } else {
                if self.cached().room() == 0 {
                    if !self.array.has_work() {
                        self.pad_begun();
                    }
                    return false;
                }
                self.cached().pages.push(Cached { page, dirty: sectors, interval, is_direct, tag });
                self.keep_room();
            }
            self.request_mut(id).cached_pages += 1;
        }
        true
    }

    /// Writes the oldest pages to flash until enough space is free or will become free.
    fn keep_room(&mut self) {
        let units = (16 * self.profile.dies() * self.profile.program_units()) as usize;
        loop {
            let cache = self.cached();
            let wanted = units.min(cache.places / 2).max(1);
            if cache.room() + cache.leaving >= wanted || cache.pages.is_empty() {
                return;
            }
            let oldest = cache.pages.remove(0);
            self.write_cached(&oldest);
        }
    }

    fn write_cached(&mut self, cached: &Cached) {
        if !cached.dirty.is_empty() {
            self.cached().leaving += 1;
            let bytes = self.profile.sector_bytes() * cached.dirty.len() as u32;
            let bytes = bytes.min(self.profile.page_bytes);
            self.charged_interval = Some(cached.interval);
            let kind = (cached.is_direct, cached.tag);
            self.write_page(cached.page, bytes, Waiter::CachedPage, kind);
            self.charged_interval = None;
        }
    }

    /// Writes all cached pages and fills up begun units.
    pub(super) fn write_back(&mut self) {
        while let Some(cache) = &mut self.cache
            && !cache.pages.is_empty()
        {
            let oldest = cache.pages.remove(0);
            self.write_cached(&oldest);
        }
        self.pad_begun();
    }

    fn cached(&mut self) -> &mut Cache {
        self.cache.as_mut().expect("the drive must have a write cache")
    }
}
