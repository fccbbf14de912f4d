//! Placements, which choose the stream of each page. Each placement has its own file.
//!
//! Most published schemes differ only in this choice. The manager that serves all placements is in
//! [`crate::managers`]. To add a placement, write its file and add a line to `placements!` below.

mod calls;
pub(crate) mod custom;
pub(crate) mod dac;
mod declaring;
pub(crate) mod eti;
pub(crate) mod fadac;
mod last_writes;
pub(crate) mod midas;
pub(crate) mod multilog;
pub(crate) mod nvme_fdp;
pub(crate) mod oracle;
pub(crate) mod sepbit;
pub(crate) mod sepgc;
pub(crate) mod sfs;
pub(crate) mod single;
pub(crate) mod warcip;

pub use calls::{CustomStreams, PlacementCalls, PlacementSource};
pub use declaring::{RegisteredPlacement, SelfDeclared};
pub(crate) use last_writes::{LastWrites, since, stamp};

use crate::error::Result;
use crate::flash::NONE;
use crate::hints::UNTAGGED;
use crate::state::State;
use crate::write_history::{BlockHistory, PageHistory};

/// Passes the list of all placements, each as `module::Type`, to another macro.
/// The naive drive, a simple second implementation, has a type and a module of the same names.
#[macro_export]
macro_rules! placements {
    ($then:ident! $with:tt) => {
        $then! { $with
            single::Single,
            sepgc::SepGc,
            dac::Dac,
            sfs::Sfs,
            multilog::MultiLog,
            eti::Eti,
            fadac::Fadac,
            warcip::Warcip,
            sepbit::SepBit,
            midas::Midas,
            nvme_fdp::NvmeFdp,
            oracle::Oracle,
        }
    };
}

/// Placement, which chooses the stream of each page.
/// A stream is a sequence of pages with its own open block (on each LUN).
///
/// Registered placements declare their number of streams by [`RegisteredPlacement`], others by
/// [`SelfDeclared`].
pub trait Placement: State + Send + 'static {
    /// True if the placement uses the write history of pages and blocks ([`Placement::recall`]).
    const USES_WRITE_HISTORY: bool = false;
    /// True if the placement uses hints of the host ([`SelfDeclared::required_hints`]).
    const USES_HOST_HINTS: bool = false;
    /// True if the placement uses data about the victim ([`Victim`]) from which a migrated page
    /// comes.
    const USES_VICTIM: bool = false;
    /// True if the placement chooses victims itself ([`Placement::victim`]).
    /// Requires `USES_VICTIM`.
    const CHOOSES_VICTIMS: bool = false;
    /// True if the placement writes pages by placement handles ([`Self::handle`]).
    const HAS_HANDLES: bool = false;
    /// True if the placement uses placement hints of the host ([`HostPage::hint`]).
    const USES_PLACEMENT_HINTS: bool = Self::HAS_HANDLES;
    /// True if the placement can fail ([`Placement::failure`]).
    const CAN_FAIL: bool = false;
    /// Two fixed streams, if the placement needs no inputs and no state; its methods are then not
    /// called. One stream is for all host pages, the other for all migrated pages.
    const ALWAYS: Option<Always> = None;

    /// Receives the history of the page that is placed next, or None if the host never wrote it.
    /// Called before each [`Self::host_stream`] and [`Self::migration_stream`]. The history does
    /// not contain the write that [`Self::host_stream`] places.
    fn recall(&mut self, _page: Option<PageHistory>) {}

    /// Counts the next host page. Returns true if [`Self::survey`] must be called before it.
    /// Called once before each host page.
    fn is_survey_due(&mut self) -> bool {
        false
    }

    /// Receives the histories of all closed blocks, when due.
    fn survey(&mut self, _closed: &mut dyn Iterator<Item = BlockHistory>) {}

    /// Stream of a page that the host writes.
    fn host_stream(&mut self, page: HostPage) -> usize;

    /// Handle of a page that the host writes, if the placement has handles.
    fn handle(&self, _page: HostPage) -> u8 {
        UNTAGGED
    }

    /// Handle of the blocks of a stream, or [`UNTAGGED`] for blocks that handles share.
    fn handle_of_stream(&self, _stream: usize) -> u8 {
        UNTAGGED
    }

    /// Forgets the history of a page that the host has trimmed.
    /// The history does not predict how often the page's next data will be written.
    fn forget(&mut self, _logical: u32) {}

    /// Called when a victim is chosen.
    /// [`Self::migration_stream`] is then called for each valid page.
    fn on_victim(&mut self, _victim: &Victim) {}

    /// Called with the valid pages of the chosen victim, in the order in which they will be
    /// moved.
    /// An error ends the run before the block is erased.
    fn on_pages(&mut self, _pages: &[u32], _victim: &Victim) -> Result<()> {
        Ok(())
    }

    /// Stream of a page that collection moves.
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize;

    /// Victim chosen by the placement itself in a collection domain, if any.
    /// If this returns None, the victim policy chooses. `is_idle` is true if the host does not wait
    /// for the victim.
    fn victim(&mut self, _domain: usize, _is_idle: bool) -> Option<u32> {
        None
    }

    /// Called when `block`, opened for `stream`, closes.
    /// Returns true if the victim policy may not choose the block for now.
    fn on_close(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// Removes and returns the closed blocks that the victim policy may choose from now on.
    /// They are reported to it in this order. Always called after [`Self::victim`].
    fn take_released(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Called when `block` was chosen as victim.
    fn on_collect(&mut self, _block: u32) {}

    /// Called when a wear leveller has moved the data of `young` to `worn`.
    /// The block `worn` is closed now, and `young` is erased.
    fn on_exchange(&mut self, _young: u32, _worn: u32) {}

    /// Returns and clears the error that occurred since the last call, if any.
    /// An error ends the run.
    #[inline(always)]
    fn failure(&mut self) -> Result<()> {
        Ok(())
    }

    /// Write amplification that the placement's own model currently predicts, if it has one.
    fn predicted_wa(&self) -> Option<f64> {
        None
    }

    /// Memory of the placement's tables in bytes, without the logical→physical map.
    fn bytes(&self) -> u64 {
        0
    }

    /// Checks that a restored placement fits the drive.
    fn check(&self, _drive: &Restored) -> Result<()> {
        Ok(())
    }

    /// Prefetches the data that [`Self::host_stream`] uses.
    #[inline(always)]
    fn prefetch(&self, _logical: u32) {}
}

/// Restored drive that a placement is checked against.
#[derive(Debug)]
pub struct Restored<'a> {
    /// Clock of the restored drive: host pages written.
    pub now: u64,
    /// Physical page of each logical page, or [`crate::flash::NONE`].
    pub map: &'a [u32],
    /// Closed blocks of the restored drive.
    pub closed: &'a [Closed],
}

