//! Parameters of an SLC cache, and the blocks that follow from them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flash::{EraseUnit, Geometry};
use crate::timing::params::Timing;

/// Way of a host's write when the cache has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// To the cache all the same, where data that are folded meanwhile make room.
    #[default]
    Fold,
    /// To the other flash, until the cache was folded in a pause.
    Through,
}

/// `[slc]`: flash with one bit a cell that takes writes first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slc {
    /// Data that its own blocks hold; 0 for none.
    pub static_bytes: u64,
    /// Share of the cells of free space that it uses as well: it shrinks as the drive fills.
    /// Free are logical pages without data.
    pub dynamic_share: f64,
    /// Ordinary pages that the cells of one of its pages hold.
    pub bits_per_cell: u32,
    /// Mean time of a page read.
    pub read_us: f64,
    /// Mean time of the program of a flash page, on all planes that are programmed at once.
    pub program_us: f64,
    /// Mean time of a block erase.
    pub erase_us: f64,
    /// Standard deviation over mean of these times.
    pub spread: f64,
    /// Way of a host's write when there is no room.
    pub when_full: WhenFull,
    /// Share of it in use from which each write to it folds as much.
    pub watermark: f64,
    /// Idle time of the device after which all but the open block is folded; 0 for never.
    pub idle_ms: f64,
    /// Bytes of a sequential run of writes from which they pass it by; 0 for never.
    pub direct_bytes: u64,
    /// Erases that its blocks endure; 0 if that is not known. It changes nothing of a run.
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
    /// True if there is one.
    pub fn is_there(&self) -> bool {
        self.static_bytes > 0 || self.dynamic_share > 0.0
    }

    /// An error where values do not go together, on a drive of that shape.
    pub fn check(&self, timing: &Timing, geometry: &Geometry) -> Result<()> {
        if self.when_full == WhenFull::Through && self.watermark < 1.0 {
            return Err(Error::Spec(format!(
                "slc.when_full is \"through\" and slc.watermark {}; a cache that is folded as it is \
                 written is never full, so watermark must be 1",
                self.watermark
            )));
        }
        if self.is_there() && timing.collection.paced {
            return Err(Error::Spec(
                "collection.paced is true beside an SLC cache, whose folding takes no turns; it must \
                 be false, or slc.static_bytes and slc.dynamic_share 0"
                    .into(),
            ));
        }
        let Some(blocks) = SlcBlocks::new(timing, geometry, geometry.physical_pages()) else {
            return Ok(());
        };
        let pages = u64::from(geometry.physical_pages()) + blocks.pages();
        if pages >= u64::from(u32::MAX) {
            return Err(Error::Spec(format!(
                "slc.static_bytes is {} and slc.dynamic_share {}: with its SLC cache the drive has \
                 {pages} pages, of which {} can be told apart",
                self.static_bytes,
                self.dynamic_share,
                u32::MAX - 1
            )));
        }
        Ok(())
    }
}

/// Blocks of an SLC cache, one on each die in a row.
/// Rows are filled, and folded, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct SlcBlocks {
    /// Mapping units of a program, and of a read.
    pub unit_pages: u32,
    /// Dies.
    pub dies: u32,
    /// Mapping units of a row.
    pub row_pages: u32,
    /// Rows that there are at most.
    pub most_rows: u32,
    static_pages: u64,
    dynamic_share: f64,
    /// Ordinary pages that the cells of one of its pages hold.
    pub bits_per_cell: u32,
}

/// Rows that a cache has at least.
/// Of a drive that was made small, the blocks are smaller for that.
const FEWEST_ROWS: u64 = 8;
/// Rows that stay when free space runs out: one is filled while another is folded.
const LEAST_ROWS: u64 = 2;

impl SlcBlocks {
    /// The blocks of a drive whose host sees so many pages; `None` without an SLC cache.
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

    /// Mapping units that all rows hold.
    pub fn pages(&self) -> u64 {
        u64::from(self.row_pages) * u64::from(self.most_rows)
    }

    /// Rows that it may use while so many logical pages hold no data.
    pub fn limit(&self, free_pages: u32) -> u32 {
        let dynamic_pages =
            (self.dynamic_share * f64::from(free_pages) / f64::from(self.bits_per_cell)) as u64;
        let rows = (self.static_pages + dynamic_pages) / u64::from(self.row_pages);
        rows.clamp(LEAST_ROWS, u64::from(self.most_rows)) as u32
    }
}
