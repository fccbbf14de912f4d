//! Division by the pages per block with a multiplication.
//! The pages per block need not be a power of two.

/// Fast exact division of any u32 by a fixed divisor of at least 2 (Lemire, Kaser & Kurz
/// 2019).
#[derive(Debug, Clone, Copy)]
pub struct Divider {
    reciprocal: u64,
}

impl Divider {
    pub const fn new(divisor: u32) -> Self {
        assert!(divisor >= 2);
        Divider { reciprocal: u64::MAX / divisor as u64 + 1 }
    }

    #[inline(always)]
    pub fn divide(self, n: u32) -> u32 {
        self.divide_wide(u64::from(n)) as u32
    }

    /// Divides `n` of up to 64 bits. The product of `n` and the divisor must fit in 64 bits.
    #[inline(always)]
    pub fn divide_wide(self, n: u64) -> u64 {
        ((u128::from(self.reciprocal) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_exact_at_every_edge() {
        for divisor in (2..1000).chain([4096, 32_768, 65_537, u32::MAX / 2, u32::MAX]) {
            let by = Divider::new(divisor);
            for k in [0, 1, 2, 3, 1000, u32::MAX / divisor] {
                let n = u64::from(k) * u64::from(divisor);
                for n in [n.saturating_sub(1), n, n + 1].map(|n| n.min(u64::from(u32::MAX)) as u32)
                {
                    assert_eq!(by.divide(n), n / divisor, "{n} / {divisor}");
                }
            }
        }
    }

    #[test]
    fn wide_quotients_are_exact_as_long_as_number_times_divisor_fits() {
        for divisor in (2..1000).chain([4096, 32_768, 65_537, u32::MAX / 2, u32::MAX]) {
            let by = Divider::new(divisor);
            let most = u64::MAX / u64::from(divisor);
            for n in [most, most / 2, most - most % u64::from(divisor), 1 << 32] {
                for n in [n.saturating_sub(1), n, n + 1].map(|n| n.min(most)) {
                    assert_eq!(by.divide_wide(n), n / u64::from(divisor), "{n} / {divisor}");
                }
            }
        }
    }
}
