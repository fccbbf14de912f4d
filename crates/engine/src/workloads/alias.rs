//! Alias method: draws pages by integer weights, in O(1) per draw and 8 bytes per page.
//! It is Walker's alias method (1977), with a table filled in one sweep (Hübschle-Schneider &
//! Sanders 2022).

use std::hint::select_unpredictable;

use crate::error::Result;
use crate::flash::{Table, filled};
use crate::rng::Stream;

/// Alias table: a cell of equal probability for each page.
/// A page shares its cell with at most one other page.
#[derive(Debug, Clone)]
pub struct Alias {
    cells: Table<Cell>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Part of the cell that belongs to its own page, in units of 2⁻³².
    /// The rest belongs to `other`.
    own: u32,
    other: u32,
}

impl Alias {
    /// Builds the table for `weights`, one per page. Their sum must be positive and fit in 64
    /// bits.
    pub fn new<W: Copy + Into<u64>>(weights: &[W]) -> Result<Self> {
        let pages = weights.len() as u128;
        let capacity: u128 = weights.iter().map(|&weight| u128::from(weight.into())).sum();
        // Weights and the content of a cell are multiplied by the number of pages, so that all
        // arithmetic is exact in 128 bits.
        let mass = |page: usize| u128::from(weights[page].into()) * pages;
        let next = |from: usize, heavy: bool| {
            (from..weights.len()).find(|&page| (mass(page) > capacity) == heavy)
        };
        let mut cells = filled(Cell { own: 0, other: 0 }, weights.len())?;
        let mut fill = |page: usize, own: u128, other: usize| {
            let other = if own == capacity { page } else { other } as u32;
            // A whole cell would be 2³², which does not fit in 32 bits and is stored as less. This
            // is harmless, because the other page of this cell is the page itself.
            cells[page] = Cell { own: ((own << 32) / capacity) as u32, other };
        };
        // A heavy page fills the cells of light pages until it is light itself. Then the next heavy
        // page fills its cell.
        let (mut light, mut heavy) = (next(0, false), next(0, true));
        let mut owed = 0;
        while let Some(giver) = heavy {
            let mut left = mass(giver) - owed;
            while left > capacity {
                let page = light.expect(
                    "the probability that light pages leave free equals the excess of heavy pages",
                );
                left -= capacity - mass(page);
                fill(page, mass(page), giver);
                light = next(page + 1, false);
            }
            owed = capacity - left;
            heavy = next(giver + 1, true);
            fill(giver, left, heavy.unwrap_or(giver));
        }
        while let Some(page) = light {
            fill(page, capacity, page);
            light = next(page + 1, false);
        }
        Ok(Alias { cells })
    }

    /// Draws a page for each element of `buffer`.
    pub fn fill(&self, buffer: &mut [u32], random: &mut Stream) {
        let mut stream = random.clone();
        for page in buffer {
            *page = self.draw(&mut stream);
        }
        *random = stream;
    }

    #[inline(always)]
    pub fn draw(&self, random: &mut Stream) -> u32 {
        // The upper half of the product is the index of the cell. The lower half is the position
        // within the cell.
        let place = u128::from(random.bits()) * self.cells.len() as u128;
        let page = (place >> 64) as u32;
        let cell = self.cells[page as usize];
        let is_own = ((place as u64 >> 32) as u32) < cell.own;
        // Half of the branches that the compiler makes of other forms would be mispredicted.
        select_unpredictable(is_own, page, cell.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_give_each_page_its_exact_share() {
        let mut random = Stream::new(1, "weights");
        for pages in [1, 2, 3, 10, 1000] {
            for most in [1, 2, 5, 1_000_000] {
                let mut weights: Vec<u32> = (0..pages).map(|_| random.below(most + 1)).collect();
                weights[pages - 1] = most;
                let alias = Alias::new(&weights).unwrap();
                let mut drawn_shares = vec![0.0; pages];
                for (page, cell) in alias.cells.iter().enumerate() {
                    let own = f64::from(cell.own) / 2f64.powi(32);
                    drawn_shares[page] += own;
                    drawn_shares[cell.other as usize] += 1.0 - own;
                }
                let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
                for (share, &weight) in drawn_shares.iter().zip(&weights) {
                    let expected = f64::from(weight) / sum * pages as f64;
                    assert!((share - expected).abs() < 1e-6, "{share} for {expected}");
                    assert!(weight > 0 || *share == 0.0);
                }
            }
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let alias = Alias::new(&[0u32, 1, 2, 7]).unwrap();
        let mut random = Stream::new(1, "draws");
        let mut counts = [0u32; 4];
        for _ in 0..100_000 {
            counts[alias.draw(&mut random) as usize] += 1;
        }
        // 4 standard deviations.
        assert_eq!(counts[0], 0);
        assert!(counts[1].abs_diff(10_000) < 380, "{counts:?}");
        assert!(counts[2].abs_diff(20_000) < 506, "{counts:?}");
    }
}
