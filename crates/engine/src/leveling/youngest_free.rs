//! Dynamic levelling: of the free blocks, the one erased least is opened next.

use super::{PoolWear, Registered, WearLeveler};
use crate::error::Result;
use crate::flash::Geometry;
use crate::spec::{Param, Params};
use crate::state::state;

/// Costs no write, but the free blocks to choose among are taken from the spare space. Among
/// equals the block erased last is opened.
pub struct YoungestFree {
    reserve_blocks: u32,
    /// Whether some block of the pool has been erased; until then all are alike.
    worn: bool,
}

state!(YoungestFree { fixed reserve_blocks, value worn });

impl WearLeveler for YoungestFree {
    fn reserve_blocks(&self) -> u32 {
        self.reserve_blocks
    }

    fn exchange(&mut self, _erased: u32, _wear: &PoolWear) -> Option<u32> {
        self.worn = true;
        None
    }

    fn open(&mut self, free: &[u32], erase_counts: &[u32]) -> usize {
        if !self.worn {
            return free.len() - 1;
        }
        let youngest = (0..free.len()).rev().min_by_key(|at| erase_counts[free[*at] as usize]);
        youngest.expect("a free block to open")
    }
}

impl Registered for YoungestFree {
    const NAME: &'static str = "youngest-free";
    const SUMMARY: &'static str = "opens the free block erased least (dynamic levelling)";
    const PARAMS: &'static [Param] = &[Param {
        name: "reserve",
        default: "8",
        help: "free blocks kept back in each pool to choose among",
    }];
    const EXAMPLE: &'static str = "youngest-free:reserve=8";

    fn build(params: &Params, _geometry: &Geometry) -> Result<Self> {
        let reserve_blocks = params.integer("reserve", 1..=u64::from(u32::MAX))? as u32;
        Ok(YoungestFree { reserve_blocks, worn: false })
    }
}
