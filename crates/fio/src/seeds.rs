//! Seeds of a copy's random generators, as fio computes them.

use crate::job::{Job, Seeding};
use crate::random::Random;

/// Places of fio's seeds.
#[derive(Clone, Copy)]
pub(crate) enum Seed {
    ReadSizes = 0,
    WriteSizes = 1,
    TrimSizes = 2,
    Mix = 4,
    Block = 6,
    Order = 10,
    Zone = 16,
    Sprandom = 22,
}

/// Number of fio's seeds.
pub(crate) const SEEDS: usize = 23;
/// fio's own constants of seeds.
const RANDSEED: u64 = 0xb189_9bed;
const DEFAULT_SEED: u64 = 0x89;
const STEP: u64 = 0x9e37_0001;

/// Seeds of a copy's generators, by place.
pub(crate) fn seeds_of(job: &Job) -> [u64; SEEDS] {
    let Job { seeding, number, .. } = *job;
    let randseed = match seeding {
        Seeding::Repeated => DEFAULT_SEED,
        Seeding::Continued(randseed) | Seeding::Fixed(randseed) => randseed,
        Seeding::Fresh(entropy) => {
            let mut random = Random::new(entropy.wrapping_add(number.wrapping_mul(STEP)), true);
            return [0; SEEDS].map(|_| random.draw());
        }
    };
    let mut product = (0..4).fold(randseed, |product, _| product.wrapping_mul(STEP));
    let mut seeds = [0; SEEDS];
    for (seed, place) in seeds.iter_mut().zip(0..) {
        *seed = product.wrapping_mul(number).wrapping_add(place);
        product = product.wrapping_mul(STEP);
    }
    // Releases of fio with sprandom seed random blocks as everything else.
    if !matches!(seeding, Seeding::Fixed(_)) && job.sprandom.is_none() {
        seeds[Seed::Block as usize] = RANDSEED.wrapping_mul(number);
    }
    seeds
}
