//! Least-recently-used list: numbered values in the order of their last use.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::slab::Slab;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Node<V> {
    key: u32,
    value: V,
    newer: u32,
    older: u32,
}

/// Values by number; what was added or used last is the newest.
#[derive(Debug)]
pub struct Lru<V> {
    nodes: Slab<Node<V>>,
    places: HashMap<u32, u32, Hashing>,
    newest: u32,
    oldest: u32,
}

impl<V> Default for Lru<V> {
    fn default() -> Self {
        Lru { nodes: Slab::default(), places: HashMap::default(), newest: NONE, oldest: NONE }
    }
}

impl<V: Copy> Lru<V> {
    /// Values that it holds.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// A value, which counts as no use.
    pub fn get(&self, key: u32) -> Option<V> {
        self.places.get(&key).map(|&at| self.nodes[at].value)
    }

    /// A value to change, which counts as no use.
    pub fn get_mut(&mut self, key: u32) -> Option<&mut V> {
        self.places.get(&key).map(|&at| &mut self.nodes[at].value)
    }

    /// A value to use.
    pub fn use_mut(&mut self, key: u32) -> Option<&mut V> {
        let at = *self.places.get(&key)?;
        if at != self.newest {
            self.unlink(at);
            self.link_newest(at);
        }
        Some(&mut self.nodes[at].value)
    }

    /// Adds a value under a number that has none.
    pub fn insert(&mut self, key: u32, value: V) {
        let at = self.nodes.insert(Node { key, value, newer: NONE, older: NONE });
        self.places.insert(key, at);
        self.link_newest(at);
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: u32) -> Option<V> {
        let at = *self.places.get(&key)?;
        Some(self.take(at).1)
    }

    /// Takes the value out that was used longest ago, with its number.
    pub fn pop_oldest(&mut self) -> Option<(u32, V)> {
        (self.oldest != NONE).then(|| self.take(self.oldest))
    }

    fn take(&mut self, at: u32) -> (u32, V) {
        self.unlink(at);
        let Node { key, value, .. } = self.nodes.remove(at);
        self.places.remove(&key);
        (key, value)
    }

    fn link_newest(&mut self, at: u32) {
        let older = std::mem::replace(&mut self.newest, at);
        self.nodes[at].newer = NONE;
        self.nodes[at].older = older;
        match older {
            NONE => self.oldest = at,
            older => self.nodes[older].newer = at,
        }
    }

    fn unlink(&mut self, at: u32) {
        let Node { newer, older, .. } = self.nodes[at];
        match newer {
            NONE => self.newest = older,
            newer => self.nodes[newer].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.nodes[older].newer = newer,
        }
    }
}

/// Hashing of numbers, as the tables here use it.
pub type Hashing = BuildHasherDefault<Fibonacci>;

/// Multiplicative hashing of numbers: fast, and the same everywhere.
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
