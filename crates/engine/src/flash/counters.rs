//! Counters of host requests and of flash operations, which are kept separate.
//!
//! Programs and host pages do not correspond: read-modify-write and writes of the mapping
//! table program pages that the host did not write, and a page in a write cache may be overwritten
//! before it is programmed. Therefore only [`HostCounters`] are the clock of a drive and the
//! denominator of write amplification.

use serde::{Deserialize, Serialize};

use crate::state::MOST_PLAUSIBLE;

/// Cause of a read, a program or an erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Write or read of a page because the host requested it.
    Host,
    /// Migration by garbage collection.
    Gc,
    /// Migration by wear levelling.
    WearLeveling,
    /// Padding of a program unit that had to be programmed before enough data arrived.
    Padding,
    /// Read-modify-write of a page that the host wrote in part.
    ReadModifyWrite,
    /// Write of a page of the mapping table.
    Mapping,
    /// Refresh of data before read disturb or retention loss makes it unreadable.
    Refresh,
    /// Program into an SLC cache, for any reason.
    Slc,
    /// Move of data out of an SLC cache.
    Folding,
}

impl Cause {
    /// Every cause, in the order in which reports list them.
    pub const ALL: [Cause; 9] = [
        Cause::Host,
        Cause::Gc,
        Cause::WearLeveling,
        Cause::Padding,
        Cause::ReadModifyWrite,
        Cause::Mapping,
        Cause::Refresh,
        Cause::Slc,
        Cause::Folding,
    ];

    /// Number of causes, from the first one on, that are saved with a drive.
    /// The remaining causes belong to an SLC cache, which is not part of the saved drive.
    pub(super) const SAVED: usize = 7;

    /// Causes that occur on a drive without timing.
    pub const WITHOUT_TIME: [Cause; 3] = [Cause::Host, Cause::Gc, Cause::WearLeveling];

    /// Word for the cause in reports.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::WearLeveling => "wear_leveling",
            Cause::Padding => "padding",
            Cause::ReadModifyWrite => "read_modify_write",
            Cause::Mapping => "mapping",
            Cause::Refresh => "refresh",
            Cause::Slc => "slc",
            Cause::Folding => "folding",
        }
    }
}

/// Host requests since the drive was new, in logical pages and in bytes.
/// A page that a request covers only in part counts as one page, but only with the bytes that were
/// written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostCounters {
    /// Number of pages written by the host.
    pub written_pages: u64,
    /// Number of bytes written by the host.
    pub written_bytes: u64,
    /// Number of written pages that a request covered only in part.
    pub partial_pages: u64,
    /// Number of pages read by the host.
    pub read_pages: u64,
    /// Number of bytes read by the host.
    pub read_bytes: u64,
    /// Pages trimmed by the host, whether or not they held data.
    pub trimmed_pages: u64,
    /// Number of bytes trimmed by the host.
    pub trimmed_bytes: u64,
    /// Flushes requested by the host.
    pub flushes: u64,
}

/// Cumulative counts since the drive was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Host requests: the clock, and the denominator of write amplification.
    pub host: HostCounters,
    #[serde(with = "saved_causes")]
    programs: [u64; Cause::ALL.len()],
    /// Number of block erases for any cause, except for the blocks of an SLC cache.
    pub erases: u64,
    /// Logical pages unmapped by TRIM.
    pub unmapped_pages: u64,
    /// Pages left unprogrammed in blocks that were closed before they were full.
    pub skipped_pages: u64,
}

impl Counters {
    /// Pages programmed for `cause`.
    pub fn programs(&self, cause: Cause) -> u64 {
        self.programs[cause as usize]
    }

    /// Sums of the counters of two drives.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        let (own, its) = (&self.host, &other.host);
        Counters {
            host: HostCounters {
                written_pages: own.written_pages + its.written_pages,
                written_bytes: own.written_bytes + its.written_bytes,
                partial_pages: own.partial_pages + its.partial_pages,
                read_pages: own.read_pages + its.read_pages,
                read_bytes: own.read_bytes + its.read_bytes,
                trimmed_pages: own.trimmed_pages + its.trimmed_pages,
                trimmed_bytes: own.trimmed_bytes + its.trimmed_bytes,
                flushes: own.flushes + its.flushes,
            },
            programs: std::array::from_fn(|cause| self.programs[cause] + other.programs[cause]),
            erases: self.erases + other.erases,
            unmapped_pages: self.unmapped_pages + other.unmapped_pages,
            skipped_pages: self.skipped_pages + other.skipped_pages,
        }
    }

    /// Copy of these counters to which `programs` (by cause) and `erases` are added.
    /// Both may be negative, to subtract.
    #[must_use]
    pub(crate) fn shifted(&self, programs: &[i64; Cause::ALL.len()], erases: i64) -> Counters {
        let shift = |count: u64, by| {
            count.checked_add_signed(by).expect("a counter must not become negative")
        };
        Counters {
            programs: std::array::from_fn(|cause| shift(self.programs[cause], programs[cause])),
            erases: shift(self.erases, erases),
            ..*self
        }
    }

    /// True if sums of these counters cannot overflow during any plausible drive life.
    pub(crate) fn is_plausible(&self) -> bool {
        let Counters { host, programs, erases, unmapped_pages, skipped_pages } = self;
        let HostCounters {
            written_pages,
            written_bytes,
            partial_pages,
            read_pages,
            read_bytes,
            trimmed_pages,
            trimmed_bytes,
            flushes,
        } = host;
        let pages = [written_pages, partial_pages, read_pages, trimmed_pages];
        let more_pages = [unmapped_pages, skipped_pages];
        let others = [written_bytes, read_bytes, trimmed_bytes, flushes, erases];
        let pages = pages.into_iter().chain(more_pages);
        pages.chain(others).chain(programs).all(|&count| count < MOST_PLAUSIBLE)
    }

    /// Pages programmed for causes that occur only on drives with timing.
    pub(crate) fn in_time(&self) -> [u64; Cause::ALL.len() - Cause::SAVED] {
        std::array::from_fn(|at| self.programs[Cause::SAVED + at])
    }

    /// Sets the programs for causes that occur only on drives with timing.
    pub(crate) fn set_in_time(&mut self, programs: [u64; Cause::ALL.len() - Cause::SAVED]) {
        self.programs[Cause::SAVED..].copy_from_slice(&programs);
    }

    /// Number of pages programmed for all causes together.
    pub fn flash_pages(&self) -> u64 {
        self.programs.iter().sum()
    }

    #[inline(always)]
    pub(crate) fn count_programs(&mut self, cause: Cause, pages: u64) {
        self.programs[cause as usize] += pages;
    }
}

/// Saved format of the programs by cause.
mod saved_causes {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Cause;

    pub(super) fn serialize<S: Serializer>(
        programs: &[u64; Cause::ALL.len()],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let saved: [u64; Cause::SAVED] = std::array::from_fn(|cause| programs[cause]);
        saved.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<[u64; Cause::ALL.len()], D::Error> {
        let saved = <[u64; Cause::SAVED]>::deserialize(from)?;
        Ok(std::array::from_fn(|cause| saved.get(cause).copied().unwrap_or(0)))
    }
}
