//! Configuration of a virtual drive, as the library writes it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use writeamp_engine::flash::{EraseUnit, Geometry, Shape};
use writeamp_engine::managers::{Layout, Setup};

use crate::error::{Error, Result};

/// A virtual drive and where its parts lie.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The flash drive.
    pub drive: Flash,
    /// Bytes that the host sees: whole pages.
    pub size_bytes: u64,
    /// Tables of times of a timed drive, as a profile has them.
    pub times: Option<serde_json::Value>,
    /// Seconds of the host for a second of a timed drive.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// File for the edges of Ready/Busy pins of a timed drive.
    pub ready_busy: Option<PathBuf>,
    /// File of the state of the flash that a new drive begins with.
    pub state: Option<PathBuf>,
    /// File of the data, with the state of the flash beside it; without, all is in memory.
    pub backing: Option<PathBuf>,
    /// File for the requests.
    pub record: Option<PathBuf>,
    /// Unix socket that tells the counters.
    pub control: Option<PathBuf>,
    /// True if the server is to be killed when the process that started it has gone: the journal
    /// stands that, and clients who stay do not hold the drive.
    #[serde(default)]
    pub dies_with_parent: bool,
    /// Longest time in which a restart serves again what the journal holds. After about that, a
    /// snapshot is taken, but of a timed drive: that has one when it is turned off.
    #[serde(default = "longest_replay_ms")]
    pub longest_replay_ms: u64,
}

/// A flash drive and its policies, in the words of the engine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Its shape.
    pub geometry: Sizes,
    /// Pages that are mapped.
    pub logical_pages: u32,
    /// The last of them, if these hold a mapping table that gets blocks of its own.
    #[serde(default)]
    pub table_pages: u32,
    /// Layout of streams over the LUNs.
    pub layout: String,
    /// Spec of the block manager.
    pub manager: String,
    /// Spec of the victim policy, or none for the manager's own.
    pub victims: Option<String>,
    /// Spec of the wear leveller.
    pub wear_leveling: Option<String>,
    /// Seed of the policies.
    pub seed: u64,
}

/// Sizes of a flash drive.
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

fn one() -> f64 {
    1.0
}

fn longest_replay_ms() -> u64 {
    200
}

impl Config {
    /// Reads a configuration, in JSON.
    pub fn read(path: &Path) -> Result<Self> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Error::io(path, "read it", &error))?;
        let config: Config =
            serde_json::from_str(&text).map_err(|error| Error::damaged(path, error))?;
        config.check()?;
        Ok(config)
    }

    /// Checks that the sizes go together.
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
            ..Setup::new(Geometry::new(shape)?.striped_by(stripe_pages)?)
        })
    }
}
