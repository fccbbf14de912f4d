//! Space account: the blocks that each group owns on each LUN (paper 3, §5.1, Listing 3).
//!
//! A group owns the blocks that hold its pages, and credits: free blocks that it may open. A group
//! that opened a block without a credit has negative credits (a debt) until collection frees a
//! block for it.

use crate::state::state;

/// Counts of owned and free blocks of all subgroups (a group on a LUN).
#[derive(Debug, Clone)]
pub struct Space {
    luns: usize,
    /// Group of each subgroup (a group on a LUN).
    group_of: Vec<u8>,
    /// Owned blocks, including credits; negative if a group has given away more than it holds.
    owned: Vec<i32>,
    /// Free blocks that each subgroup may open; negative if it opened more than it had.
    credits: Vec<i32>,
    /// Target blocks of each group on each LUN.
    targets: Vec<f64>,
    /// For each LUN, its blocks minus the blocks opened so far, at least 0.
    /// While it is positive, the LUN has blocks that were never opened.
    unused: Vec<u32>,
}

state! {
    Space { fixed luns, fixed group_of, table owned, table credits, value targets, table unused } where is_sound
}

impl Space {
    /// Builds the counts for `groups` on `luns`. At first group 0 owns all `blocks` of each LUN.
    pub fn new(groups: usize, luns: usize, blocks: i32) -> Self {
        let mut owned = vec![0; groups * luns];
        let mut credits = vec![0; groups * luns];
        owned[..luns].fill(blocks);
        credits[..luns].fill(blocks);
        Space {
            luns,
            group_of: (0..groups).flat_map(|group| vec![group as u8; luns]).collect(),
            owned,
            credits,
            targets: vec![0.0; groups],
            unused: vec![blocks.cast_unsigned(); luns],
        }
    }

    fn is_sound(&self) -> bool {
        self.targets.len() * self.luns == self.owned.len()
    }

    /// The index of a group on a LUN.
    #[inline(always)]
    pub fn subgroup(&self, group: usize, lun: usize) -> usize {
        group * self.luns + lun
    }

    #[inline(always)]
    pub fn group_of(&self, subgroup: usize) -> usize {
        self.group_of[subgroup].into()
    }

    pub fn owned(&self, subgroup: usize) -> i32 {
        self.owned[subgroup]
    }

    pub fn credits(&self, subgroup: usize) -> i32 {
        self.credits[subgroup]
    }

    /// Sets the target blocks of each group on each LUN.
    pub fn set_targets(&mut self, targets: impl Iterator<Item = f64>) {
        self.targets.clear();
        self.targets.extend(targets);
    }

    /// Owned blocks of a group on a LUN minus its target; negative for a deficit.
    pub fn surplus(&self, group: usize, lun: usize) -> f64 {
        f64::from(self.owned[self.subgroup(group, lun)]) - self.targets[group]
    }

    /// Records that a free block was opened for a subgroup, which then has one credit less.
    pub fn open(&mut self, subgroup: usize) {
        self.credits[subgroup] -= 1;
        let unused = &mut self.unused[subgroup % self.luns];
        *unused = unused.saturating_sub(1);
    }

    /// True while a LUN certainly has blocks that were never opened.
    pub fn has_unused(&self, lun: usize) -> bool {
        self.unused[lun] > 0
    }

    /// Records that a block of a subgroup was erased. The block has no owner until
    /// [`Self::give`].
    pub fn take_erased(&mut self, subgroup: usize) {
        self.owned[subgroup] -= 1;
    }

    /// Records that a subgroup now owns a free block that had no owner, and may open it.
    pub fn give(&mut self, subgroup: usize) {
        self.owned[subgroup] += 1;
        self.credits[subgroup] += 1;
    }

    /// Records that a free block of subgroup `from` now belongs to subgroup `to`.
    pub fn pass(&mut self, from: usize, to: usize) {
        self.owned[from] -= 1;
        self.credits[from] -= 1;
        self.give(to);
    }

    /// Adds the counts of subgroup `from` to those of subgroup `into`, and sets the former to 0.
    pub fn merge(&mut self, from: usize, into: usize) {
        self.owned[into] += std::mem::take(&mut self.owned[from]);
        self.credits[into] += std::mem::take(&mut self.credits[from]);
    }
}
