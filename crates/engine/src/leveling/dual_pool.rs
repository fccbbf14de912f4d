//! Dual-pool wear levelling: blocks of hot and of cold data form two pools.
//! The most worn block of the hot pool is exchanged with the least worn block of the cold pool
//! (Chang 2007).

use super::{Least, PoolWear, WearLeveler};
use crate::error::Result;
use crate::flash::{Geometry, Table, filled};
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Dual-pool leveller for the blocks of one free pool.
/// At first, blocks with odd numbers are in the cold pool. Only an erase changes wear, so the rules
/// are checked after each erase. They compare the erased block with the least worn blocks of the
/// two pools.
pub struct DualPool {
    threshold: u32,
    in_cold_pool: Table<bool>,
    /// Erases of each block since its last exchange ("effective erases").
    effective: Table<u32>,
    /// Lower bound of the erases of the closed blocks of the cold pool.
    least_cold: Least,
    /// Lower bounds of the erases and the effective erases of the blocks of the hot pool.
    least_hot: Least,
    least_hot_effective: Least,
}

state! {
    DualPool {
        fixed threshold,
        table in_cold_pool,
        table effective,
        nested least_cold,
        nested least_hot,
        nested least_hot_effective,
    } where is_sound
}

impl DualPool {
    fn is_sound(&self) -> bool {
        self.effective.iter().all(|&erases| erases < u32::MAX)
    }

    fn join_hot_pool(&mut self, block: u32, wear: &PoolWear) {
        self.in_cold_pool[block as usize] = false;
        self.least_hot.join(wear.array.erase_counts()[block as usize]);
        self.least_hot_effective.join(self.effective[block as usize]);
    }

    /// Moves the erased block from the cold pool to the hot pool if it is erased often.
    /// Its effective erases must exceed the fewest of the hot pool by more than the threshold.
    fn resize_cold_pool(&mut self, erased: u32, wear: &PoolWear) {
        let hot = wear.in_use().filter(|block| !self.in_cold_pool[*block as usize]);
        let effective = &self.effective;
        let values = hot.map(|block| (block, effective[block as usize]));
        let value = effective[erased as usize];
        if self.least_hot_effective.exceeded_by(value, self.threshold, values).is_some() {
            self.join_hot_pool(erased, wear);
        }
    }

    /// Moves the least worn block of the hot pool to the cold pool if it is rarely erased.
    /// The erased block must have more erases than it, by more than twice the threshold.
    fn resize_hot_pool(&mut self, erased: u32, wear: &PoolWear) {
        let hot = wear.in_use().filter(|block| !self.in_cold_pool[*block as usize]);
        let values = hot.map(|block| (block, wear.array.erase_counts()[block as usize]));
        let value = wear.array.erase_counts()[erased as usize];
        if let Some(block) =
            self.least_hot.exceeded_by(value, self.threshold.saturating_mul(2), values)
        {
            self.in_cold_pool[block as usize] = true;
            self.least_cold.join(wear.array.erase_counts()[block as usize]);
        }
    }
}

impl WearLeveler for DualPool {
    fn on_close(&mut self, block: u32, erases: u32) {
        if self.in_cold_pool[block as usize] {
            self.least_cold.join(erases);
        }
    }

    fn on_spare_used(&mut self, block: u32, erases: u32) {
        if !self.in_cold_pool[block as usize] {
            self.least_hot.join(erases);
            self.least_hot_effective.join(self.effective[block as usize]);
        }
    }

    fn exchange(&mut self, erased: u32, wear: &PoolWear) -> Option<u32> {
        self.effective[erased as usize] += 1;
        if self.in_cold_pool[erased as usize] {
            self.resize_cold_pool(erased, wear);
            return None;
        }
        let cold = wear.mostly_valid().filter(|block| self.in_cold_pool[*block as usize]);
        let values = cold.map(|block| (block, wear.array.erase_counts()[block as usize]));
        let value = wear.array.erase_counts()[erased as usize];
        let young = self.least_cold.exceeded_by(value, self.threshold, values);
        if let Some(young) = young {
            self.in_cold_pool[erased as usize] = true;
            self.effective[erased as usize] = 0;
            self.effective[young as usize] = 0;
            self.join_hot_pool(young, wear);
        } else {
            self.resize_hot_pool(erased, wear);
        }
        young
    }
}

impl Registered<Geometry> for DualPool {
    const ENTRY: Entry = Entry::new(
        "dual-pool",
        "exchanges the most worn block with hot data and the least worn one with cold data (Chang \
         2007)",
    )
    .example("dual-pool:threshold=16")
    .small("dual-pool:threshold=2")
    .params(&[super::THRESHOLD]);

    fn build(params: &Params, geometry: &Geometry) -> Result<Self> {
        let blocks = geometry.blocks() as usize;
        let mut in_cold_pool = filled(false, blocks)?;
        in_cold_pool.iter_mut().skip(1).step_by(2).for_each(|cold| *cold = true);
        Ok(DualPool {
            threshold: params.integer("threshold"),
            in_cold_pool,
            effective: filled(0, blocks)?,
            least_cold: Least::default(),
            least_hot: Least::default(),
            least_hot_effective: Least::default(),
        })
    }
}
