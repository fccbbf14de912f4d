//! Set of the pages that hold data of the host.
//!
//! The others read as zeros, whatever lies in the file.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use writeamp_engine::flash::Array;

const BITS: u64 = u64::BITS as u64;

/// One bit a page.
#[derive(Debug)]
pub struct Held(Vec<AtomicU64>);

impl Held {
    /// The pages for which `is_held` says so.
    pub fn new(pages: u64, mut is_held: impl FnMut(u32) -> bool) -> Self {
        let word = |at: u64| {
            let pages = at * BITS..((at + 1) * BITS).min(pages);
            pages.fold(0, |word, page| word | u64::from(is_held(page as u32)) << (page % BITS))
        };
        Held((0..pages.div_ceil(BITS)).map(word).map(AtomicU64::new).collect())
    }

    /// The pages that a flash has mapped.
    pub fn of(flash: &Array, pages: u64) -> Self {
        Held::new(pages, |page| flash.physical(page).is_some())
    }

    /// True if the page holds data.
    pub fn holds(&self, page: u64) -> bool {
        self.0[(page / BITS) as usize].load(Ordering::Acquire) >> (page % BITS) & 1 == 1
    }

    /// Number of pages that hold data.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.load(Ordering::Acquire).count_ones())).sum()
    }

    /// Notes that pages hold data, or none, from here on.
    pub fn set(&self, pages: Range<u64>, holds: bool) {
        for (at, mask) in words(pages) {
            if holds {
                self.0[at].fetch_or(mask, Ordering::AcqRel);
            } else {
                self.0[at].fetch_and(!mask, Ordering::AcqRel);
            }
        }
    }

    /// The bits, in words of which the first is of the first pages.
    pub fn words(&self) -> Vec<u64> {
        self.0.iter().map(|word| word.load(Ordering::Acquire)).collect()
    }

    /// Sets all bits to those of [`Self::words`], of a set of as many pages.
    pub fn set_words(&self, words: &[u64]) {
        assert_eq!(words.len(), self.0.len(), "words of as many pages");
        self.0.iter().zip(words).for_each(|(own, word)| own.store(*word, Ordering::Release));
    }

    /// Splits pages into runs that are alike. Of each it tells its end, and whether it holds
    /// data.
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

/// The words that cover `pages`, and which of their bits do.
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
            let held = Held::new(200, |_| false);
            held.set(first..end, true);
            for page in 0..200 {
                assert_eq!(held.holds(page), (first..end).contains(&page));
            }
            held.set(first..end, false);
            assert!((0..200).all(|page| !held.holds(page)));
        }
    }

    #[test]
    fn runs_are_of_pages_that_are_alike() {
        let held = Held::new(100, |page| (10..70).contains(&page));
        let runs: Vec<_> = held.runs(0..100).collect();
        assert_eq!(runs, [(10, false), (70, true), (100, false)]);
    }
}
