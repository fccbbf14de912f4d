//! Chain of groups: the blocks of each group, and which of them are collected.
//!
//! Group 0 is HOT; other host pages go to group 1. Each group but the last has a queue with a
//! limited number of closed blocks. If there are more, the oldest is collected. The last group has
//! all other space, in which the victim policy chooses. If a group shrinks or is removed, its
//! blocks are relabelled; nothing is copied.

use std::collections::VecDeque;

use crate::error::Result;
use crate::flash::{Table, filled};
use crate::placements::{Restored, Sizes};
use crate::state::{elements, require, state};

/// Largest number of consecutive victims while the host waits to write one page.
/// If they do not free enough space, the last bounded group is dissolved.
const MOST_IN_A_ROW: u64 = 25;
/// Number of classes into which the last group is divided after other groups were merged into
/// it. The class of a page is the number of collections that it survived in the last group.
const MOST_CLASSES: usize = 4;

pub struct Chain {
    /// Largest number of closed blocks of each bounded group per collection domain.
    /// Empty until the sizes of groups are chosen for the first time.
    most_blocks: Vec<usize>,
    /// True if the last group is divided into classes.
    /// The classes are then the groups from the last group on.
    has_classes: bool,
    /// Closed blocks of each collection domain and bounded group, the oldest first.
    queues: Vec<VecDeque<u32>>,
    /// Number of closed blocks per collection domain that are candidates of the victim policy.
    candidates: Vec<usize>,
    /// Group of each closed block.
    group_of: Table<u8>,
    /// Blocks that the next call of [`Self::take_released`] makes candidates of the victim
    /// policy.
    released: Vec<u32>,
    /// For each collection domain, the number of consecutive victims for which the host waited.
    rows: Vec<Row>,
    groups: usize,
    blocks_per_domain: u32,
}

/// Number of victims for which the host waited since it last wrote a page.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    clock: u64,
    victims: u64,
}

elements!(Row { clock: u64, victims: u64 });

state! {
    Chain {
        value most_blocks,
        value has_classes,
        lists queues,
        table candidates,
        table group_of,
        list released,
        table rows,
        fixed groups,
        fixed blocks_per_domain,
    } where is_sound
}

impl Chain {
    pub fn new(groups: usize, sizes: &Sizes) -> Result<Self> {
        let domains = sizes.domains as usize;
        Ok(Chain {
            most_blocks: Vec::new(),
            has_classes: true,
            queues: vec![VecDeque::new(); groups * domains],
            candidates: vec![0; domains],
            group_of: filled(0, sizes.blocks as usize)?,
            released: Vec::new(),
            rows: vec![Row::default(); domains],
            groups,
            blocks_per_domain: sizes.blocks / sizes.domains,
        })
    }

    fn is_sound(&self) -> bool {
        let blocks = self.group_of.len();
        self.most_blocks.len() < self.groups
            && self.most_blocks.len() != 1
            && (self.has_classes || !self.most_blocks.is_empty())
            && self.group_of.iter().all(|&group| usize::from(group) < self.groups)
            && self.released.iter().all(|&block| (block as usize) < blocks)
            && self.candidates.iter().all(|&count| count <= blocks)
            && self.rows.iter().all(|row| row.victims < MOST_IN_A_ROW)
    }

    pub fn has_classes(&self) -> bool {
        self.has_classes
    }

    /// Number of the last group, or of its first class if it is divided into classes.
    pub fn last(&self) -> usize {
        self.most_blocks.len().max(1)
    }

    fn last_class(&self) -> usize {
        let classes = if self.has_classes { MOST_CLASSES } else { 1 };
        (self.last() + classes).min(self.groups) - 1
    }

    /// Group that receives a page when it is collected in `group`.
    #[inline(always)]
    pub fn next(&self, group: usize) -> usize {
        (group + 1).min(self.last_class())
    }

    #[inline(always)]
    pub fn group_of(&self, block: u32) -> usize {
        usize::from(self.group_of[block as usize])
    }

