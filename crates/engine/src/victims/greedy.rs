//! Greedy: the block with the fewest valid pages.
//! Greedy is optimal for uniform writes (Yang et al. 2015).
//!
//! Only blocks with nearly as many invalid pages as the next victim are in queues. When a
//! page of any other block becomes invalid, the policy does nothing, which saves time. Empty queues
//! are refilled from the block records, in order of the blocks' last changes. The choices are
//! therefore the same as if all blocks were always queued.

use super::buckets::{Buckets, Filed};
use super::{Census, Situation, VictimPolicy, ranked};
use crate::error::Result;
use crate::flash::{Blocks, Geometry, Score, Table, filled, prefetch};
use crate::params::Params;
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::{require, state};

/// Greedy policy.
/// Of blocks with equally many valid pages, it chooses the one that changed longest ago.
#[derive(Debug, Clone)]
pub struct Greedy {
    /// Candidates with at least [`Self::least`] invalid pages.
    queues: Buckets,
    is_candidate: Table<bool>,
    least: u32,
    /// Largest difference in invalid pages between the next victim and a queued block, after a
    /// refill. If it is too small, queues must be refilled often. If it is too large, more blocks
    /// are queued, and each is moved whenever one of its pages becomes invalid.
    slack: u32,
    /// Fewest invalid pages of any victim in the current period. The next field counts the
    /// victims of the period, which ends after as many choices as the drive has blocks.
    fewest: u32,
    chosen: u32,
}

state! {
    Greedy {
        nested queues,
        table is_candidate,
        value least,
        fixed slack,
        value fewest,
        value chosen,
    } where is_sound
}

impl Greedy {
    /// All candidates, queued or not.
    fn candidates(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.is_candidate).filter(|(_, is)| **is).map(|(block, _)| block)
    }

    /// Fills the empty queues with the next blocks. Returns false if no block remains.
    #[cold]
    fn refill(&mut self, blocks: &Blocks) -> bool {
        let Some(most) = self.candidates().map(|block| blocks.invalid_pages(block)).max() else {
            return false;
        };
        self.least = most.saturating_sub(self.slack);
        let mut next: Vec<(u64, u32)> = self
            .candidates()
            .filter(|&block| blocks.invalid_pages(block) >= self.least)
            .map(|block| (blocks.changed(block), block))
            .collect();
        next.sort_unstable();
        for (_, block) in next {
            self.queues.insert(block, blocks.invalid_pages(block));
        }
        true
    }

    /// Counts a choice, and sometimes drops blocks from queues below all recent victims.
    /// Blocks are dropped once per n choices on a drive of n blocks. A drop raises `least`, and a
    /// refill that lowers `least` again scans all blocks. Since drops are that rare, the cost per
    /// choice is constant on average for any sequence of victims.
    #[inline]
    fn count(&mut self, invalid_pages: u32) {
        self.fewest = self.fewest.min(invalid_pages);
        self.chosen += 1;
        if self.chosen as usize >= self.is_candidate.len() {
            if self.fewest > self.least {
                self.queues.empty_below(self.fewest);
                self.least = self.fewest;
            }
            self.fewest = u32::MAX;
            self.chosen = 0;
        }
    }

    fn is_sound(&self) -> bool {
        let are_queued = self.queues.filed().all(|Filed { block, invalid_pages }| {
            self.is_candidate[block as usize] && invalid_pages >= self.least
        });
        are_queued && (self.chosen as usize) < self.is_candidate.len()
    }
}

impl VictimPolicy for Greedy {
    #[inline(always)]
    fn on_close(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        self.is_candidate[block as usize] = true;
        if invalid_pages >= self.least {
            self.queues.insert(block, invalid_pages);
        }
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, _now: u64) {
        if invalid_pages < self.least || !self.is_candidate[block as usize] {
            return;
        }
        self.queues.remove(block);
        self.queues.insert(block, invalid_pages);
    }

    #[inline(always)]
    fn prefetch_choice(&self) -> Option<u32> {
        let block = self.queues.first_of_highest()?;
        prefetch(&self.is_candidate, block as usize);
        self.queues.prefetch(block);
        Some(block)
    }

