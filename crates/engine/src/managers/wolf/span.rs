//! Time spans in host page writes, with three significant digits in two bytes.

use crate::state::elements;

/// Number of logarithm units in an octave (a factor of two).
pub const OCTAVE: i32 = 256;

/// Time span as a power of two and eleven bits of fraction.
/// It approximates a logarithm linearly between powers of two, up to 0.09 octaves too low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(u16);

elements!(Span { 0: u16 });

impl Span {
    const FRACTION_BITS: u32 = 11;

    /// Span of `writes` page writes. 0 counts as 1; values beyond 32 bits are capped.
    #[inline(always)]
    pub fn of(writes: u64) -> Self {
        let writes = writes.clamp(1, u64::from(u32::MAX)) as u32;
        let power = writes.ilog2();
        // The shift drops the leading 1 bit, which every number has.
        let fraction = (writes << (31 - power) << 1) >> (u32::BITS - Self::FRACTION_BITS);
        Span((power << Self::FRACTION_BITS | fraction) as u16)
    }

    /// Page writes in the span, rounded down.
    #[inline(always)]
    pub fn writes(self) -> i64 {
        let leading_bit = 1 << Self::FRACTION_BITS;
        let power = self.0 >> Self::FRACTION_BITS;
        (i64::from(self.0 & (leading_bit - 1) | leading_bit) << power) >> Self::FRACTION_BITS
    }

    /// Logarithm of the span, in fractions of an [`OCTAVE`].
    #[inline(always)]
    pub fn level(self) -> i32 {
        i32::from(self.0 >> (Self::FRACTION_BITS - OCTAVE.ilog2()))
    }

    /// Index of the half octave that contains the span.
    /// Each power of two begins a half octave, and 1.5 times that power begins the next.
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
            let octaves = f64::from(Span::of(value).level()) / f64::from(OCTAVE);
            assert!(
                (exact - 0.1..=exact + 1e-12).contains(&octaves),
                "{value}: {octaves} for {exact}"
            );
        }
        let level = |writes| Span::of(writes).level();
        assert_eq!((level(0), level(1), level(2), level(3)), (0, 0, 256, 384));
        assert_eq!(Span::of(1 << 40), Span::of((1 << 32) - 1));
    }

    #[test]
    fn spans_keep_three_digits() {
        for writes in (1..100_000).chain([1 << 31, (1 << 32) - 1]) {
            let rounded = Span::of(writes).writes();
            assert!(
                rounded <= writes.cast_signed()
                    && rounded as f64 > writes as f64 * (1.0 - 1.0 / 2048.0)
            );
        }
    }

    #[test]
    fn halves_of_octaves_begin_at_powers_of_two_and_half_way_between() {
        let halves = [1, 2, 3, 4, 5, 6, 7, 8, 12].map(|writes| Span::of(writes).half_octave());
        assert_eq!(halves, [0, 2, 3, 4, 4, 5, 5, 6, 7]);
    }
}
