//! Static wear levelling: blocks worn beyond a threshold receive cold data.
//! The pages of the least erased, mostly valid block move onto a block with many more erases, as in
//! UBI, the flash layer of Linux.

use super::{Least, PoolWear, WearLeveler};
use crate::error::Result;
use crate::flash::Geometry;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::state::state;

pub struct StaticThreshold {
    threshold: u32,
    /// Lower bound of the erase counts of the closed blocks.
    least: Least,
}

state!(StaticThreshold { fixed threshold, nested least });

impl WearLeveler for StaticThreshold {
    fn on_close(&mut self, _block: u32, erases: u32) {
        self.least.join(erases);
    }

    fn exchange(&mut self, erased: u32, wear: &PoolWear) -> Option<u32> {
        let candidates =
            wear.mostly_valid().map(|block| (block, wear.array.erase_counts()[block as usize]));
        self.least.exceeded_by(
            wear.array.erase_counts()[erased as usize],
            self.threshold,
            candidates,
        )
    }
}

impl Registered<Geometry> for StaticThreshold {
    const ENTRY: Entry = Entry::new(
        "static",
        "moves the data of the least erased block onto a block with many more erases",
    )
    .example("static:threshold=16")
    .small("static:threshold=2")
    .params(&[super::THRESHOLD]);

    fn build(params: &Params, _geometry: &Geometry) -> Result<Self> {
        Ok(StaticThreshold { threshold: params.integer("threshold"), least: Least::default() })
    }
}
