//! Census of candidates: checks that a restored victim policy has exactly the right blocks.

use crate::error::Result;
use crate::flash::Blocks;
use crate::state::require;

/// Candidates of one collection domain, each of which must be counted once.
#[derive(Debug)]
pub struct Census<'a> {
    /// For each block of the drive: true for a candidate that was not counted yet.
    uncounted: Vec<bool>,
    /// Block records, which contain the invalid pages of each block.
    blocks: &'a Blocks,
    now: u64,
}

impl<'a> Census<'a> {
    /// Starts a census of the blocks marked in `are_candidates`, at clock `now`.
    pub fn new(are_candidates: Vec<bool>, blocks: &'a Blocks, now: u64) -> Self {
        Census { uncounted: are_candidates, blocks, now }
    }

    /// Clock of the restored drive: host pages written.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Counts `block` and returns its invalid pages. Returns an error if it is not a candidate.
    pub fn count(&mut self, block: u32) -> Result<u32> {
        let uncounted = self.uncounted.get_mut(block as usize);
        require(
            uncounted.is_some_and(std::mem::take),
            "a block that is a candidate for collection",
        )?;
        Ok(self.blocks.invalid_pages(block))
    }

    /// Counts each of `blocks`. Returns an error if one of them is not a candidate.
    pub fn count_all<'b>(&mut self, blocks: impl IntoIterator<Item = &'b u32>) -> Result<()> {
        blocks.into_iter().try_for_each(|&block| self.count(block).map(drop))
    }

    /// Returns an error if a candidate was not counted.
    pub fn finish(self) -> Result<()> {
        require(!self.uncounted.contains(&true), "the candidates for collection")
    }
}
