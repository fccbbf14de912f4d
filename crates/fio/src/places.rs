//! Random blocks by `random_distribution`, other than the uniform one.

use crate::divisor::common_divisor;
use crate::random::{Random, Taus88};
use crate::same_block::SameBlock;
use crate::skew::{FIRST_RANKS, Kind, MULTIPLIER, Skew, parts_of_page};

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
    full: u64,
    same_block: SameBlock,
    /// Odd multiplier without a common divisor with `blocks`, which scatters the places.
    step: u64,
    /// Block of the most popular rank.
    first: u64,
    /// Least random number from which on there are fewer numbers than ranks.
    sparse: u64,
    /// Random numbers that give one block there.
    numbers: u64,
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
                let smaller = (full != blocks).then(|| Smaller::new(blocks, &skew, offset));
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
            Law::Skew(skew, Some(smaller)) => {
                let number = smaller.number(self.random.draw());
                smaller.block(skew.rank(number).min(skew.blocks() - 1), self.offset)
            }
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
    fn new(blocks: u64, skew: &Skew, offset: u64) -> Self {
        /// Ranks whose numbers are counted together, because they are few.
        const WINDOW: u64 = 64;
        /// Golden ratio, whose multiples scatter evenly.
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let mut step = (blocks as f64 * GOLDEN) as u64 | 1;
        while common_divisor(step, blocks) != 1 {
            step += 2;
        }
        let full = skew.blocks();
        let first = scaled(offset % full, blocks, full);
        // Numbers become fewer from rank to rank.
        let (mut dense, mut sparse_rank) = (0, full);
        while dense < sparse_rank {
            let middle = u64::midpoint(dense, sparse_rank);
            let window = (full - middle).min(WINDOW);
            let numbers = skew.first_number(middle + window) - skew.first_number(middle);
            if numbers > window { dense = middle + 1 } else { sparse_rank = middle }
        }
        let sparse = skew.first_number(dense);
        let numbers = (full / blocks).max(1);
        Smaller { blocks, full, same_block: SameBlock::new(full), step, first, sparse, numbers }
    }

    /// Random number that represents a number and its neighbours, of which each gives one rank.
    fn number(&self, number: u32) -> u32 {
        let beyond = u64::from(number).saturating_sub(self.sparse);
        number - (beyond % self.numbers) as u32
    }

    fn block(&self, rank: u64, offset: u64) -> u64 {
        let mut rank = rank;
        // The most popular rank of a block decides, as the others count there. It must represent
        // its own neighbours, or its block would be reached only by ranks that belong elsewhere.
        loop {
            let representative = self.representative(rank);
            let mut first = representative;
            self.same_block.others(first, offset, |other| {
                first = first.min(other);
                true
            });
            if self.representative(first) == representative {
                break;
            }
            rank = first;
        }
        let place = u128::from(scaled(rank, self.blocks, self.full));
        ((place * u128::from(self.step) + u128::from(self.first)) % u128::from(self.blocks)) as u64
    }

    /// Rank that represents a rank and its neighbours.
    fn representative(&self, rank: u64) -> u64 {
        /// 2⁶⁴ divided by the golden ratio.
        const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;
        if rank < FIRST_RANKS {
            return rank;
        }
        let place = scaled(rank, self.blocks, self.full);
        let first_rank = |place| scaled_up(place, self.full, self.blocks);
        let (start, ranks) = (first_rank(place), first_rank(place + 1) - first_rank(place));
        let parts = parts_of_page(place).min(ranks);
        let index = scaled(rank - start, parts, ranks);
        let from = start + scaled_up(index, ranks, parts);
        let width = start + scaled_up(index + 1, ranks, parts) - from;
        from + ((u128::from(from.wrapping_mul(SCATTER)) * u128::from(width)) >> 64) as u64
    }
}

/// `number · to / from`, rounded down.
fn scaled(number: u64, to: u64, from: u64) -> u64 {
    (u128::from(number) * u128::from(to) / u128::from(from)) as u64
}

/// `number · to / from`, rounded up.
fn scaled_up(number: u64, to: u64, from: u64) -> u64 {
    (u128::from(number) * u128::from(to)).div_ceil(u128::from(from)) as u64
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
