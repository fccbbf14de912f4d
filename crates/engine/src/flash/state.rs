//! Saved state of a drive: all data of its array that does not follow from its shape.

use super::{Array, BlockState, Flash, Frontier, Tap};
use crate::error::Result;
use crate::state::{Element, MOST_PLAUSIBLE, Reader, State, Writer, elements, require, state};

state! {
    Array {
        fixed geometry,
        table logical_to_physical,
        table physical_to_logical,
        nested blocks,
        table erase_counts,
        table states,
        lists free,
        fixed blocks_per_pool,
        value mapped_pages,
        value counters,
        nested wear,
        nested tags,
    }
}

elements!(Frontier { next_page: u32, end_page: u32 });

impl Element for BlockState {
    const BYTES: usize = 1;

    fn put(self, bytes: &mut [u8]) {
        (self as u8).put(bytes);
    }

    fn get(bytes: &[u8]) -> Option<Self> {
        const ALL: [BlockState; 5] = [
            BlockState::Free,
            BlockState::Open,
            BlockState::Closed,
            BlockState::Spare,
            BlockState::Retired,
        ];
        ALL.into_iter().find(|state| *state as u8 == bytes[0])
    }
}

/// Saved state of the flash.
/// A drive is saved only between two requests, when no erase is left to report. The observer is not
/// saved.
impl<T: Tap> State for Flash<T> {
    fn save(&self, to: &mut Writer) {
        self.array.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.array.restore(from)
    }
}

impl Array {
    /// Checks that a restored array is a state that a drive with these `frontiers` can reach.
    /// The values in its tables may be arbitrary; only the sizes of the tables are assumed to be
    /// correct.
    pub fn check(&self, frontiers: &[Frontier]) -> Result<()> {
        let end = self.wear.end_of_life();
        let has_all = end.is_none_or(|end| end.erase_counts.len() == self.states.len());
        require(has_all, "the erase counts at the end of life")?;
        let is_plausible = self.erase_counts.iter().all(|&erases| erases < u32::MAX / 2)
            && self.counters.is_plausible()
            && self.wear.migrated_pages.iter().all(|&pages| pages < MOST_PLAUSIBLE);
        require(is_plausible, "a counter")?;
        self.check_invariants(frontiers).map_err(|broken| crate::state::contradiction(&broken))
    }

    /// Physical page of each logical page, or [`super::NONE`].
    pub fn map(&self) -> &[u32] {
        &self.logical_to_physical
    }
}
