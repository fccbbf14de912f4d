//! Greedy: the block with the fewest valid pages. Optimal for uniform writes (Yang et al. 2015).

use super::buckets::Buckets;
use super::{Census, VictimPolicy};
use crate::error::Result;
use crate::flash::Geometry;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

/// Among equals, the block that lost its last page longest ago.
#[derive(Debug, Clone)]
pub struct Greedy(Buckets);

state!(Greedy { part 0 });

impl VictimPolicy for Greedy {
    #[inline(always)]
    fn on_close(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        self.0.insert(block, invalid_pages);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        self.0.promote(block, invalid_pages);
    }

    fn choose(&mut self, _invalid_pages: &[u32], _now: u64, _random: &mut Stream) -> Option<u32> {
        let (block, invalid_pages) = self.0.most_invalid()?;
        self.0.remove(block, invalid_pages);
        Some(block)
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        self.0.remove(block, invalid_pages);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        self.0.check(census)
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        self.0.prefetch(block);
    }
}

impl Registered<Geometry> for Greedy {
    const ENTRY: Entry = Entry::new("greedy", "the block with the fewest valid pages");

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(Greedy(Buckets::new(geometry.blocks(), geometry.pages_per_block())))
    }
}
