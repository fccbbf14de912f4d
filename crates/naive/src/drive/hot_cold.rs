//! Hot and cold frontiers, as in paper 4, §2.2.

use super::{NaiveDrive, Page};
use crate::setup::{HostGroup, Layout, Manager};

const HOT: usize = 0;
const COLD: usize = 1;

impl NaiveDrive {
    /// True if pages of a host's group are written more often than the average page.
    pub(super) fn is_hot(&self, group: u8) -> bool {
        let all_pages: f64 = self.host_groups.iter().map(|group| f64::from(group.pages)).sum();
        let all_writes: f64 = self.host_groups.iter().map(|group| group.write_share).sum();
        let HostGroup { pages, write_share } = self.host_groups[usize::from(group)];
        write_share / f64::from(pages) > all_writes / all_pages
    }

    pub(super) fn write_hot_or_cold(&mut self, logical: u32, hot: bool) {
        let stream = if hot { HOT } else { COLD };
        let first = self.next_pool.get(&stream).copied().unwrap_or(0);
        let mut in_turn = (first..self.pools).chain(0..first);
        let has_room = |pool: &usize| {
            if !self.open.contains_key(&(stream, *pool)) {
                self.replace_full_frontiers(*pool);
            }
            self.open.contains_key(&(stream, *pool))
        };
        let pool = in_turn.find(has_room).expect("some LUN has room");
        self.next_pool.insert(stream, (pool + 1) % self.pools);
        self.host_programs(logical, stream, pool);
        if !self.open.contains_key(&(stream, pool)) {
            self.replace_full_frontiers(pool);
        }
    }

    /// Replaces each frontier that is full or not opened yet.
    ///
    /// If collection can gain no page, no block is opened for the frontier until the next write to
    /// it.
    pub(super) fn replace_full_frontiers(&mut self, pool: usize) {
        loop {
            let Some(full) = [HOT, COLD].into_iter().find(|s| !self.open.contains_key(&(*s, pool)))
            else {
                return;
            };
            let gains = |&block: &u32| self.pool_of(block) == pool && self.invalid_pages(block) > 0;
            if self.can_open(pool) {
                self.open_block(full, pool);
            } else if self.setup.layout == Layout::Flat || self.closed.iter().flatten().any(gains) {
                self.collect_for(full, pool);
            } else {
                return;
            }
        }
    }

    /// Collects a victim to replace the frontier `full`.
    fn collect_for(&mut self, full: usize, pool: usize) {
        let other = if full == HOT { COLD } else { HOT };
        let victim = self.choose(if self.setup.layout == Layout::StripedPerLun { pool } else { 0 });
        let marked = self.opened_for[&victim];
        let j = self.setup.pages_per_block - self.invalid_pages(victim);
        let k = self.erased_pages(other, pool);

        if marked == full {
            let pages = self.erase_victim(victim);
            self.open_block(full, pool);
            self.copy(pages, full, pool);
        } else if k >= j {
            let pages = self.erase_victim(victim);
            self.copy(pages, other, pool);
            self.open_block(full, pool);
        } else {
            let mut pages = self.erase_victim(victim);
            let remaining = pages.split_off(k as usize);
            self.copy(pages, other, pool);
            if let Some(second) = self.second_victim(full, pool) {
                self.open_block(full, pool);
                let pages_of_second = self.erase_victim(second);
                self.copy(pages_of_second, full, pool);
            }
            self.open_block(other, pool);
            self.copy(remaining, other, pool);
        }
    }

    /// Returns the second victim, if blocks swap.
    ///
    /// It has the fewest valid pages among `d_swap` blocks drawn from the closed blocks of a
    /// stream.
    fn second_victim(&mut self, stream: usize, pool: usize) -> Option<u32> {
        let Manager::HotCold { d_swap: Some(d) } = self.setup.manager else { return None };
        let blocks = self.closed_for.get(&(stream, pool)).filter(|blocks| !blocks.is_empty())?;
        let drawn: Vec<u32> =
            (0..d).map(|_| blocks[self.random.below(blocks.len() as u32) as usize]).collect();
        let most = drawn.iter().map(|&block| self.invalid_pages(block)).max();
        drawn.into_iter().find(|&block| Some(self.invalid_pages(block)) == most)
    }

    pub(super) fn erased_pages(&self, stream: usize, pool: usize) -> u32 {
        let erased = |block: &u32| {
            self.pages_of(*block).iter().filter(|page| **page == Page::Erased).count()
        };
        self.open.get(&(stream, pool)).map_or(0, erased) as u32
    }

    fn copy(&mut self, pages: Vec<u32>, stream: usize, pool: usize) {
        for logical in pages {
            self.program(logical, stream, pool);
            self.count_gc(logical);
        }
    }
}
