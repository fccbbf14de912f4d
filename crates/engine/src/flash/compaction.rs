//! Branch-free collection of the valid pages of a block, and of their tags.
//! Branches would be mispredicted, because which pages are valid is random.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm_loadl_epi64, _mm_shuffle_epi8, _mm_storel_epi64, _mm256_cvtepu8_epi32, _mm256_loadu_si256,
    _mm256_permutevar8x32_epi32, _mm256_storeu_si256, _mm512_maskz_compress_epi32,
    _mm512_maskz_loadu_epi32, _mm512_storeu_epi32,
};

use crate::processor::{Lanes, lanes};

/// Largest number of items that one step may write beyond the last item kept.
const MOST_STEP: usize = 16;

/// Function that copies the items whose mark is 0 to an address, and returns their number.
///
/// # Safety
/// The address must have room for [`MOST_STEP`] items more than there are items, there must be a mark
/// for each item, and the processor must support the function's instructions.
type Keep<T> = unsafe fn(&[T], &[u64], *mut T) -> usize;

/// Item of a type for which vector instructions are used.
pub trait Item: Copy {
    /// The fastest function for these vector instructions.
    fn keep_by(lanes: Lanes) -> Keep<Self>;

    /// Copies the items of a set of eight in order, and then any items up to eight.
    ///
    /// # Safety
    /// The address must have room for eight items, and the processor must support AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn pack(items: &[Self; 8], set: u8, out: *mut Self);
}

impl Item for u32 {
    fn keep_by(lanes: Lanes) -> Keep<u32> {
        match lanes {
            #[cfg(target_arch = "x86_64")]
            Lanes::Avx512 => pages_by_sixteen,
            #[cfg(target_arch = "x86_64")]
            Lanes::Avx2 => by_eight,
            _ => one_by_one,
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    unsafe fn pack(items: &[u32; 8], set: u8, out: *mut u32) {
        // SAFETY: eight items and eight places are read; the rest is the caller's.
        unsafe {
            let places =
                _mm256_cvtepu8_epi32(_mm_loadl_epi64(PLACES[usize::from(set)].as_ptr().cast()));
            let loaded = _mm256_loadu_si256(items.as_ptr().cast());
            _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(loaded, places));
        }
    }
}

impl Item for u8 {
    fn keep_by(lanes: Lanes) -> Keep<u8> {
        match lanes {
            #[cfg(target_arch = "x86_64")]
            Lanes::Avx512 | Lanes::Avx2 => by_eight,
            _ => one_by_one,
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    unsafe fn pack(items: &[u8; 8], set: u8, out: *mut u8) {
        // SAFETY: eight items and eight places are read; the rest is the caller's.
        unsafe {
            let places = _mm_loadl_epi64(PLACES[usize::from(set)].as_ptr().cast());
            let loaded = _mm_loadl_epi64(items.as_ptr().cast());
            _mm_storel_epi64(out.cast(), _mm_shuffle_epi8(loaded, places));
        }
    }
}

/// Copies the items whose mark is 0 to `unmarked`, in order.
/// `unmarked` is cleared first. `marks` has one bit per item.
pub fn keep_unmarked<T: Item>(items: &[T], marks: &[u64], unmarked: &mut Vec<T>) {
    keep_unmarked_by(T::keep_by(lanes()), items, marks, unmarked);
}

fn keep_unmarked_by<T>(keep: Keep<T>, items: &[T], marks: &[u64], unmarked: &mut Vec<T>) {
    assert!(items.len() <= marks.len() * 64, "marks must have a bit for each item");
    unmarked.clear();
    unmarked.reserve(items.len() + MOST_STEP);
    // SAFETY: there is room for all items plus one step, and `keep` initialises the first `count`
    // items. It is one that the processor supports.
    unsafe {
        let count = keep(items, marks, unmarked.as_mut_ptr());
        unmarked.set_len(count);
    }
}

unsafe fn one_by_one<T: Copy>(items: &[T], marks: &[u64], out: *mut T) -> usize {
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

/// For each set of eight items, the places of those in the set, in order.
#[cfg(target_arch = "x86_64")]
static PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut set = 0;
    while set < places.len() {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if set >> place & 1 == 1 {
                places[set][count] = place as u8;
                count += 1;
            }
            place += 1;
        }
        set += 1;
    }
    places
};

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn by_eight<T: Item>(items: &[T], marks: &[u64], out: *mut T) -> usize {
    let mut count = 0;
    for (items, marks) in items.chunks(64).zip(marks) {
        let (steps, rest) = items.as_chunks::<8>();
        for (step, items) in steps.iter().enumerate() {
            let valid = (!marks >> (step * 8)) as u8;
            // SAFETY: eight items are written after the items kept so far, which are at most as many
            // as were read.
            unsafe { T::pack(items, valid, out.add(count)) };
            count += valid.count_ones() as usize;
        }
        // SAFETY: as above.
        count += unsafe { last(rest, steps.len(), *marks, out.add(count)) };
    }
    count
}

/// Keeps the fewer than eight items after these steps of 64 items.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn last<T: Copy>(rest: &[T], steps: usize, marks: u64, out: *mut T) -> usize {
    if rest.is_empty() {
        return 0;
    }
    // SAFETY: the caller's.
    unsafe { one_by_one(rest, &[marks >> (steps * 8)], out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn pages_by_sixteen(items: &[u32], marks: &[u64], out: *mut u32) -> usize {
    const STEP: usize = 16;
    let mut count = 0;
    for (step, items) in items.chunks(STEP).enumerate() {
        let there = u16::MAX >> (STEP - items.len());
        let valid = !(marks[step / 4] >> (step % 4 * STEP)) as u16 & there;
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
    use std::fmt::Debug;

    use super::*;
    use crate::rng::Stream;

    fn check_each_way<T: Item + PartialEq + Debug>(items: &[T], marks: &[u64]) {
        let is_kept = |place: usize| marks[place / 64] >> (place % 64) & 1 == 0;
        let expected: Vec<T> =
            (0..items.len()).filter(|&at| is_kept(at)).map(|at| items[at]).collect();
        for way in [Lanes::Scalar, Lanes::Avx2, Lanes::Avx512] {
            if way <= lanes() {
                let mut unmarked = vec![items.first().copied(); 3].into_iter().flatten().collect();
                keep_unmarked_by(T::keep_by(way), items, marks, &mut unmarked);
                assert_eq!(unmarked, expected, "{way:?}");
            }
        }
    }

    #[test]
    fn each_way_keeps_what_is_not_marked_in_order() {
        let mut random = Stream::new(1, "test");
        for len in (0..200).chain([256, 1000, 4096]) {
            let pages: Vec<u32> = (0..len).map(|_| random.bits() as u32).collect();
            let tags: Vec<u8> = pages.iter().map(|&page| page as u8).collect();
            for marked in [0, u64::MAX, random.bits(), random.bits() & random.bits()] {
                let marks = vec![marked; (len as usize).div_ceil(64)];
                check_each_way(&pages, &marks);
                check_each_way(&tags, &marks);
            }
        }
    }
}
