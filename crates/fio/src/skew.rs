//! fio's zipf and pareto: ranks drawn from 32-bit random numbers, and hashed to blocks.
//!
//! Zipf ranks follow Gray et al. (SIGMOD 1994). fio multiplies the rank by a constant modulo 2⁶⁴,
//! adds an offset, and takes the remainder by the number of blocks. Unless that number is a power
//! of two, several ranks have the same block, and some blocks have none.

use std::cell::Cell;

use libm::{log, pow};

/// Number of different 32-bit random numbers.
pub const NUMBERS: u64 = 1 << 32;
/// Factor of a rank in its hash.
pub(crate) const MULTIPLIER: u64 = 0x61C8_8646_80B5_83EB;
/// fio adds at most this many terms of the sum over all ranks.
const MOST_TERMS: u64 = 10_000_000;

/// Number of first ranks that a smaller drive counts one by one, as their popularity differs.
pub const FIRST_RANKS: u64 = 4096;

/// Number of equal parts of the ranks of a smaller drive's page, by its place.
/// Places are in the order of popularity.
/// One rank represents each part, so that most pages are reached as a whole or not at all.
pub fn parts_of_page(place: u64) -> u64 {
    match place {
        ..64 => 256,
        64..1024 => 16,
        _ => 1,
    }
}

/// Kind of distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `zipf`, with parameter theta.
    Zipf,
    /// `pareto`, with parameter h.
    Pareto,
}

/// Distribution of the ranks, and the block of each rank.
#[derive(Debug, Clone, Copy)]
pub struct Skew {
    law: Law,
    blocks: u64,
}

#[derive(Debug, Clone, Copy)]
enum Law {
    Zipf {
        theta: f64,
        /// Sum of k^−theta over the ranks, as far as fio adds it.
        sum: f64,
        eta: f64,
    },
    Pareto {
        power: f64,
    },
}

impl Skew {
    /// Distribution over a number of blocks, at least 1. Theta must be positive and not 1; h must
    /// be between 0 and 1.
    pub fn new(kind: Kind, parameter: f64, blocks: u64) -> Self {
        let law = match kind {
            Kind::Pareto => Law::Pareto { power: log(parameter) / log(1.0 - parameter) },
            Kind::Zipf => {
                let theta = parameter;
                let sum = sum_of_powers(theta, blocks.min(MOST_TERMS));
                let rest = 1.0 - (1.0 + pow(0.5, theta)) / sum;
                Law::Zipf { theta, sum, eta: (1.0 - pow(2.0 / blocks as f64, 1.0 - theta)) / rest }
            }
        };
        Skew { law, blocks }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Rank of a random number, from 0; the last number may give a rank beyond the last.
    #[inline]
    pub fn rank(&self, number: u32) -> u64 {
        let uniform = f64::from(number) / (NUMBERS - 1) as f64;
        match self.law {
            Law::Pareto { power } => ((self.blocks - 1) as f64 * pow(uniform, power)) as u64,
            Law::Zipf { theta, sum, eta } => {
                let scaled = uniform * sum;
                if scaled < 1.0 {
                    0
                } else if scaled < 1.0 + pow(0.5, theta) {
                    1
                } else {
                    let base = eta * uniform - eta + 1.0;
                    (self.blocks as f64 * pow(base, 1.0 / (1.0 - theta))) as u64
                }
            }
        }
    }

    /// Number of random numbers that give a rank.
    pub fn numbers(&self, rank: u64) -> u64 {
        self.first_number(rank + 1) - self.first_number(rank)
    }

    /// Least random number that gives this rank or a later one.
    pub fn first_number(&self, rank: u64) -> u64 {
        if rank == 0 || rank >= self.blocks {
            return if rank == 0 { 0 } else { NUMBERS };
        }
        let share = match self.law {
            Law::Pareto { power } => pow(rank as f64 / (self.blocks - 1) as f64, 1.0 / power),
            Law::Zipf { sum, .. } if rank == 1 => 1.0 / sum,
            Law::Zipf { theta, sum, .. } if rank == 2 => (1.0 + pow(0.5, theta)) / sum,
            Law::Zipf { theta, eta, .. } => {
                (pow(rank as f64 / self.blocks as f64, 1.0 - theta) + eta - 1.0) / eta
            }
        };
        ((share * (NUMBERS - 1) as f64).ceil() as u64).min(NUMBERS)
    }

    /// Block of a rank; fio draws `offset` once for each file.
    #[inline]
    pub fn block(&self, rank: u64, offset: u64) -> u64 {
        rank.wrapping_mul(MULTIPLIER).wrapping_add(offset) % self.blocks
    }
}

/// Sum of k^−theta over the first ranks.
fn sum_of_powers(theta: f64, terms: u64) -> f64 {
    thread_local! {
        /// Last sum, because each run of a job needs it again, and it takes 0.3 s.
        static LAST: Cell<Option<(f64, u64, f64)>> = const { Cell::new(None) };
    }
    match LAST.get() {
        Some(last) if (last.0, last.1) == (theta, terms) => last.2,
        _ => {
            // In the order of fio, because rounding errors of the sum shift far ranks.
            let sum = (1..=terms).map(|rank| pow(1.0 / rank as f64, theta)).sum();
            LAST.set(Some((theta, terms, sum)));
            sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [(Kind, f64); 4] =
        [(Kind::Zipf, 0.8), (Kind::Zipf, 1.2), (Kind::Pareto, 0.2), (Kind::Zipf, 0.1)];

    #[test]
    fn ranks_and_their_first_numbers_agree() {
        for (kind, parameter) in KINDS {
            for blocks in [1, 2, 3, 1000, 250_000, 468_843_606] {
                let skew = Skew::new(kind, parameter, blocks);
                let mut all = 0;
                for number in (0..=u32::MAX).step_by(9_999_991) {
                    let rank = skew.rank(number).min(blocks - 1);
                    let range = skew.first_number(rank)..skew.first_number(rank + 1);
                    // Rounding may shift a limit by one number.
                    let near = u64::from(number) + 1;
                    assert!(range.start <= near && near <= range.end + 1, "{kind:?} {rank}");
                    all += 1;
                }
                assert!(all > 400);
            }
        }
    }

    #[test]
    fn the_numbers_of_all_ranks_add_up() {
        for (kind, parameter) in KINDS {
            let skew = Skew::new(kind, parameter, 10_007);
            assert_eq!((0..10_007).map(|rank| skew.numbers(rank)).sum::<u64>(), NUMBERS);
        }
    }
}
