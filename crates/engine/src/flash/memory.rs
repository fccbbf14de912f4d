//! Memory of the large tables: a failed allocation returns an error, and huge pages are used
//! where available.
//!
//! The map of a large drive is accessed at random. With 4 KiB pages nearly every access also misses
//! the TLB, which adds half the time of the access (docs/performance.md).

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::error::{Error, Result};

const HUGE_PAGE_BYTES: usize = 2 << 20;
const CACHE_LINE_BYTES: usize = 64;

/// Table of fixed length, aligned to huge pages or cache lines.
/// A table of at least half the size of a huge page begins at a huge page and occupies whole huge
/// pages. A smaller table begins at a cache line.
pub struct Table<T: Copy> {
    start: NonNull<T>,
    len: usize,
}

/// Builds a table of `len` copies of `value`.
/// The error states the number of bytes that could not be allocated.
pub fn filled<T: Copy>(value: T, len: usize) -> Result<Table<T>> {
    Table::from_fn(len, |_| value).ok_or_else(|| Error::OutOfMemory {
        bytes: (len as u64).saturating_mul(size_of::<T>() as u64),
    })
}

impl<T: Copy> Table<T> {
    /// Builds a table of `item(index)`, or None if memory is exhausted.
    fn from_fn(len: usize, item: impl Fn(usize) -> T) -> Option<Self> {
        let layout = Self::layout(len)?;
        if layout.size() == 0 {
            return Some(Table { start: NonNull::dangling(), len });
        }
        // SAFETY: the layout has a size above 0.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        advise_huge_pages(start.as_ptr(), layout);
        let start = start.cast::<T>();
        for at in 0..len {
            // SAFETY: the layout has room for `len` items with the alignment of `T`.
            unsafe { start.add(at).write(item(at)) };
        }
        Some(Table { start, len })
    }

    fn layout(len: usize) -> Option<Layout> {
        let items = Layout::array::<T>(len).ok()?;
        let align =
            if items.size() < HUGE_PAGE_BYTES / 2 { CACHE_LINE_BYTES } else { HUGE_PAGE_BYTES };
        let items = items.align_to(align).ok()?;
        Some(if align == HUGE_PAGE_BYTES { items.pad_to_align() } else { items })
    }
}

impl<T: Copy> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` items were initialised by the constructor, and the table is their only
        // owner.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all `len` items were initialised, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

// SAFETY: a table owns its items, like a vector.
unsafe impl<T: Copy + Send> Send for Table<T> {}
// SAFETY: a shared table only gives shared references to its items, like a vector.
unsafe impl<T: Copy + Sync> Sync for Table<T> {}

impl<T: Copy> Drop for Table<T> {
    fn drop(&mut self) {
        let layout = Self::layout(self.len).expect("the layout was valid when the table was built");
        if layout.size() > 0 {
            // SAFETY: the memory was allocated with this layout; its items need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

impl<T: Copy> Clone for Table<T> {
    fn clone(&self) -> Self {
        let layout = Self::layout(self.len).expect("the layout was valid when the table was built");
        Self::from_fn(self.len, |at| self[at]).unwrap_or_else(|| handle_alloc_error(layout))
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'a, T: Copy> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Copy> IntoIterator for &'a mut Table<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(start: *mut u8, layout: Layout) {
    if layout.align() == HUGE_PAGE_BYTES {
        // SAFETY: the range is within our allocation. The advice does not change its contents, and
        // a kernel without support for it returns an error, which is ignored.
        unsafe {
            libc::madvise(start.cast(), layout.size(), libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages(_start: *mut u8, _layout: Layout) {}

/// Prefetches `table[index]`. Does nothing on processors for which no prefetch is
/// implemented.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    debug_assert!(index < table.len());
    prefetch_address(table.as_ptr().wrapping_add(index));
}

/// Prefetches the memory at an address, which may be invalid.
#[inline(always)]
pub fn prefetch_address<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch of any address, even an invalid one, has no architectural effect.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_size_is_an_error_not_an_abort() {
        for len in [usize::MAX, usize::MAX / 8] {
            assert!(matches!(filled(0u32, len), Err(Error::OutOfMemory { .. })));
        }
    }

    #[test]
    fn a_table_of_any_size_holds_its_values_and_so_does_its_copy() {
        for len in
            [0, 1, 1000, HUGE_PAGE_BYTES / 8 - 1, HUGE_PAGE_BYTES / 8, HUGE_PAGE_BYTES / 4 + 5]
        {
            let mut table = filled(7u32, len).unwrap();
            assert!(table.len() == len && table.iter().all(|&item| item == 7));
            if let Some(last) = table.last_mut() {
                *last = 8;
            }
            let copy = table.clone();
            table.fill(0);
            assert!(copy.iter().rev().zip([8, 7, 7]).all(|(copied, expected)| *copied == expected));
        }
    }

    #[test]
    fn a_table_begins_on_a_line_and_a_large_one_on_a_huge_page() {
        let at = |table: &[u8]| table.as_ptr() as usize;
        assert_eq!(at(&filled(0, 100).unwrap()) % CACHE_LINE_BYTES, 0);
        assert_eq!(at(&filled(0, HUGE_PAGE_BYTES / 2).unwrap()) % HUGE_PAGE_BYTES, 0);
    }
}
