//! Parameters of a device's timing, in the units and with the names of a profile's TOML
//! tables.
//!
//! The Python library passes the tables as JSON. Keys and values are validated here only.

mod scheduling;

use serde::{Deserialize, Serialize};

pub use scheduling::{Dispatch, PlaneReads, Scheduling};

use super::errors::Errors;
use super::slc::Slc;
use super::tables;
use crate::error::Result;
use crate::flash::Geometry;

/// Values by kind of page: one value for all pages, or one for each kind (such as lower,
/// upper and extra pages).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "or a list of one value for each kind of page")]
pub enum ByKind {
    /// One value for all pages.
    Same(f64),
    /// One value per kind of page: page i of a block has kind i modulo the number of kinds.
    Each(Vec<f64>),
}

impl ByKind {
    /// Values; at least one in a checked profile.
    pub fn values(&self) -> &[f64] {
        match self {
            ByKind::Same(value) => std::slice::from_ref(value),
            ByKind::Each(values) => values,
        }
    }
}

/// `[timing]`: durations of array operations, as visible at R/B#.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// Mean time of a page read, in µs.
    pub read_us: ByKind,
    /// Mean time to program a program unit, in µs.
    pub program_us: ByKind,
    /// Mean time of a block erase, in µs.
    pub erase_us: f64,
    /// Standard deviation of the read time, over its mean.
    /// A drawn time stays within 3.46 standard deviations.
    pub read_spread: ByKind,
    /// Standard deviation of the program time, over its mean; see `read_spread`.
    pub program_spread: ByKind,
    /// Standard deviation of the erase time, over its mean; see `read_spread`.
    pub erase_spread: f64,
}

impl Default for Array {
    fn default() -> Self {
        Array {
            read_us: ByKind::Same(0.0),
            program_us: ByKind::Same(0.0),
            erase_us: 0.0,
            read_spread: ByKind::Same(0.0),
            program_spread: ByKind::Same(0.0),
            erase_spread: 0.0,
        }
    }
}

/// `[program]`: the program unit, which one program operation writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    /// Bytes of a flash page, a multiple of the mapping unit (page of the map).
    /// If None, a flash page is one mapping unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_page_bytes: Option<u32>,
    /// Number of planes of a die that are programmed, and read, together.
    pub planes: u32,
    /// Number of pages of a word line that are programmed together.
    pub pages_per_word_line: u32,
    /// True if data of the next program can be loaded while the array is programming.
    pub cache_program: bool,
}

impl Default for Program {
    fn default() -> Self {
        Program { flash_page_bytes: None, planes: 1, pages_per_word_line: 1, cache_program: false }
    }
}

/// Priority of transfers that wait for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Data from dies first, then commands with their data, as in `MQSim`.
    #[default]
    DataFirst,
    /// Commands first, so that idle dies start before data of other dies is fetched.
    CommandFirst,
}

/// `[bus]`: the channels between controller and flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Rate of each channel in 10^6 bytes per second; 0 for transfers that take no time.
    pub channel_mb_s: f64,
    /// Channel time of a read command, in ns.
    pub read_command_ns: u64,
    /// Channel time of a program command, in ns.
    pub program_command_ns: u64,
    /// Channel time of an erase command, in ns.
    pub erase_command_ns: u64,
    /// False if only one die of a chip can work at a time.
    pub die_interleaving: bool,
    /// Priority of transfers that wait for a channel.
    pub arbitration: Arbitration,
}

impl Default for Bus {
    fn default() -> Self {
        Bus {
            channel_mb_s: 0.0,
            read_command_ns: 0,
            program_command_ns: 0,
            erase_command_ns: 0,
            die_interleaving: true,
            arbitration: Arbitration::default(),
        }
    }
}

/// `[host]`: the interface to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Interface {
    /// Largest number of requests that the device accepts at the same time.
    pub depth: u32,
    /// Rate of the link in 10^6 bytes per second; 0 for transfers that take no time.
    pub link_mb_s: f64,
    /// Packet size of the link in bytes; transfers use whole packets.
    pub link_packet_bytes: u32,
    /// True if both directions have the full rate simultaneously.
    pub full_duplex: bool,
    /// Time from a read request's issue until the controller receives it, in ns.
    pub read_in_ns: u64,
    /// Time from a write request's issue until its data can be transferred, in ns.
    pub write_in_ns: u64,
    /// Time to send the response to the host, in ns.
    pub out_ns: u64,
    /// Controller time per request, in ns; requests are processed one after another.
    pub controller_ns: u64,
    /// True if a write to a part of a page first reads the rest of the page.
    pub read_modify_write: bool,
}

impl Default for Interface {
    fn default() -> Self {
        Interface {
            depth: 256,
            link_mb_s: 0.0,
            link_packet_bytes: 1,
            full_duplex: true,
            read_in_ns: 0,
            write_in_ns: 0,
            out_ns: 0,
            controller_ns: 0,
            read_modify_write: true,
        }
    }
}

/// `[collection]`: when garbage collection runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Collection {
    /// True if idle dies collect garbage.
    /// False if collection runs only when the manager requires it.
    pub background: bool,
    /// Number of free blocks per LUN below which the LUN collects while idle.
    /// The number used is at most a quarter of the LUN's spare blocks: free blocks hold no invalid
    /// pages, so more free blocks mean that victims have more valid pages.
    pub soft_blocks: u32,
    /// Number of free blocks per LUN below which the LUN collects before the host's next write.
    /// At most `soft_blocks`.
    pub hard_blocks: u32,
    /// True if collection and host programs take turns at dies; see `nand/pacing.rs`.
    /// A LUN with fewer than `soft_blocks` free blocks then collects before the host's next write.
    pub paced: bool,
}

