//! Bitmap of the logical pages that hold data of the host.
//!
//! Other pages read as zeros, regardless of the bytes in the file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use writeamp_engine::flash::Array;

const BITS: u64 = u64::BITS as u64;

/// One bit per page, set if the page holds data.
#[derive(Debug)]
pub struct AllocationBitmap(Vec<AtomicU64>);

impl AllocationBitmap {
    /// Marks the pages for which `is_allocated` returns true.
    pub fn new(pages: u64, mut is_allocated: impl FnMut(u32) -> bool) -> Self {
        let word = |at: u64| {
            let pages = at * BITS..((at + 1) * BITS).min(pages);
            pages.fold(0, |word, page| word | u64::from(is_allocated(page as u32)) << (page % BITS))
        };
        AllocationBitmap((0..pages.div_ceil(BITS)).map(word).map(AtomicU64::new).collect())
    }

    /// Marks the pages that a flash drive has mapped.
    pub fn of(flash: &Array, pages: u64) -> Self {
        AllocationBitmap::new(pages, |page| flash.physical(page).is_some())
    }

    /// True if the page holds data.
    pub fn holds(&self, page: u64) -> bool {
        self.0[(page / BITS) as usize].load(Ordering::Acquire) >> (page % BITS) & 1 == 1
    }

    /// Number of pages that hold data.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Ordering::Acquire).count_ones())).sum()
    }

    /// Marks pages as holding data, or not.
    pub fn set(&self, pages: Range<u64>, holds: bool) {
        for (at, mask) in words(pages) {
            if holds {
                self.0[at].fetch_or(mask, Ordering::AcqRel);
            } else {
                self.0[at].fetch_and(!mask, Ordering::AcqRel);
            }
        }
    }

    /// 64-bit words of the bitmap; the first pages come first.
    pub fn words(&self) -> Vec<u64> {
        self.0.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Sets the bitmap to words from [`Self::words`] of a bitmap with as many pages.
    pub fn set_words(&self, words: &[u64]) {
        assert_eq!(words.len(), self.0.len(), "same number of pages");
        self.0.iter().zip(words).for_each(|(own, word)| own.store(*word, Ordering::Release));
    }

    /// Splits a range of pages into runs of consecutive pages with or without data.
    ///
    /// Yields the end of each run, and true if it holds data.
    pub fn runs(&self, pages: Range<u64>) -> impl Iterator<Item = (u64, bool)> + '_ {
        let mut at = pages.start;
        std::iter::from_fn(move || {
            (at < pages.end).then(|| {
                let holds = self.holds(at);
                at += 1;
                while at < pages.end && self.holds(at) == holds {
                    at += 1;
                }
                (at, holds)
            })
        })
    }
}

/// Indexes of the words that cover `pages`, each with a mask of the bits that belong to
/// `pages`.
fn words(pages: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
    let first = pages.start / BITS;
    let end = if pages.is_empty() { first } else { pages.end.div_ceil(BITS) };
    (first..end).map(move |at| {
        let from = pages.start.saturating_sub(at * BITS).min(BITS);
        let to = (pages.end - at * BITS).min(BITS);
        (at as usize, (u64::MAX >> (BITS - (to - from))) << from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_set_and_cleared_across_words_are_those_that_hold() {
        for (first, end) in [(0, 1), (0, 64), (63, 65), (5, 200), (64, 128), (7, 7), (199, 200)] {
            let allocated = AllocationBitmap::new(200, |_| false);
            allocated.set(first..end, true);
            for page in 0..200 {
                assert_eq!(allocated.holds(page), (first..end).contains(&page));
            }
            allocated.set(first..end, false);
            assert!((0..200).all(|page| !allocated.holds(page)));
        }
    }

    #[test]
    fn runs_are_of_pages_that_are_alike() {
        let allocated = AllocationBitmap::new(100, |page| (10..70).contains(&page));
        let runs: Vec<_> = allocated.runs(0..100).collect();
        assert_eq!(runs, [(10, false), (70, true), (100, false)]);
    }
}
