//! Random: any closed block, each as likely as the next. WA is 1 over the spare factor under uniform writes.

use super::{Registered, VictimPolicy};
use crate::error::Result;
use crate::flash::Geometry;
use crate::rng::Stream;
use crate::spec::{Param, Params};

/// The candidates in a list that closing appends to and choosing swap-removes from.
#[derive(Debug, Clone)]
pub struct Random(Vec<u32>);

impl VictimPolicy for Random {
    #[inline(always)]
    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.0.push(block);
    }

    #[inline(always)]
    fn on_outdate(&mut self, _block: u32, _invalid_pages: u32, _now: u64) {}

    fn choose(&mut self, _invalid_pages: &[u32], _now: u64, random: &mut Stream) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let at = random.below(self.0.len() as u32);
        Some(self.0.swap_remove(at as usize))
    }
}

impl Registered for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any closed block, uniformly at random";
    const PARAMS: &'static [Param] = &[];
    const EXAMPLE: &'static str = "random";

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        Ok(Random(Vec::with_capacity(geometry.blocks() as usize)))
    }
}
