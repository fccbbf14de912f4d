//! Random: any closed block, with equal probability.
//! Under uniform writes, WA is 1 over the spare factor (spare pages over physical pages).

use super::{Bag, Census, Situation, VictimPolicy};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score};
use crate::params::Params;
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Random(Bag);

state!(Random { nested 0 });

impl VictimPolicy for Random {
    const TRACKS_PAGES: bool = false;

    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.0.add(block);
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, random: &mut Stream) -> Option<u32> {
        let victim = self.0.most_invalid_of(1, blocks, random)?;
        self.0.remove(victim);
        Some(victim)
    }

    fn measure(&self) -> &'static str {
        "drawn at random (1) or not (0)"
    }

    fn scores(&self, situation: &Situation) -> Vec<Score> {
        let drawn = self.0.drawn(1, &mut situation.random.clone());
        let others = self.0.blocks().iter().filter(|block| !drawn.contains(block));
        let score = |score| move |&block: &u32| Score { block, score };
        drawn.iter().map(score(1.0)).chain(others.map(score(0.0))).collect()
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.0.remove(block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(self.0.blocks())
    }
}

impl Registered<Geometry> for Random {
    const ENTRY: Entry = Entry::new("random", "any closed block, uniformly at random")
        .candidates(&[Pairs::usual(&["single", "sepgc"], &["random"])]);

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(Random(Bag::new(geometry.blocks())?))
    }
}