    fn choose(&mut self, blocks: &Blocks, _now: u64, _random: &mut Stream) -> Option<u32> {
        let (block, invalid_pages) = match self.queues.most_invalid() {
            Some(victim) => victim,
            None => self.refill(blocks).then(|| self.queues.most_invalid())??,
        };
        self.forget(block, invalid_pages);
        self.count(invalid_pages);
        Some(block)
    }

    fn measure(&self) -> &'static str {
        "invalid pages; of equal blocks, the one that lost a page longest ago"
    }

    fn scores(&self, Situation { blocks, .. }: &Situation) -> Vec<Score> {
        let mut oldest_first: Vec<u32> = self.candidates().collect();
        oldest_first.sort_by_key(|&block| blocks.changed(block));
        let score = |block| Score { block, score: blocks.invalid_pages(block).into() };
        ranked(oldest_first.into_iter().map(score).collect())
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        self.is_candidate[block as usize] = false;
        if invalid_pages >= self.least {
            self.queues.remove(block);
        }
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        // All queued blocks are candidates, so the remaining candidates have fewer invalid pages
        // than queued blocks.
        self.queues.check(census)?;
        let in_none =
            |&(block, is_candidate): &(u32, &bool)| *is_candidate && !self.queues.contains(block);
        for (block, _) in (0..).zip(&self.is_candidate).filter(in_none) {
            require(census.count(block)? < self.least, "Greedy.queues")?;
        }
        Ok(())
    }
}

impl Registered<Geometry> for Greedy {
    const ENTRY: Entry = Entry::new("greedy", "the block with the fewest valid pages")
        .candidates(&[Pairs::usual(&["single", "sepgc"], &["greedy"])]);

    fn build(_params: &Params, geometry: &Geometry) -> Result<Self> {
        let (blocks, pages_per_block) = (geometry.blocks(), geometry.pages_per_block());
        Ok(Greedy {
            queues: Buckets::new(blocks, pages_per_block)?,
            is_candidate: filled(false, blocks as usize)?,
            least: 0,
            slack: pages_per_block.div_ceil(32),
            fewest: u32::MAX,
            chosen: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{BlockState, Cause, Flash, Pools};
    use crate::victims::VICTIMS;

    #[test]
    fn the_choice_is_that_of_queues_which_hold_every_block() {
        let (blocks, pages_per_block, logical_pages) = (40, 64, 2000);
        let geometry = Geometry::flat(blocks, pages_per_block).unwrap();
        let mut flash = Flash::new(geometry, logical_pages, Pools::Drive).unwrap();
        let mut greedy = Greedy::build(&VICTIMS.read("greedy").unwrap(), &geometry).unwrap();
        let mut all = Buckets::new(blocks, pages_per_block).unwrap();
        let mut random = Stream::new(1, "test");
        let (mut frontier, mut pages) = (flash.open(0), Vec::new());
        let mut seen = [false; 2];
        for write in 0..200_000u32 {
            // Hot and cold phases, so that victims change and `least` goes down as well as up.
            let bound = if write / 20_000 % 2 == 0 { logical_pages } else { logical_pages / 20 };
            let loss = flash.program(random.below(bound), &mut frontier, Cause::Host);
            if let Some(loss) = loss {
                greedy.on_invalidate(loss.block, loss.invalid_pages, 0);
                all.promote(loss.block, loss.invalid_pages);
            }
            while frontier.is_full() {
                let closed = flash.close(&frontier);
                greedy.on_close(closed, flash.invalid_pages(closed), 0);
                all.insert(closed, flash.invalid_pages(closed));
                if flash.free_blocks(0) == 0 {
                    let (expected, _) = all.most_invalid().unwrap();
                    all.remove(expected);
                    let previous = greedy.least;
                    assert_eq!(greedy.choose(flash.blocks(), 0, &mut random), Some(expected));
                    seen[0] |= greedy.least > previous;
                    seen[1] |= greedy.least < previous;
                    flash.read_valid(expected, &mut pages, Cause::Gc);
                    flash.erase(expected, Cause::Gc);
                }
                frontier = flash.open(0);
                flash.migrate_all(&pages, &mut frontier, Cause::Gc);
                pages.clear();
            }
        }
        assert_eq!(seen, [true; 2], "the queues were emptied and filled");
        assert!((0..blocks).any(|block| flash.state(block) == BlockState::Closed));
    }
}
