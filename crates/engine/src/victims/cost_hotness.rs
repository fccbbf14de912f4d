//! Cost-hotness: the block with the greatest (1−u)/(2u·h), for share u of valid pages and
//! hotness h. Hotness is the number of writes of the block's valid pages over the sum of their ages
//! (Min et al., FAST 2012, "SFS").

use std::cmp::Ordering;

use super::lines::Lines;
use super::{Census, Situation, VictimPolicy};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score};
use crate::params::Params;
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::state;
use crate::write_history::{BlockHistory, WriteHistory};

/// Cost-hotness policy.
/// The score of a block that does not change is a linear function of the time ([`Lines`]), so a
/// choice needs a multiplication and a subtraction for each block. Nearly equal scores are compared
/// exactly. Of equal scores, the block with the fewest valid pages is chosen, then the lowest
/// number.
#[derive(Debug, Clone)]
pub struct CostHotness {
    candidates: Lines,
    /// Candidate with the highest score.
    heaviest: Option<u32>,
    pages_per_block: u32,
}

state!(CostHotness { nested candidates, scratch heaviest, fixed pages_per_block });

/// Candidate with the inputs of its score.
#[derive(Debug, Clone, Copy)]
struct Weighed {
    block: u32,
    invalid_pages: u32,
    valid_pages: u32,
    history: BlockHistory,
}

impl Weighed {
    /// (1−u)/(u·h), without the common factor of 2.
    fn score(&self) -> f64 {
        if self.valid_pages == 0 {
            return f64::INFINITY;
        }
        f64::from(self.invalid_pages) * self.history.ages as f64
            / (f64::from(self.valid_pages) * self.history.writes as f64)
    }

    /// Slope of the score, as a function of the time, and the score now.
    fn line(&self) -> (f64, f64) {
        let slope = if self.valid_pages == 0 {
            0.0
        } else {
            f64::from(self.invalid_pages) / self.history.writes as f64
        };
        (slope, self.score())
    }

    /// Compares scores exactly, in integers, including the rule for equal scores.
    fn compare(&self, other: &Self) -> Ordering {
        let numerator = |of: &Self| u128::from(of.invalid_pages) * u128::from(of.history.ages);
        let denominator = |of: &Self| u128::from(of.valid_pages) * u128::from(of.history.writes);
        let by_score = match (self.valid_pages, other.valid_pages) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            _ => {
                (numerator(self) * denominator(other)).cmp(&(numerator(other) * denominator(self)))
            }
        };
        let by_invalid = self.invalid_pages.cmp(&other.invalid_pages);
        by_score.then(by_invalid).then(other.block.cmp(&self.block))
    }
}

impl CostHotness {
    /// Function that returns a block with the inputs of its score at clock `now`.
    fn weigher<'a>(
        &self,
        history: &'a WriteHistory,
        blocks: &'a Blocks,
        now: u64,
    ) -> impl Fn(u32) -> Weighed + Copy + use<'a> {
        let pages_per_block = self.pages_per_block;
        move |block| {
            let invalid_pages = blocks.invalid_pages(block);
            let valid_pages = pages_per_block - invalid_pages;
            let history = history.block(block, valid_pages, now);
            Weighed { block, invalid_pages, valid_pages, history }
        }
    }
}

impl VictimPolicy for CostHotness {
    const USES_WRITE_HISTORY: bool = true;

    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.candidates.add(block);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.candidates.note_change(block);
    }

    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64) {
        if let Some(block) = history.rewritten() {
            self.candidates.note_change(block);
        }
        let weighed = self.weigher(history, blocks, now);
        self.candidates.update(now, |block| weighed(block).line());
        let heaviest = self.candidates.search(now).map(weighed).max_by(Weighed::compare);
        self.heaviest = heaviest.map(|of| of.block);
    }

    fn choose(&mut self, _blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        let block = self.heaviest.take()?;
        self.candidates.remove(block);
        Some(block)
    }

    fn measure(&self) -> &'static str {
        "(1−u)/(u·h)"
    }

    fn scores(&self, Situation { blocks, now, history, .. }: &Situation) -> Vec<Score> {
        let Some(history) = history else { return Vec::new() };
        let weighed = self.weigher(history, blocks, *now);
        let mut candidates: Vec<Weighed> =
            self.candidates.blocks().iter().copied().map(weighed).collect();
        candidates.sort_by(|left, right| right.compare(left));
        let score = |of: Weighed| Score { block: of.block, score: of.score() };
        candidates.into_iter().map(score).collect()
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.candidates.remove(block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(self.candidates.blocks())
    }
}

impl Registered<Geometry> for CostHotness {
    const ENTRY: Entry = Entry::new(
        "cost-hotness",
        "the block with the greatest (1−u)/(2u·h), where u is its share of valid pages and h their \
         hotness (writes over age)",
    )
    .candidates(&[Pairs::rare(&["single", "sepgc", "dac:regions=6", "sfs"], &["cost-hotness"])]);

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(CostHotness {
            candidates: Lines::new(geometry.blocks())?,
            heaviest: None,
            pages_per_block: geometry.pages_per_block(),
        })
    }
}
