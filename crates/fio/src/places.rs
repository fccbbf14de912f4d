//! Random blocks by `random_distribution`, other than the uniform one.

use crate::divisor::common_divisor;
use crate::random::{Random, Taus88};
use crate::same_block::SameBlock;
use crate::skew::{Kind, MULTIPLIER, Skew};

/// Distribution of random blocks.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// `random`: uniform.
    Uniform,
    /// `zipf` or `pareto` with its parameter.
    Skew(Kind, f64),
    /// `normal` with its deviation in per cent.
    Normal(f64),
    /// `zoned`: shares of the accesses and of the blocks, in per cent.
    Zoned(Vec<(u64, u64)>),
    /// `zoned_abs`: shares of the accesses in per cent, and sizes in bytes.
    ZonedAbs(Vec<(u64, u64)>),
}

/// Draws from zipf, pareto or normal, with a generator of their own.
#[derive(Debug, Clone)]
pub struct Drawn {
    random: Taus88,
    offset: u64,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Skew(Skew, Option<Smaller>),
    Normal { blocks: u64, deviation: u64 },
}

/// Smaller drive, of which each block represents several blocks of the skew, by popularity.
#[derive(Debug, Clone)]
struct Smaller {
    blocks: u64,
    same_block: SameBlock,
    /// Odd multiplier without a common divisor with `blocks`, which scatters the places.
    step: u64,
}

impl Drawn {
    /// Draws over `blocks` blocks, each of which represents `scale` blocks of the full drive.
    /// None for distributions that use the common generator.
    pub fn new(
        distribution: &Distribution,
        blocks: u64,
        scale: f64,
        center: Option<f64>,
        seed: u64,
    ) -> Option<Self> {
        let mut random = Taus88::new(seed);
        match *distribution {
            Distribution::Skew(kind, parameter) => {
                let full = ((blocks as f64) * scale).round() as u64;
                let skew = Skew::new(kind, parameter, full);
                let drawn = u64::from(random.draw());
                let offset = center.map_or(drawn, |center| (full as f64 * center) as u64);
                let smaller = (full != blocks).then(|| Smaller::new(blocks, full));
                Some(Drawn { random, offset, law: Law::Skew(skew, smaller) })
            }
            Distribution::Normal(deviation) => {
                let deviation = ((blocks as f64 * deviation / 100.0).ceil() as u64).min(blocks / 2);
                let shift = |center: f64| (blocks as f64 * (center - 0.5)) as i64 as u32;
                let offset = u64::from(center.map_or(0, shift));
                Some(Drawn { random, offset, law: Law::Normal { blocks, deviation } })
            }
            _ => None,
        }
    }

    /// Next block.
    pub fn draw(&mut self) -> u64 {
        match &self.law {
            Law::Skew(skew, None) => skew.block(skew.rank(self.random.draw()), self.offset),
            Law::Skew(skew, Some(smaller)) => smaller.block(
                skew.rank(self.random.draw()).min(skew.blocks() - 1),
                self.offset,
                skew,
            ),
            &Law::Normal { blocks, deviation } => {
                /// Number of uniform numbers whose mean is nearly normal.
                const SUMMED: u64 = 12;
                let random = &mut self.random;
                let sum: u64 = (0..SUMMED).map(|_| u64::from(random.draw()) % (blocks + 1)).sum();
                let mut block = sum.div_ceil(SUMMED);
                if deviation > 0 {
                    let share = f64::from(random.draw()) / 4_294_967_296.0;
                    let mut shift =
                        (deviation as f64 * share) as i64 - (deviation / 2).cast_signed();
                    while block.wrapping_add_signed(shift) >= blocks {
                        shift /= 2;
                    }
                    block = block.wrapping_add_signed(shift);
                }
                block.wrapping_mul(MULTIPLIER).wrapping_add(self.offset) % blocks
            }
        }
    }
}

impl Smaller {
    fn new(blocks: u64, full: u64) -> Self {
        /// Golden ratio, whose multiples scatter evenly.
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let mut step = (blocks as f64 * GOLDEN) as u64 | 1;
        while common_divisor(step, blocks) != 1 {
            step += 2;
        }
        Smaller { blocks, same_block: SameBlock::new(full), step }
    }

    fn block(&self, rank: u64, offset: u64, skew: &Skew) -> u64 {
        // The most popular rank of the block decides, as the others count there.
        let mut first = rank;
        self.same_block.others(rank, offset, |other| {
            first = first.min(other);
            true
        });
        let place = u128::from(first) * u128::from(self.blocks) / u128::from(skew.blocks());
        (place * u128::from(self.step) % u128::from(self.blocks)) as u64
    }
}

/// Table of `zoned` or `zoned_abs`: the zone of each per cent of the accesses.
#[derive(Debug, Clone)]
pub struct Zones(Vec<(u64, u64)>);

impl Zones {
    /// Table of zones with shares of the accesses and sizes.
    pub fn new(zones: &[(u64, u64)]) -> Self {
        let mut table = Vec::new();
        let mut start = 0;
        for &(share, size) in zones {
            table.extend((0..share).map(|_| (start, start + size)));
            start += size;
        }
        Zones(table)
    }

    /// Start and end of the next access's zone.
    pub fn draw(&self, random: &mut Random) -> (u64, u64) {
        let place = random.between(1, 100) as usize - 1;
        self.0[place.min(self.0.len() - 1)]
    }
}
