//! The shape of a drive: channels × chips × dies × planes × blocks × pages.

use crate::error::{Error, Result};

/// Unit that one erase operation clears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraseUnit {
    /// A flash block of one plane.
    Block,
    /// Blocks of the same index in all planes of a die, programmed and erased by multi-plane
    /// commands.
    MultiPlane,
    /// Blocks of the same index in all planes of the drive, erased together (paper 1, §4.1).
    Superblock,
}

impl EraseUnit {
    const ALL: [(&str, EraseUnit); 3] = [
        ("block", EraseUnit::Block),
        ("multi-plane", EraseUnit::MultiPlane),
        ("superblock", EraseUnit::Superblock),
    ];

    /// Erase unit with this name.
    pub fn named(name: &str) -> Result<Self> {
        let unit = Self::ALL.iter().find(|(word, _)| *word == name).map(|(_, unit)| *unit);
        unit.ok_or_else(|| Error::unknown("erase unit", name, &Self::ALL.map(|(word, _)| word)))
    }
}

/// Physical shape of a drive, as in a data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of channels of the drive.
    pub channels: u32,
    /// Number of chips on each channel.
    pub chips_per_channel: u32,
    /// Number of dies in each chip.
    pub dies_per_chip: u32,
    /// Number of planes of each die.
    pub planes_per_die: u32,
    /// Number of flash blocks of each plane.
    pub blocks_per_plane: u32,
    /// Number of pages of a flash block of one plane.
    pub pages_per_block: u32,
    /// Number of bytes of a page. The logical→physical map has one entry per page.
    pub page_bytes: u32,
    /// Unit that one erase clears. Everywhere else in the engine, "block" means this unit.
    pub erase_unit: EraseUnit,
}

/// Physical address of a page.
/// Consecutive pages of a superblock lie on consecutive dies, so that a sequential write uses all
/// dies. Consecutive pages of a multi-plane erase unit lie on the planes of its die in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// Index of the channel in the drive.
    pub channel: u32,
    /// Index of the chip on its channel.
    pub chip: u32,
    /// Index of the die in its chip.
    pub die: u32,
    /// Index of the plane in its die.
    pub plane: u32,
    /// Index of the flash block in its plane.
    pub block: u32,
    /// Index of the page in its flash block.
    pub page: u32,
}

/// Validated shape of a drive. Its `block` is the erase unit, as everywhere in the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    shape: Shape,
    blocks: u32,
    pages_per_block: u32,
    luns: u32,
    stripe_pages: u32,
}

impl Geometry {
    /// Largest number of physical pages of a drive.
    /// Page numbers have 32 bits, and one value means "none".
    pub const MAX_PAGES: u64 = u32::MAX as u64;

    /// Default page size in bytes, which is the mapping granularity of most drives.
    pub const PAGE_BYTES: u32 = 4096;

    /// Validates a shape and builds its geometry.
    pub fn new(shape: Shape) -> Result<Self> {
        let named = [
            ("channels", shape.channels),
            ("chips_per_channel", shape.chips_per_channel),
            ("dies_per_chip", shape.dies_per_chip),
            ("planes_per_die", shape.planes_per_die),
            ("blocks_per_plane", shape.blocks_per_plane),
        ];
        if let Some((name, _)) = named.iter().find(|(_, n)| *n == 0) {
            return Err(Error::Geometry(format!("{name} is 0; it must be at least 1")));
        }
        if shape.page_bytes == 0 {
            return Err(Error::Geometry("page_bytes is 0; it must be at least 1".into()));
        }
        if shape.pages_per_block < 2 {
            return Err(Error::Geometry(format!(
                "pages_per_block is {}; it must be at least 2",
                shape.pages_per_block
            )));
        }
        let product = |factors: &[u32]| factors.iter().map(|&f| u128::from(f)).product::<u128>();
        let dies = product(&[shape.channels, shape.chips_per_channel, shape.dies_per_chip]);
        let planes = dies * u128::from(shape.planes_per_die);
        let pages = planes * u128::from(shape.blocks_per_plane) * u128::from(shape.pages_per_block);
        if pages > u128::from(Self::MAX_PAGES) {
            return Err(Error::Geometry(format!(
                "the drive would have {pages} physical pages; at most {} fit a 32-bit page number, \
                 so use larger pages or fewer blocks",
                Self::MAX_PAGES
            )));
        }
        // Each product below is a divisor of `pages`, so it fits in 32 bits.
        let (blocks, pages_per_block, luns) = match shape.erase_unit {
            EraseUnit::Block => {
                (planes as u32 * shape.blocks_per_plane, shape.pages_per_block, dies as u32)
            }
            EraseUnit::MultiPlane => (
                dies as u32 * shape.blocks_per_plane,
                shape.planes_per_die * shape.pages_per_block,
                dies as u32,
            ),
            EraseUnit::Superblock => {
                (shape.blocks_per_plane, planes as u32 * shape.pages_per_block, 1)
            }
        };
        Ok(Geometry { shape, blocks, pages_per_block, luns, stripe_pages: 1 })
    }

