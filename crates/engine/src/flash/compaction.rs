//! Branch-free collection of the valid pages of a block.
//! Branches would be mispredicted, because which pages are valid is random.

#![allow(unsafe_code)]

use crate::processor::has_wide_lanes;

/// Largest number of items that one step may write beyond the last item kept.
const LANES: usize = 16;

/// Copies the items whose mark is 0 to `unmarked`, in order.
/// `unmarked` is cleared first. `marks` has one bit per item.
pub fn keep_unmarked(items: &[u32], marks: &[u64], unmarked: &mut Vec<u32>) {
    assert!(items.len() <= marks.len() * 64, "marks must have a bit for each item");
    unmarked.clear();
    unmarked.reserve(items.len() + LANES);
    let out = unmarked.as_mut_ptr();
    // SAFETY: `out` has room for all items plus one step, and both functions initialise the first
    // `count` items. `wide` is called only if the processor supports its instructions.
    unsafe {
        let count = match () {
            #[cfg(target_arch = "x86_64")]
            () if has_wide_lanes() => wide(items, marks, out),
            () => scalar(items, marks, out),
        };
        unmarked.set_len(count);
    }
}

/// # Safety
/// `out` must have room for one item more than `items`.
unsafe fn scalar(items: &[u32], marks: &[u64], out: *mut u32) -> usize {
    let mut count = 0;
    for (items, marks) in items.chunks(64).zip(marks) {
        for (place, &item) in items.iter().enumerate() {
            // SAFETY: `count` is at most the number of items read so far.
            unsafe { out.add(count).write(item) };
            count += (!marks >> place & 1) as usize;
        }
    }
    count
}

/// # Safety
/// `out` must have room for [`LANES`] items more than `items`, and the processor must support
/// AVX-512 F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn wide(items: &[u32], marks: &[u64], out: *mut u32) -> usize {
    use std::arch::x86_64::{
        _mm512_maskz_compress_epi32, _mm512_maskz_loadu_epi32, _mm512_storeu_epi32,
    };
    let mut count = 0;
    for (step, items) in items.chunks(LANES).enumerate() {
        let there = u16::MAX >> (LANES - items.len());
        let valid = !(marks[step / 4] >> (step % 4 * LANES)) as u16 & there;
        // SAFETY: the load is masked to existing items. The store begins after the items written so
        // far, which are at most as many as were read.
        unsafe {
            let loaded = _mm512_maskz_loadu_epi32(there, items.as_ptr().cast());
            let packed = _mm512_maskz_compress_epi32(valid, loaded);
            _mm512_storeu_epi32(out.add(count).cast(), packed);
        }
        count += valid.count_ones() as usize;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn by(
        keep: unsafe fn(&[u32], &[u64], *mut u32) -> usize,
        items: &[u32],
        marks: &[u64],
    ) -> Vec<u32> {
        let mut unmarked = vec![u32::MAX; items.len() + LANES];
        // SAFETY: the buffer has room, and the caller has checked for the instructions.
        let count = unsafe { keep(items, marks, unmarked.as_mut_ptr()) };
        unmarked.truncate(count);
        unmarked
    }

    #[test]
    fn both_paths_keep_what_is_not_marked_in_order() {
        let mut random = Stream::new(1, "test");
        for len in (0..200).chain([256, 1000, 4096]) {
            let items: Vec<u32> = (0..len).map(|_| random.bits() as u32).collect();
            for marked in [0, u64::MAX, random.bits(), random.bits() & random.bits()] {
                let marks = vec![marked; (len as usize).div_ceil(64)];
                let is_kept = |place: usize| marks[place / 64] >> (place % 64) & 1 == 0;
                let expected: Vec<u32> =
                    (0..items.len()).filter(|&at| is_kept(at)).map(|at| items[at]).collect();
                assert_eq!(by(scalar, &items, &marks), expected);
                #[cfg(target_arch = "x86_64")]
                if has_wide_lanes() {
                    assert_eq!(by(wide, &items, &marks), expected);
                }
                let mut unmarked = vec![1, 2, 3];
                keep_unmarked(&items, &marks, &mut unmarked);
                assert_eq!(unmarked, expected);
            }
        }
    }
}
