//! Profile of a timed drive, and the interface to the untimed drive behind it.

use std::ops::Range;

use super::errors::ErrorTable;

/// Cause of a program of a page, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFor {
    Host,
    Gc,
    WearLeveling,
    Padding,
    ReadModifyWrite,
    Mapping,
    Refresh,
    Slc,
    Folding,
}

/// Operation on the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicalOp {
    Read { page: u32 },
    Program { page: u32, cause: ProgramFor, from: Option<u32> },
    Erase { block: u32 },
}

/// The books of a drive, which know no time. What they are asked to do, they report in order.
pub trait Logical {
    /// Writes a page, with the hint on it: a group, or for how many pages it will live still.
    /// There is none on pages of the mapping table.
    fn write(&mut self, page: u32, hint: Option<u64>) -> Vec<LogicalOp>;
    /// Hears how many programs and erases each die has to do, of which the page that is written
    /// next, if it may lie on any, wants the fewest.
    fn steer(&mut self, queues: &[usize]);
    /// Hears that the host has asked for a write, and said something of its pages.
    fn hear(&mut self);
    fn trim(&mut self, pages: Range<u32>);
    /// Fills up the unit that is begun in a block; `None` if that cannot be.
    fn pad(&mut self, block: u32, unit_pages: u32) -> Option<Vec<LogicalOp>>;
    /// Collects on an idle LUN; `None` if there is nothing to gain.
    fn collect_idle(&mut self, lun: usize) -> Option<Vec<LogicalOp>>;
    /// Moves the data of a closed block; `None` if it cannot, or the block is not closed.
    fn collect_closed(&mut self, block: u32) -> Option<Vec<LogicalOp>>;
    fn physical(&self, logical: u32) -> Option<u32>;
    fn logical_at(&self, physical: u32) -> u32;
    fn free_blocks(&self, lun: usize) -> u32;
    /// Pools of free blocks: one, or as many as LUNs.
    fn pools(&self) -> usize;
    fn erases_of(&self, block: u32) -> u32;
    /// Pages that trims have unmapped so far.
    fn unmapped_pages(&self) -> u64;
}

/// A drive: its shape, and everything that takes time.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // the switches of a profile
pub struct Profile {
    pub channels: u32,
    pub chips_per_channel: u32,
    pub dies_per_chip: u32,
    /// LUNs that collect: one, or as many as dies.
    pub luns: u32,
    pub blocks: u32,
    /// Mapping units of a block.
    pub pages_per_block: u32,
    /// True if a block lies on all dies.
    pub is_superblock: bool,
    pub planes_per_die: u32,
    /// Planes that a block lies on.
    pub planes_of_block: u32,
    pub page_bytes: u32,
    pub host_pages: u32,
    /// Pages of the host and of the mapping table.
    pub logical_pages: u32,
    /// By kind of page in turn.
    pub read_ns: Vec<u64>,
    pub program_ns: Vec<u64>,
    pub erase_ns: u64,
    /// Standard deviation over mean of all durations of the array.
    pub spread: f64,
    pub units_per_flash_page: u32,
    pub planes_at_once: u32,
    pub pages_per_word_line: u32,
    pub cache_program: bool,
    pub channel_mb_s: f64,
    pub read_command_ns: u64,
    pub program_command_ns: u64,
    pub erase_command_ns: u64,
    pub die_interleaving: bool,
    pub commands_first: bool,
    pub link_mb_s: f64,
    pub link_packet_bytes: u64,
    pub full_duplex: bool,
    pub read_in_ns: u64,
    pub write_in_ns: u64,
    pub out_ns: u64,
    pub controller_ns: u64,
    pub read_modify_write: bool,
    pub reads_first: bool,
    pub suspend: bool,
    pub suspend_ns: u64,
    pub resume_ns: u64,
    pub most_suspends: u32,
    pub copies_yield: bool,
    pub most_wait_ns: u64,
    /// Planes of a die that read for themselves; none where it does one read at a time.
    pub reading_planes: u32,
    /// True if a stripe of the host's pages begins on the die with the fewest programs and erases
    /// to do.
    pub to_shortest_queue: bool,
    pub background: bool,
    pub soft_blocks: u32,
    pub hard_blocks: u32,
    pub paced: bool,
    pub cache_bytes: u64,
    pub cache_access_ns: u64,
    pub cache_mb_s: f64,
    pub cache_holds_reads: bool,
    pub idle_flush_ns: u64,
    pub power_safe: bool,
    pub map_bytes: u64,
    pub map_entry_bytes: u32,
    pub map_segment_bytes: u32,
    pub reads_per_block: u32,
    pub retention_ns: u64,
    /// True if the hints on pages are times by the host's clock, not groups.
    pub hears_times: bool,
    pub slc_static_bytes: u64,
    pub slc_dynamic_share: f64,
    pub slc_bits_per_cell: u32,
    pub slc_read_ns: u64,
    pub slc_program_ns: u64,
    pub slc_erase_ns: u64,
    pub slc_folds_when_full: bool,
    pub slc_watermark: f64,
    pub slc_idle_ns: u64,
    pub slc_direct_bytes: u64,
    pub errors: Option<ErrorTable>,
}

