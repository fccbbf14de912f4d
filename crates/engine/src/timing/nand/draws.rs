//! Random durations of flash operations.

use crate::rng::Stream;
use crate::state::state;
use crate::timing::params::{Array, ByKind, ns_of_us};
use crate::timing::slc::Slc;

/// Mean and spread of a duration.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bell {
    mean_ns: u64,
    sd_ns: f64,
}

/// Durations of reads, programs and erases, by kind of page.
#[derive(Debug)]
pub struct Durations {
    reads: Vec<Bell>,
    programs: Vec<Bell>,
    erase: Bell,
    slc_read: Bell,
    slc_program: Bell,
    slc_erase: Bell,
    random: Stream,
}

state!(Durations {
    fixed reads,
    fixed programs,
    fixed erase,
    fixed slc_read,
    fixed slc_program,
    fixed slc_erase,
    nested random,
});

impl Durations {
    /// Builds the durations of a checked profile, drawn from the random stream "durations".
    pub fn new(array: &Array, slc: &Slc, seed: u64) -> Self {
        let Array { read_us, program_us, erase_us, read_spread, program_spread, erase_spread } =
            array;
        Durations {
            reads: bells(read_us, read_spread),
            programs: bells(program_us, program_spread),
            erase: bell(*erase_us, *erase_spread),
            slc_read: bell(slc.read_us, slc.spread),
            slc_program: bell(slc.program_us, slc.spread),
            slc_erase: bell(slc.erase_us, slc.spread),
            random: Stream::new(seed, "durations"),
        }
    }

    /// Time to read page `index` of a block, in ns.
    #[inline(always)]
    pub fn read_ns(&mut self, index: u32) -> u64 {
        let bell = of_kind(&self.reads, index);
        self.draw(bell)
    }

    /// Time to program unit `index` of a block, in ns.
    #[inline(always)]
    pub fn program_ns(&mut self, index: u32) -> u64 {
        let bell = of_kind(&self.programs, index);
        self.draw(bell)
    }

    /// Time to erase a block, in ns.
    #[inline(always)]
    pub fn erase_ns(&mut self) -> u64 {
        self.draw(self.erase)
    }

    /// Time to read a page of the SLC cache, in ns.
    pub fn slc_read_ns(&mut self) -> u64 {
        self.draw(self.slc_read)
    }

    /// Time to program a unit of the SLC cache, in ns.
    pub fn slc_program_ns(&mut self) -> u64 {
        self.draw(self.slc_program)
    }

    /// Time to erase a block of the SLC cache, in ns.
    pub fn slc_erase_ns(&mut self) -> u64 {
        self.draw(self.slc_erase)
    }

    /// Draws from an approximately normal distribution: the sum of four uniform numbers.
    /// It is fast, identical on all machines, and bounded at √12 = 3.46 standard deviations.
    #[inline(always)]
    fn draw(&mut self, bell: Bell) -> u64 {
        if bell.sd_ns == 0.0 {
            return bell.mean_ns;
        }
        let standard = standard(self.random.bits());
        (bell.mean_ns as f64 + standard * bell.sd_ns).round() as u64
    }
}

/// Computes a number of mean 0 and variance 1 from uniform bits: a sum of four uniform
/// numbers.
#[inline(always)]
pub fn standard(bits: u64) -> f64 {
    let sum = (0..4).map(|at| (bits >> (16 * at)) & 0xffff).sum::<u64>();
    // Each of the four numbers is moved to the middle of its rounding step, so that the mean is
    // exactly 0. The variance of the sum is 1/3.
    ((sum as f64 + 2.0) / 65536.0 - 2.0) * 3.0_f64.sqrt()
}

#[inline(always)]
fn of_kind(bells: &[Bell], index: u32) -> Bell {
    if bells.len() == 1 { bells[0] } else { bells[index as usize % bells.len()] }
}

/// Builds the distribution of a duration for each page kind.
/// The lists of means and of spreads may have different lengths. Both repeat, so the result has as
/// many elements as their least common multiple.
fn bells(means_us: &ByKind, spreads: &ByKind) -> Vec<Bell> {
    let (means, spreads) = (means_us.values(), spreads.values());
    let kinds = lcm(means.len(), spreads.len());
    (0..kinds).map(|kind| bell(means[kind % means.len()], spreads[kind % spreads.len()])).collect()
}

fn bell(us: f64, spread: f64) -> Bell {
    let mean_ns = ns_of_us(us);
    Bell { mean_ns, sd_ns: mean_ns as f64 * spread }
}

fn lcm(a: usize, b: usize) -> usize {
    (a.max(b)..=a * b)
        .find(|n| n % a == 0 && n % b == 0)
        .expect("the product of two numbers is a common multiple")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_spread_of_the_profile_and_stay_within_its_bounds() {
        let array = Array {
            program_us: ByKind::Each(vec![300.0, 1500.0]),
            program_spread: ByKind::Same(0.1),
            ..Array::default()
        };
        let mut durations = Durations::new(&array, &Slc::default(), 1);
        for (kind, mean) in [(0, 300e3), (1, 1500e3)] {
            let draws: Vec<f64> =
                (0..100_000).map(|n| durations.program_ns(2 * n + kind) as f64).collect();
            let sample_mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let variance =
                draws.iter().map(|d| (d - sample_mean).powi(2)).sum::<f64>() / draws.len() as f64;
            assert!((sample_mean / mean - 1.0).abs() < 2e-3, "{sample_mean}");
            assert!((variance.sqrt() / (0.1 * mean) - 1.0).abs() < 0.01, "{variance}");
            let bound = 0.1 * mean * 12.0_f64.sqrt();
            assert!(draws.iter().all(|d| (d - mean).abs() <= bound));
        }
    }
}
