//! Parameters of an SLC cache, and the resulting blocks.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flash::{EraseUnit, Geometry};
use crate::timing::params::Timing;

/// Handling of host writes when the cache is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Write to the cache, after folding (moving data to the other flash) has freed space.
    #[default]
    Fold,
    /// Write to the other flash, until idle-time folding has freed a row or a row has no valid
    /// page.
    Through,
}

/// `[slc]`: flash with one bit per cell that receives writes first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slc {
    /// Capacity of the blocks reserved for the cache, in bytes; 0 for none.
    pub static_bytes: u64,
    /// Share of the cells of free space (logical pages without data) that the cache uses in
    /// addition. The cache shrinks as the drive fills.
    pub dynamic_share: f64,
    /// Bits per cell of the other flash.
    /// The cells of one page of the cache hold this many pages of the other flash.
    pub bits_per_cell: u32,
    /// Mean time of a page read, in µs.
    pub read_us: f64,
    /// Mean time to program a flash page on all planes that are programmed together, in µs.
    pub program_us: f64,
    /// Mean time of a block erase, in µs.
    pub erase_us: f64,
    /// Standard deviation of these three times, over their means.
    pub spread: f64,
    /// Handling of host writes when the cache is full.
    pub when_full: WhenFull,
    /// Used share of the rows from which each program of the cache also folds one program unit.
    /// With each further used row, one more unit is folded. Folding moves data to the other flash.
    pub watermark: f64,
    /// Idle time in ms after which all rows except the open one are folded; 0 for never.
    pub idle_ms: f64,
    /// Length in bytes from which a sequential run of writes bypasses the cache; 0 for never.
    pub direct_bytes: u64,
    /// Rated number of erases of the cache's blocks; 0 if unknown. It does not affect a run.
    pub rated_cycles: u32,
}

impl Default for Slc {
    fn default() -> Self {
        Slc {
            static_bytes: 0,
            dynamic_share: 0.0,
            bits_per_cell: 3,
            read_us: 0.0,
            program_us: 0.0,
            erase_us: 0.0,
            spread: 0.0,
            when_full: WhenFull::default(),
            watermark: 1.0,
            idle_ms: 0.0,
            direct_bytes: 0,
            rated_cycles: 0,
        }
    }
}

impl Slc {
    /// True if the device has an SLC cache.
    pub fn is_there(&self) -> bool {
        self.static_bytes > 0 || self.dynamic_share > 0.0
    }

    /// Checks that values do not contradict each other, on a drive of this geometry.
    pub fn check(&self, timing: &Timing, geometry: &Geometry) -> Result<()> {
        if self.when_full == WhenFull::Through && self.watermark < 1.0 {
            return Err(Error::Spec(format!(
                "slc.when_full is \"through\" and slc.watermark is {}; it must be 1, because a \
                 cache that is folded as it is written never fills up",
                self.watermark
            )));
        }
        if self.is_there() && timing.collection.paced {
            return Err(Error::Spec(
                "collection.paced is true, which an SLC cache does not support; it must be false, \
                 or slc.static_bytes and slc.dynamic_share 0"
                    .into(),
            ));
        }
        let Some(blocks) = SlcBlocks::new(timing, geometry, geometry.physical_pages()) else {
            return Ok(());
        };
        let pages = u64::from(geometry.physical_pages()) + blocks.pages();
        if pages >= u64::from(u32::MAX) {
            return Err(Error::Spec(format!(
                "slc.static_bytes is {} and slc.dynamic_share is {}: with its SLC cache the drive \
                 has {pages} pages, but at most {} are supported",
                self.static_bytes,
                self.dynamic_share,
                u32::MAX - 1
            )));
        }
        Ok(())
    }
}

/// Blocks of an SLC cache, in rows with one block on each die.
/// Rows are filled, and folded, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct SlcBlocks {
    /// Mapping units (pages of the map) per program, and per read.
    pub unit_pages: u32,
    /// Number of dies of the drive.
    pub dies: u32,
    /// Number of mapping units (pages of the map) per row.
    pub row_pages: u32,
    /// Largest number of rows in use.
    pub most_rows: u32,
    static_pages: u64,
    dynamic_share: f64,
    /// Bits per cell of the other flash.
    pub bits_per_cell: u32,
}

/// Smallest number of rows that a cache is divided into.
/// On a scaled-down drive, blocks are made smaller to reach this number.
const FEWEST_ROWS: u64 = 8;
/// Number of rows that remain if the drive has no free space.
/// One row is filled while another is folded.
const LEAST_ROWS: u64 = 2;

impl SlcBlocks {
    /// Blocks for a drive with `host_pages` host pages, or None without an SLC cache.
    pub fn new(timing: &Timing, geometry: &Geometry, host_pages: u32) -> Option<Self> {
        let slc = &timing.slc;
        if !slc.is_there() {
            return None;
        }
        let dies = timing.dies(geometry);
        let unit_pages = timing.units_per_flash_page(geometry) * timing.program.planes;
        let on_dies = match geometry.shape().erase_unit {
            EraseUnit::Superblock => dies,
            EraseUnit::Block | EraseUnit::MultiPlane => 1,
        };
        let static_pages = slc.static_bytes / u64::from(geometry.page_bytes());
        let dynamic_pages =
            (slc.dynamic_share * f64::from(host_pages) / f64::from(slc.bits_per_cell)) as u64;
        let least_pages = if static_pages > 0 { static_pages } else { dynamic_pages };
        let cells_of_unit = u64::from(unit_pages) * u64::from(slc.bits_per_cell);
        let whole_block = u64::from(geometry.pages_per_block()) / on_dies / cells_of_unit;
        let stripe_pages = dies * u64::from(unit_pages);
        let units = (least_pages / (FEWEST_ROWS * stripe_pages)).clamp(1, whole_block.max(1));
        let row_pages = stripe_pages * units;
        let most_rows = ((static_pages + dynamic_pages) / row_pages).max(LEAST_ROWS);
        Some(SlcBlocks {
            unit_pages,
            dies: dies as u32,
            row_pages: u32::try_from(row_pages).unwrap_or(u32::MAX),
            most_rows: u32::try_from(most_rows).unwrap_or(u32::MAX),
            static_pages,
            dynamic_share: slc.dynamic_share,
            bits_per_cell: slc.bits_per_cell,
        })
    }

    /// Number of mapping units in all rows.
    pub fn pages(&self) -> u64 {
        u64::from(self.row_pages) * u64::from(self.most_rows)
    }

    /// Rows that may be used with this number of logical pages without data.
    pub fn limit(&self, free_pages: u32) -> u32 {
        let dynamic_pages =
            (self.dynamic_share * f64::from(free_pages) / f64::from(self.bits_per_cell)) as u64;
        let rows = (self.static_pages + dynamic_pages) / u64::from(self.row_pages);
        rows.clamp(LEAST_ROWS, u64::from(self.most_rows)) as u32
    }
}
