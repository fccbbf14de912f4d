//! FIFO: blocks in the order in which they were filled. The papers call it LRU cleaning.

use std::collections::VecDeque;

use super::{Census, Situation, VictimPolicy, by_place};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score};
use crate::params::Params;
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Fifo(VecDeque<u32>);

state!(Fifo { list 0 });

impl VictimPolicy for Fifo {
    const TRACKS_PAGES: bool = false;

    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.0.push_back(block);
    }

    fn choose(&mut self, _blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        self.0.pop_front()
    }

    fn measure(&self) -> &'static str {
        "number of blocks filled after this one"
    }

    fn scores(&self, _situation: &Situation) -> Vec<Score> {
        by_place(self.0.iter())
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        self.0.retain(|other| *other != block);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(&self.0)
    }
}

impl Registered<Geometry> for Fifo {
    const ENTRY: Entry = Entry::new("fifo", "the block filled longest ago (the papers' LRU)")
        .candidates(&[Pairs::usual(&["single", "sepgc"], &["fifo"])]);

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(Fifo(VecDeque::with_capacity(geometry.blocks() as usize)))
    }
}
