//! Named random streams: one seed determines a run, and streams are independent.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Result;
use crate::state::{Reader, State, Writer, require};

/// Deterministic random number generator (xoshiro256++) for one named purpose.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Stream `name` of the run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a spreads the name; SplitMix64 inside `seed_from_u64` does the mixing.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
        Stream(Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash))
    }

    /// Draws 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a uniform number in `0..bound`, by multiply-shift.
    /// The bias is below `bound`/2⁶⁴, at most 2⁻³².
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// Draws a number below `bound` for each element of `buffer`, like repeated [`Self::below`].
    pub fn fill_below(&mut self, bound: u32, buffer: &mut [u32]) {
        let mut stream = self.clone();
        for item in buffer {
            *item = stream.below(bound);
        }
        *self = stream;
    }

    /// Draws a uniform number in [0, 1) with 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns true with a probability, which is passed as its [`threshold`].
    #[inline]
    pub fn chance(&mut self, threshold: u64) -> bool {
        self.bits() < threshold
    }

    /// Shuffles `items` uniformly (Fisher–Yates).
    pub fn shuffle(&mut self, items: &mut [u32]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}

impl State for Stream {
    fn save(&self, to: &mut Writer) {
        to.value(&self.0);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.0 = from.value("a random stream")?;
        // A state of all zeros is invalid: the generator would only generate zeros.
        let mut from_here = self.clone();
        require((0..8).any(|_| from_here.bits() != 0), "a random stream")
    }
}

/// Numbered random values: uniform numbers by index, readable in any order.
#[derive(Debug, Clone, Copy)]
pub struct Numbered(u64);

impl Numbered {
    /// Values `name` of the run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Numbered(Stream::new(seed, name).bits())
    }

    /// 64 uniform bits at index `n`, computed by `SplitMix64` (Steele, Lea and Flood, OOPSLA
    /// 2014).
    #[inline]
    pub fn bits(self, n: u64) -> u64 {
        let mut mixed = self.0.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Draws a uniform number in [0, 1) with 53 bits.
    #[inline]
    pub fn unit(self, n: u64) -> f64 {
        (self.bits(n) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Threshold for [`Stream::chance`] with a probability in [0, 1].
pub fn threshold(probability: f64) -> u64 {
    // For probability 1 the threshold 2⁶⁴ does not fit in 64 bits. The cast reduces it to the
    // largest number, an error of 2⁻⁶⁴.
    (probability * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_by_name_and_repeat_by_seed() {
        let draw = |seed, name| {
            let mut s = Stream::new(seed, name);
            [s.bits(), s.bits(), s.bits()]
        };
        assert_eq!(draw(1, "workload"), draw(1, "workload"));
        assert_ne!(draw(1, "workload"), draw(1, "victims"));
        assert_ne!(draw(1, "workload"), draw(2, "workload"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut s = Stream::new(7, "test");
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[s.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        Stream::new(3, "test").shuffle(&mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
