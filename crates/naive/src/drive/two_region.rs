//! Two regions of blocks, for host writes and for moved pages.
//!
//! Sources: Kang et al., PVLDB 2020; Haas et al., PVLDB 2025.
//! A block belongs to the region that it was opened for, until the host takes it over.

use super::NaiveDrive;

const HOST: usize = 0;
const MOVED: usize = 1;

/// Share of the closed blocks that a scan in FIFO order considers, the oldest first.
const SCANNED_SHARE: f64 = 0.7;

/// State of a scan in FIFO order.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    /// Blocks considered since the scan last began with the oldest block.
    steps: usize,
    /// Event of the drive at which the block considered last had closed.
    until: u64,
}

impl NaiveDrive {
    pub(super) fn write_to_host_region(&mut self, logical: u32, below: f64) {
        if !self.open.contains_key(&(HOST, 0)) {
            self.replace_host_block(below);
        }
        self.host_programs(logical, HOST, 0);
    }

    /// Opens a block for the host: a free one, that of the moved pages, or one that is collected.
    fn replace_host_block(&mut self, below: f64) {
        if !self.can_open(0) {
            if let Some(block) = self.open.remove(&(MOVED, 0)) {
                self.open.insert((HOST, 0), block);
                self.opened_for.insert(block, HOST);
                return;
            }
            self.free_a_block(below);
        }
        self.open_block(HOST, 0);
    }

    /// Collects until a block is free.
    fn free_a_block(&mut self, below: f64) {
        let mut region = None;
        let mut limit = below;
        while !self.can_open(0) {
            let mut freed = self.erased_pages(MOVED, 0);
            let mut pages = Vec::new();
            while freed < self.setup.pages_per_block {
                let victim = if self.setup.victims.name == "fifo" {
                    self.next_old_block(&mut limit)
                } else {
                    self.most_invalid_block(&mut region)
                };
                freed += self.invalid_pages(victim);
                pages = [self.erase_victim(victim), pages].concat();
                // A wear leveller has moved data to the victim, which may thus be the next one.
                if self.closed[0].contains(&victim) {
                    break;
                }
            }
            for logical in pages {
                if !self.open.contains_key(&(MOVED, 0)) {
                    self.open_block(MOVED, 0);
                }
                self.program(logical, MOVED, 0);
                self.count_gc(logical);
            }
        }
    }

    /// Closed blocks, the one that closed first first.
    fn closed_in_order(&self) -> Vec<u32> {
        let mut blocks = self.closed[0].clone();
        blocks.sort_by_key(|block| self.closed_at[block].event);
        blocks
    }

    /// Returns the block with the most invalid pages of the region that is collected.
    ///
    /// That is the region with the better such block. It must have a block's worth of invalid
    /// pages, unless no region has. If it has no invalid page left, the other region is next.
    fn most_invalid_block(&self, region: &mut Option<usize>) -> u32 {
        let of_region = |region: usize| {
            let mut blocks = self.closed_in_order();
            blocks.retain(|block| self.opened_for[block] == region);
            blocks
        };
        let best = |region: usize| {
            let blocks = of_region(region);
            let most = blocks.iter().map(|&block| self.invalid_pages(block)).max().unwrap_or(0);
            let block = blocks.into_iter().find(|&block| self.invalid_pages(block) == most);
            (most, block)
        };
        let frees = |region: usize| {
            let invalid: u32 =
                of_region(region).iter().map(|&block| self.invalid_pages(block)).sum();
            invalid >= self.setup.pages_per_block
        };
        let collecting = *region.get_or_insert_with(|| match (frees(HOST), frees(MOVED)) {
            (true, false) => HOST,
            (false, true) => MOVED,
            _ if best(HOST).0 > best(MOVED).0 => HOST,
            _ => MOVED,
        });
        let (most, block) = best(collecting);
        let victim = if most > 0 { block } else { best(HOST + MOVED - collecting).1 };
        victim.expect("a closed block has an invalid page")
    }

    /// Returns the next block in FIFO order with less than the share `limit` of valid pages.
    ///
    /// The limit rises by 0.05 when the scan begins again with the oldest block.
    fn next_old_block(&mut self, limit: &mut f64) -> u32 {
        let blocks = self.closed_in_order();
        loop {
            let share = if *limit < 1.0 { SCANNED_SHARE } else { 1.0 };
            let scanned = (share * blocks.len() as f64).floor() as usize;
            let is_next = |block: &&u32| self.closed_at[*block].event > self.scan.until;
            let next = blocks.iter().find(is_next).filter(|_| self.scan.steps < scanned);
            let Some(&block) = next else {
                self.scan = Scan::default();
                *limit += 0.05;
                continue;
            };
            self.scan.until = self.closed_at[&block].event;
            self.scan.steps += 1;
            let valid_pages = self.setup.pages_per_block - self.invalid_pages(block);
            if f64::from(valid_pages)
                < f64::min(*limit, 1.0) * f64::from(self.setup.pages_per_block)
            {
                return block;
            }
        }
    }
}
