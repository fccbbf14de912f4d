//! Cells: numbers in mapped files that change at once, and are known to be whole.
//!
//! ```text
//! check (16 bits) · value (48 bits)
//! ```

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use super::mapping::Mapping;

const CHECK_BITS: u32 = 16;
/// The greatest number that a cell holds.
pub const MOST: u64 = u64::MAX >> CHECK_BITS;

/// A number in a file; one that was never written is 0.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a>(&'a AtomicU64);

impl<'a> Cell<'a> {
    /// The cell at a byte of a mapping, which is used as a cell only.
    pub(crate) fn of(map: &'a Mapping, at: usize) -> Self {
        assert!(at.is_multiple_of(8) && at + 8 <= map.len(), "a word of the mapping");
        // SAFETY: the word is mapped as long as `map` lives, aligned, and only ever used as an atomic.
        Cell(unsafe { AtomicU64::from_ptr(map.as_mut_ptr().add(at).cast()) })
    }

    /// The number; `None` if it was damaged.
    pub fn get(self) -> Option<u64> {
        let word = self.0.load(Ordering::Acquire);
        let value = word >> CHECK_BITS;
        (word == encode(value)).then_some(value)
    }

    /// Changes the number.
    pub fn set(self, value: u64) {
        self.0.store(encode(value), Ordering::Release);
    }

    /// Changes the number unless it is greater already.
    pub fn raise(self, value: u64) {
        self.0.fetch_max(encode(value), Ordering::AcqRel);
    }
}

/// The word of a number: greater numbers have greater words, and 0 has 0.
pub fn encode(value: u64) -> u64 {
    debug_assert!(value <= MOST);
    let check = crc32fast::hash(&value.to_le_bytes()) ^ crc32fast::hash(&[0; 8]);
    value << CHECK_BITS | u64::from(check as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_written_and_not_with_any_bit_changed() {
        for value in [0, 1, 77, MOST] {
            for bit in 0..64 {
                let word = AtomicU64::new(0);
                Cell(&word).set(value);
                assert_eq!(Cell(&word).get(), Some(value));
                word.fetch_xor(1 << bit, Ordering::Relaxed);
                assert_eq!(Cell(&word).get(), None, "{value}, bit {bit}");
            }
        }
    }

    #[test]
    fn a_number_is_raised_and_not_lowered() {
        let word = AtomicU64::new(0);
        assert_eq!(Cell(&word).get(), Some(0));
        for (value, then) in [(5, 5), (3, 5), (6, 6)] {
            Cell(&word).raise(value);
            assert_eq!(Cell(&word).get(), Some(then));
        }
    }
}
