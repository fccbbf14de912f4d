//! Cost-benefit: the block with the greatest age · (1−u)/(2u), where u is its share of valid
//! pages. (Kawaguchi, Nishioka & Motoda 1995, after Rosenblum & Ousterhout 1992.)

use std::cmp::Ordering;

use super::buckets::Buckets;
use super::by_close::ByClose;
use super::{Census, Situation, VictimPolicy};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score, Table, filled, prefetch};
use crate::params::{Domain, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::{Reader, State, Writer, require, state};

/// Cost-benefit policy.
/// The age of a block is the number of host page writes since the block closed, or since one of its
/// pages last became invalid if that was later. With `age=closed` it always counts since the block
/// closed.
///
/// Among blocks with equally many valid pages the oldest has the best score. A bucket keeps
/// its blocks in order of age, so only the oldest block of each bucket is compared. A choice costs
/// O(pages per block) instead of O(blocks). Of equal scores, the block with the fewest valid pages
/// is chosen, so that collection makes progress when all ages are 0.
#[derive(Debug, Clone)]
pub struct CostBenefit {
    candidates: Candidates,
    /// For each block, the clock (host pages written) at which its age was 0.
    aged_from: Table<u64>,
    squares_gain: bool,
    pages_per_block: u32,
}

state! {
    CostBenefit {
        nested candidates,
        table aged_from,
        fixed squares_gain,
        fixed pages_per_block,
    }
}

/// Candidates in order of the start of their age.
#[derive(Debug, Clone)]
enum Candidates {
    ByChange(Buckets),
    ByClose(ByClose),
}

impl State for Candidates {
    fn save(&self, to: &mut Writer) {
        match self {
            Candidates::ByChange(buckets) => buckets.save(to),
            Candidates::ByClose(buckets) => buckets.save(to),
        }
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        match self {
            Candidates::ByChange(buckets) => buckets.restore(from),
            Candidates::ByClose(buckets) => buckets.restore(from),
        }
    }
}

impl CostBenefit {
    /// Compares age·(1−u)/(2u) of two blocks (invalid pages, age) exactly, in integers.
    /// With `SQUARED`, it compares √age·(1−u)/(2u) by its square.
    fn compare<const SQUARED: bool>(&self, a: (u32, u64), b: (u32, u64)) -> Ordering {
        let power = |base: u32| u64::from(base) * if SQUARED { u64::from(base) } else { 1 };
        let valid = |(invalid, _)| u128::from(power(self.pages_per_block - invalid));
        let gain = |(invalid, age)| u128::from(power(invalid)) * u128::from(age);
        match (valid(a), valid(b)) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            (valid_a, valid_b) => (gain(a) * valid_b).cmp(&(gain(b) * valid_a)),
        }
    }

    fn best(&self, oldest: impl Iterator<Item = (u32, u32)>, now: u64) -> Option<(u32, u32)> {
        if self.squares_gain {
            self.best_by(Self::compare::<true>, oldest, now)
        } else {
            self.best_by(Self::compare::<false>, oldest, now)
        }
    }

    #[inline(always)]
    fn best_by(
        &self,
        compare: impl Fn(&Self, (u32, u64), (u32, u64)) -> Ordering,
        oldest: impl Iterator<Item = (u32, u32)>,
        now: u64,
    ) -> Option<(u32, u32)> {
        let mut best: Option<(u32, (u32, u64))> = None;
        for (block, invalid) in oldest {
            let score = (invalid, now - self.aged_from[block as usize]);
            if best.is_none_or(|(_, leader)| compare(self, score, leader) == Ordering::Greater) {
                best = Some((block, score));
            }
        }
        best.map(|(block, (invalid, _))| (block, invalid))
    }
}

