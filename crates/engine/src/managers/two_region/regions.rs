//! Closed blocks of the two regions, and the order in which they are collected.

use crate::error::Result;
use crate::flash::{Blocks, Table, filled};
use crate::params::words;
use crate::rng::Stream;
use crate::state::state;
use crate::victims::{Census, VictimPolicy};

/// Region of blocks that the host filled.
pub const HOST: usize = 0;
/// Region of blocks that collection filled with moved pages.
pub const MOVED: usize = 1;

/// FIFO: share of the closed blocks, from the oldest on, that are candidates.
const DEPTH: f64 = 0.7;
/// FIFO: by how much the limit of valid pages grows after a scan of all candidates.
const STEP: f64 = 0.05;

/// Order of collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Fewest valid pages first, within one region per collection.
    Greedy,
    /// Oldest first, without blocks that have many valid pages.
    Fifo,
}

impl Order {
    /// All orders, by the name of the corresponding victim policy.
    pub const ALL: [(&'static str, Order); 2] = [("greedy", Order::Greedy), ("fifo", Order::Fifo)];

    /// Names of the orders.
    pub const NAMES: [&'static str; 2] = words(&Order::ALL);
}

#[derive(Debug, Clone)]
pub struct Regions {
    order: Order,
    pages_per_block: u32,
    /// FIFO: share of valid pages below which a block is collected, before the limit grows.
    below: f64,
    /// Closed blocks, the one that closed first first.
    queue: Vec<u32>,
    /// Region of each open or closed block.
    region: Table<u8>,
    /// Greedy: region of the victims of this collection, once it is chosen.
    collecting: Option<u8>,
    /// FIFO: limit of the share of valid pages, in this collection.
    limit: f64,
    /// FIFO: position in the queue of the next block to consider, and how many blocks were
    /// considered since the oldest.
    next: u32,
    considered: u32,
}

state! {
    Regions {
        fixed order,
        fixed pages_per_block,
        fixed below,
        list queue,
        table region,
        scratch collecting,
        scratch limit,
        value next,
        value considered,
    } where is_sound
}

impl Regions {
    pub fn new(order: Order, below: f64, blocks: u32, pages_per_block: u32) -> Result<Self> {
        Ok(Regions {
            order,
            pages_per_block,
            below,
            queue: Vec::with_capacity(blocks as usize),
            region: filled(HOST as u8, blocks as usize)?,
            collecting: None,
            limit: below,
            next: 0,
            considered: 0,
        })
    }

    /// Starts a collection, whose victims [`VictimPolicy::choose`] chooses one after another.
    pub fn begin(&mut self) {
        self.collecting = None;
        self.limit = self.below;
    }

    /// Assigns a block to a region.
    pub fn assign(&mut self, block: u32, region: usize) {
        self.region[block as usize] = region as u8;
    }

    /// Region of an open or closed block.
    pub fn region_of(&self, block: u32) -> usize {
        usize::from(self.region[block as usize])
    }

    fn is_sound(&self) -> bool {
        self.region.iter().all(|&region| usize::from(region) <= MOVED)
            && self.next as usize <= self.queue.len()
    }

    /// Position of the block of a region with the most invalid pages; of equal blocks, the one
    /// that closed first. None if no block of the region has an invalid page.
    fn best(&self, blocks: &Blocks, region: usize) -> Option<usize> {
        let mut best = None;
        let mut most = 0;
        for (at, &block) in self.queue.iter().enumerate() {
            let invalid_pages = blocks.invalid_pages(block);
            if invalid_pages > most && self.region_of(block) == region {
                (best, most) = (Some(at), invalid_pages);
            }
        }
        best
    }

    fn greedy(&mut self, blocks: &Blocks) -> Option<usize> {
        let region = match self.collecting {
            Some(region) => usize::from(region),
            None => self.choose_region(blocks),
        };
        self.collecting = Some(region as u8);
        self.best(blocks, region).or_else(|| self.best(blocks, HOST + MOVED - region))
    }

    /// Region whose best victim has fewer valid pages; if both are equal, that of moved pages.
    /// A region without a whole block's worth of invalid pages is left alone if possible.
    fn choose_region(&self, blocks: &Blocks) -> usize {
        let mut invalid_pages = [0; 2];
        let mut most = [0; 2];
        for &block in &self.queue {
            let region = self.region_of(block);
            invalid_pages[region] += u64::from(blocks.invalid_pages(block));
            most[region] = blocks.invalid_pages(block).max(most[region]);
        }
        let is_enough = invalid_pages.map(|pages| pages >= u64::from(self.pages_per_block));
        if is_enough[HOST] == is_enough[MOVED] {
            if most[HOST] > most[MOVED] { HOST } else { MOVED }
        } else if is_enough[HOST] {
            HOST
        } else {
            MOVED
        }
    }

    /// Position of the next block below the limit, from where the last scan ended.
    fn fifo(&mut self, blocks: &Blocks) -> usize {
        let pages = f64::from(self.pages_per_block);
        loop {
            // With an unlimited share of valid pages, all blocks are candidates, of which at least
            // one has an invalid page.
            let depth = if self.limit < 1.0 { DEPTH } else { 1.0 };
            let candidates = (depth * self.queue.len() as f64) as u32;
            if self.considered >= candidates || self.next as usize >= self.queue.len() {
                self.next = 0;
                self.considered = 0;
                self.limit += STEP;
                continue;
            }
            let at = self.next as usize;
            self.next += 1;
            self.considered += 1;
            let valid_pages = self.pages_per_block - blocks.invalid_pages(self.queue[at]);
            if f64::from(valid_pages) < self.limit.min(1.0) * pages {
                return at;
            }
        }
    }

    fn remove(&mut self, at: usize) -> u32 {
        if at < self.next as usize {
            self.next -= 1;
        }
        self.queue.remove(at)
    }
}

impl VictimPolicy for Regions {
    const TRACKS_PAGES: bool = false;

    fn on_close(&mut self, block: u32, _invalid_pages: u32, _now: u64) {
        self.queue.push(block);
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        let at = match self.order {
            Order::Greedy => self.greedy(blocks)?,
            Order::Fifo => self.fifo(blocks),
        };
        Some(self.remove(at))
    }

    fn measure(&self) -> &'static str {
        match self.order {
            Order::Greedy => "invalid pages, within the region that is collected",
            Order::Fifo => "age, among blocks with few valid pages",
        }
    }

    fn forget(&mut self, block: u32, _invalid_pages: u32) {
        let at = self.queue.iter().position(|other| *other == block);
        self.remove(at.expect("a closed block is in the queue"));
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        census.count_all(&self.queue)
    }
}
