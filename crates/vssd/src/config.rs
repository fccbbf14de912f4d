//! Configuration of a virtual drive, as the library writes it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{Layout, Setup};

use crate::error::{Error, Result};

/// A virtual drive and the paths of its files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The flash drive.
    pub drive: Flash,
    /// Capacity that the host sees, in bytes: a multiple of the page size.
    pub size_bytes: u64,
    /// Bytes of a page of the host, if the drive's pages are larger mapping units.
    /// Writes of less than a unit then count as a cause of their own.
    #[serde(default)]
    pub host_page_bytes: Option<u32>,
    /// Timing tables of a timed drive, in the format of device profiles.
    pub times: Option<serde_json::Value>,
    /// Slowdown of a timed drive: seconds of the host per second of the drive.
    #[serde(default = "real_time")]
    pub time_scale: f64,
    /// Output file for the Ready/Busy edges of a timed drive.
    pub ready_busy: Option<PathBuf>,
    /// Saved state of the flash with which a new drive starts.
    pub state: Option<PathBuf>,
    /// File of the data; the state of the flash is beside it. If None, both are in memory.
    pub backing: Option<PathBuf>,
    /// Output file for the requests.
    pub record: Option<PathBuf>,
    /// Unix socket that serves the counters.
    pub control: Option<PathBuf>,
    /// True if the server is killed when the process that started it ends.
    /// The journal survives this, and clients that remain connected do not keep the drive in use.
    #[serde(default)]
    pub dies_with_parent: bool,
    /// Longest time to replay the journal at a restart, in ms. An untimed drive takes a snapshot
    /// when the replay would take about this long; a timed drive takes one when it is turned off.
    #[serde(default = "longest_replay_ms")]
    pub longest_replay_ms: u64,
}

/// A flash drive and its policies, with the engine's names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Shape of the drive: the sizes of its parts.
    pub geometry: Sizes,
    /// Number of logical pages, including those that hold a mapping table.
    pub logical_pages: u32,
    /// Number of logical pages, at the end, that hold a mapping table in flash blocks of its own.
    #[serde(default)]
    pub table_pages: u32,
    /// Layout of streams over the LUNs.
    pub layout: String,
    /// Spec of the block manager.
    pub manager: String,
    /// Spec of the victim policy, or None for the manager's default.
    pub victims: Option<String>,
    /// Spec of the wear leveller, or None.
    pub wear_leveling: Option<String>,
    /// Seed of the policies.
    pub seed: u64,
    /// True if an untimed drive counts operations by the manager's placement handles.
    #[serde(default)]
    pub counts_handles: bool,
}

/// Numbers of dies, planes, blocks and pages of a flash drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Sizes {
    pub channels: u32,
    pub chips_per_channel: u32,
    pub dies_per_chip: u32,
    pub planes_per_die: u32,
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
    pub erase_unit: String,
    pub stripe_pages: u32,
}

fn real_time() -> f64 {
    1.0
}

fn longest_replay_ms() -> u64 {
    200
}

impl Config {
    /// Reads a configuration from a JSON file.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Error::io(path, "read it", &error))?;
        let config: Config =
            serde_json::from_str(&text).map_err(|error| Error::damaged(path, error))?;
        config.check()?;
        Ok(config)
    }

    /// Checks that the settings are consistent.
    pub fn check(&self) -> Result<()> {
        let page_bytes = u64::from(self.drive.geometry.page_bytes.max(1));
        let most_bytes = u64::from(self.drive.logical_pages) * page_bytes;
        if self.size_bytes == 0
            || !self.size_bytes.is_multiple_of(page_bytes)
            || self.size_bytes > most_bytes
        {
            return Err(Error::invalid(format!(
                "size_bytes is {}; it must be whole pages of {page_bytes} bytes, from one to {}",
                self.size_bytes, self.drive.logical_pages
            )));
        }
        if !(1e-6..=1e9).contains(&self.time_scale) {
            return Err(Error::invalid(format!(
                "time_scale is {}; it must be from 1e-6 to 1e9",
                self.time_scale
            )));
        }
        if self.times.is_none() && self.ready_busy.is_some() {
            return Err(Error::invalid("only a timed drive has Ready/Busy pins; give it times"));
        }
        Ok(())
    }
}

impl Flash {
    /// Returns the setup that the engine builds the drive from.
    pub fn setup(&self) -> Result<Setup> {
        let Sizes {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_bytes,
            ref erase_unit,
            stripe_pages,
        } = self.geometry;
        let shape = Shape {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_bytes,
            erase_unit: EraseUnit::named(erase_unit)?,
        };
        Ok(Setup {
            logical_pages: self.logical_pages,
            layout: Layout::named(&self.layout)?,
            victims: self.victims.clone(),
            wear_leveling: self.wear_leveling.clone(),
            seed: self.seed,
            table_pages: self.table_pages,
            counts_handles: self.counts_handles,
            ..Setup::new(Geometry::new(shape)?.striped_by(stripe_pages)?)
        })
    }
}
