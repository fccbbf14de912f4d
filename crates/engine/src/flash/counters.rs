//! What the drive has done, by cause.

/// Why a page was programmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The host wrote it.
    Host,
    /// Garbage collection moved it.
    Gc,
    /// Wear levelling moved it.
    WearLeveling,
}

impl Cause {
    pub const ALL: [Cause; 3] = [Cause::Host, Cause::Gc, Cause::WearLeveling];

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Host => "host",
            Cause::Gc => "gc",
            Cause::WearLeveling => "wear_leveling",
        }
    }
}

/// Cumulative counts since the drive was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    programs: [u64; Cause::ALL.len()],
    pub erases: u64,
    /// Logical pages that a TRIM unmapped.
    pub trimmed_pages: u64,
    /// Pages passed over, unprogrammed, in blocks that were closed before they were full.
    pub skipped_pages: u64,
}

impl Counters {
    /// Pages programmed for `cause`.
    pub fn programs(&self, cause: Cause) -> u64 {
        self.programs[cause as usize]
    }

    /// Pages programmed in all.
    pub fn flash_pages(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Pages that the host wrote.
    pub fn host_pages(&self) -> u64 {
        self.programs(Cause::Host)
    }

    #[inline(always)]
    pub(crate) fn count(&mut self, cause: Cause, pages: u64) {
        self.programs[cause as usize] += pages;
    }
}
