//! Cost-benefit: the block with the greatest age · (1−u)/(2u), where u is its valid share
//! (Kawaguchi, Nishioka & Motoda 1995, after Rosenblum & Ousterhout 1992).

use std::cmp::Ordering;

use super::buckets::Buckets;
use super::{Census, VictimPolicy};
use crate::error::Result;
use crate::flash::{Geometry, filled, prefetch};
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::{require, state};

/// Age counts host page writes since the block closed or last lost a page, whichever is later.
///
/// Among blocks with equally many valid pages the oldest wins, and a bucket keeps them in that
/// order; so only the heads of the buckets can win, and a choice costs O(pages per block) instead
/// of O(blocks). Among equal scores the fewest valid pages win, which keeps collection moving when
/// nothing has aged.
#[derive(Debug, Clone)]
pub struct CostBenefit {
    buckets: Buckets,
    changed_at: Vec<u64>,
    pages_per_block: u32,
}

state!(CostBenefit { part buckets, table changed_at, fixed pages_per_block });

impl CostBenefit {
    /// Compares age·(1−u)/(2u) of two blocks (invalid pages, age) exactly, in integers.
    fn compare(&self, a: (u32, u64), b: (u32, u64)) -> Ordering {
        let valid = |invalid: u32| u128::from(self.pages_per_block - invalid);
        let gain = |(invalid, age): (u32, u64)| u128::from(invalid) * u128::from(age);
        match (valid(a.0), valid(b.0)) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            (valid_a, valid_b) => (gain(a) * valid_b).cmp(&(gain(b) * valid_a)),
        }
    }
}

impl VictimPolicy for CostBenefit {
    #[inline(always)]
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.changed_at[block as usize] = now;
        self.buckets.insert(block, invalid_pages);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.changed_at[block as usize] = now;
        self.buckets.promote(block, invalid_pages);
    }

    fn choose(&mut self, _invalid_pages: &[u32], now: u64, _random: &mut Stream) -> Option<u32> {
        let mut best: Option<(u32, (u32, u64))> = None;
        for (block, invalid) in self.buckets.oldest() {
            let score = (invalid, now - self.changed_at[block as usize]);
            if best.is_none_or(|(_, leader)| self.compare(score, leader) == Ordering::Greater) {
                best = Some((block, score));
            }
        }
        let (block, (invalid, _)) = best?;
        self.buckets.remove(block, invalid);
        Some(block)
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        self.buckets.remove(block, invalid_pages);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        let is_past = self.changed_at.iter().all(|&at| at <= census.now());
        require(is_past, "CostBenefit.changed_at")?;
        self.buckets.check(census)
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        self.buckets.prefetch(block);
        prefetch(&self.changed_at, block as usize);
    }
}

impl Registered<Geometry> for CostBenefit {
    const ENTRY: Entry =
        Entry::new("cost-benefit", "the block with the greatest age·(1−u)/(2u), u its valid share");

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(CostBenefit {
            buckets: Buckets::new(geometry.blocks(), geometry.pages_per_block()),
            changed_at: filled(0, geometry.blocks() as usize)?,
            pages_per_block: geometry.pages_per_block(),
        })
    }
}
