//! d-choices: the block with the fewest valid pages among d drawn at random (Van Houdt 2013;
//! paper 4, §2.2). d = 1 is random, d → ∞ is greedy.

use super::{Registered, VictimPolicy};
use crate::error::Result;
use crate::flash::Geometry;
use crate::rng::Stream;
use crate::spec::{Param, Params};

/// Draws with replacement from a list that closing appends to and choosing swap-removes from;
/// among equals the first drawn wins.
#[derive(Debug, Clone)]
pub struct DChoices {
    candidates: Vec<u32>,
    d: u32,
}

impl VictimPolicy for DChoices {
    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.candidates.push(block);
    }

    #[inline(always)]
    fn on_outdate(&mut self, _block: u32, _invalid_pages: u32, _now: u64) {}

    fn choose(&mut self, invalid_pages: &[u32], _now: u64, random: &mut Stream) -> Option<u32> {
        let count = self.candidates.len() as u32;
        if count == 0 {
            return None;
        }
        let invalid = |at: u32| invalid_pages[self.candidates[at as usize] as usize];
        let mut best = random.below(count);
        for _ in 1..self.d {
            let at = random.below(count);
            if invalid(at) > invalid(best) {
                best = at;
            }
        }
        Some(self.candidates.swap_remove(best as usize))
    }
}

impl Registered for DChoices {
    const NAME: &'static str = "d-choices";
    const SUMMARY: &'static str = "the block with the fewest valid pages among d drawn at random";
    const PARAMS: &'static [Param] =
        &[Param { name: "d", default: "10", help: "blocks drawn, with replacement" }];
    const EXAMPLE: &'static str = "d-choices:d=10";

    fn build(params: &Params, geometry: &Geometry) -> Result<Self> {
        let d = params.integer("d", 1..=u64::from(u32::MAX))? as u32;
        Ok(DChoices { candidates: Vec::with_capacity(geometry.blocks() as usize), d })
    }
}
