//! Hot-page detector with two Bloom filters, one per window of writes.
//! A page is hot if it was written in the current or the previous window (after Park & Du 2011, in
//! the two-filter form of paper 3, §5.6).

use std::ops::Bound::{Excluded, Included};

use super::{Detector, pages_of};
use crate::error::{Error, Result};
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Detector with a Bloom filter for the current window of writes and one for the previous
/// window. The active filter records the pages of the current window. The passive filter contains
/// the pages of the previous window. Memory is a few bits per write of a window, independent of the
/// drive's size.
pub struct TwoBloomFilters {
    active: Filter,
    passive: Filter,
    window_writes: u32,
    writes_left: u32,
}

state!(TwoBloomFilters { nested active, nested passive, fixed window_writes, value writes_left });

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
    const ENTRY: Entry = Entry::new(
        "bloom",
        "hot if written in the current or the previous window of writes (two Bloom filters)",
    )
    .example("bloom:window=0.25")
    .params(&[
        Param::new(
            "window",
            "0.25",
            Domain::Number(Excluded(0.0), Included(10.0)),
            "length of a window: host page writes, divided by the number of logical pages",
        ),
        Param::new(
            "false_positives",
            "0.05",
            Domain::Number(Included(0.0001), Included(0.9)),
            "share of the pages not in a full filter that it wrongly reports as written",
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

/// Bloom filter (Bloom 1970) with hashes derived from a single one (Kirsch & Mitzenmacher
/// 2006).
#[derive(Clone)]
pub struct Filter {
    bits: Vec<u64>,
    bit_count: u32,
    hashes: u32,
}

// The grouped managers replace the filter of a group by one of another size when the group changes
// its size. So the size of a filter is saved too.
state!(Filter { list bits, value bit_count, fixed hashes } where is_sound);

impl Filter {
    fn is_sound(&self) -> bool {
        self.bit_count > 0 && self.bits.len() == (self.bit_count as usize).div_ceil(64)
    }

    /// Builds an empty filter for `elements` elements with the given false-positive rate.
    pub fn new(elements: u32, false_positives: f64) -> Result<Self> {
        let hashes = (-libm::log2(false_positives)).round().max(1.0);
        // With k hashes and a false-positive rate p, each bit of a full filter is set with
        // probability p^(1/k). The number of bits follows from this probability.
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

    /// Adds a page. Returns true if the filter already contained it.
    pub fn insert(&mut self, page: u32) -> bool {
        let mut contained = true;
        for bit in self.places(page) {
            let (word, mask) = (bit as usize / 64, 1 << (bit % 64));
            contained &= self.bits[word] & mask != 0;
            self.bits[word] |= mask;
        }
        contained
    }

    pub fn contains(&self, page: u32) -> bool {
        self.places(page).all(|bit| self.bits[bit as usize / 64] & (1 << (bit % 64)) != 0)
    }

    /// Memory of the filter, in bytes.
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

/// Mixes the bits of a number, as the last step of `SplitMix64` does (Steele, Lea & Flood
/// 2014).
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
