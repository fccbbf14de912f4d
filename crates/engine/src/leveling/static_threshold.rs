//! Static levelling by a threshold: the pages of the mostly valid block erased least move onto a
//! block erased many times more, as in UBI, the flash layer of Linux.

use super::{Least, PoolWear, Registered, WearLeveler};
use crate::error::Result;
use crate::flash::Geometry;
use crate::spec::{Param, Params};
use crate::state::state;

pub struct StaticThreshold {
    threshold: u32,
    /// The erases of the closed blocks.
    least: Least,
}

state!(StaticThreshold { fixed threshold, part least });

impl WearLeveler for StaticThreshold {
    fn on_close(&mut self, _block: u32, erases: u32) {
        self.least.join(erases);
    }

    fn exchange(&mut self, erased: u32, wear: &PoolWear) -> Option<u32> {
        let candidates =
            wear.mostly_valid().map(|block| (block, wear.erase_counts[block as usize]));
        self.least.exceeded_by(wear.erase_counts[erased as usize], self.threshold, candidates)
    }
}

impl Registered for StaticThreshold {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str =
        "moves the data of the block erased least onto one erased many times more";
    const PARAMS: &'static [Param] = &[super::THRESHOLD];
    const EXAMPLE: &'static str = "static:threshold=16";

    fn build(params: &Params, _geometry: &Geometry) -> Result<Self> {
        Ok(StaticThreshold { threshold: super::threshold(params)?, least: Least::default() })
    }
}
