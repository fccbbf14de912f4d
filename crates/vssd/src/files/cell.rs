//! Cells: numbers in mapped files that change atomically and contain a check value.
//!
//! ```text
//! check (16 bits) · value (48 bits)
//! ```

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use super::mapping::Mapping;

const CHECK_BITS: u32 = 16;
/// Greatest value of a cell.
pub const MOST: u64 = u64::MAX >> CHECK_BITS;

/// A number in a file; 0 if it was never written.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a>(&'a AtomicU64);

impl<'a> Cell<'a> {
    /// Cell at a byte offset of a mapping.
    pub(crate) fn of(map: &'a Mapping, at: usize) -> Self {
        assert!(
            at.is_multiple_of(8) && at + 8 <= map.len(),
            "a cell must be an aligned word of the mapping"
        );
        // SAFETY: the word is mapped as long as `map` lives, aligned, and accessed as an atomic
        // only.
        Cell(unsafe { AtomicU64::from_ptr(map.as_mut_ptr().add(at).cast()) })
    }

    /// Reads the number; None if it is damaged.
    pub fn get(self) -> Option<u64> {
        let word = self.0.load(Ordering::Acquire);
        let value = word >> CHECK_BITS;
        (word == encode(value)).then_some(value)
    }

    /// Sets the number.
    pub fn set(self, value: u64) {
        self.0.store(encode(value), Ordering::Release);
    }

    /// Sets the number if it is greater than the current one.
    pub fn raise(self, value: u64) {
        self.0.fetch_max(encode(value), Ordering::AcqRel);
    }
}

/// Encodes a number and its check as a word.
/// Words have the order of their numbers, as `raise` requires. The number 0 becomes the word 0, as
/// in an empty file.
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
