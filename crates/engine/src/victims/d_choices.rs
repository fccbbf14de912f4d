//! d-choices: the block with the fewest valid pages among d drawn at random.
//! (Van Houdt 2013; paper 4, §2.2.) With d = 1 the choice is random; with d → ∞ it is greedy.

use super::{Bag, Census, Situation, VictimPolicy};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::state;

/// d-choices policy.
/// It draws with replacement. Of blocks with equally many valid pages, it chooses the one drawn
/// first.
#[derive(Debug, Clone)]
pub struct DChoices {
    candidates: Bag,
    d: u32,
}

state!(DChoices { nested candidates, fixed d });

impl VictimPolicy for DChoices {
    const TRACKS_PAGES: bool = false;

    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.candidates.add(block);
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, random: &mut Stream) -> Option<u32> {
        let victim = self.candidates.most_invalid_of(self.d, blocks, random)?;
        self.candidates.remove(victim);
        Some(victim)
    }

    fn measure(&self) -> &'static str {
        Bag::MEASURE
    }

    fn scores(&self, Situation { blocks, random, .. }: &Situation) -> Vec<Score> {
        self.candidates.scores_of(self.d, blocks, random.clone())
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.candidates.remove(block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(self.candidates.blocks())
    }
}

impl Registered<Geometry> for DChoices {
    const ENTRY: Entry =
        Entry::new("d-choices", "the block with the fewest valid pages among d drawn at random")
            .example("d-choices:d=10")
            .variants(&["d-choices:d=1", "d-choices:d=2", "d-choices:d=100"])
            .params(&[Param::new(
                "d",
                "10",
                Domain::CHOICES,
                "number of blocks drawn at random; a block may be drawn more than once",
            )])
            .candidates(&[
                Pairs::usual(
                    &["single"],
                    &[
                        "d-choices:d=2",
                        "d-choices:d=3",
                        "d-choices:d=4",
                        "d-choices:d=5",
                        "d-choices:d=7",
                    ],
                ),
                Pairs::usual(
                    &["sepgc"],
                    &["d-choices:d=2", "d-choices:d=3", "d-choices:d=4", "d-choices:d=6"],
                ),
            ]);

    fn build(params: &Params, geometry: &Geometry) -> Result<Self> {
        let d = params.integer("d");
        Ok(DChoices { candidates: Bag::new(geometry.blocks())?, d })
    }
}
