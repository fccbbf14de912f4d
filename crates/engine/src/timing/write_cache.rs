//! The pages that wait in a device's memory: those to be written, and those that were read.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

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

#[derive(Debug, Clone, Copy)]
struct Slot {
    entry: Entry,
    newer: u32,
    older: u32,
}

const NONE: u32 = u32::MAX;

/// Pages in the order of their last use.
#[derive(Debug)]
pub struct WriteCache {
    slots: Vec<Slot>,
    free: Vec<u32>,
    places: HashMap<u32, u32, BuildHasherDefault<Fibonacci>>,
    capacity: u32,
    /// Pages that were taken out to be written, and are not yet.
    pub leaving: u32,
    newest: u32,
    oldest: u32,
    dirty: u32,
}

impl WriteCache {
    /// An empty cache of so many pages.
    pub fn new(capacity: u32) -> Self {
        WriteCache {
            slots: Vec::new(),
            free: Vec::new(),
            places: HashMap::default(),
            capacity,
            leaving: 0,
            newest: NONE,
            oldest: NONE,
            dirty: 0,
        }
    }

    /// Pages that it holds at most.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Pages for which there is room.
    pub fn room(&self) -> u32 {
        self.capacity.saturating_sub(self.places.len() as u32 + self.leaving)
    }

    /// Pages that are to be written.
    pub fn dirty_pages(&self) -> u32 {
        self.dirty
    }

    /// Sectors of a page that are to be written, if the page is in the cache.
    pub fn dirty_sectors(&self, page: u32) -> Option<Sectors> {
        self.places.get(&page).map(|&at| self.slots[at as usize].entry.dirty)
    }

    /// Adds sectors to a page that is in the cache; false if it is not.
    pub fn merge(&mut self, page: u32, sectors: Sectors) -> bool {
        let Some(&at) = self.places.get(&page) else { return false };
        let dirty = &mut self.slots[at as usize].entry.dirty;
        self.dirty += u32::from(*dirty == 0 && sectors != 0);
        *dirty |= sectors;
        self.unlink(at);
        self.link_newest(at);
        true
    }

    /// Adds a page that is not in the cache, for which there is room.
    pub fn insert(&mut self, page: u32, dirty: Sectors) {
        let slot = Slot { entry: Entry { page, dirty }, newer: NONE, older: NONE };
        let at = if let Some(at) = self.free.pop() {
            self.slots[at as usize] = slot;
            at
        } else {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        };
        self.dirty += u32::from(dirty != 0);
        self.places.insert(page, at);
        self.link_newest(at);
    }

    /// Takes the page out that was used longest ago.
    pub fn pop_oldest(&mut self) -> Option<Entry> {
        (self.oldest != NONE).then(|| self.take(self.oldest))
    }

    /// Takes a page out.
    pub fn remove(&mut self, page: u32) -> Option<Entry> {
        let at = *self.places.get(&page)?;
        Some(self.take(at))
    }

    fn take(&mut self, at: u32) -> Entry {
        self.unlink(at);
        let entry = self.slots[at as usize].entry;
        self.places.remove(&entry.page);
        self.free.push(at);
        self.dirty -= u32::from(entry.dirty != 0);
        entry
    }

    fn link_newest(&mut self, at: u32) {
        let older = std::mem::replace(&mut self.newest, at);
        self.slots[at as usize].newer = NONE;
        self.slots[at as usize].older = older;
        match older {
            NONE => self.oldest = at,
            older => self.slots[older as usize].newer = at,
        }
    }

    fn unlink(&mut self, at: u32) {
        let Slot { newer, older, .. } = self.slots[at as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }
}

/// Multiplicative hashing of page numbers: fast, and the same everywhere.
#[derive(Debug, Default, Clone, Copy)]
pub struct Fibonacci(u64);

impl Hasher for Fibonacci {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}
