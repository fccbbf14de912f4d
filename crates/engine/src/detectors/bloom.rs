//! Two Bloom filters: a page is hot if one of the last two windows of writes has seen it
//! (after Park & Du 2011, in the two-filter form of paper 3, §5.8).

use std::ops::Bound::{Excluded, Included};

use super::{Detector, pages_of};
use crate::error::{Error, Result};
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Detector by two Bloom filters, one for each of the last two windows of writes.
/// The active filter learns the pages of the present window; the passive one knows those of the
/// window before. They take few bits for each write of a window, whatever the size of the drive.
pub struct TwoBloomFilters {
    active: Filter,
    passive: Filter,
    window_writes: u32,
    writes_left: u32,
}

state!(TwoBloomFilters { part active, part passive, fixed window_writes, value writes_left });

impl Detector for TwoBloomFilters {
    fn is_hot(&mut self, logical: u32) -> bool {
        if self.writes_left == 0 {
            std::mem::swap(&mut self.active, &mut self.passive);
            self.active.clear();
            self.writes_left = self.window_writes;
        }
        self.writes_left -= 1;
        let seen = self.active.insert(logical);
        seen || self.passive.contains(logical)
    }

    fn bytes(&self) -> u64 {
        self.active.bytes() + self.passive.bytes()
    }
}

impl Registered<u32> for TwoBloomFilters {
    const ENTRY: Entry =
        Entry::new("bloom", "hot if written in one of the last two windows (two Bloom filters)")
            .example("bloom:window=0.25")
            .params(&[
                Param::new(
                    "window",
                    "0.25",
                    Domain::Number(Excluded(0.0), Included(10.0)),
                    "length of a window in writes per logical page",
                ),
                Param::new(
                    "false_positives",
                    "0.05",
                    Domain::Number(Included(0.0001), Included(0.9)),
                    "share of unknown pages that a full filter claims to know",
                ),
            ]);

    fn build(params: &Params, logical_pages: &u32) -> Result<Self> {
        let window_writes = pages_of(params.number("window"), *logical_pages);
        let filter = Filter::new(window_writes, params.number("false_positives"))?;
        Ok(TwoBloomFilters {
            active: filter.clone(),
            passive: filter,
            window_writes,
            writes_left: window_writes,
        })
    }
}

/// A Bloom filter (Bloom 1970) that derives its hashes from one (Kirsch & Mitzenmacher 2006).
#[derive(Clone)]
pub struct Filter {
    bits: Vec<u64>,
    bit_count: u32,
    hashes: u32,
}

// Those of a group are built anew as it grows and shrinks, so their size is saved too.
state!(Filter { list bits, value bit_count, fixed hashes } where is_sound);

impl Filter {
    fn is_sound(&self) -> bool {
        self.bit_count > 0 && self.bits.len() == (self.bit_count as usize).div_ceil(64)
    }

    /// A filter for `elements` at the given share of false positives.
    pub fn new(elements: u32, false_positives: f64) -> Result<Self> {
        let hashes = (-libm::log2(false_positives)).round().max(1.0);
        // A bit is set with probability p^(1/k) once the filter is full.
        let set = libm::pow(false_positives, 1.0 / hashes);
        let bit_count = (-hashes * f64::from(elements) / libm::log1p(-set)).ceil().max(64.0);
        if bit_count > f64::from(u32::MAX) {
            return Err(Error::OutOfMemory { bytes: (bit_count / 8.0) as u64 });
        }
        let words = (bit_count as usize).div_ceil(64);
        Ok(Filter {
            bits: filled(0, words)?.to_vec(),
            bit_count: bit_count as u32,
            hashes: hashes as u32,
        })
    }

    /// True if the filter knew the page already.
    pub fn insert(&mut self, page: u32) -> bool {
        let mut known = true;
        for bit in self.places(page) {
            let (word, mask) = (bit as usize / 64, 1 << (bit % 64));
            known &= self.bits[word] & mask != 0;
            self.bits[word] |= mask;
        }
        known
    }

    pub fn contains(&self, page: u32) -> bool {
        self.places(page).all(|bit| self.bits[bit as usize / 64] & (1 << (bit % 64)) != 0)
    }

    /// Memory of the filter.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.bits[..]) as u64
    }

    fn clear(&mut self) {
        self.bits.fill(0);
    }

    fn places(&self, page: u32) -> impl Iterator<Item = u32> + use<> {
        let hash = mixed(u64::from(page));
        let (first, step) = (hash as u32, (hash >> 32) as u32 | 1);
        let bit_count = u64::from(self.bit_count);
        (0..self.hashes).map(move |i| {
            let spread = u64::from(first.wrapping_add(i.wrapping_mul(step)));
            ((spread * bit_count) >> 32) as u32
        })
    }
}

/// The finalizer of `SplitMix64` (Steele, Lea & Flood 2014).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_filter_knows_its_pages_and_claims_the_stated_share_of_others() {
        for claimed in [0.01, 0.05, 0.3, 0.7, 0.9] {
            let mut filter = Filter::new(10_000, claimed).unwrap();
            (0..10_000).for_each(|page| {
                filter.insert(page);
            });
            assert!((0..10_000).all(|page| filter.contains(page)));
            let wrong = (10_000..110_000).filter(|&page| filter.contains(page)).count();
            let share = wrong as f64 / 100_000.0;
            assert!((share / claimed - 1.0).abs() < 0.1, "{claimed}: {share}");
        }
    }

    #[test]
    fn a_page_is_hot_for_the_window_it_is_written_in_and_the_next() {
        let mut filters = TwoBloomFilters {
            active: Filter::new(4, 0.0001).unwrap(),
            passive: Filter::new(4, 0.0001).unwrap(),
            window_writes: 4,
            writes_left: 4,
        };
        let hot: Vec<bool> =
            [1, 2, 1, 3, /**/ 1, 4, 5, 6, /**/ 7, 8, 9, 10, /**/ 2, 4, 7, 11]
                .map(|page| filters.is_hot(page))
                .to_vec();
        let expected = [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0].map(|bit| bit == 1);
        assert_eq!(hot, expected);
    }
}
