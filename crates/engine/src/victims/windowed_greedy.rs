//! Windowed greedy: the block with the fewest valid pages of the s blocks filled longest ago.
//! (Hu et al. 2009; paper 1, §3.1.) With a window of 1 block this is FIFO; with a window of all
//! blocks it is greedy.

use std::collections::VecDeque;

use super::{Census, Situation, VictimPolicy, ranked};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score};
use crate::params::{Domain, Extent, Param, Params, U32_MAX};
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::state;

/// Windowed greedy policy. Of blocks with equally many valid pages, it chooses the one filled
/// longest ago.
#[derive(Debug, Clone)]
pub struct WindowedGreedy {
    by_age: VecDeque<u32>,
    window: usize,
}

state!(WindowedGreedy { list by_age, fixed window });

impl VictimPolicy for WindowedGreedy {
    const TRACKS_PAGES: bool = false;

    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.by_age.push_back(block);
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        let mut best: Option<(usize, u32)> = None;
        for (at, &block) in self.by_age.iter().take(self.window).enumerate() {
            let invalid = blocks.invalid_pages(block);
            if best.is_none_or(|(_, most)| invalid > most) {
                best = Some((at, invalid));
            }
        }
        self.by_age.remove(best?.0)
    }

    fn measure(&self) -> &'static str {
        "invalid pages (only blocks that were filled longest ago)"
    }

    fn scores(&self, Situation { blocks, .. }: &Situation) -> Vec<Score> {
        let score = |&block: &u32| Score { block, score: blocks.invalid_pages(block).into() };
        ranked(self.by_age.iter().take(self.window).map(score).collect())
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.by_age.retain(|other| *other != block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(&self.by_age)
    }
}

impl Registered<Geometry> for WindowedGreedy {
    const ENTRY: Entry = Entry::new(
        "windowed-greedy",
        "the block with the fewest valid pages among those filled longest ago",
    )
    .example("windowed-greedy:window=64")
    .variants(&["windowed-greedy:window=1", "windowed-greedy:window=3", "windowed-greedy:window=8"])
    .params(&[Param::new(
        "window",
        "64",
        Domain::Whole(1, U32_MAX),
        "number of blocks, filled longest ago, among which it chooses",
    )
    .extent(Extent::Blocks)])
    .candidates(&[
        Pairs::usual(
            &["single"],
            &[
                "windowed-greedy:window={0.03 blocks}",
                "windowed-greedy:window={0.1 blocks}",
                "windowed-greedy:window={0.3 blocks}",
            ],
        ),
        Pairs::usual(
            &["sepgc"],
            &["windowed-greedy:window={0.05 blocks}", "windowed-greedy:window={0.2 blocks}"],
        ),
    ]);

    fn build(params: &Params, geometry: &Geometry) -> Result<Self> {
        let window = params.integer("window");
        Ok(WindowedGreedy { by_age: VecDeque::with_capacity(geometry.blocks() as usize), window })
    }
}
