//! The pages that wait in a device's memory: those to be written, and those that were read.

use super::lru::Lru;

/// Sectors of a page, one bit each.
pub type Sectors = u128;

/// Data of a page in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Data {
    /// Sectors that are to be written; none of a page that was only read.
    pub dirty: Sectors,
    /// The host's interval in which it wrote them last.
    pub written_in: u32,
    /// True if it is to pass the SLC cache by.
    pub is_direct: bool,
}

/// A page of the cache that is taken out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Logical page.
    pub page: u32,
    /// Its data.
    pub data: Data,
}

/// Pages in the order of their last use, with the sectors that are to be written.
#[derive(Debug)]
pub struct WriteCache {
    pages: Lru<Data>,
    capacity: u32,
    /// Pages that were taken out to be written, and are not yet.
    pub leaving: u32,
    dirty: u32,
}

impl WriteCache {
    /// An empty cache of so many pages.
    pub fn new(capacity: u32) -> Self {
        WriteCache { pages: Lru::default(), capacity, leaving: 0, dirty: 0 }
    }

    /// Pages that it holds at most.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Pages for which there is room.
    pub fn room(&self) -> u32 {
        self.capacity.saturating_sub(self.pages.len() as u32 + self.leaving)
    }

    /// Pages that are to be written.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty
    }

    /// Sectors of a page that are to be written, if the page is in the cache.
    pub fn dirty_sectors(&self, page: u32) -> Option<Sectors> {
        self.pages.get(page).map(|data| data.dirty)
    }

    /// Uses a page that is in the cache, if it is.
    pub fn use_page(&mut self, page: u32) {
        self.pages.use_mut(page);
    }

    /// Adds what was written to a page that is in the cache; false if it is not.
    pub fn merge(&mut self, page: u32, written: Data) -> bool {
        let Some(data) = self.pages.use_mut(page) else { return false };
        self.dirty += u32::from(data.dirty == 0);
        *data = Data { dirty: data.dirty | written.dirty, ..written };
        true
    }

    /// Adds a page that is not in the cache, for which there is room.
    pub fn insert(&mut self, page: u32, data: Data) {
        self.dirty += u32::from(data.dirty != 0);
        self.pages.insert(page, data);
    }

    /// Takes the page out that was used longest ago.
    pub fn pop_oldest(&mut self) -> Option<Entry> {
        let (page, data) = self.pages.pop_oldest()?;
        Some(self.taken(page, data))
    }

    /// Takes a page out.
    pub fn remove(&mut self, page: u32) -> Option<Entry> {
        let data = self.pages.remove(page)?;
        Some(self.taken(page, data))
    }

    fn taken(&mut self, page: u32, data: Data) -> Entry {
        self.dirty -= u32::from(data.dirty != 0);
        Entry { page, data }
    }
}
