//! Parsing of numbers and sizes in specs.

/// 2^53, up to which a double represents every whole number.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Whole number, including forms such as `1e6` and `2.5e6`.
pub(super) fn integer(text: &str) -> Option<u64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let value: f64 = text.parse().ok()?;
    (value.fract() == 0.0 && (0.0..=MOST_EXACT).contains(&value)).then_some(value as u64)
}

/// Number of bytes, plain or with a unit.
/// As in storage tools, `4k` means 4096. The number before the unit need not be whole if the number
/// of bytes is.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    // In text such as 1e6, the letter e begins an exponent of ten, not a unit.
    let (count, unit) = text.split_at(digits.len());
    if unit.is_empty() {
        return integer(count);
    }
    let unit_bytes = unit_bytes(unit)?;
    if let Some(count) = integer(count) {
        return count.checked_mul(unit_bytes);
    }
    if !count.starts_with(|digit: char| digit.is_ascii_digit() || digit == '.') {
        return None;
    }
    let size = number(count)? * unit_bytes as f64;
    // 1.92TB is a whole number of bytes, but the product 1.92·10¹² need not be exact in floating
    // point, so it is rounded.
    let is_whole = (size - size.round()).abs() <= 1e-12 * size && size <= MOST_EXACT;
    is_whole.then_some(size.round() as u64)
}

/// Bytes of a unit: powers of 1000 for units with a bare B, else powers of 1024.
fn unit_bytes(unit: &str) -> Option<u64> {
    const LETTERS: &str = "KMGTPE";
    let power = |letter: &str| Some(LETTERS.find(letter)? as u32 + 1);
    match (unit, unit.len()) {
        ("B", _) => Some(1),
        ("k", _) => Some(1024),
        ("kB", _) => Some(1000),
        (letter, 1) => Some(1024u64.pow(power(letter)?)),
        (unit, _) => {
            let letter = unit.get(..1)?;
            match unit.get(1..)? {
                "B" => Some(1000u64.pow(power(letter)?)),
                "i" | "iB" => Some(1024u64.pow(power(letter)?)),
                _ => None,
            }
        }
    }
}

/// Parses a finite number.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Finite number, or a percentage. 7.3% becomes exactly 0.073, without a division.
pub(super) fn number_or_per_cent(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(count)
            if count.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) =>
        {
            number(&format!("{count}e-2"))
        }
        Some(_) => None,
        None => number(text),
    }
}

/// Parses a valid whole number whose domain fits the type.
pub(super) fn whole<T: TryFrom<u64>>(text: &str) -> T {
    let value = integer(text).and_then(|value| T::try_from(value).ok());
    value.expect("the domain was checked, so the text is a whole number that fits")
}