/// Closed block, as reported to its placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Number of the block.
    pub block: u32,
    /// Stream that it was opened for.
    pub stream: usize,
    /// Collection domain of the block.
    pub domain: usize,
    /// True if the victim policy may not choose the block.
    pub is_held: bool,
}

impl Restored<'_> {
    /// True if `is_known` returns true for every mapped logical page.
    pub fn holds_for_mapped_pages(&self, is_known: impl Fn(usize) -> bool) -> bool {
        let mapped = self.map.iter().enumerate().filter(|(_, page)| **page != NONE);
        mapped.map(|(logical, _)| logical).all(is_known)
    }
}

/// Sizes and seed of the drive that a placement is built for.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Number of logical pages of the drive.
    pub logical_pages: u32,
    /// Number of blocks of the drive.
    pub blocks: u32,
    /// Number of pages per block.
    pub pages_per_block: u32,
    /// Number of collection domains.
    pub domains: u32,
    /// Number of pools; each stream has an open block in each.
    pub pools: u32,
    /// Seed of the policies' random streams.
    pub seed: u64,
}

/// Streams of a placement without inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Always {
    /// Stream of all host pages.
    pub host: usize,
    /// Stream of all migrated pages.
    pub migration: usize,
}

/// Numbers of streams of a placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// Total number of streams.
    pub all: usize,
    /// Number of streams that may receive migrated pages.
    pub migration: usize,
}

/// Host page, as passed to a placement.
#[derive(Debug, Clone, Copy)]
pub struct HostPage {
    /// Number of the logical page.
    pub logical: u32,
    /// Clock: number of host pages written before this page.
    pub now: u64,
    /// Group of the page, if the placement requires group hints.
    pub group: u8,
    /// Placement hint of the page, or [`UNTAGGED`] without one.
    pub hint: u8,
    /// Clock at which the page becomes invalid, if the placement requires that hint.
    pub invalidation_time: u64,
}

/// Collected block, as passed to a placement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Victim {
    /// Stream that the block was opened for.
    pub stream: usize,
    /// Clock (host pages written) when the block was opened.
    pub opened: u64,
    /// Clock (host pages written) when the block is collected.
    pub now: u64,
}
