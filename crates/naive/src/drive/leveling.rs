//! Wear levelling: each rule as a search of all blocks.

use super::{CountedFor, NaiveDrive, Page, TABLE};
use crate::setup::{Leveling, Manager};

/// State of a block in the dual pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct PoolMember {
    pub in_cold_pool: bool,
    pub effective_erases: u32,
}

impl NaiveDrive {
    /// True if `pool` has a free block that is not reserved.
    pub(super) fn can_open(&self, pool: usize) -> bool {
        self.free[pool].len() > self.reserve_blocks()
    }

    /// Returns the number of free blocks of each pool that only collection may open.
    pub(super) fn reserve_blocks(&self) -> usize {
        let for_leveling = match self.setup.leveling {
            Leveling::YoungestFree { reserve_blocks } => reserve_blocks,
            _ => 0,
        };
        let for_groups = match self.setup.manager {
            Manager::Grouped(rules) => rules.reserve_blocks(),
            _ => 0,
        };
        // Each migration stream needs a free block, except the first, which gets the erased block.
        let for_scheme = self.scheme.as_ref().map_or(0, |scheme| scheme.migration_stream() - 1);
        for_leveling + for_groups + for_scheme
    }

    /// Removes the block to open next from the free blocks of `pool`, and returns it.
    pub(super) fn take_free(&mut self, pool: usize) -> u32 {
        let last_first = (0..self.free[pool].len()).rev();
        let at = match self.setup.leveling {
            Leveling::YoungestFree { .. } => {
                last_first.min_by_key(|&at| self.erases(self.free[pool][at]))
            }
            _ => last_first.max(),
        };
        self.free[pool].remove(at.expect("the pool must have a free block"))
    }

    /// Moves the pages of a block with few erases to `worn`, if that is due.
    ///
    /// `worn` was just erased.
    pub(super) fn level(&mut self, worn: u32) {
        let pool = self.pool_of(worn);
        if !self.free[pool].contains(&worn) {
            return; // a spare block has replaced it
        }
        let Some(young) = self.block_to_rest(worn) else { return };
        let stream = self.opened_for[&young];
        self.free[pool].retain(|&block| block != worn);
        let is_held = self.held.contains(&young);
        if let Some(scheme) = self.scheme.as_mut().filter(|_| stream != TABLE) {
            scheme.on_leveled(young, worn);
        }
        let pages = self.erase(young);
        self.counters.wear_leveling_programs += pages.len() as u64;
        for &logical in &pages {
            self.count_moved(logical, CountedFor::WearLeveling);
        }
        for (at, page) in self.range_of(worn).enumerate() {
            self.pages[page] = pages.get(at).map_or(Page::Invalid, |&logical| Page::Valid(logical));
        }
        self.opened_for.insert(worn, stream);
        self.opened_at.insert(worn, self.opened_at[&young]);
        self.close_block(worn, is_held);
    }

    /// Returns the block whose data move to `worn`, if any.
    fn block_to_rest(&mut self, worn: u32) -> Option<u32> {
        let worn_erases = self.erases(worn);
        let pool = self.pool_of(worn);
        let closed: Vec<u32> = self.closed.iter().flatten().chain(&self.held).copied().collect();
        // If the data of a block with more invalid pages moved to `worn`, then `worn` would soon be
        // erased again.
        let mostly_valid = |block: u32| self.invalid_pages(block) <= self.setup.pages_per_block / 8;
        let closed_here =
            closed.into_iter().filter(|&block| self.pool_of(block) == pool && mostly_valid(block));
        let in_use = |block: &u32| {
            self.pool_of(*block) == pool
                && !self.spares[pool].contains(block)
                && !self.is_retired(*block)
        };
        let of_pool = (0..self.setup.blocks).filter(in_use);
        // The youngest block has the fewest erases; of equals, it has the lowest number.
        let youngest =
            |blocks: Vec<u32>| blocks.into_iter().min_by_key(|&block| (self.erases(block), block));
        match self.setup.leveling {
            Leveling::None | Leveling::YoungestFree { .. } => None,
            Leveling::Static { threshold } => youngest(closed_here.collect())
                .filter(|&young| worn_erases > self.erases(young) + threshold),
            Leveling::DualPool { threshold } => {
                let is_cold = |block: u32| self.members[block as usize].in_cold_pool;
                let effective = |block: u32| self.members[block as usize].effective_erases;
                let hot: Vec<u32> = of_pool.filter(|&block| !is_cold(block)).collect();
                let young = youngest(closed_here.filter(|&block| is_cold(block)).collect());
                let least_hot = youngest(hot.clone());
                let least_hot_effective = hot.iter().map(|&block| effective(block)).min();
                self.members[worn as usize].effective_erases += 1;
                let worn_effective = self.members[worn as usize].effective_erases;
                if self.members[worn as usize].in_cold_pool {
                    if least_hot_effective.is_some_and(|least| worn_effective > least + threshold) {
                        self.members[worn as usize].in_cold_pool = false;
                    }
                    return None;
                }
                if let Some(young) = young
                    && worn_erases > self.erases(young) + threshold
                {
                    self.members[worn as usize] =
                        PoolMember { in_cold_pool: true, effective_erases: 0 };
                    self.members[young as usize] =
                        PoolMember { in_cold_pool: false, effective_erases: 0 };
                    return Some(young);
                }
                if let Some(least) = least_hot
                    && worn_erases > self.erases(least) + 2 * threshold
                {
                    self.members[least as usize].in_cold_pool = true;
                }
                None
            }
        }
    }

    /// True if a spare block has replaced `block`.
    fn is_retired(&self, block: u32) -> bool {
        let closed = self.closed.iter().flatten().chain(&self.held);
        let in_use = self.free.iter().flatten().chain(closed).chain(self.open.values());
        let is_spare = self.spares.iter().flatten().any(|&spare| spare == block);
        !is_spare && !in_use.copied().any(|other| other == block)
    }

    fn erases(&self, block: u32) -> u32 {
        self.erase_counts[block as usize]
    }
}
