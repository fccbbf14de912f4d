//! Closed blocks of each group on each LUN, in order of collection.
//!
//! A single table of links serves all blocks, and each subgroup (a group on a LUN) stores only the
//! ends of its queues. So the memory does not grow with the product of groups and blocks.

use std::hint::select_unpredictable;

use crate::error::Result;
use crate::flash::{Blocks, Score, Table, filled, prefetch};
use crate::links::Links;
use crate::params::words;
use crate::rng::Stream;
use crate::state::{Reader, State, Writer, elements, require};
use crate::victims::{Census, Situation, VictimPolicy, by_place, ranked};

/// Order in which the closed blocks of a subgroup (a group on a LUN) are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collect {
    /// Most invalid pages first; of equal blocks, the one whose number changed longest ago.
    /// There is one queue per number of invalid pages.
    MostInvalid,
    /// Oldest closed block first, in one queue.
    FirstClosed,
}

impl Collect {
    /// All orders of collection, by the name of the corresponding victim policy.
    pub const ALL: [(&'static str, Collect); 2] =
        [("greedy", Collect::MostInvalid), ("fifo", Collect::FirstClosed)];

    /// Names of the orders of collection.
    pub const NAMES: [&'static str; 2] = words(&Collect::ALL);
}

/// Counts of pages of a subgroup (a group on a LUN), and a bound on its non-empty queues.
#[derive(Debug, Clone, Copy, Default)]
struct Subgroup {
    /// Upper bound on the indices of the non-empty queues.
    highest: u32,
    /// Number of invalid pages in the closed blocks.
    invalid_pages: u32,
    /// Number of valid pages in all blocks, without pages that a collection is moving.
    valid_pages: u32,
}

elements! {
    Subgroup { highest: u32, invalid_pages: u32, valid_pages: u32 }
    Queued { queue: u32, block: u32 }
}

/// Closed block and the index of its queue.
#[derive(Clone, Copy)]
struct Queued {
    queue: u32,
    block: u32,
}

#[derive(Debug, Clone)]
pub struct Candidates {
    collect: Collect,
    /// Queues of all subgroups, one subgroup after another.
    links: Links,
    /// Subgroup of each open or closed block.
    subgroup_of: Table<u32>,
    subgroups: Vec<Subgroup>,
    queues_each: usize,
    /// Subgroup from which [`VictimPolicy::choose`] chooses.
    collecting: usize,
}

impl Candidates {
    pub fn new(
        collect: Collect,
        blocks: u32,
        pages_per_block: u32,
        subgroups: usize,
    ) -> Result<Self> {
        let queues_each = match collect {
            Collect::MostInvalid => pages_per_block as usize + 1,
            Collect::FirstClosed => 1,
        };
        Ok(Candidates {
            collect,
            links: Links::new(blocks, queues_each * subgroups)?,
            subgroup_of: filled(0, blocks as usize)?,
            subgroups: vec![Subgroup::default(); subgroups],
            queues_each,
            collecting: 0,
        })
    }

    /// Subgroup of an open or closed block.
    #[inline(always)]
    pub fn subgroup_of(&self, block: u32) -> usize {
        self.subgroup_of[block as usize] as usize
    }

    /// Number of invalid pages in the closed blocks of a subgroup.
    pub fn invalid_pages(&self, subgroup: usize) -> u32 {
        self.subgroups[subgroup].invalid_pages
    }

    /// Number of valid pages of a subgroup, without pages that a collection is moving.
    pub fn valid_pages(&self, subgroup: usize) -> u32 {
        self.subgroups[subgroup].valid_pages
    }

    /// Assigns `block`, which is being opened, to `subgroup`.
    pub fn open(&mut self, block: u32, subgroup: usize) {
        self.subgroup_of[block as usize] = subgroup as u32;
    }

    /// Counts a page programmed to a block of `subgroup`.
    #[inline(always)]
    pub fn add_page(&mut self, subgroup: usize) {
        self.subgroups[subgroup].valid_pages += 1;
    }

    /// Subtracts `pages` valid pages of `subgroup`, which a collection has read to move them.
    pub fn take_pages(&mut self, subgroup: usize, pages: u32) {
        self.subgroups[subgroup].valid_pages -= pages;
    }

    /// Sets the subgroup from which the next victim is chosen.
    pub fn collect_from(&mut self, subgroup: usize) {
        self.collecting = subgroup;
    }

    /// Moves `worn`, which a leveller filled with the pages of `young`, to the subgroup of
    /// `young`.
    pub fn exchange(&mut self, young: u32, worn: u32, invalid_pages: u32) {
        self.remove(worn, invalid_pages);
        self.subgroup_of[worn as usize] = self.subgroup_of[young as usize];
        self.insert(worn, invalid_pages);
    }

    /// Moves all blocks of subgroup `from` to subgroup `into`, behind the blocks in the same
    /// queue.
    pub fn merge(&mut self, from: usize, into: usize) {
        for subgroup in &mut self.subgroup_of {
            if *subgroup == from as u32 {
                *subgroup = into as u32;
            }
        }
        for queue in 0..self.queues_each {
            self.links.merge(from * self.queues_each + queue, into * self.queues_each + queue);
        }
        let moved = std::mem::take(&mut self.subgroups[from]);
        let joined = &mut self.subgroups[into];
        joined.highest = joined.highest.max(moved.highest);
        joined.invalid_pages += moved.invalid_pages;
        joined.valid_pages += moved.valid_pages;
    }

    #[inline(always)]
    fn queue(&self, invalid_pages: u32) -> u32 {
        match self.collect {
            Collect::MostInvalid => invalid_pages,
            Collect::FirstClosed => 0,
        }
    }

    fn insert(&mut self, block: u32, invalid_pages: u32) {
        let subgroup = self.subgroup_of(block);
        self.subgroups[subgroup].invalid_pages += invalid_pages;
        self.append(block, subgroup, self.queue(invalid_pages));
    }

    fn remove(&mut self, block: u32, invalid_pages: u32) {
        let subgroup = self.subgroup_of(block);
        self.subgroups[subgroup].invalid_pages -= invalid_pages;
        self.links.remove(block);
    }

    fn append(&mut self, block: u32, subgroup: usize, queue: u32) {
        self.links.append(block, subgroup * self.queues_each + queue as usize);
        let highest = &mut self.subgroups[subgroup].highest;
        *highest = (*highest).max(queue);
    }

    /// Closed blocks with their queues, in order of the queues.
    fn queued(&self) -> impl Iterator<Item = Queued> + '_ {
        let queues = (0..).take(self.links.queues());
        queues.flat_map(|queue: u32| {
            self.links.of_queue(queue as usize).map(move |block| Queued { queue, block })
        })
    }

    /// First block of the highest non-empty queue.
    fn first(&mut self, subgroup: usize) -> Option<u32> {
        let highest = &mut self.subgroups[subgroup].highest;
        loop {
            let queue = subgroup * self.queues_each + *highest as usize;
            if let Some(first) = self.links.first(queue) {
                return Some(first);
            }
            *highest = highest.checked_sub(1)?;
        }
    }
}

/// Saves the blocks in order of their queues. A restore rebuilds the links from that order.
impl State for Candidates {
    fn save(&self, to: &mut Writer) {
        let subgroups: Vec<Subgroup> =
            self.subgroups.iter().map(|of| Subgroup { highest: 0, ..*of }).collect();
        to.table(&subgroups);
        to.table(&self.subgroup_of);
        to.value(&self.collecting);
        to.list(&self.queued().collect::<Vec<_>>());
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.table(&mut self.subgroups, "Candidates.subgroups")?;
        from.table(&mut self.subgroup_of, "Candidates.subgroup_of")?;
        self.collecting = from.value("Candidates.collecting")?;
        let subgroups = self.subgroups.len();
        let is_known = |&subgroup: &u32| (subgroup as usize) < subgroups;
        let are_known = self.subgroup_of.iter().all(is_known) && self.collecting < subgroups;
        require(are_known, "Candidates.subgroup_of")?;
        let mut queued: Vec<Queued> = Vec::new();
        from.list(&mut queued, "Candidates.queues")?;
        self.subgroups.iter_mut().for_each(|of| of.highest = 0);
        self.links.clear();
        for Queued { queue, block } in queued {
            let is_new = (block as usize) < self.links.bound() && !self.links.contains(block);
            require(is_new, "Candidates.queues")?;
            let subgroup = self.subgroup_of(block);
            let first = subgroup * self.queues_each;
            let is_own = (first..first + self.queues_each).contains(&(queue as usize));
            require(is_own, "Candidates.queues")?;
            self.append(block, subgroup, queue - first as u32);
        }
        Ok(())
    }
}

impl VictimPolicy for Candidates {
    #[inline(always)]
    fn on_close(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        self.insert(block, invalid_pages);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        let subgroup = self.subgroup_of(block);
        // Whether a block is closed is unpredictable, so that no branch depends on it.
        let (is_closed, queue) = match self.collect {
            Collect::FirstClosed => (self.links.contains(block), 0),
            Collect::MostInvalid => {
                let queue = subgroup * self.queues_each + invalid_pages as usize;
                let is_closed = self.links.move_to(block, queue);
                (is_closed, select_unpredictable(is_closed, invalid_pages, 0))
            }
        };
        let of_block = &mut self.subgroups[subgroup];
        of_block.valid_pages -= 1;
        of_block.invalid_pages += u32::from(is_closed);
        of_block.highest = of_block.highest.max(queue);
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        let victim = self.first(self.collecting)?;
        self.remove(victim, blocks.invalid_pages(victim));
        Some(victim)
    }

    fn measure(&self) -> &'static str {
        match self.collect {
            Collect::MostInvalid => "invalid pages (blocks of the collecting group only)",
            Collect::FirstClosed => "blocks of the collecting group that were filled later",
        }
    }

    fn scores(&self, Situation { blocks, .. }: &Situation) -> Vec<Score> {
        let of_group = |&block: &u32| self.subgroup_of(block) == self.collecting;
        let queued: Vec<u32> = self.queued().map(|of| of.block).filter(of_group).collect();
        match self.collect {
            Collect::FirstClosed => by_place(queued.iter()),
            Collect::MostInvalid => {
                let score = |block| Score { block, score: blocks.invalid_pages(block).into() };
                ranked(queued.into_iter().map(score).collect())
            }
        }
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        self.remove(block, invalid_pages);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        let mut sums = vec![0u64; self.subgroups.len()];
        for Queued { queue, block } in self.queued() {
            let invalid_pages = census.count(block)?;
            let place = queue as usize % self.queues_each;
            require(place == self.queue(invalid_pages) as usize, "Candidates.queues")?;
            sums[self.subgroup_of(block)] += u64::from(invalid_pages);
        }
        let counted = self.subgroups.iter().map(|of| u64::from(of.invalid_pages));
        require(counted.eq(sums), "Candidates.subgroups")
    }

    #[inline(always)]
    fn prefetch(&self, block: u32) {
        self.links.prefetch(block);
        prefetch(&self.subgroup_of, block as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(candidates: &mut Candidates, subgroup: usize, blocks: &Blocks) -> Vec<u32> {
        candidates.collect_from(subgroup);
        let mut random = Stream::new(1, "test");
        std::iter::from_fn(|| candidates.choose(blocks, 0, &mut random)).collect()
    }

    /// Blocks 0 to 5, which belong to subgroups 0 and 1 in turn.
    /// They have 2, 1, 1, 1, 0 and 3 invalid pages.
    fn six_blocks(collect: Collect) -> (Candidates, Blocks) {
        let mut candidates = Candidates::new(collect, 6, 4, 2).unwrap();
        let mut invalid_pages = [1, 1, 1, 1, 0, 3];
        for block in 0..6 {
            let subgroup = block as usize % 2;
            candidates.open(block, subgroup);
            (0..4 - invalid_pages[block as usize]).for_each(|_| candidates.add_page(subgroup));
            candidates.on_close(block, invalid_pages[block as usize], 0);
        }
        invalid_pages[0] = 2;
        candidates.on_invalidate(0, 2, 0);
        (candidates, Blocks::of_invalid_pages(&invalid_pages))
    }

    #[test]
    fn a_subgroup_is_collected_by_its_own_blocks_in_order() {
        let (mut candidates, blocks) = six_blocks(Collect::MostInvalid);
        assert_eq!([0, 1].map(|s| candidates.invalid_pages(s)), [3, 5]);
        assert_eq!([0, 1].map(|s| candidates.valid_pages(s)), [9, 7]);
        assert_eq!(chosen(&mut candidates, 0, &blocks), [0, 2, 4]);
        assert_eq!(chosen(&mut candidates, 1, &blocks), [5, 1, 3]);
        assert_eq!([0, 1].map(|s| candidates.invalid_pages(s)), [0, 0]);
        let (mut candidates, blocks) = six_blocks(Collect::FirstClosed);
        assert_eq!(chosen(&mut candidates, 1, &blocks), [1, 3, 5]);
    }

    #[test]
    fn merged_blocks_follow_those_of_the_group_they_join() {
        for (collect, expected) in
            [(Collect::MostInvalid, [5, 0, 1, 3, 2, 4]), (Collect::FirstClosed, [1, 3, 5, 0, 2, 4])]
        {
            let (mut candidates, blocks) = six_blocks(collect);
            candidates.merge(0, 1);
            assert_eq!((candidates.invalid_pages(1), candidates.valid_pages(1)), (8, 16));
            assert_eq!(chosen(&mut candidates, 1, &blocks), expected);
            assert_eq!(chosen(&mut candidates, 0, &blocks), [0; 0]);
        }
    }
}
