//! Parameters of a hard disk in a profile.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::timing::{Interface, SECTOR_BYTES, domains, tables};

/// Order in which a disk serves waiting requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DiskOrder {
    /// Requests are served in order of arrival (first come, first served).
    Fcfs,
    /// Shortest positioning time first, as with native command queuing.
    #[default]
    Sptf,
}

/// `[disk]`: mechanics and cache of a hard disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskTimes {
    /// Capacity visible to the host, in bytes; a multiple of 512.
    pub capacity_bytes: u64,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Seek time to the next cylinder, including settling.
    pub track_to_track_ms: f64,
    /// Mean seek time between two random cylinders.
    pub average_seek_ms: f64,
    /// Seek time over all cylinders.
    pub full_seek_ms: f64,
    /// Time to switch to another head of the same cylinder.
    pub head_switch_ms: f64,
    /// Number of disk surfaces, each with one head.
    pub heads: u32,
    /// Number of zones (groups of cylinders with equally many sectors per track).
    /// Zones have equal numbers of cylinders. Sectors per track decrease from zone to zone.
    pub zones: u32,
    /// Data rate on the outermost zone, in 10^6 bytes per second.
    /// Long sequential accesses are slower because of track switches.
    pub outer_mb_s: f64,
    /// Data rate on the innermost zone, in 10^6 bytes per second.
    pub inner_mb_s: f64,
    /// Memory of the disk, in bytes.
    /// With `write_back`, half of it holds writes. The rest holds read data: first the data read
    /// ahead. What then remains is divided equally between data of the current pass of the heads
    /// and data of earlier passes.
    #[serde(default)]
    pub cache_bytes: u64,
    /// Largest number of separate (non-consecutive) writes in memory, besides the write in
    /// progress. 0 for as many as fit in memory.
    #[serde(default)]
    pub write_segments: u32,
    /// Bytes read ahead while no request waits; 0 for no read-ahead.
    #[serde(default)]
    pub read_ahead_bytes: u64,
    /// True if a write is acknowledged once it is in memory.
    #[serde(default)]
    pub write_back: bool,
    /// Order in which requests are served.
    #[serde(default)]
    pub scheduling: DiskOrder,
}

/// Profile of a hard disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskProfile {
    /// Interface of the disk to the host.
    #[serde(default)]
    pub host: Interface,
    /// Disk mechanics and cache.
    pub disk: DiskTimes,
}

impl DiskProfile {
    /// Parses the tables of a profile from JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        tables::read(text)
    }

    /// Checks the profile. The error names the first invalid value.
    pub fn check(&self) -> Result<()> {
        domains::check(self)?;
        self.disk.check()
    }
}

impl DiskTimes {
    /// Memory for acknowledged writes that are not on the medium yet, in bytes.
    pub fn write_cache_bytes(&self) -> u64 {
        if self.write_back { self.cache_bytes / 2 } else { 0 }
    }

    /// Largest number of separate (non-consecutive) writes in memory.
    pub fn most_write_segments(&self) -> usize {
        if self.write_segments == 0 { usize::MAX } else { self.write_segments as usize }
    }

    /// Memory for read data, including read-ahead, in bytes.
    pub fn read_cache_bytes(&self) -> u64 {
        self.cache_bytes - self.write_cache_bytes()
    }

    /// Checks that the parameters of a disk do not contradict each other.
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
        // Smallest and largest mean of a seek curve between these two times: the curve is linear
        // beyond the knee, or rises to the full stroke at once.
        let least_ms = (115.0 * track_to_track_ms + 20.0 * full_seek_ms) / 135.0;
        let most_ms = (27.0 * track_to_track_ms + 108.0 * full_seek_ms) / 135.0;
        if !(least_ms..=most_ms).contains(&average_seek_ms) {
            return wrong(format!(
                "disk.average_seek_ms is {average_seek_ms}; with these track_to_track_ms and \
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