    /// Sets new sizes of the groups. The last group has no classes afterwards.
    pub fn resize(&mut self, most_blocks: Vec<usize>) {
        self.give_up(most_blocks.len());
        let last = most_blocks.len();
        let bounded = self.most_blocks.len();
        self.relabel(|group| if group < bounded { group } else { last });
        self.has_classes = false;
        self.most_blocks = most_blocks;
        for domain in 0..self.candidates.len() {
            for group in 0..last {
                while self.queue(domain, group).len() > self.most_blocks[group] {
                    let block = self.queue(domain, group).pop_front().expect("a long queue");
                    self.group_of[block as usize] = last as u8;
                    self.release(block, domain);
                }
            }
        }
    }

    /// Merges the groups from `first` on into one group with classes.
    pub fn merge_from(&mut self, first: usize) {
        self.has_classes = true;
        self.give_up(if first == 1 { 0 } else { first });
        self.relabel(|group| group.min(first));
    }

    /// Releases the blocks of the bounded groups from `first` on to the victim policy.
    fn give_up(&mut self, first: usize) {
        for domain in 0..self.candidates.len() {
            for group in first..self.most_blocks.len() {
                for block in std::mem::take(self.queue(domain, group)) {
                    self.release(block, domain);
                }
            }
        }
        self.most_blocks.truncate(first);
    }

    fn relabel(&mut self, label: impl Fn(usize) -> usize) {
        self.group_of.iter_mut().for_each(|group| *group = label(usize::from(*group)) as u8);
    }

    fn release(&mut self, block: u32, domain: usize) {
        self.released.push(block);
        self.candidates[domain] += 1;
    }

    fn queue(&mut self, domain: usize, group: usize) -> &mut VecDeque<u32> {
        &mut self.queues[domain * self.groups + group]
    }

    /// Adds a closing block that was opened for a stream.
    /// Returns true if the victim policy may not choose the block.
    pub fn on_close(&mut self, block: u32, stream: usize, domain: usize) -> bool {
        let is_held = stream < self.most_blocks.len();
        let group = stream.min(self.last_class());
        self.group_of[block as usize] = group as u8;
        if is_held {
            self.queue(domain, group).push_back(block);
        } else {
            self.candidates[domain] += 1;
        }
        is_held
    }

    /// Victim of the first group that is too large: its oldest block.
    /// If the victim policy has no candidate, the victim is from the first group with a block.
    pub fn victim(&self, domain: usize) -> Option<u32> {
        let bounded = self.most_blocks.len();
        let queues = &self.queues[domain * self.groups..][..bounded];
        let too_large =
            queues.iter().zip(&self.most_blocks).find(|(queue, most)| queue.len() > **most);
        let must_give = self.candidates[domain] == 0;
        let any = || queues.iter().find(|queue| must_give && !queue.is_empty());
        let queue = too_large.map(|(queue, _)| queue).or_else(any)?;
        queue.front().copied()
    }

    /// Records that the host waits for a victim of a collection domain.
    /// If it waited for too many victims at one page, the last bounded group is dissolved in all
    /// domains. Returns true in that case.
    pub fn await_victim(&mut self, domain: usize, now: u64) -> bool {
        let row = &mut self.rows[domain];
        if row.clock != now {
            *row = Row { clock: now, victims: 0 };
        }
        row.victims = (row.victims + 1) % MOST_IN_A_ROW;
        let gives_up = row.victims == 0 && !self.most_blocks.is_empty();
        if gives_up {
            self.merge_from(self.most_blocks.len() - 1);
        }
        gives_up
    }

