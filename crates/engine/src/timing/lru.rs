//! Least-recently-used list of values that are found by a number.

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

/// Values by number, in order of use. The value that was added or used last is the newest.
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
    /// Number of values in the list.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Value of `key`, without marking it as used.
    pub fn get(&self, key: u32) -> Option<V> {
        self.places.get(&key).map(|&at| self.nodes[at].value)
    }

    /// Mutable value of `key`, without marking it as used.
    pub fn get_mut(&mut self, key: u32) -> Option<&mut V> {
        self.places.get(&key).map(|&at| &mut self.nodes[at].value)
    }

    /// Mutable value of `key`, marked as used.
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

    /// Removes the value of a number from the list.
    pub fn remove(&mut self, key: u32) -> Option<V> {
        let at = *self.places.get(&key)?;
        Some(self.take(at).1)
    }

    /// Removes the least recently used value, and returns it with its number.
    pub fn pop_oldest(&mut self) -> Option<(u32, V)> {
        (self.oldest != NONE).then(|| self.take(self.oldest))
    }

    /// Numbers of the values, the least recently used first.
    pub fn oldest_first(&self) -> impl Iterator<Item = u32> {
        let node = |at: u32| (at != NONE).then(|| &self.nodes[at]);
        std::iter::successors(node(self.oldest), move |older| node(older.newer))
            .map(|node| node.key)
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

/// Hasher of numbers for the tables in this module.
pub type Hashing = BuildHasherDefault<Fibonacci>;

/// Multiplicative hash of numbers: fast, and identical on all machines.
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
