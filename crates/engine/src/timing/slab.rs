//! Slab: values in numbered slots that are reused.
//! Memory is allocated only when the number of values reaches a new maximum.

use std::ops::{Index, IndexMut};

use crate::flash::prefetch;

/// Values in slots, found by the slot number.
#[derive(Debug)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    /// Stores a value in the last freed slot, or in a new one. Returns the slot number.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = value;
            return slot;
        }
        self.slots.push(value);
        self.slots.len() as u32 - 1
    }

    /// Removes and returns the value in a slot.
    #[inline(always)]
    pub fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.slots[slot as usize]
    }

    /// Prefetches the value in a slot. Does nothing for a number that is not a slot.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32) {
        if (slot as usize) < self.slots.len() {
            prefetch(&self.slots, slot as usize);
        }
    }

    /// Number of stored values.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// True if the slab is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, slot: u32) -> &T {
        &self.slots[slot as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline(always)]
    fn index_mut(&mut self, slot: u32) -> &mut T {
        &mut self.slots[slot as usize]
    }
}