    /// Blocks that become candidates of the victim policy, in this order.
    pub fn take_released(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.released)
    }

    /// Removes `block`, which is collected. Returns its group.
    pub fn on_collect(&mut self, block: u32) -> usize {
        let domain = (block / self.blocks_per_domain) as usize;
        let group = self.group_of(block);
        if group < self.most_blocks.len() {
            assert_eq!(self.queue(domain, group).pop_front(), Some(block), "the oldest goes first");
        } else {
            self.candidates[domain] -= 1;
        }
        group
    }

    pub fn on_exchange(&mut self, young: u32, worn: u32) {
        let group = self.group_of(young);
        self.group_of[worn as usize] = group as u8;
        if group < self.most_blocks.len() {
            let domain = (young / self.blocks_per_domain) as usize;
            let place = self.queue(domain, group).iter_mut().find(|block| **block == young);
            *place.expect("a held block is in its queue") = worn;
        }
    }

    /// Checks that the queues and the list of released blocks together contain exactly the blocks
    /// that the victim policy may not choose. All other closed blocks must be its candidates.
    pub fn check(&self, drive: &Restored) -> Result<()> {
        let mut candidates = vec![0; self.candidates.len()];
        let mut waiting = vec![false; self.group_of.len()];
        let mut expected = 0;
        for closed in drive.closed {
            let is_bounded = self.group_of(closed.block) < self.most_blocks.len();
            candidates[closed.domain] += usize::from(!is_bounded);
            expected += usize::from(closed.is_held);
            waiting[closed.block as usize] = closed.is_held;
        }
        require(candidates == self.candidates, "Midas.candidates")?;
        let mut queued = 0;
        let mut take = |block: u32, is_right: bool| {
            queued += 1;
            let is_waiting = waiting.get_mut(block as usize).map(std::mem::take);
            require(is_waiting == Some(true) && is_right, "Midas.queues")
        };
        for (place, blocks) in self.queues.iter().enumerate() {
            let (domain, group) = (place / self.groups, place % self.groups);
            for &block in blocks {
                let is_here = (block / self.blocks_per_domain) as usize == domain
                    && self.group_of.get(block as usize).map(|&g| usize::from(g)) == Some(group)
                    && group < self.most_blocks.len();
                take(block, is_here)?;
            }
        }
        for &block in &self.released {
            take(block, self.group_of(block) >= self.most_blocks.len())?;
        }
        require(queued == expected, "Midas.queues")
    }

    pub fn bytes(&self) -> u64 {
        let queued: usize = self.queues.iter().map(VecDeque::capacity).sum();
        // The chain has one byte per block (its group), and the manager another one (the mark of
        // blocks that the victim policy may not choose).
        (2 * self.group_of.len() + 4 * queued) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes blocks 0, 1, …, which were opened for these streams, in this order.
    fn closed(streams: &[usize]) -> Chain {
        let sizes = Sizes {
            logical_pages: 100,
            blocks: 16,
            pages_per_block: 8,
            domains: 1,
            pools: 1,
            seed: 0,
        };
        let mut chain = Chain::new(6, &sizes).unwrap();
        chain.resize(vec![1, 1, 2, 2]);
        for (block, &stream) in (0..).zip(streams) {
            assert_eq!(chain.on_close(block, stream, 0), stream < 4);
        }
        chain
    }

    fn groups(chain: &Chain) -> Vec<usize> {
        (0..8).map(|block| chain.group_of(block)).collect()
    }

    #[test]
    fn groups_that_shrink_or_go_give_their_oldest_blocks_to_the_last_one() {
        let mut chain = closed(&[0, 1, 2, 2, 3, 3, 4, 2]);
        chain.resize(vec![1, 1, 2]);
        assert_eq!(groups(&chain), [0, 1, 3, 2, 3, 3, 3, 2]);
        assert_eq!(chain.take_released(), [4, 5, 2]);
        assert_eq!(chain.victim(0), None);
    }

    #[test]
    fn merged_groups_are_classes_by_the_collections_that_pages_live_through() {
        let mut chain = closed(&[0, 1, 2, 2, 3, 3, 4, 2]);
        assert_eq!(chain.victim(0), Some(2));
        chain.merge_from(2);
        assert_eq!(groups(&chain), [0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!((0..6).map(|group| chain.next(group)).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 5]);
        chain.merge_from(1);
        assert_eq!((chain.last(), chain.next(4)), (1, 4));
        assert_eq!(chain.take_released(), [2, 3, 7, 4, 5, 0, 1]);
    }

    #[test]
    fn a_group_is_given_up_at_the_25th_victim_that_the_host_waits_for_at_one_page() {
        let mut chain = closed(&[1, 2]);
        let given_up = (0..60).filter(|at| chain.await_victim(0, at / 30)).collect::<Vec<_>>();
        assert_eq!((given_up, chain.last()), (vec![24, 54], 2));
    }
}