/// Place of a page, as far as time depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub die: usize,
    /// Program units of its block on that die and plane that come before it.
    pub program_index: usize,
    /// Flash pages of its block on that die and plane that come before it.
    pub page_index: usize,
}

impl Profile {
    pub(super) fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Mapping units that one program writes.
    pub(super) fn program_units(&self) -> u32 {
        self.page_units() * self.pages_per_word_line
    }

    /// Mapping units of a flash page on the planes that are programmed at once.
    fn page_units(&self) -> u32 {
        self.units_per_flash_page * self.planes_at_once
    }

    /// Mapping units that one read fetches.
    fn read_units(&self) -> u32 {
        if self.reading_planes > 0 { self.units_per_flash_page } else { self.page_units() }
    }

    pub(super) fn block_of(&self, page: u32) -> u32 {
        page / self.pages_per_block
    }

    /// The dies that a block lies on.
    pub(super) fn dies_of(&self, block: u32) -> Vec<usize> {
        if self.is_superblock {
            return (0..self.dies() as usize).collect();
        }
        vec![(block / (self.blocks / self.dies())) as usize]
    }

    /// Returns the place of a page by a walk along its block, unit by unit. A block's units go to
    /// its dies in turn, and on each die to the planes in turn.
    pub(super) fn place(&self, page: u32) -> Place {
        assert!(page < self.first_slc_page(), "pages of the SLC cache lie elsewhere");
        let dies = self.dies_of(self.block_of(page));
        let offset = page % self.pages_per_block;
        let planes = (self.planes_of_block / self.planes_at_once) as usize;
        let mut units_on = vec![0; dies.len()];
        let (mut first, mut turn) = (0, 0);
        while first + self.program_units() <= offset {
            units_on[turn] += 1;
            turn = (turn + 1) % dies.len();
            first += self.program_units();
        }
        let program_index = units_on[turn] / planes;
        let pages_before = program_index * self.pages_per_word_line as usize;
        let within = ((offset - first) / self.page_units()) as usize;
        Place { die: dies[turn], program_index, page_index: pages_before + within }
    }

    /// Plane of its die that a page lies on.
    /// A block of one plane lies on that of its number; units of one plane go to them in turn.
    pub(super) fn plane(&self, page: u32) -> usize {
        let (first_slc_page, planes) = (self.first_slc_page(), self.planes_per_die);
        let is_slc = page >= first_slc_page;
        if planes == 1 {
            return 0;
        }
        if self.planes_at_once > 1 {
            // All units are whole numbers of such pages.
            return (page / self.units_per_flash_page % planes) as usize;
        }
        let on_die = if is_slc {
            (page - first_slc_page) / self.slc_unit_pages() / self.dies()
        } else if self.planes_of_block == 1 {
            self.block_of(page) % (self.blocks / self.dies())
        } else {
            let dies = self.dies_of(self.block_of(page)).len() as u32;
            page % self.pages_per_block / self.program_units() / dies
        };
        (on_die % planes) as usize
    }

    /// True if the unit of a page is complete with it.
    pub(super) fn is_last_of_program(&self, page: u32) -> bool {
        (page + 1).is_multiple_of(self.program_units())
    }

    /// The number of what one read fetches with a page.
    pub(super) fn read_unit_of(&self, page: u32) -> u32 {
        page / self.read_units()
    }

    /// True if one read fetches both pages.
    pub(super) fn is_read_at_once(&self, one: u32, other: u32) -> bool {
        one / self.read_units() == other / self.read_units()
    }

    /// Returns the unit of a die that works at one operation at a time: a die, or a chip.
    pub(super) fn unit_of(&self, die: usize) -> usize {
        let chips = (self.channels * self.chips_per_channel) as usize;
        if self.die_interleaving { die } else { die % chips }
    }

    pub(super) fn units(&self) -> usize {
        (self.channels
            * self.chips_per_channel
            * if self.die_interleaving { self.dies_per_chip } else { 1 }) as usize
    }
}

/// Time of a transfer at a rate in 10^6 bytes a second, 0 of which takes none.
pub(super) fn transfer_ns(bytes: u64, mb_s: f64) -> u64 {
    if mb_s == 0.0 { 0 } else { (bytes as f64 * 1e3 / mb_s).round() as u64 }
}
