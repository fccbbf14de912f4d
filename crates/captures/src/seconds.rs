//! Numbers in captures: sampling rates with units, and decimal seconds.

const PS_A_S: u128 = 1_000_000_000_000;
/// Decimal digits of a picosecond in a second.
const PS_DIGITS: usize = 12;

/// A sampling rate as a fraction: the period of 24 MHz is not a whole number of picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Picoseconds that `samples` samples take.
    ps: u128,
    /// Number of samples.
    samples: u128,
}

impl Rate {
    /// Parses a rate such as "1 MHz" or "24000000"; None if invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit_hz: u128 = match unit.trim() {
            "" | "Hz" => 1,
            "kHz" => 1_000,
            "MHz" => 1_000_000,
            "GHz" => 1_000_000_000,
            _ => return None,
        };
        // The rate is in units of 10⁻¹² Hz, so that "2.5 MHz" is exact.
        let rate = u128::try_from(decimal(number.as_bytes())?.value).ok()?.checked_mul(unit_hz)?;
        let ps = PS_A_S * PS_A_S;
        let common = common_divisor(ps, rate);
        (rate > 0).then(|| Rate { ps: ps / common, samples: rate / common })
    }

    /// Time of a sample, counted from 0; None beyond the longest time.
    pub fn time_ps(self, sample: u64) -> Option<u64> {
        let time_ps = u128::from(sample).checked_mul(self.ps)? / self.samples;
        u64::try_from(time_ps).ok()
    }

    /// Period of the samples, rounded to whole picoseconds, at least 1 ps.
    pub fn period_ps(self) -> u64 {
        u64::try_from((self.ps + self.samples / 2) / self.samples).unwrap_or(u64::MAX).max(1)
    }
}

fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A number, in units of 10⁻¹².
pub struct Decimal {
    /// The number, truncated to whole units.
    pub value: i128,
    /// True if it was truncated.
    pub rounded: bool,
}

/// Parses a decimal number, such as "-0.000123" or "1.5e-6", in units of 10⁻¹².
///
/// Returns None if it is invalid, or too large for a time.
pub fn decimal(text: &[u8]) -> Option<Decimal> {
    const MOST_DIGITS: usize = 36;
    let (mantissa, exponent) = split_exponent(text)?;
    let (negative, digits) = match mantissa {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        plain => (false, plain),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or(&[]));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let places = i32::try_from(PS_DIGITS).ok()? + exponent;
    let mut value: i128 = 0;
    let (mut digits, mut rounded) = (0, false);
    let needed = i32::try_from(whole.len()).ok()? + places;
    for byte in whole.iter().chain(fraction) {
        if !byte.is_ascii_digit() {
            return None;
        }
        if digits < needed {
            value = value.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
            digits += 1;
        } else {
            rounded |= *byte != b'0';
        }
    }
    let missing = usize::try_from((needed - digits).max(0)).ok()?;
    if missing > MOST_DIGITS {
        return None;
    }
    for _ in 0..missing {
        value = value.checked_mul(10)?;
    }
    Some(Decimal { value: if negative { -value } else { value }, rounded })
}

fn split_exponent(text: &[u8]) -> Option<(&[u8], i32)> {
    const LARGEST: i32 = 30;
    let Some(at) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) else {
        return Some((text, 0));
    };
    let exponent: i32 = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
    (exponent.abs() <= LARGEST).then_some((&text[..at], exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_with_their_units_and_kept_exactly() {
        let times = |text: &str, sample| Rate::parse(text).and_then(|rate| rate.time_ps(sample));
        assert_eq!(times("1 MHz", 1), Some(1_000_000));
        assert_eq!(times("2.5 MHz", 2), Some(800_000));
        assert_eq!(times("25MHz", 1), Some(40_000));
        assert_eq!(times("24000000", 24_000_000), Some(1_000_000_000_000));
        assert_eq!(Rate::parse("24 MHz").map(Rate::period_ps), Some(41_667));
        assert_eq!(times("1 Hz", u64::MAX), None);
        assert_eq!(Rate::parse("0 Hz"), None);
        assert_eq!(Rate::parse("fast"), None);
    }

    #[test]
    fn decimals_are_exact_to_the_picosecond() {
        let value = |text: &str| decimal(text.as_bytes()).map(|found| found.value);
        assert_eq!(value("0.000000001"), Some(1_000));
        assert_eq!(value("12.3456789012345"), Some(12_345_678_901_234));
        assert_eq!(value("-1"), Some(-1_000_000_000_000));
        assert_eq!(value("1.5e-6"), Some(1_500_000));
        assert_eq!(value("2e3"), Some(2_000_000_000_000_000));
        assert_eq!(value("1e-13"), Some(0));
        for bad in
            ["", ".", "-", "1.2.3", "0x1", "nan", "1e99", "1e", "99999999999999999999999999999"]
        {
            assert_eq!(value(bad), None, "{bad}");
        }
        assert!(decimal(b"0.0000000000001").unwrap().rounded);
    }
}