impl VictimPolicy for CostBenefit {
    #[inline(always)]
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.aged_from[block as usize] = now;
        match &mut self.candidates {
            Candidates::ByChange(buckets) => buckets.insert(block, invalid_pages),
            Candidates::ByClose(buckets) => buckets.insert(block, invalid_pages),
        }
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64) {
        match &mut self.candidates {
            Candidates::ByChange(buckets) => {
                self.aged_from[block as usize] = now;
                buckets.promote(block, invalid_pages);
            }
            Candidates::ByClose(buckets) => buckets.promote(block, invalid_pages),
        }
    }

    fn choose(&mut self, _blocks: &Blocks, now: u64, _random: &mut Stream) -> Option<u32> {
        let (block, invalid_pages) = match &self.candidates {
            Candidates::ByChange(buckets) => self.best(buckets.oldest(), now),
            Candidates::ByClose(buckets) => self.best(buckets.oldest(), now),
        }?;
        self.forget(block, invalid_pages);
        Some(block)
    }

    fn measure(&self) -> &'static str {
        if self.squares_gain { "√age·(1−u)/(2u)" } else { "age·(1−u)/(2u)" }
    }

    fn scores(&self, Situation { now, .. }: &Situation) -> Vec<Score> {
        let age = |block: u32| now - self.aged_from[block as usize];
        let mut candidates: Vec<(u32, (u32, u64))> = match &self.candidates {
            Candidates::ByChange(buckets) => buckets.most_invalid_first(),
            Candidates::ByClose(buckets) => buckets.most_invalid_first(),
        }
        .into_iter()
        .map(|(block, invalid)| (block, (invalid, age(block))))
        .collect();
        let compare =
            if self.squares_gain { Self::compare::<true> } else { Self::compare::<false> };
        candidates.sort_by(|left, right| compare(self, right.1, left.1));
        let power = if self.squares_gain { 0.5 } else { 1.0 };
        let score = |(block, (invalid, age)): (u32, (u32, u64))| {
            let valid = f64::from(self.pages_per_block - invalid);
            let score = if valid == 0.0 {
                f64::INFINITY
            } else {
                (age as f64).powf(power) * f64::from(invalid) / (2.0 * valid)
            };
            Score { block, score }
        };
        candidates.into_iter().map(score).collect()
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        match &mut self.candidates {
            Candidates::ByChange(buckets) => buckets.remove(block),
            Candidates::ByClose(buckets) => buckets.remove(block, invalid_pages),
        }
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        let is_past = self.aged_from.iter().all(|&at| at <= census.now());
        require(is_past, "CostBenefit.aged_from")?;
        match &self.candidates {
            Candidates::ByChange(buckets) => buckets.check(census),
            Candidates::ByClose(buckets) => buckets.check(census),
        }
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        if let Candidates::ByChange(buckets) = &self.candidates {
            buckets.prefetch(block);
            prefetch(&self.aged_from, block as usize);
        }
    }
}

/// Words of the parameter `age`; true if the age counts from when the block closed.
const AGE: [(&str, bool); 2] = [("invalidated", false), ("closed", true)];
/// Words of the parameter `power`, the exponent of the age in the score; true for the square
/// root.
const POWER: [(&str, bool); 2] = [("1", false), ("0.5", true)];

impl Registered<Geometry> for CostBenefit {
    const ENTRY: Entry = Entry::new(
        "cost-benefit",
        "the block with the greatest age·(1−u)/(2u), where u is its share of valid pages",
    )
    .params(&[
        Param::new(
            "age",
            "invalidated",
            Domain::Word(&words(&AGE)),
            "start of a block's age: when it was full (closed), or when one of its pages last \
             became invalid (invalidated)",
        )
        .later(),
        Param::new(
            "power",
            "1",
            Domain::Word(&words(&POWER)),
            "exponent of the age: 1, or 0.5 for its square root",
        )
        .later(),
    ])
    .variants(&[
        "cost-benefit:age=closed,power=0.5",
        "cost-benefit:age=closed",
        "cost-benefit:power=0.5",
    ])
    .candidates(&[Pairs::usual(&["single", "sepgc"], &["cost-benefit"])]);

    fn build(params: &Params, geometry: &Geometry) -> Result<Self> {
        let (blocks, pages_per_block) = (geometry.blocks(), geometry.pages_per_block());
        let candidates = if params.choice("age", &AGE) {
            Candidates::ByClose(ByClose::new(blocks, pages_per_block)?)
        } else {
            Candidates::ByChange(Buckets::new(blocks, pages_per_block)?)
        };
        Ok(CostBenefit {
            candidates,
            aged_from: filled(0, blocks as usize)?,
            squares_gain: params.choice("power", &POWER),
            pages_per_block,
        })
    }
}
