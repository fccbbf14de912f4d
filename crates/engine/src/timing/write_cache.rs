//! The pages that wait in a device's memory: those to be written, and those that were read.

use super::lru::Lru;

/// Sectors of a page, one bit each.
pub type Sectors = u128;

/// A page of the cache that is taken out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Logical page.
    pub page: u32,
    /// Sectors that are to be written; none of a page that was only read.
    pub dirty: Sectors,
}

/// Pages in the order of their last use, with the sectors that are to be written.
#[derive(Debug)]
pub struct WriteCache {
    pages: Lru<Sectors>,
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
        self.pages.get(page)
    }

    /// Adds sectors to a page that is in the cache; false if it is not.
    pub fn merge(&mut self, page: u32, sectors: Sectors) -> bool {
        let Some(dirty) = self.pages.use_mut(page) else { return false };
        self.dirty += u32::from(*dirty == 0 && sectors != 0);
        *dirty |= sectors;
        true
    }

    /// Adds a page that is not in the cache, for which there is room.
    pub fn insert(&mut self, page: u32, dirty: Sectors) {
        self.dirty += u32::from(dirty != 0);
        self.pages.insert(page, dirty);
    }

    /// Takes the page out that was used longest ago.
    pub fn pop_oldest(&mut self) -> Option<Entry> {
        let (page, dirty) = self.pages.pop_oldest()?;
        Some(self.taken(page, dirty))
    }

    /// Takes a page out.
    pub fn remove(&mut self, page: u32) -> Option<Entry> {
        let dirty = self.pages.remove(page)?;
        Some(self.taken(page, dirty))
    }

    fn taken(&mut self, page: u32, dirty: Sectors) -> Entry {
        self.dirty -= u32::from(dirty != 0);
        Entry { page, dirty }
    }
}
