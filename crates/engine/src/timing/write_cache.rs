//! Pages in a device's memory: pages that must be written to flash, and pages that were read.

use super::lru::Lru;

/// Set of sectors of a page, one bit each.
pub type Sectors = u128;

/// Data of a page in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Data {
    /// Sectors that must be written to flash; none for a page that was only read.
    pub dirty: Sectors,
    /// Interval of the host in which the sectors were last written; see [`super::late`].
    pub written_in: u32,
    /// True if the page bypasses the SLC cache.
    pub is_direct: bool,
    /// Tag of the last write.
    pub tag: u8,
}

/// Page that was removed from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Number of the logical page.
    pub page: u32,
    /// Data of the removed page.
    pub data: Data,
}

/// Cached pages in order of their last use, with their dirty sectors (not on flash yet).
#[derive(Debug)]
pub struct WriteCache {
    pages: Lru<Data>,
    capacity: u32,
    /// Number of pages that were removed and are not on flash yet.
    pub leaving: u32,
    dirty: u32,
}

impl WriteCache {
    /// Builds an empty cache with room for `capacity` pages.
    pub fn new(capacity: u32) -> Self {
        WriteCache { pages: Lru::default(), capacity, leaving: 0, dirty: 0 }
    }

    /// Largest number of pages in the cache.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Number of pages that the cache has room for now.
    pub fn room(&self) -> u32 {
        self.capacity.saturating_sub(self.pages.len() as u32 + self.leaving)
    }

    /// Number of pages with dirty sectors.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty
    }

    /// Dirty sectors of a page, or None if the page is not cached.
    pub fn dirty_sectors(&self, page: u32) -> Option<Sectors> {
        self.pages.get(page).map(|data| data.dirty)
    }

    /// Marks a page as used, if it is cached.
    pub fn use_page(&mut self, page: u32) {
        self.pages.use_mut(page);
    }

    /// Merges written data into a cached page. Returns false if the page is not cached.
    pub fn merge(&mut self, page: u32, written: Data) -> bool {
        let Some(data) = self.pages.use_mut(page) else { return false };
        self.dirty += u32::from(data.dirty == 0);
        *data = Data { dirty: data.dirty | written.dirty, ..written };
        true
    }

    /// Adds an uncached page, for which there must be room.
    pub fn insert(&mut self, page: u32, data: Data) {
        self.dirty += u32::from(data.dirty != 0);
        self.pages.insert(page, data);
    }

    /// Removes the least recently used page.
    pub fn pop_oldest(&mut self) -> Option<Entry> {
        let (page, data) = self.pages.pop_oldest()?;
        Some(self.taken(page, data))
    }

    /// Pages of the cache, the least recently used first.
    pub fn oldest_first(&self) -> impl Iterator<Item = u32> {
        self.pages.oldest_first()
    }

    /// Removes a page from the cache.
    pub fn remove(&mut self, page: u32) -> Option<Entry> {
        let data = self.pages.remove(page)?;
        Some(self.taken(page, data))
    }

    fn taken(&mut self, page: u32, data: Data) -> Entry {
        self.dirty -= u32::from(data.dirty != 0);
        Entry { page, data }
    }
}
