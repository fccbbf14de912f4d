//! Probability that a read is uncorrectable, and its number of retries.
//!
//! A codeword fails if it has more wrong bits than the code corrects, which is the tail of a
//! binomial distribution. A read fails if any of its codewords fails. A single uniform random
//! number decides all tries of a read, because the same cells are weak in each try. The probability
//! that a read needs more than k retries equals the probability of failure at the error rate of the
//! k-th retry.

use super::params::Errors;

/// Error correction of the reads of a drive.
#[derive(Debug)]
pub struct Correction {
    codeword_bytes: u32,
    bits: f64,
    correctable: f64,
    /// Logarithms of two binomial coefficients. They count the ways to have `correctable_bits`
    /// wrong bits in a codeword, and one more.
    log_ways: [f64; 2],
    retry_factor: f64,
    most_retries: u32,
}

impl Correction {
    /// Builds the correction of a checked profile.
    pub fn new(errors: &Errors) -> Self {
        let (bits, correctable) =
            (8.0 * f64::from(errors.codeword_bytes), f64::from(errors.correctable_bits));
        let log_ways = |wrong: f64| {
            libm::lgamma(bits + 1.0) - libm::lgamma(wrong + 1.0) - libm::lgamma(bits - wrong + 1.0)
        };
        Correction {
            codeword_bytes: errors.codeword_bytes,
            bits,
            correctable,
            log_ways: [log_ways(correctable), log_ways(correctable + 1.0)],
            retry_factor: errors.retry_factor,
            most_retries: errors.most_retries,
        }
    }

    /// Number of codewords in `bytes`, at least one.
    pub fn codewords(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.codeword_bytes).max(1)
    }

    /// Number of retries of a read, and true if its last try is corrected.
    /// `rate` is the bit error rate of the first try, and `uniform` a random number in [0, 1).
    pub fn retries(&self, rate: f64, codewords: u32, uniform: f64) -> (u32, bool) {
        let mut rate = rate;
        for retries in 0..=self.most_retries {
            if uniform >= self.failure(rate, codewords) {
                return (retries, true);
            }
            rate *= self.retry_factor;
        }
        (self.most_retries, false)
    }

    /// Probability that any of `codewords` codewords has more wrong bits than can be corrected.
    pub fn failure(&self, rate: f64, codewords: u32) -> f64 {
        1.0 - (1.0 - self.tail(rate.min(0.5))).powi(codewords.cast_signed())
    }

    /// Probability that a codeword has too many wrong bits, at a rate of up to 0.5.
    fn tail(&self, rate: f64) -> f64 {
        let (bits, correctable) = (self.bits, self.correctable);
        let odds = rate / (1.0 - rate);
        let term = |wrong: f64, log_ways: f64| {
            libm::exp(log_ways + wrong * libm::log(rate) + (bits - wrong) * libm::log1p(-rate))
        };
        let mut sum = 0.0;
        if correctable + 1.0 > (bits + 1.0) * rate {
            let mut wrong = correctable + 1.0;
            let mut term = term(wrong, self.log_ways[1]);
            while term > sum * 1e-17 && wrong <= bits {
                sum += term;
                term *= (bits - wrong) / (wrong + 1.0) * odds;
                wrong += 1.0;
            }
            return sum.min(1.0);
        }
        let mut wrong = correctable;
        let mut term = term(wrong, self.log_ways[0]);
        while term > sum * 1e-17 && wrong >= 0.0 {
            sum += term;
            term *= wrong / (bits - wrong + 1.0) / odds;
            wrong -= 1.0;
        }
        1.0 - sum.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(codeword_bytes: u32, correctable_bits: u32) -> Correction {
        Correction::new(&Errors { codeword_bytes, correctable_bits, ..Errors::default() })
    }

    #[test]
    fn tails_of_small_codewords_are_those_counted_by_hand() {
        // Of eight bits, none or one may be wrong.
        for rate in [0.001, 0.1, 0.3, 0.5] {
            let right = (1.0_f64 - rate).powi(8);
            let single_errors = 8.0 * rate * (1.0_f64 - rate).powi(7);
            for (correctable, expected) in [(0, 1.0 - right), (1, 1.0 - right - single_errors)] {
                let failure = correction(1, correctable).failure(rate, 1);
                assert!((failure - expected).abs() < 1e-13, "{rate}: {failure}, not {expected}");
            }
            let two = correction(1, 0).failure(rate, 2);
            assert!((two - (1.0 - right * right)).abs() < 1e-13);
        }
    }

    #[test]
    fn tails_of_large_codewords_meet_where_the_way_of_summing_changes() {
        let correction = correction(1024, 72);
        let mode = 73.0 / 8193.0;
        let (below, above) =
            (correction.failure(mode * 0.999_999, 1), correction.failure(mode * 1.000_001, 1));
        assert!((above - below).abs() < 1e-4 && below > 0.4 && above < 0.6, "{below}, {above}");
        assert!(correction.failure(1e-3, 16) < 1e-15);
        assert!(correction.failure(3e-2, 1) > 1.0 - 1e-12);
    }

    #[test]
    fn a_read_is_tried_until_its_number_is_no_failure() {
        let errors = Errors { most_retries: 5, retry_factor: 0.5, ..Errors::default() };
        let correction = Correction::new(&errors);
        let rate = 0.05;
        let failures: Vec<f64> =
            (0..6).map(|n| correction.failure(rate * 0.5_f64.powi(n), 4)).collect();
        let steps = |uniform: f64| failures.iter().take_while(|&&p| uniform < p).count() as u32;
        for uniform in [0.0, 1e-9, 0.2, 0.5, 0.999_999] {
            assert_eq!(correction.retries(rate, 4, uniform), (steps(uniform), true), "{uniform}");
        }
        assert_eq!(correction.retries(0.5, 4, 0.5), (5, false));
    }
}
