//! Write cache: requests enter it when there is space, and pages leave it, the oldest first.

use super::requests::{Pending, bytes_of, sectors_of};
use super::{Ssd, Waiter};
use crate::error::Result;
use crate::timing::write_cache::{Data, Entry, WriteCache};

/// Number of pages ahead at which a page that will leave the cache is prefetched first.
const FAR: usize = 4;

impl Ssd {
    /// Moves the data of waiting writes into the cache, as far as there is space.
    /// Called only on drives with a cache.
    pub(super) fn admit_waiting(&mut self) -> Result<()> {
        while let Some(&request) = self.waiting.front() {
            if !self.admit(request)? {
                break;
            }
            self.waiting.pop_front();
            self.use_memory(request, self.requests[request].length);
        }
        // If pages that were only read occupy the space, they are removed to make room for written
        // pages.
        self.ensure_room()
    }

    /// Moves the pages of a write into the cache. Returns false if not all of them fit yet.
    fn admit(&mut self, request: u32) -> Result<bool> {
        let pending = self.requests[request];
        for page in pending.pages(self.page_bytes).skip(pending.cached_pages as usize) {
            let byte_range = pending.part_of(page, self.page_bytes);
            let sectors = sectors_of(&byte_range, self.page_bytes);
            let Pending { written_in, is_direct, tag, .. } = pending;
            let data = Data { dirty: sectors, written_in, is_direct, tag };
            if self.cached().merge(page, data) {
                self.apply_hint(request, page);
            } else {
                if self.cached().room() == 0 {
                    if !self.nand.has_work() {
                        // All pages that left the cache wait for full program units. Only padding
                        // these units frees space.
                        self.pad_begun();
                    }
                    return Ok(false);
                }
                self.cached().insert(page, data);
                self.apply_hint(request, page);
                self.ensure_room()?;
            }
            self.requests[request].cached_pages += 1;
        }
        Ok(true)
    }

    /// Starts to write out pages before the cache is full, so that space becomes free in time.
    /// Sixteen programs per die keep nearly all dies busy, wherever the pages go.
    fn ensure_room(&mut self) -> Result<()> {
        let units = self.nand.places.program_units();
        let dies = self.nand.places.dies;
        loop {
            let cache = self.cached();
            let wanted = (16 * dies * units).min(cache.capacity() / 2).max(1);
            if cache.room() + cache.leaving >= wanted {
                return Ok(());
            }
            let Some(oldest) = cache.pop_oldest() else { return Ok(()) };
            self.prefetch_oldest();
            self.write_entry(oldest)?;
        }
    }

    /// Prefetches the data of pages that will soon leave the cache.
    fn prefetch_oldest(&mut self) {
        let mut pages = self.cached().oldest_first().take(FAR);
        let (near, far) = (pages.next(), pages.last());
        for (page, is_near) in [(far, false), (near, true)] {
            if let Some(page) = page {
                self.prefetch_page(page, is_near, true);
            }
        }
    }

    fn write_entry(&mut self, entry: Entry) -> Result<()> {
        let Data { dirty, written_in, is_direct, tag } = entry.data;
        if dirty == 0 {
            return Ok(());
        }
        self.cached().leaving += 1;
        let (counters_before, now) = (self.counters, self.late.now());
        if let Some(tagging) = self.tagging.as_mut().filter(|_| written_in != now) {
            tagging.begin_late();
        }
        let bytes = bytes_of(dirty, self.page_bytes);
        self.write_page((entry.page, tag), bytes, Waiter::CachedPage, is_direct)?;
        if written_in != now {
            self.late.count(written_in, &counters_before, &self.counters);
            if let Some(tagging) = &mut self.tagging {
                tagging.end_late(self.late.place(written_in), self.late.place(now));
            }
        }
        Ok(())
    }

    /// Empties the cache: starts to write its data to flash, and pads units with host data.
    pub(super) fn write_back(&mut self) -> Result<()> {
        while let Some(cache) = &mut self.cache
            && let Some(entry) = cache.pop_oldest()
        {
            self.write_entry(entry)?;
        }
        self.pad_begun();
        Ok(())
    }

    fn cached(&mut self) -> &mut WriteCache {
        self.cache.as_mut().expect("this drive has a write cache")
    }
}
