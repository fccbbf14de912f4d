//! Greatest common divisor of two numbers.

/// Greatest common divisor; with 0, the other number.
pub fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
