//! Operations on the blocks of an SLC cache.
//! Pages of the cache are numbered after all other flash pages.

use super::ops::{Kind, NONE, OpId, Waiter};
use super::{Nand, Schedule};
use crate::timing::slc::SlcBlocks;

/// Blocks of an SLC cache, with the erase counts of their rows.
#[derive(Debug)]
pub struct SlcArray {
    blocks: SlcBlocks,
    /// Number of requested erases of each row, which has one block on each die.
    pub erases: Vec<u32>,
}

impl SlcArray {
    /// Builds the blocks of a cache that were never erased.
    pub fn new(blocks: SlcBlocks) -> Self {
        SlcArray { erases: vec![0; blocks.most_rows as usize], blocks }
    }
}

impl Nand {
    /// True if the page belongs to the SLC cache.
    #[inline(always)]
    pub fn is_slc(&self, page: u32) -> bool {
        page >= self.first_slc_page
    }

    fn slc(&self) -> &SlcArray {
        self.slc.as_ref().expect("the drive has an SLC cache")
    }

    fn slc_die(&self, page: u32) -> u32 {
        let SlcBlocks { unit_pages, dies, .. } = self.slc().blocks;
        (page - self.first_slc_page) / unit_pages % dies
    }

    /// Plane of a page within its die, in the SLC cache or the other flash.
    pub(super) fn plane_of(&self, page: u32) -> u32 {
        if !self.is_slc(page) {
            return self.places.plane_of(page);
        }
        let SlcBlocks { unit_pages, dies, .. } = self.slc().blocks;
        let offset = page - self.first_slc_page;
        self.places.slc_plane_of(offset / unit_pages / dies, offset % unit_pages)
    }

    /// Number of requested erases of the row that contains a page.
    #[cold]
    pub(super) fn slc_erases(&self, page: u32) -> u32 {
        let slc = self.slc();
        slc.erases[((page - self.first_slc_page) / slc.blocks.row_pages) as usize]
    }

    /// Adds a read of the flash page that contains `page` of the cache, to be submitted later.
    #[cold]
    pub(super) fn add_slc_read(&mut self, page: u32) -> OpId {
        let die = self.slc_die(page);
        let array_ns = self.durations.slc_read_ns();
        self.counts.reads += 1;
        self.ops.add(Kind::Read, die, page, array_ns)
    }

    /// Adds a program of the unit that begins at `page` of the cache, to be filled and submitted.
    pub fn add_slc_program(&mut self, page: u32) -> OpId {
        let (die, pages) = (self.slc_die(page), self.slc().blocks.unit_pages);
        let array_ns = self.durations.slc_program_ns();
        self.counts.programs += 1;
        let op = self.ops.add(Kind::Program, die, page, array_ns);
        let erases_before = self.slc_erases(page);
        let entry = self.ops.get_mut(op);
        (entry.needed, entry.erases_before) = (pages, erases_before);
        op
    }

    /// Erases the blocks of a row on all dies, after all programs submitted to other blocks.
    /// Among these programs are those that copy the row's data to other blocks.
    pub fn erase_slc_row(&mut self, row: u32, events: &mut Schedule) {
        let programs = self.last_program.clone();
        let slc = self.slc.as_mut().expect("a row is erased only on a drive with an SLC cache");
        slc.erases[row as usize] += 1;
        for die in 0..slc.blocks.dies {
            let array_ns = self.durations.slc_erase_ns();
            self.counts.erases += 1;
            let erase = self.ops.add(Kind::Erase, die, row, array_ns);
            for (other, &program) in (0..).zip(&programs) {
                if other != die && program != NONE {
                    self.ops.add_waiter(program, Waiter::Op(erase));
                }
            }
            self.submit(erase, events);
        }
    }
}
