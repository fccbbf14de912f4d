//! Allocation of the large tables: fallible, and on huge pages where the system offers them.
//!
//! A map of a large drive is read at random; with 4 KiB pages nearly every access also misses the
//! TLB, which halves the speed.

use crate::error::{Error, Result};

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A vector of `len` copies of `value`, or a clear error where memory does not allow it.
pub fn filled<T: Copy>(value: T, len: usize) -> Result<Vec<T>> {
    let mut table: Vec<T> = Vec::new();
    table
        .try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { bytes: len as u64 * size_of::<T>() as u64 })?;
    advise_huge_pages(table.as_mut_ptr().cast(), len * size_of::<T>());
    table.resize(len, value);
    Ok(table)
}

#[cfg(target_os = "linux")]
fn advise_huge_pages(start: *mut u8, bytes: usize) {
    let skip = start.align_offset(HUGE_PAGE_BYTES);
    if bytes < skip + HUGE_PAGE_BYTES {
        return;
    }
    let whole = (bytes - skip) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    // SAFETY: the range lies inside an allocation of ours; the advice changes no contents, and a
    // kernel that does not know it refuses without effect.
    unsafe {
        libc::madvise(start.add(skip).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_start: *mut u8, _bytes: usize) {}

/// Asks the processor to fetch `table[index]`; without effect where there is no such instruction.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    debug_assert!(index < table.len());
    prefetch_address(table.as_ptr().wrapping_add(index));
}

/// The same of what lies at an address, which need not be valid.
#[inline(always)]
pub fn prefetch_address<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address, even an invalid one, has no architectural effect.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_size_is_an_error_not_an_abort() {
        assert!(matches!(filled(0u32, usize::MAX / 8), Err(Error::OutOfMemory { .. })));
    }

    #[test]
    fn a_table_beyond_a_huge_page_holds_its_value() {
        let table = filled(7u32, 3 * HUGE_PAGE_BYTES / 4 + 5).unwrap();
        assert!(table.iter().all(|&v| v == 7));
    }
}
