//! Parameters of a device's times, in the units and by the names of a profile's TOML tables.
//!
//! The library hands the tables over as JSON; keys and values are checked here, once.

mod scheduling;

use serde::{Deserialize, Serialize};

pub use scheduling::{Dispatch, PlaneReads, Scheduling};

use super::errors::Errors;
use super::slc::Slc;
use super::tables;
use crate::error::Result;
use crate::flash::Geometry;

/// Values by kind of page: one for all, or one for each (lower, upper, extra page).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "or a list of one for each kind of page")]
pub enum ByKind {
    /// One value for all pages.
    Same(f64),
    /// Page i of a block is of kind i modulo their number.
    Each(Vec<f64>),
}

impl ByKind {
    /// The values, at least one of a checked profile.
    pub fn values(&self) -> &[f64] {
        match self {
            ByKind::Same(value) => std::slice::from_ref(value),
            ByKind::Each(values) => values,
        }
    }
}

/// `[timing]`: durations of operations in the flash array, as R/B# shows them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Array {
    /// Mean time of a page read.
    pub read_us: ByKind,
    /// Mean time of the program of a program unit.
    pub program_us: ByKind,
    /// Mean time of a block erase.
    pub erase_us: f64,
    /// Standard deviation over mean of each; a draw stays within 3.46 of them.
    pub read_spread: ByKind,
    /// See `read_spread`.
    pub program_spread: ByKind,
    /// See `read_spread`.
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

/// `[program]`: what one program operation writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Program {
    /// Bytes of a flash page, a multiple of the mapping unit; `None` for the mapping unit itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_page_bytes: Option<u32>,
    /// Planes of a die that are programmed, and read, at once.
    pub planes: u32,
    /// Pages of a word line that are programmed at once.
    pub pages_per_word_line: u32,
    /// True if the next program's data may be loaded while the array is programming.
    pub cache_program: bool,
}

impl Default for Program {
    fn default() -> Self {
        Program { flash_page_bytes: None, planes: 1, pages_per_word_line: 1, cache_program: false }
    }
}

/// Order of what waits for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Data that leave a die, then commands with the data that they bring: as in `MQSim`.
    #[default]
    DataFirst,
    /// Commands first, so that idle dies get to work before others are emptied.
    CommandFirst,
}

/// `[bus]`: the channels between controller and flash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Rate of each channel in 10^6 bytes a second; 0 for one that takes no time.
    pub channel_mb_s: f64,
    /// Time of each command on its channel.
    pub read_command_ns: u64,
    /// See `read_command_ns`.
    pub program_command_ns: u64,
    /// See `read_command_ns`.
    pub erase_command_ns: u64,
    /// False if a chip works at one of its dies only.
    pub die_interleaving: bool,
    /// Order in which a channel serves those who wait for it.
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
    /// Requests that the device takes at once.
    pub depth: u32,
    /// Rate of the link in 10^6 bytes a second; 0 for one that takes no time.
    pub link_mb_s: f64,
    /// The link carries whole packets of so many bytes.
    pub link_packet_bytes: u32,
    /// True if both directions have the full rate at the same time.
    pub full_duplex: bool,
    /// Time before a read is known to the controller.
    pub read_in_ns: u64,
    /// Time before a write is known to the controller, before its data.
    pub write_in_ns: u64,
    /// Time of the answer.
    pub out_ns: u64,
    /// Time that the controller takes for each request, one after another.
    pub controller_ns: u64,
    /// False if a write of a part of a page does not need what else the page held.
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

/// `[collection]`: when garbage is collected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Collection {
    /// True if idle dies collect; else only the manager says when.
    pub background: bool,
    /// Free blocks below which an idle LUN collects.
    /// These are a quarter of its spare blocks at most, since what is kept free is not there to be
    /// invalid.
    pub soft_blocks: u32,
    /// Free blocks below which a LUN collects before the host's next write.
    /// They are no more than `soft_blocks`.
    pub hard_blocks: u32,
    /// True if dies serve collection and the host's programs in turn: see `nand/pacing.rs`.
    /// A LUN then collects before the host's next write below `soft_blocks`.
    pub paced: bool,
}

/// `[write_cache]`: memory that writes are answered from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WriteCache {
    /// Its size; 0 for none.
    pub bytes: u64,
    /// Time of an access to it, beside the transfer.
    pub access_ns: u64,
    /// Rate of the memory in 10^6 bytes a second; 0 for one that takes no time.
    pub mb_s: f64,
    /// True if pages that were read stay in it, as long as nothing else needs their place.
    pub holds_reads: bool,
    /// Idle time of the device after which what waits is written; 0 for never.
    pub idle_flush_ms: f64,
    /// True if it survives a loss of power: a flush then has nothing to wait for, nor has FUA.
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

