//! Census of candidates: the blocks that a restored victim policy must choose among.

use crate::error::Result;
use crate::flash::Blocks;
use crate::state::require;

/// The candidates of one collection domain, of which each is to be counted once.
#[derive(Debug)]
pub struct Census<'a> {
    /// Whether each block of the drive is a candidate that has not been counted yet.
    uncounted: Vec<bool>,
    /// Invalid pages of each block of the drive.
    blocks: &'a Blocks,
    now: u64,
}

impl<'a> Census<'a> {
    /// Begins a census of the blocks that `are_candidates`, at a clock of `now`.
    pub fn new(are_candidates: Vec<bool>, blocks: &'a Blocks, now: u64) -> Self {
        Census { uncounted: are_candidates, blocks, now }
    }

    /// Host pages written.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Counts `block`; returns its invalid pages.
    pub fn count(&mut self, block: u32) -> Result<u32> {
        let uncounted = self.uncounted.get_mut(block as usize);
        require(uncounted.is_some_and(std::mem::take), "a candidate for collection")?;
        Ok(self.blocks.invalid_pages(block))
    }

    /// Counts `blocks`.
    pub fn count_all<'b>(&mut self, blocks: impl IntoIterator<Item = &'b u32>) -> Result<()> {
        blocks.into_iter().try_for_each(|&block| self.count(block).map(drop))
    }

    /// An error if a candidate was not counted.
    pub fn finish(self) -> Result<()> {
        require(!self.uncounted.contains(&true), "the candidates for collection")
    }
}