    /// Builds a drive of one LUN with `blocks` blocks: the default, and the assumption of the
    /// papers' models.
    pub fn flat(blocks: u32, pages_per_block: u32) -> Result<Self> {
        Self::new(Shape {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: blocks,
            pages_per_block,
            page_bytes: Self::PAGE_BYTES,
            erase_unit: EraseUnit::Block,
        })
    }

    /// Sets the stripe: writes striped over the LUNs go to the next LUN after `stripe_pages`
    /// pages. A stripe has the pages of one program operation. `stripe_pages` must divide the pages
    /// of a block.
    pub fn striped_by(self, stripe_pages: u32) -> Result<Self> {
        if stripe_pages == 0 || !self.pages_per_block.is_multiple_of(stripe_pages) {
            return Err(Error::Geometry(format!(
                "the stripe has {stripe_pages} pages; it must divide the pages of a block, {}",
                self.pages_per_block
            )));
        }
        Ok(Geometry { stripe_pages, ..self })
    }

    /// Pages of a stripe, after which writes go to the next LUN.
    pub fn stripe_pages(&self) -> u32 {
        self.stripe_pages
    }

    /// Shape that this geometry was built from, which was validated.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of erase units in the drive.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Number of pages per erase unit.
    pub fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }

    /// Number of bytes of a page.
    pub fn page_bytes(&self) -> u32 {
        self.shape.page_bytes
    }

    /// Number of physical pages of the drive.
    pub fn physical_pages(&self) -> u32 {
        self.blocks * self.pages_per_block
    }

    /// Number of LUNs, which program and erase independently: the dies, or 1 for superblocks.
    pub fn luns(&self) -> u32 {
        self.luns
    }

    /// Erase units per LUN. The erase units of one LUN have consecutive numbers.
    pub fn blocks_per_lun(&self) -> u32 {
        self.blocks / self.luns
    }

    /// Address of physical page `page`.
    pub fn address(&self, page: u32) -> Address {
        let s = &self.shape;
        let (unit, offset) = (page / self.pages_per_block, page % self.pages_per_block);
        let (die, plane, block, page) = match s.erase_unit {
            EraseUnit::Block => {
                let (die, index) = (unit / self.blocks_per_lun(), unit % self.blocks_per_lun());
                (die, index % s.planes_per_die, index / s.planes_per_die, offset)
            }
            EraseUnit::MultiPlane => {
                let (die, block) = (unit / self.blocks_per_lun(), unit % self.blocks_per_lun());
                (die, offset % s.planes_per_die, block, offset / s.planes_per_die)
            }
            EraseUnit::Superblock => {
                let planes = self.pages_per_block / s.pages_per_block;
                let (plane, page) = (offset % planes, offset / planes);
                let dies = planes / s.planes_per_die;
                (plane % dies, plane / dies, unit, page)
            }
        };
        // Consecutive dies are on different channels, so that striping over dies uses all channels.
        Address {
            channel: die % s.channels,
            chip: die / s.channels % s.chips_per_channel,
            die: die / s.channels / s.chips_per_channel,
            plane,
            block,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn shape(erase_unit: EraseUnit) -> Shape {
        Shape {
            channels: 3,
            chips_per_channel: 2,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 5,
            pages_per_block: 4,
            page_bytes: 4096,
            erase_unit,
        }
    }

    #[test]
    fn every_page_has_an_address_of_its_own_inside_the_shape() {
        for unit in [EraseUnit::Block, EraseUnit::MultiPlane, EraseUnit::Superblock] {
            let geometry = Geometry::new(shape(unit)).unwrap();
            assert_eq!(geometry.physical_pages(), 3 * 2 * 2 * 2 * 5 * 4);
            let mut seen = HashSet::new();
            for page in 0..geometry.physical_pages() {
                let a = geometry.address(page);
                assert!(a.channel < 3 && a.chip < 2 && a.die < 2 && a.plane < 2);
                assert!(a.block < 5 && a.page < 4);
                assert!(seen.insert((a.channel, a.chip, a.die, a.plane, a.block, a.page)));
            }
        }
    }

    #[test]
    fn a_superblock_spans_every_plane() {
        let geometry = Geometry::new(shape(EraseUnit::Superblock)).unwrap();
        assert_eq!((geometry.blocks(), geometry.pages_per_block(), geometry.luns()), (5, 96, 1));
    }

    #[test]
    fn a_multi_plane_unit_spans_the_planes_of_one_die() {
        let geometry = Geometry::new(shape(EraseUnit::MultiPlane)).unwrap();
        assert_eq!((geometry.blocks(), geometry.pages_per_block(), geometry.luns()), (60, 8, 12));
        let [first, second, third] = [8, 9, 10].map(|page| geometry.address(page));
        assert_eq!((first.plane, second.plane, third.plane), (0, 1, 0));
        assert_eq!((first.page, second.page, third.page), (0, 0, 1));
        assert_eq!((first.die, first.block), (third.die, third.block));
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Geometry::flat(0, 64).is_err());
        assert!(Geometry::flat(64, 1).is_err());
        assert!(Geometry::flat(1 << 25, 128).unwrap_err().to_string().contains("4294967296"));
        assert!(Geometry::flat((1 << 25) - 1, 128).is_ok());
    }
}