/// `[map_cache]`: the part of the mapping table that is in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapCache {
    /// Its size; 0 if the whole table is in memory.
    pub bytes: u64,
    /// Bytes of an entry of the table.
    pub entry_bytes: u32,
    /// Bytes of a segment, which are replaced together, at most a page.
    /// At least a sector of them is read on a miss.
    pub segment_bytes: u32,
    /// False if the table's pages on flash are written among data, not to blocks of their own.
    pub own_blocks: bool,
}

impl MapCache {
    /// Bytes that are replaced together where pages have so many.
    pub fn segment_bytes_of(&self, page_bytes: u32) -> u32 {
        self.segment_bytes.min(page_bytes)
    }
}

impl Default for MapCache {
    fn default() -> Self {
        MapCache { bytes: 0, entry_bytes: 8, segment_bytes: 4096, own_blocks: true }
    }
}

/// `[refresh]`: when data are written anew before they fade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Refresh {
    /// Reads of a block after which its data are moved; 0 for never.
    pub reads_per_block: u32,
    /// Time after which the data of a block are moved; 0 for never.
    pub retention_s: f64,
}

/// Times of a device's operations: everything of it but its shape and its policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Timing {
    /// Durations in the flash array.
    pub timing: Array,
    /// Unit of a program operation.
    pub program: Program,
    /// Channels.
    pub bus: Bus,
    /// Interface to the host.
    pub host: Interface,
    /// Order of operations.
    pub scheduling: Scheduling,
    /// Collection in the background.
    pub collection: Collection,
    /// Write cache.
    pub write_cache: WriteCache,
    /// Cache of the mapping table.
    pub map_cache: MapCache,
    /// Refresh of data.
    pub refresh: Refresh,
    /// Flash with one bit a cell that takes writes first.
    pub slc: Slc,
    /// Bit errors of reads.
    pub errors: Errors,
}

/// Bytes of what the host can write apart from another.
pub const SECTOR_BYTES: u32 = 512;

impl Timing {
    /// Reads the tables of a profile from JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        tables::read(text)
    }

    /// Bytes of a flash page on a device with such mapping units.
    pub fn flash_page_bytes(&self, geometry: &Geometry) -> u32 {
        self.program.flash_page_bytes.unwrap_or(geometry.page_bytes())
    }

    /// Mapping units of a flash page.
    pub fn units_per_flash_page(&self, geometry: &Geometry) -> u32 {
        self.flash_page_bytes(geometry) / geometry.page_bytes()
    }

    /// Planes of a die that read beside each other; `None` where a die does one read at a time.
    pub fn reading_planes(&self, geometry: &Geometry) -> Option<u32> {
        let is_independent = self.scheduling.plane_reads == PlaneReads::Independent;
        is_independent.then(|| geometry.shape().planes_per_die)
    }

    /// Mapping units that one program writes.
    pub fn program_units(&self, geometry: &Geometry) -> u32 {
        let Program { planes, pages_per_word_line, .. } = self.program;
        self.units_per_flash_page(geometry) * planes * pages_per_word_line
    }

    /// Dies of the drive.
    pub fn dies(&self, geometry: &Geometry) -> u64 {
        let shape = geometry.shape();
        u64::from(shape.channels)
            * u64::from(shape.chips_per_channel)
            * u64::from(shape.dies_per_chip)
    }
}

/// Time in whole nanoseconds.
pub fn ns_of_us(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

/// Rate of transfers that remembers the time of the last size: most have one of few sizes.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    mb_s: f64,
    last: (u64, u64),
}

impl Rate {
    /// A rate in 10^6 bytes a second; 0 for transfers that take no time.
    pub fn new(mb_s: f64) -> Self {
        Rate { mb_s, last: (0, 0) }
    }

    /// Time of a transfer.
    #[inline(always)]
    pub fn ns(&mut self, bytes: u64) -> u64 {
        if bytes != self.last.0 {
            self.last = (bytes, transfer_ns(bytes, self.mb_s));
        }
        self.last.1
    }
}

/// Time of a transfer at a rate in 10^6 bytes a second, 0 of which takes none.
pub fn transfer_ns(bytes: u64, mb_s: f64) -> u64 {
    if mb_s == 0.0 { 0 } else { (bytes as f64 * 1e3 / mb_s).round() as u64 }
}
