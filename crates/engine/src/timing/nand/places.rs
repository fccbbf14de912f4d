//! Places of pages: the die, plane and program unit that determine their timing.

use crate::flash::{Divider, EraseUnit, Geometry};
use crate::timing::params::{PlaneReads, Timing};

/// Place of a program unit: its die, and its position in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Die of the drive: channel + channels · (chip + chips per channel · die of the chip).
    pub die: u32,
    /// Number of program units that precede it in its block on that die.
    pub program_index: u32,
    /// Number of flash pages that precede it in its block on that die and plane.
    pub page_index: u32,
}

/// Divisor with a precomputed fast division.
#[derive(Debug, Clone, Copy)]
struct Divisor {
    value: u32,
    /// Fast division, or None for the divisor 1.
    divider: Option<Divider>,
}

impl Divisor {
    fn new(value: u32) -> Self {
        Divisor { value, divider: (value > 1).then(|| Divider::new(value)) }
    }

    #[inline(always)]
    fn quotient(self, n: u32) -> u32 {
        self.divider.map_or(n, |divider| divider.divide(n))
    }

    /// Divides a number, and returns quotient and remainder.
    #[inline(always)]
    fn divide(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n);
        (quotient, n - quotient * self.value)
    }
}

/// Dies and program units of a geometry.
///
/// A block is filled program unit by program unit. Within a unit, mapping units fill a flash page,
/// then flash pages fill the planes in turn, and then the pages of a word line. Program units of a
/// superblock are on the dies in turn.
#[derive(Debug, Clone)]
pub struct Places {
    pages_per_block: Divisor,
    blocks_per_lun: Divisor,
    /// Number of dies of a block.
    dies_per_block: Divisor,
    program_units: Divisor,
    /// Mapping units (pages of the map) in a flash page, on all planes programmed together.
    page_units: Divisor,
    /// Number of mapping units that one array read fetches.
    read_units: Divisor,
    flash_page_units: Divisor,
    planes_at_once: u32,
    planes_per_die: u32,
    erase_unit: EraseUnit,
    pages_per_word_line: u32,
    /// Number of groups of planes that are programmed in turn at the same page of a block.
    planes_in_turn: Divisor,
    /// Number of dies of the drive.
    pub dies: u32,
    /// Number of channels of the drive.
    pub channels: u32,
    /// Number of chips of the drive.
    pub chips: u32,
}

impl Places {
    /// Builds the places of a drive whose timing was checked against its geometry.
    pub fn new(timing: &Timing, geometry: &Geometry) -> Self {
        let shape = geometry.shape();
        let dies = timing.dies(geometry) as u32;
        let planes = timing.program.planes;
        let flash_page_units = timing.units_per_flash_page(geometry);
        let page_units = Divisor::new(flash_page_units * planes);
        Places {
            pages_per_block: Divisor::new(geometry.pages_per_block()),
            blocks_per_lun: Divisor::new(geometry.blocks_per_lun()),
            dies_per_block: Divisor::new(match shape.erase_unit {
                EraseUnit::Superblock => dies,
                EraseUnit::Block | EraseUnit::MultiPlane => 1,
            }),
            program_units: Divisor::new(timing.program_units(geometry)),
            read_units: match timing.scheduling.plane_reads {
                PlaneReads::Together => page_units,
                PlaneReads::Independent => Divisor::new(flash_page_units),
            },
            page_units,
            flash_page_units: Divisor::new(flash_page_units),
            planes_at_once: planes,
            planes_per_die: shape.planes_per_die,
            erase_unit: shape.erase_unit,
            pages_per_word_line: timing.program.pages_per_word_line,
            planes_in_turn: Divisor::new(match shape.erase_unit {
                EraseUnit::Block => 1,
                EraseUnit::MultiPlane | EraseUnit::Superblock => shape.planes_per_die / planes,
            }),
            dies,
            channels: shape.channels,
            chips: shape.channels * shape.chips_per_channel,
        }
    }

    /// Number of mapping units per program operation.
    #[inline(always)]
    pub fn program_units(&self) -> u32 {
        self.program_units.value
    }

    /// Number of mapping units per block.
    #[inline(always)]
    pub fn pages_per_block(&self) -> u32 {
        self.pages_per_block.value
    }

    /// Block of a page, and the page's offset in it.
    #[inline(always)]
    pub fn block_of(&self, page: u32) -> (u32, u32) {
        self.pages_per_block.divide(page)
    }

    /// Number of the array read that fetches a page; equal for pages fetched together.
    #[inline(always)]
    pub fn read_of(&self, page: u32) -> u32 {
        self.read_units.quotient(page)
    }

    /// Place of the program unit of a page.
    #[inline(always)]
    pub fn of(&self, page: u32) -> Place {
        let (block, offset) = self.block_of(page);
        let (program, within) = self.program_units.divide(offset);
        let (die, program_index) = if self.dies_per_block.value == 1 {
            (self.blocks_per_lun.quotient(block), program)
        } else {
            let (program_index, die) = self.dies_per_block.divide(program);
            (die, program_index)
        };
        let program_index = self.planes_in_turn.quotient(program_index);
        let page_index =
            program_index * self.pages_per_word_line + self.page_units.quotient(within);
        Place { die, program_index, page_index }
    }

    /// Plane of a page, within its die.
    pub fn plane_of(&self, page: u32) -> u32 {
        let (block, offset) = self.block_of(page);
        let (program, within) = self.program_units.divide(offset);
        if self.erase_unit == EraseUnit::Block {
            block % self.blocks_per_lun.value % self.planes_per_die
        } else if self.planes_at_once > 1 {
            self.flash_page_units.quotient(within) % self.planes_at_once
        } else {
            self.dies_per_block.quotient(program) % self.planes_per_die
        }
    }

    /// Plane of a page of the SLC cache, within its die.
    /// `unit` is the number of its program unit on that die, and `within` the page's index in the
    /// unit.
    pub fn slc_plane_of(&self, unit: u32, within: u32) -> u32 {
        if self.planes_at_once > 1 {
            self.flash_page_units.quotient(within)
        } else {
            unit % self.planes_per_die
        }
    }

    /// Range of the dies over which the pages of a block are spread.
    pub fn dies_of(&self, block: u32) -> std::ops::Range<u32> {
        if self.dies_per_block.value == 1 {
            let die = self.blocks_per_lun.quotient(block);
            die..die + 1
        } else {
            0..self.dies_per_block.value
        }
    }

    /// Channel of a die. Consecutive dies are on different channels.
    #[inline(always)]
    pub fn channel_of(&self, die: u32) -> u32 {
        die % self.channels
    }

    /// Number of the chip that contains a die.
    pub fn chip_of(&self, die: u32) -> u32 {
        die % self.chips
    }
}
