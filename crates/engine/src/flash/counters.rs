//! Counts of what the host asked for and of what the flash did for it, kept apart.
//!
//! A write cache, read-modify-write or writes of the mapping table program pages that no host page
//! stands for, and a host page need not be programmed at all; so [`HostCounters`] is the only clock
//! of a drive and the only denominator of write amplification.

use serde::{Deserialize, Serialize};

use crate::state::MOST_PLAUSIBLE;

/// Cause of a read, a program or an erase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The host wrote or read it.
    Host,
    /// Garbage collection migrated it.
    Gc,
    /// Wear levelling migrated it.
    WearLeveling,
    /// It fills up a program unit that had to be programmed before there was data for all of it.
    Padding,
    /// The host wrote a part of it, and the rest was read and written with that.
    ReadModifyWrite,
    /// It holds a part of the mapping table.
    Mapping,
    /// Its data would have faded, by reads of its block or by time.
    Refresh,
    /// It was programmed in an SLC cache, for whatever reason.
    Slc,
    /// It was moved out of an SLC cache.
    Folding,
}

impl Cause {
    /// Every cause, in the order of reports.
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

    /// The number of causes, the first of all, for which a saved drive may have programmed.
    /// An SLC cache stands before the drive that is saved.
    pub(super) const SAVED: usize = 7;

    /// Causes that a drive without time knows.
    pub const WITHOUT_TIME: [Cause; 3] = [Cause::Host, Cause::Gc, Cause::WearLeveling];

    /// The word used in reports.
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

/// Requests of the host since the drive was new, in logical pages and in bytes.
/// A page of which only a part is written or read counts whole in pages, and with that part in
/// bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostCounters {
    /// Pages that the host wrote.
    pub written_pages: u64,
    /// Bytes that it wrote.
    pub written_bytes: u64,
    /// Pages that it read.
    pub read_pages: u64,
    /// Bytes that it read.
    pub read_bytes: u64,
    /// Pages that the host trimmed, mapped or not.
    pub trimmed_pages: u64,
    /// Bytes that it trimmed.
    pub trimmed_bytes: u64,
    /// Flushes that it asked for.
    pub flushes: u64,
}

/// Cumulative counts since the drive was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Requests of the host: the clock, and the denominator of write amplification.
    pub host: HostCounters,
    #[serde(with = "saved_causes")]
    programs: [u64; Cause::ALL.len()],
    /// Erases of blocks, for whatever cause; not those of an SLC cache.
    pub erases: u64,
    /// Logical pages that a TRIM unmapped.
    pub unmapped_pages: u64,
    /// Pages passed over, unprogrammed, in blocks that were closed before they were full.
    pub skipped_pages: u64,
}

impl Counters {
    /// Pages programmed for `cause`.
    pub fn programs(&self, cause: Cause) -> u64 {
        self.programs[cause as usize]
    }

    /// The counts of two drives together.
    #[must_use]
    pub fn plus(&self, other: &Counters) -> Counters {
        let (own, its) = (&self.host, &other.host);
        Counters {
            host: HostCounters {
                written_pages: own.written_pages + its.written_pages,
                written_bytes: own.written_bytes + its.written_bytes,
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

    /// The counts with so many programs by cause, and erases, more or less.
    #[must_use]
    pub(crate) fn shifted(&self, programs: &[i64; Cause::ALL.len()], erases: i64) -> Counters {
        let shift = |count: u64, by| {
            count.checked_add_signed(by).expect("no less was done than is taken away")
        };
        Counters {
            programs: std::array::from_fn(|cause| shift(self.programs[cause], programs[cause])),
            erases: shift(self.erases, erases),
            ..*self
        }
    }

    /// True if sums of these counts do not overflow, however long the drive goes on.
    pub(crate) fn is_plausible(&self) -> bool {
        let Counters { host, programs, erases, unmapped_pages, skipped_pages } = self;
        let HostCounters {
            written_pages,
            written_bytes,
            read_pages,
            read_bytes,
            trimmed_pages,
            trimmed_bytes,
            flushes,
        } = host;
        let pages = [written_pages, read_pages, trimmed_pages, unmapped_pages, skipped_pages];
        let others = [written_bytes, read_bytes, trimmed_bytes, flushes, erases];
        pages.into_iter().chain(others).chain(programs).all(|&count| count < MOST_PLAUSIBLE)
    }

    /// Pages programmed for the causes that come after those of a saved drive.
    pub(crate) fn in_time(&self) -> [u64; Cause::ALL.len() - Cause::SAVED] {
        std::array::from_fn(|at| self.programs[Cause::SAVED + at])
    }

    /// Sets what [`Self::in_time`] returns.
    pub(crate) fn set_in_time(&mut self, programs: [u64; Cause::ALL.len() - Cause::SAVED]) {
        self.programs[Cause::SAVED..].copy_from_slice(&programs);
    }

    /// Pages programmed in all.
    pub fn flash_pages(&self) -> u64 {
        self.programs.iter().sum()
    }

    #[inline(always)]
    pub(crate) fn count_programs(&mut self, cause: Cause, pages: u64) {
        self.programs[cause as usize] += pages;
    }
}

/// Programs by cause as they are saved.
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
