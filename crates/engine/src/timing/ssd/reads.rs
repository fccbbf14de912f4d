//! Reads requested by the host.

use super::requests::{Pending, sectors_of};
use super::{Ssd, Waiter};
use crate::timing::nand::OpId;
use crate::timing::write_cache::Data;

impl Ssd {
    /// Requests the data of a read: from the cache, from memory, or from flash.
    pub(super) fn serve_read(&mut self, request: u32, pending: &Pending) {
        let pages = pending.pages(self.page_bytes);
        let host = &mut self.counters.host;
        host.read_pages += pages.len() as u64;
        host.read_bytes += pending.length;
        let mut hit_bytes = 0;
        // Consecutive pages that lie in the same flash page are read by one operation.
        let mut last: Option<(u32, OpId)> = None;
        let mut entry_of_last = None;
        for page in pages {
            let byte_range = pending.part_of(page, self.page_bytes);
            let bytes = byte_range.end - byte_range.start;
            let cached = self.cache.as_ref().and_then(|cache| cache.dirty_sectors(page));
            let wanted = sectors_of(&byte_range, self.page_bytes);
            // A cached page without dirty sectors was read completely, so all of its data is in the
            // cache.
            if cached.is_some_and(|dirty| dirty == 0 || dirty & wanted == wanted) {
                self.cache
                    .as_mut()
                    .expect("the drive has a write cache, which contains the page")
                    .use_page(page);
                hit_bytes += u64::from(bytes);
                continue;
            }
            let entry = self.look_up(page, false);
            let Some(physical) = self.physical(page) else { continue };
            if self.nand.is_in_memory(physical) {
                hit_bytes += u64::from(bytes);
                continue;
            }
            let fetched = self.nand.places.read_of(physical);
            match last {
                Some((last_fetched, op))
                    if last_fetched == fetched && (entry.is_none() || entry == entry_of_last) =>
                {
                    self.nand.add_bytes(op, bytes);
                }
                _ => {
                    self.submit_last(&mut last);
                    let op = self.unsubmitted_read(physical, bytes);
                    self.nand.add_waiter(op, Waiter::Request(request));
                    self.requests[request].waits += 1;
                    if let Some(entry) = entry {
                        self.nand.add_waiter(entry, Waiter::Op(op));
                    }
                    (last, entry_of_last) = (Some((fetched, op)), entry);
                }
            }
            self.keep_read(page, cached.is_some());
        }
        self.submit_last(&mut last);
        if hit_bytes > 0 {
            self.requests[request].waits += 1;
            self.use_memory(request, hit_bytes);
        }
    }

    /// Adds a page that is read from flash to the cache, if the profile asks for it and there is
    /// room.
    fn keep_read(&mut self, page: u32, is_cached: bool) {
        let Some(cache) = self.cache.as_mut().filter(|_| self.timing.write_cache.holds_reads)
        else {
            return;
        };
        if !is_cached && cache.room() > 0 {
            cache.insert(page, Data::default());
        }
    }
}
