//! Profile of a timed drive, and its interface to the untimed drive.

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

/// Operation on the flash, as the untimed drive reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicalOp {
    Read { page: u32 },
    Program { page: u32, logical: u32, cause: ProgramFor, from: Option<u32> },
    Erase { block: u32 },
}

/// Untimed drive: mapping, placement and collection.
///
/// Its methods return the flash operations that they cause, in order.
pub trait Logical {
    /// Writes a page.
    ///
    /// `hint` is its group or its remaining life, in pages that the host writes. Pages of the
    /// mapping table have no hint.
    fn write(&mut self, page: u32, hint: Option<u64>) -> Vec<LogicalOp>;
    /// Sets the number of programs and erases that each die has to do.
    ///
    /// If the next page may lie on any die, it goes to the one with the fewest.
    fn steer(&mut self, queues: &[usize]);
    /// Records that the host submitted a write with hints on its pages.
    fn note_hinted_write(&mut self);
    fn trim(&mut self, pages: Range<u32>);
    /// Fills up the unit that is begun in a block. Returns None if that is impossible.
    fn pad(&mut self, block: u32, unit_pages: u32) -> Option<Vec<LogicalOp>>;
    /// Collects on an idle LUN. Returns None if that gains no space.
    fn collect_idle(&mut self, lun: usize) -> Option<Vec<LogicalOp>>;
    /// Moves the data of a closed block.
    ///
    /// Returns None if that is impossible, or the block is not closed.
    fn collect_closed(&mut self, block: u32) -> Option<Vec<LogicalOp>>;
    fn physical(&self, logical: u32) -> Option<u32>;
    fn logical_at(&self, physical: u32) -> u32;
    fn free_blocks(&self, lun: usize) -> u32;
    /// Returns the number of pools of free blocks: 1, or the number of LUNs.
    fn pools(&self) -> usize;
    fn erases_of(&self, block: u32) -> u32;
    /// Returns the number of pages that trims have unmapped so far.
    fn unmapped_pages(&self) -> u64;
}

/// Shape and timing of a drive.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // the switches of a profile
pub struct Profile {
    pub channels: u32,
    pub chips_per_channel: u32,
    pub dies_per_chip: u32,
    /// LUNs that collect: 1, or the number of dies.
    pub luns: u32,
    pub blocks: u32,
    /// Mapping units of a block.
    pub pages_per_block: u32,
    /// True if each block spans all dies.
    pub is_superblock: bool,
    pub planes_per_die: u32,
    /// Planes that a block spans on each die.
    pub planes_of_block: u32,
    pub page_bytes: u32,
    pub host_pages: u32,
    /// Pages of the host and of the mapping table.
    pub logical_pages: u32,
    /// Array time in ns of a read, for each kind of flash page in turn.
    pub read_ns: Vec<u64>,
    /// Array time in ns of a program, for each kind of word line in turn.
    pub program_ns: Vec<u64>,
    pub erase_ns: u64,
    /// Standard deviation of each array time, divided by its mean.
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
    /// Planes of a die that read independently; 0 where a die does one read at a time.
    pub reading_planes: u32,
    /// True if each stripe of host pages begins on the die with the fewest waiting programs and
    /// erases.
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
    /// True if hints are times by the host's clock, not groups.
    pub hints_are_times: bool,
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

/// Physical location of a page, from which the durations of its operations follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub die: usize,
    /// Number of preceding program units of its block on that die and plane.
    pub program_index: usize,
    /// Number of preceding flash pages of its block on that die and plane.
    pub page_index: usize,
}

impl Profile {
    pub(super) fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Returns the mapping units of one program.
    pub(super) fn program_units(&self) -> u32 {
        self.page_units() * self.pages_per_word_line
    }

    /// Returns the mapping units of a flash page on the planes that are programmed at once.
    fn page_units(&self) -> u32 {
        self.units_per_flash_page * self.planes_at_once
    }

    /// Returns the mapping units of one read.
    fn read_units(&self) -> u32 {
        if self.reading_planes > 0 { self.units_per_flash_page } else { self.page_units() }
    }

    pub(super) fn block_of(&self, page: u32) -> u32 {
        page / self.pages_per_block
    }

    /// Returns the dies that a block spans.
    pub(super) fn dies_of(&self, block: u32) -> Vec<usize> {
        if self.is_superblock {
            return (0..self.dies() as usize).collect();
        }
        vec![(block / (self.blocks / self.dies())) as usize]
    }

    /// Returns the physical location of a page, by a walk along the program units of its block.
    ///
    /// A block's units go to its dies in turn, and on each die to the planes in turn.
    pub(super) fn place(&self, page: u32) -> Place {
        assert!(
            page < self.first_slc_page(),
            "page {page} is in the SLC cache, which has no blocks"
        );
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

    /// Returns the plane of a page on its die.
    ///
    /// The number of a block of one plane determines its plane. In a block of several planes, units
    /// of one plane go to the planes in turn.
    pub(super) fn plane(&self, page: u32) -> usize {
        let (first_slc_page, planes) = (self.first_slc_page(), self.planes_per_die);
        let is_slc = page >= first_slc_page;
        if planes == 1 {
            return 0;
        }
        if self.planes_at_once > 1 {
            // Each unit is a whole number of flash pages.
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

    /// True if a page is the last of its program unit.
    pub(super) fn is_last_of_program(&self, page: u32) -> bool {
        (page + 1).is_multiple_of(self.program_units())
    }

    /// Returns the number of the read unit of a page.
    pub(super) fn read_unit_of(&self, page: u32) -> u32 {
        page / self.read_units()
    }

    /// True if one read fetches both pages.
    pub(super) fn is_read_at_once(&self, page: u32, other: u32) -> bool {
        page / self.read_units() == other / self.read_units()
    }

    /// Returns the unit of a die that does one operation at a time: the die, or its chip.
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

/// Returns the time of a transfer in ns, at a rate in 10^6 bytes per second.
///
/// At a rate of 0, it takes no time.
pub(super) fn transfer_ns(bytes: u64, mb_s: f64) -> u64 {
    if mb_s == 0.0 { 0 } else { (bytes as f64 * 1e3 / mb_s).round() as u64 }
}
