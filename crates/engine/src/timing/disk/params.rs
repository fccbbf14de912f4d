//! Parameters of a hard disk in a profile.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::timing::{Interface, SECTOR_BYTES, domains, tables};

/// Order in which a disk serves the requests that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskOrder {
    /// The one that came first.
    Fcfs,
    /// The one with the shortest positioning time, as native command queuing does.
    #[default]
    Sptf,
}

/// `[disk]`: mechanics and cache of a hard disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskTimes {
    /// Bytes that the host sees, a multiple of 512.
    pub capacity_bytes: u64,
    /// Revolutions a minute.
    pub rpm: f64,
    /// Time of a seek to the next cylinder, settling included.
    pub track_to_track_ms: f64,
    /// Mean time of a seek between two random cylinders.
    pub average_seek_ms: f64,
    /// Time of a seek over all cylinders.
    pub full_seek_ms: f64,
    /// Time until another head of the same cylinder is on its track.
    pub head_switch_ms: f64,
    /// Surfaces.
    pub heads: u32,
    /// Zones of equally many cylinders, each with fewer sectors a track than the one before.
    pub zones: u32,
    /// Rate under the head on the outermost zone, in 10^6 bytes a second.
    /// A long sequential access is slower by the switches between tracks.
    pub outer_mb_s: f64,
    /// Rate under the head on the innermost zone, in 10^6 bytes a second.
    pub inner_mb_s: f64,
    /// Memory of the disk; half of it holds writes if `write_back`. The rest is for what is read
    /// ahead, and beyond that in halves for what the present pass has read, and earlier ones did.
    #[serde(default)]
    pub cache_bytes: u64,
    /// Segments of memory for writes; 0 for as many as there is room for.
    /// So many that do not go on from each other are held beside the one that is being made.
    #[serde(default)]
    pub write_segments: u32,
    /// Bytes that are read beyond a read while nothing waits; 0 for nothing.
    #[serde(default)]
    pub read_ahead_bytes: u64,
    /// True if a write is answered once it is in memory.
    #[serde(default)]
    pub write_back: bool,
    /// Order in which requests are served.
    #[serde(default)]
    pub scheduling: DiskOrder,
}

/// The tables of the profile of a hard disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    /// Interface to the host.
    #[serde(default)]
    pub host: Interface,
    /// Disk behind it.
    pub disk: DiskTimes,
}

impl DiskProfile {
    /// Reads the tables of a profile from JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        tables::read(text)
    }

    /// An error that names the first value that cannot be.
    pub fn check(&self) -> Result<()> {
        domains::check(self)?;
        self.disk.check()
    }
}

impl DiskTimes {
    /// Memory for writes that were answered and not yet made.
    pub fn write_cache_bytes(&self) -> u64 {
        if self.write_back { self.cache_bytes / 2 } else { 0 }
    }

    /// Writes that memory holds at most that do not go on from each other.
    pub fn most_write_segments(&self) -> usize {
        if self.write_segments == 0 { usize::MAX } else { self.write_segments as usize }
    }

    /// Memory for what was read, before and ahead of the host.
    pub fn read_cache_bytes(&self) -> u64 {
        self.cache_bytes - self.write_cache_bytes()
    }

    /// An error where values do not go together.
    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error::Spec(what));
        let sector_bytes = u64::from(SECTOR_BYTES);
        if !self.capacity_bytes.is_multiple_of(sector_bytes) {
            return wrong(format!(
                "disk.capacity_bytes is {}; it must be a multiple of {sector_bytes}",
                self.capacity_bytes
            ));
        }
        let DiskTimes { inner_mb_s, outer_mb_s, .. } = self;
        if inner_mb_s > outer_mb_s {
            return wrong(format!(
                "disk.inner_mb_s is {inner_mb_s}; it must be at most outer_mb_s, {outer_mb_s}"
            ));
        }
        let DiskTimes { track_to_track_ms, full_seek_ms, average_seek_ms, .. } = *self;
        if full_seek_ms < track_to_track_ms {
            return wrong(format!(
                "disk.full_seek_ms is {full_seek_ms}; it must be at least track_to_track_ms, \
                 {track_to_track_ms}"
            ));
        }
        // The means of curves that rise at once to the full stroke, or only behind their knee.
        let least_ms = (115.0 * track_to_track_ms + 20.0 * full_seek_ms) / 135.0;
        let most_ms = (27.0 * track_to_track_ms + 108.0 * full_seek_ms) / 135.0;
        if !(least_ms..=most_ms).contains(&average_seek_ms) {
            return wrong(format!(
                "disk.average_seek_ms is {average_seek_ms}; between seeks of track_to_track_ms and \
                 full_seek_ms it must be from {least_ms:.4} to {most_ms:.4}"
            ));
        }
        if self.read_ahead_bytes > self.read_cache_bytes() {
            return wrong(format!(
                "disk.read_ahead_bytes is {}; it must be at most {}, the part of cache_bytes for \
                 reads",
                self.read_ahead_bytes,
                self.read_cache_bytes()
            ));
        }
        Ok(())
    }
}