/// `[write_cache]`: memory from which writes are acknowledged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCache {
    /// Size of the cache in bytes; 0 for no cache.
    pub bytes: u64,
    /// Access time of the memory in ns, in addition to the transfer.
    pub access_ns: u64,
    /// Rate of the memory in 10^6 bytes per second; 0 for transfers that take no time.
    pub mb_s: f64,
    /// True if pages that were read stay in the cache until their space is needed.
    pub holds_reads: bool,
    /// Idle time in ms after which waiting data is written to flash; 0 for never.
    pub idle_flush_ms: f64,
    /// True if the cache survives a power loss; flushes and FUA then need not wait.
    pub power_safe: bool,
}

impl Default for WriteCache {
    fn default() -> Self {
        WriteCache {
            bytes: 0,
            access_ns: 0,
            mb_s: 0.0,
            holds_reads: false,
            idle_flush_ms: 100.0,
            power_safe: false,
        }
    }
}

/// `[map_cache]`: part of the mapping table that is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapCache {
    /// Size of that part in bytes; 0 if the whole table is in memory.
    pub bytes: u64,
    /// Bytes per entry of the table.
    pub entry_bytes: u32,
    /// Bytes of a segment: the part of the table that is loaded and evicted as a whole, at most a
    /// page. A lookup that misses reads at least one sector.
    pub segment_bytes: u32,
    /// True if the table's pages have blocks of their own on flash; false if they share blocks
    /// with data.
    pub own_blocks: bool,
}

impl MapCache {
    /// Bytes of a segment of the mapping table: `segment_bytes`, but at most a page.
    pub fn segment_bytes_of(&self, page_bytes: u32) -> u32 {
        self.segment_bytes.min(page_bytes)
    }
}

impl Default for MapCache {
    fn default() -> Self {
        MapCache { bytes: 0, entry_bytes: 8, segment_bytes: 4096, own_blocks: true }
    }
}

/// `[refresh]`: when data is rewritten to prevent data loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Refresh {
    /// Number of reads of a block after which its data is moved; 0 for never.
    pub reads_per_block: u32,
    /// Time after which the data of a block is moved, in s; 0 for never.
    pub retention_s: f64,
}

/// Timing of a device: all of its parameters except for geometry and policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Durations in the flash array.
    pub timing: Array,
    /// Unit of a program operation.
    pub program: Program,
    /// Channels between the controller and the flash.
    pub bus: Bus,
    /// Interface of the device to the host.
    pub host: Interface,
    /// Order of the operations of a die.
    pub scheduling: Scheduling,
    /// Garbage collection in the background.
    pub collection: Collection,
    /// Write cache of the device.
    pub write_cache: WriteCache,
    /// Cache of the mapping table.
    pub map_cache: MapCache,
    /// Refresh of data, to prevent its loss.
    pub refresh: Refresh,
    /// SLC cache: flash with one bit per cell that receives writes first.
    pub slc: Slc,
    /// Bit errors of reads.
    pub errors: Errors,
}

/// Sector: smallest unit of host writes, in bytes.
pub const SECTOR_BYTES: u32 = 512;

impl Timing {
    /// Parses the tables of a profile from JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        tables::read(text)
    }

    /// Bytes of a flash page, on a drive of this geometry.
    pub fn flash_page_bytes(&self, geometry: &Geometry) -> u32 {
        self.program.flash_page_bytes.unwrap_or(geometry.page_bytes())
    }

    /// Number of mapping units (pages of the map) per flash page.
    pub fn units_per_flash_page(&self, geometry: &Geometry) -> u32 {
        self.flash_page_bytes(geometry) / geometry.page_bytes()
    }

    /// Number of planes of a die that read independently.
    /// None if a die performs one read at a time.
    pub fn reading_planes(&self, geometry: &Geometry) -> Option<u32> {
        let is_independent = self.scheduling.plane_reads == PlaneReads::Independent;
        is_independent.then(|| geometry.shape().planes_per_die)
    }

    /// Number of mapping units per program operation.
    pub fn program_units(&self, geometry: &Geometry) -> u32 {
        let Program { planes, pages_per_word_line, .. } = self.program;
        self.units_per_flash_page(geometry) * planes * pages_per_word_line
    }

    /// Number of dies of a drive with this geometry.
    pub fn dies(&self, geometry: &Geometry) -> u64 {
        let shape = geometry.shape();
        u64::from(shape.channels)
            * u64::from(shape.chips_per_channel)
            * u64::from(shape.dies_per_chip)
    }
}

/// Converts µs to whole nanoseconds.
pub fn ns_of_us(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

/// Transfer rate, with the time of the last transfer size.
/// That time is reused, because transfers have few different sizes.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    mb_s: f64,
    last: (u64, u64),
}

impl Rate {
    /// Builds a rate in 10^6 bytes per second; 0 for transfers that take no time.
    pub fn new(mb_s: f64) -> Self {
        Rate { mb_s, last: (0, 0) }
    }

    /// Time of a transfer, in ns.
    #[inline(always)]
    pub fn ns(&mut self, bytes: u64) -> u64 {
        if bytes != self.last.0 {
            self.last = (bytes, transfer_ns(bytes, self.mb_s));
        }
        self.last.1
    }
}

/// Time of a transfer in ns, at a rate in 10^6 bytes per second; a rate of 0 takes no time.
pub fn transfer_ns(bytes: u64, mb_s: f64) -> u64 {
    if mb_s == 0.0 { 0 } else { (bytes as f64 * 1e3 / mb_s).round() as u64 }
}
