//! Ranks that fio maps to the same block, found without a table of all ranks.
//!
//! Let x be the hash of rank r, and r′ the rank of hash x + t·blocks. Then r′ − r is t times a
//! constant modulo 2⁶⁴, so that the pairs (r′ − r, t) form a lattice. A reduced basis of it gives all
//! ranks of a block in a few steps.

use crate::skew::MULTIPLIER;

/// Number of hashes.
const WORD: i128 = 1 << 64;

/// Lattice of the ranks with the same block.
#[derive(Debug, Clone, Copy)]
pub struct SameBlock {
    blocks: i128,
    short: Step,
    long: Step,
    /// Both steps, as shares of all ranks and of all hashes.
    near: [f64; 2],
    far: [f64; 2],
}

/// Difference of two ranks, and of their hashes in units of the number of blocks.
#[derive(Debug, Clone, Copy)]
struct Step {
    rank: i128,
    turns: i128,
}

impl Step {
    fn plus(self, other: Step, times: i128) -> Step {
        Step { rank: self.rank + times * other.rank, turns: self.turns + times * other.turns }
    }

    /// Step as shares of all ranks, and of all hashes.
    fn scaled(self, blocks: i128) -> [f64; 2] {
        [self.rank as f64 / blocks as f64, self.turns as f64 * (blocks as f64 / WORD as f64)]
    }
}

fn product(first: [f64; 2], other: [f64; 2]) -> f64 {
    first[0] * other[0] + first[1] * other[1]
}

/// Inverse of an odd number modulo 2⁶⁴, by Newton's method.
fn inverse(odd: u64) -> u64 {
    let mut result = odd;
    for _ in 0..6 {
        result = result.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(result)));
    }
    result
}

impl SameBlock {
    /// Lattice for a number of blocks.
    pub fn new(blocks: u64) -> Self {
        let once = blocks.wrapping_mul(inverse(MULTIPLIER));
        let blocks = i128::from(blocks);
        let mut short = Step { rank: i128::from(once), turns: 1 };
        let mut long = Step { rank: WORD, turns: 0 };
        // Lagrange's reduction; rounded quotients leave a basis of the same lattice.
        loop {
            let (near, far) = (short.scaled(blocks), long.scaled(blocks));
            if product(near, near) > product(far, far) {
                (short, long) = (long, short);
                continue;
            }
            let times = (product(near, far) / product(near, near)).round();
            if times == 0.0 {
                return SameBlock { blocks, short, long, near, far };
            }
            long = long.plus(short, -(times as i128));
        }
    }

    /// Calls `visit` for each other rank of the block of `rank`, until it returns false.
    pub fn others(&self, rank: u64, offset: u64, mut visit: impl FnMut(u64) -> bool) {
        let hash = rank.wrapping_mul(MULTIPLIER).wrapping_add(offset);
        let place = [rank as f64 / self.blocks as f64, hash as f64 / WORD as f64];
        let (rank, hash) = (i128::from(rank), i128::from(hash));
        let (near, far) = (self.near, self.far);
        // The area of a cell of the lattice is 1, so the sum bounds the multiples of `long`.
        let most = (near[0].abs() + near[1].abs()).ceil() as i128;
        for times in -most..=most {
            let (mut least, mut greatest) = (f64::NEG_INFINITY, f64::INFINITY);
            for axis in 0..2 {
                let from = place[axis] + times as f64 * far[axis];
                if near[axis] != 0.0 {
                    let ends = [-from / near[axis], (1.0 - from) / near[axis]];
                    least = least.max(ends[0].min(ends[1]));
                    greatest = greatest.min(ends[0].max(ends[1]));
                }
            }
            // One step more on each side, against rounding; the exact test is below.
            for of_short in least.floor() as i128 - 1..=greatest.ceil() as i128 + 1 {
                let step =
                    Step { rank: 0, turns: 0 }.plus(self.short, of_short).plus(self.long, times);
                let (other, hash) = (rank + step.rank, hash + step.turns * self.blocks);
                let is_inside = (0..self.blocks).contains(&other) && (0..WORD).contains(&hash);
                if is_inside && other != rank && !visit(other as u64) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skew::{Kind, Skew};

    #[test]
    fn the_ranks_of_a_block_are_those_of_a_table_of_all_ranks() {
        for blocks in [1u64, 2, 7, 1000, 1024, 12_345, 250_000, 262_144, 98_304] {
            let skew = Skew::new(Kind::Pareto, 0.2, blocks);
            let lattice = SameBlock::new(blocks);
            for offset in [0, 12_345_678_901] {
                let mut ranks_of = vec![Vec::new(); blocks as usize];
                for rank in 0..blocks {
                    ranks_of[skew.block(rank, offset) as usize].push(rank);
                }
                for rank in (0..blocks).step_by(1 + blocks as usize / 5000) {
                    let mut ranks = vec![rank];
                    lattice.others(rank, offset, |other| {
                        ranks.push(other);
                        true
                    });
                    ranks.sort_unstable();
                    assert_eq!(ranks, ranks_of[skew.block(rank, offset) as usize], "{blocks}");
                }
            }
        }
    }
}
