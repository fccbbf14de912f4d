//! Spans of time in pages that the host writes, to three digits in two bytes.

use crate::state::elements;

/// Logarithms to base 2 are kept in so many parts.
pub const OCTAVE: i32 = 256;

/// Span of time: a power of two and eleven bits of fraction.
/// It is a logarithm that is linear between powers of two, and so up to 0.09 octaves too low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(u16);

elements!(Span { 0: u16 });

impl Span {
    const FRACTION_BITS: u32 = 11;

    /// Span of so many page writes; 0 counts as 1, and more than 32 bits as the longest.
    #[inline(always)]
    pub fn of(writes: u64) -> Self {
        let writes = writes.clamp(1, u64::from(u32::MAX)) as u32;
        let power = writes.ilog2();
        // The leading one goes out at the top.
        let fraction = (writes << (31 - power) << 1) >> (u32::BITS - Self::FRACTION_BITS);
        Span((power << Self::FRACTION_BITS | fraction) as u16)
    }

    /// Page writes in the span, rounded down.
    #[inline(always)]
    pub fn writes(self) -> i64 {
        let one = 1 << Self::FRACTION_BITS;
        let power = self.0 >> Self::FRACTION_BITS;
        (i64::from(self.0 & (one - 1) | one) << power) >> Self::FRACTION_BITS
    }

    /// The logarithm, in parts of an [`OCTAVE`].
    #[inline(always)]
    pub fn level(self) -> i32 {
        i32::from(self.0 >> (Self::FRACTION_BITS - OCTAVE.ilog2()))
    }

    /// Halves of octaves: from each power of two to one and a half times that, and from there on.
    #[inline(always)]
    pub fn half_octave(self) -> usize {
        usize::from(self.0 >> (Self::FRACTION_BITS - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right_to_a_tenth_of_an_octave() {
        for value in (1..100_000).chain([1 << 31, (1 << 32) - 1]) {
            let exact = libm::log2(value as f64);
            let found = f64::from(Span::of(value).level()) / f64::from(OCTAVE);
            assert!((exact - 0.1..=exact + 1e-12).contains(&found), "{value}: {found} for {exact}");
        }
        let level = |writes| Span::of(writes).level();
        assert_eq!((level(0), level(1), level(2), level(3)), (0, 0, 256, 384));
        assert_eq!(Span::of(1 << 40), Span::of((1 << 32) - 1));
    }

    #[test]
    fn spans_keep_three_digits() {
        for writes in (1..100_000).chain([1 << 31, (1 << 32) - 1]) {
            let kept = Span::of(writes).writes();
            assert!(
                kept <= writes.cast_signed() && kept as f64 > writes as f64 * (1.0 - 1.0 / 2048.0)
            );
        }
    }

    #[test]
    fn halves_of_octaves_begin_at_powers_of_two_and_half_way_between() {
        let halves = [1, 2, 3, 4, 5, 6, 7, 8, 12].map(|writes| Span::of(writes).half_octave());
        assert_eq!(halves, [0, 2, 3, 4, 4, 5, 5, 6, 7]);
    }
}
