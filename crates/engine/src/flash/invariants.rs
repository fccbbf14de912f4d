//! Invariants: conditions on the state of a drive that hold between any two host requests.
//! Tests, debug builds and fuzz builds assert them. They are also checked after a state is
//! restored.

use super::{Array, BlockState, Cause, Frontier, NONE};

/// Result of a check; the error names the violated invariant.
type Check = Result<(), String>;

/// Placeholder for the number of written pages of an open block. The loop over the frontiers
/// replaces it, so one that remains is a block without a frontier.
const UNKNOWN: u32 = u32::MAX;

/// Prefetch distance in pages: while one map is checked, entries of the other are prefetched.
const AHEAD: u32 = 32;

fn holds(holds: bool, invariant: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(invariant()) }
}

impl Array {
    /// Asserts what [`Self::check_invariants`] checks.
    ///
    /// # Panics
    /// With the invariant that does not hold.
    pub fn assert_invariants(&self, frontiers: &[Frontier]) {
        if let Err(broken) = self.check_invariants(frontiers) {
            panic!("{broken}");
        }
    }

    /// Checks the whole state for consistency, in time proportional to the drive's size.
    /// The values in tables may be arbitrary; only the sizes of the tables are assumed to be
    /// correct. `frontiers` are the write frontiers of the open blocks; full frontiers are ignored.
    pub fn check_invariants(&self, frontiers: &[Frontier]) -> Check {
        let written = self.written_pages(frontiers)?;
        self.check_maps(&written)?;
        let pages_per_block = u64::from(self.geometry.pages_per_block());
        let mut programmed = 0u64;
        for block in 0..self.geometry.blocks() {
            let index = block as usize;
            let marked: u32 = self.blocks.marks(block).iter().map(|marks| marks.count_ones()).sum();
            holds(marked == self.invalid_pages(block), || {
                format!("number of invalid pages = number of their marks, block {block}")
            })?;
            // Only full blocks are erased, so the total number of programs follows from the erase
            // counts and the pages in the blocks now.
            programmed +=
                u64::from(self.erase_counts[index]) * pages_per_block + u64::from(written[index]);
        }
        let counted = self.counters.flash_pages() + self.counters.skipped_pages;
        holds(counted == programmed, || {
            "counted programs + skipped pages = pages written to the blocks".into()
        })?;
        if let Some(tags) = &self.tags {
            let is_sum = |cause| tags.all_programs(cause) == self.counters.programs(cause);
            holds(Cause::ALL.into_iter().all(is_sum), || {
                "Σ programs of all tags = counted programs, for each cause".into()
            })?;
        }
        let erases: u64 = self.erase_counts.iter().map(|&n| u64::from(n)).sum();
        holds(erases == self.counters.erases, || {
            "counted erases = Σ erase counts of the blocks".into()
        })?;
        self.check_pools(
            BlockState::Free,
            &self.free,
            "the pools of free blocks list each free block once, and no other",
        )?;
        let spares = self.wear.spares();
        self.check_pools(
            BlockState::Spare,
            spares,
            "the lists of spare blocks contain each spare block once, and no other",
        )
    }

    /// Number of written pages of each block. In open blocks, these are the pages before the
    /// frontier.
    fn written_pages(&self, frontiers: &[Frontier]) -> Result<Vec<u32>, String> {
        let pages_per_block = self.geometry.pages_per_block();
        let of_state = |state: &BlockState| match state {
            BlockState::Closed => pages_per_block,
            BlockState::Open => UNKNOWN,
            BlockState::Free | BlockState::Spare | BlockState::Retired => 0,
        };
        let mut written: Vec<u32> = self.states.iter().map(of_state).collect();
        let one_each = || "each open block has exactly one frontier".to_owned();
        for frontier in frontiers {
            let Frontier { next_page, end_page } = *frontier;
            let is_of_a_block = end_page <= self.geometry.physical_pages()
                && end_page.is_multiple_of(pages_per_block)
                && next_page <= end_page
                && end_page - next_page <= pages_per_block;
            holds(is_of_a_block, || "each frontier lies within one block".into())?;
            if frontier.is_full() {
                continue;
            }
            let block = (end_page / pages_per_block - 1) as usize;
            holds(written[block] == UNKNOWN, one_each)?;
            written[block] = pages_per_block - frontier.room_pages();
        }
        holds(!written.contains(&UNKNOWN), one_each)?;
        Ok(written)
    }

    /// Checks that the two maps are inverse on all pages that are written and not marked invalid.
    /// The physical pages are visited in order, so that only one map is accessed at random.
    fn check_maps(&self, written: &[u32]) -> Check {
        let pages_per_block = self.geometry.pages_per_block();
        let mut valid_pages = 0u64;
        for (block, &written) in (0..).zip(written) {
            let end = block * pages_per_block + written;
            let first = block * pages_per_block;
            let marks = self.blocks.marks(block);
            for (page, place) in (first..).zip(0..pages_per_block) {
                if let Some(&ahead) = self.physical_to_logical.get((page + AHEAD) as usize)
                    && ahead < self.logical_pages()
                {
                    self.prefetch_map(ahead);
                }
                let is_marked = marks[place as usize / 64] >> (place % 64) & 1 == 1;
                if page >= end {
                    holds(!is_marked, || "only written pages are invalid".into())?;
                } else if !is_marked {
                    let logical = self.physical_to_logical[page as usize];
                    let back = self.logical_to_physical.get(logical as usize);
                    holds(back == Some(&page), || {
                        "each valid physical page belongs to one logical page".into()
                    })?;
                    valid_pages += 1;
                }
            }
        }
        let mapped = self.logical_to_physical.iter().filter(|page| **page != NONE).count() as u64;
        holds(mapped == valid_pages, || "a mapped page is not marked invalid".into())?;
        holds(mapped == u64::from(self.mapped_pages), || {
            "counted mapped pages = pages in the mapping table".into()
        })
    }

    /// Checks that each block in `state` is listed in its pool exactly once.
    fn check_pools(&self, state: BlockState, pools: &[Vec<u32>], invariant: &str) -> Check {
        let mut unlisted: Vec<bool> = self.states.iter().map(|of| *of == state).collect();
        for (pool, blocks) in pools.iter().enumerate() {
            let own = self.blocks_of(pool);
            for block in blocks {
                let is_listed =
                    own.contains(block) && std::mem::take(&mut unlisted[*block as usize]);
                holds(is_listed, || invariant.into())?;
            }
        }
        holds(!unlisted.contains(&true), || invariant.into())
    }
}
