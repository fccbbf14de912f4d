//! Dynamic wear levelling: opens the least erased of the free blocks.

use super::{Declared, PoolWear, WearLeveler};
use crate::error::Result;
use crate::flash::Geometry;
use crate::params::{Domain, Extent, Param, Params, U32_MAX};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// This leveller moves no data, but it reserves spare space: free blocks to choose from.
/// Of equally worn blocks, the one that joined the free blocks last is opened.
pub struct YoungestFree {
    /// True once a block of the pool was erased. Before that, all blocks have 0 erases.
    worn: bool,
}

state!(YoungestFree { value worn });

impl WearLeveler for YoungestFree {
    fn declared(params: &Params) -> Declared {
        Declared { reserve_blocks: params.integer("reserve"), moves_pages: false }
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
        youngest.expect("the pool must have a free block to open")
    }
}

impl Registered<Geometry> for YoungestFree {
    const ENTRY: Entry =
        Entry::new("youngest-free", "opens the least erased free block (dynamic levelling)")
            .example("youngest-free:reserve=8")
            .small("youngest-free:reserve=1")
            .variants(&["youngest-free:reserve=3"])
            .params(&[Param::new(
                "reserve",
                "8",
                Domain::Whole(1, U32_MAX),
                "number of free blocks reserved in each pool; of all its free blocks, the least \
                 erased is opened",
            )
            .extent(Extent::Blocks)]);

    fn build(_params: &Params, _geometry: &Geometry) -> Result<Self> {
        Ok(YoungestFree { worn: false })
    }
}
