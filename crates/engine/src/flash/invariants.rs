//! What must hold between any two host requests; asserted by tests, and by debug and fuzz builds.

use super::{Array, BlockState, Frontier, NONE};

impl Array {
    /// Checks the whole state against itself, in time proportional to the drive. `frontiers` are
    /// those of the open blocks; full ones are passed over.
    ///
    /// # Panics
    /// With the invariant that does not hold.
    pub fn assert_invariants(&self, frontiers: &[Frontier]) {
        let pages_per_block = self.geometry.pages_per_block();
        let open: Vec<&Frontier> = frontiers.iter().filter(|f| !f.is_full()).collect();
        let room_pages = |block| {
            let behind = |f: &&&Frontier| (f.end_page - 1) / pages_per_block == block;
            open.iter().find(behind).map_or(0, |f| f.room_pages())
        };

        let mut valid_in_blocks = vec![0u32; self.geometry.blocks() as usize];
        let mut mapped = 0u32;
        for (logical, &page) in self.logical_to_physical.iter().enumerate() {
            if page == NONE {
                continue;
            }
            mapped += 1;
            assert_eq!(
                self.physical_to_logical[page as usize], logical as u32,
                "each valid physical page belongs to one logical page"
            );
            assert_eq!(
                self.invalid[page as usize / 64] >> (page % 64) & 1,
                0,
                "a mapped page is not marked invalid"
            );
            valid_in_blocks[(page / pages_per_block) as usize] += 1;
        }
        assert_eq!(mapped, self.mapped_pages, "Σ valid = mapped logical pages");

        let mut programmed = 0u64;
        for block in 0..self.geometry.blocks() {
            let index = block as usize;
            let written = match self.states[index] {
                BlockState::Free | BlockState::Spare | BlockState::Retired => 0,
                BlockState::Open => pages_per_block - room_pages(block),
                BlockState::Closed => pages_per_block,
            };
            let marked = (block * pages_per_block..(block + 1) * pages_per_block)
                .filter(|p| self.invalid[*p as usize / 64] >> (p % 64) & 1 == 1)
                .count() as u32;
            assert_eq!(
                marked, self.invalid_pages[index],
                "invalid count = invalid marks, block {block}"
            );
            assert_eq!(
                written,
                valid_in_blocks[index] + self.invalid_pages[index],
                "written = valid + invalid, block {block}"
            );
            // Only full blocks are erased, so wear alone tells how much was ever programmed.
            programmed += u64::from(self.erase_counts[index]) * u64::from(pages_per_block)
                + u64::from(written);
        }
        assert_eq!(
            programmed,
            self.counters.flash_pages() + self.counters.skipped_pages,
            "programs = host + every named cause"
        );
        assert_eq!(
            self.erase_counts.iter().map(|&n| u64::from(n)).sum::<u64>(),
            self.counters.erases,
            "erases = Σ erase counts"
        );

        let count = |state| self.states.iter().filter(|s| **s == state).count();
        let free: usize = self.free.iter().map(Vec::len).sum();
        assert_eq!(free, count(BlockState::Free), "the free pools hold the free blocks");
        assert_eq!(open.len(), count(BlockState::Open), "each open block has one frontier");
        let spares: usize = self.wear.spares().iter().map(Vec::len).sum();
        assert_eq!(spares, count(BlockState::Spare), "the spare blocks are those set aside");
    }
}
