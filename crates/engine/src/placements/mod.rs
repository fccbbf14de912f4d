//! Placements: which stream each page goes to. One file each.
//!
//! Most published schemes differ in nothing else; the manager that serves them all is in
//! [`crate::managers`]. To add one, write its file and add its line to `placements!` below.

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
use crate::state::State;
use crate::write_history::{BlockHistory, PageHistory};

/// Hands the list of placements to a macro, each as `module::Type`.
/// The naive drive has a twin of the same name in a module of the same name.
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

/// Placement: the stream of each page; a stream has a frontier of its own (on each LUN).
///
/// How many streams there are, one of the registry says by [`RegisteredPlacement`], and any other by
/// [`SelfDeclared`].
pub trait Placement: State + Send + 'static {
    /// True if it looks at the writes of pages and blocks ([`Placement::recall`]).
    const KNOWS_HISTORY: bool = false;
    /// True if it looks at what the host says of its pages ([`SelfDeclared::hears`]).
    const HEARS_HOST: bool = false;
    /// True if it looks at the [`Victim`] from which a page comes.
    const KNOWS_VICTIMS: bool = false;
    /// True if it has victims of its own ([`Placement::victim`]); asks for `KNOWS_VICTIMS`.
    const CHOOSES_VICTIMS: bool = false;
    /// True if it may fail ([`Placement::failure`]).
    const CAN_FAIL: bool = false;
    /// Streams of a placement that looks at nothing and remembers nothing; it is then not asked.
    /// They are that of all pages that the host writes, and that of all pages that collection
    /// moves.
    const ALWAYS: Option<Always> = None;

    /// History of the page that is placed next; `None` if the host never wrote it. Comes before
    /// each [`Self::host_stream`], which it does not count yet, and [`Self::migration_stream`].
    fn recall(&mut self, _page: Option<PageHistory>) {}

    /// True if it wants to see all closed blocks now.
    /// It is asked before each page that the host writes.
    fn is_survey_due(&mut self) -> bool {
        false
    }

    /// Sees every closed block, if that was due.
    fn survey(&mut self, _closed: &mut dyn Iterator<Item = BlockHistory>) {}

    /// The stream of a page that the host writes.
    fn host_stream(&mut self, page: HostPage) -> usize;

    /// Forgets a page that the host has trimmed.
    /// What is known of it says nothing of the data that it will hold.
    fn forget(&mut self, _logical: u32) {}

    /// Hears that a victim has been chosen; its valid pages come next.
    fn on_victim(&mut self, _victim: &Victim) {}

    /// Hears of the valid pages of that victim, in the order in which they will be moved.
    /// An error ends the run, before the block is erased.
    fn on_pages(&mut self, _pages: &[u32], _victim: &Victim) -> Result<()> {
        Ok(())
    }

    /// The stream of a page that collection moves.
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize;

    /// Victim that the scheme insists on, in a collection domain; `None` leaves it to the policy.
    /// `is_idle` says that the host does not wait for it.
    fn victim(&mut self, _domain: usize, _is_idle: bool) -> Option<u32> {
        None
    }

    /// Hears that `block`, opened for `stream`, closes; true holds it back from the policy.
    fn on_close(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// Takes the blocks that were held back when they closed, and are the policy's from now on.
    /// The policy hears of them in this order. It is asked after [`Self::victim`], whatever that
    /// says.
    fn take_released(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Hears that `block` has been chosen, by anyone.
    fn on_collect(&mut self, _block: u32) {}

    /// Hears that the data of `young` lies in `worn` now, which closed in its place.
    fn on_exchange(&mut self, _young: u32, _worn: u32) {}

    /// Takes the failure since this was asked last: an error ends the run.
    #[inline(always)]
    fn failure(&mut self) -> Result<()> {
        Ok(())
    }

    /// The write amplification that the scheme itself expects at the moment, if it has a model.
    fn predicted_wa(&self) -> Option<f64> {
        None
    }

    /// Bytes of the tables that the scheme keeps beside the map.
    fn bytes(&self) -> u64 {
        0
    }

    /// An error unless a placement that was restored fits the drive.
    fn check(&self, _drive: &Restored) -> Result<()> {
        Ok(())
    }

    /// Fetches what [`Self::host_stream`] will touch.
    #[inline(always)]
    fn prefetch(&self, _logical: u32) {}
}

/// A drive that was restored, for the placement to be checked against.
#[derive(Debug)]
pub struct Restored<'a> {
    /// Host pages written.
    pub now: u64,
    /// The physical page of each logical one, or [`crate::flash::NONE`].
    pub map: &'a [u32],
    /// The closed blocks.
    pub closed: &'a [Closed],
}

/// A closed block, as its placement was told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Number of the block.
    pub block: u32,
    /// Stream that it was opened for.
    pub stream: usize,
    /// Part of the drive that collects it.
    pub domain: usize,
    /// Whether the placement holds it back from the victim policy.
    pub is_held: bool,
}

impl Restored<'_> {
    /// True if every page that the drive holds is one that `is_known`.
    pub fn knows_pages(&self, is_known: impl Fn(usize) -> bool) -> bool {
        let mapped = self.map.iter().enumerate().filter(|(_, page)| **page != NONE);
        mapped.map(|(logical, _)| logical).all(is_known)
    }
}

/// Sizes that a placement is built for: those of its drive, and the seed.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// Blocks of the drive.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Parts of the drive that collect for themselves.
    pub domains: u32,
    /// Parts of the drive in which each stream has an open block.
    pub pools: u32,
    /// Seed of the random streams of policies.
    pub seed: u64,
}

/// The streams of a placement that looks at nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Always {
    /// Stream of the pages that the host writes.
    pub host: usize,
    /// Stream of the pages that collection moves.
    pub migration: usize,
}

/// Number of streams: `all` of them, of which `migration` may get migrated pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// Streams in all.
    pub all: usize,
    /// Streams that may get migrated pages.
    pub migration: usize,
}

/// A page that the host writes, as a placement sees it.
#[derive(Debug, Clone, Copy)]
pub struct HostPage {
    /// Number of the logical page.
    pub logical: u32,
    /// Host pages written before it.
    pub now: u64,
    /// Its group, if the placement hears groups.
    pub group: u8,
    /// The clock at which it will be invalid, if the placement hears that.
    pub invalidation_time: u64,
}

/// A block that is collected, as a placement sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Victim {
    /// The stream that the block was opened for.
    pub stream: usize,
    /// The clock when it was opened.
    pub opened: u64,
    /// Clock when it is collected.
    pub now: u64,
}
