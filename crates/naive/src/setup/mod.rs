//! Setup of a drive: its shape, its policies, and the hints of its host.

mod rules;

use crate::spec::Spec;

pub use rules::GroupRules;
pub(crate) use rules::{Allocation, Detector, Exceptions, FEWEST_GROUPS, Following};

/// Block manager: determines the number of write streams, and the stream of each write.
#[derive(Debug, Clone, PartialEq)]
pub enum Manager {
    /// Stream 0 for hot pages, stream 1 for cold ones.
    ///
    /// With `d_swap`, hot and cold blocks swap. The second victim is then the block with the fewest
    /// valid pages among `d_swap` blocks drawn at random.
    HotCold { d_swap: Option<u32> },
    /// One stream for each group of pages.
    Grouped(GroupRules),
    /// Stream 0 for host writes, stream 1 for moved pages; both share their last block.
    ///
    /// `below` is the least share of valid pages that FIFO order skips.
    TwoRegion { below: f64 },
    /// Streams of a placement.
    Placed(Spec),
}

/// Host's description of one of its groups of pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostGroup {
    pub pages: u32,
    /// Share of the host's writes that go to the group.
    pub write_share: f64,
}

/// Hint of the host on a page that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// Index of the page's group among the host's groups.
    pub group: u8,
    /// Clock at which the page becomes invalid, in host pages written; None if never.
    pub invalidation_time: Option<u64>,
    /// Tag of the written version, for counters by tag.
    pub tag: u8,
    /// Placement handle that the host names; None if it names none.
    pub handle: Option<u8>,
}

/// Division of the blocks into pools, and the scope of collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool.
    Flat,
    /// A pool for each LUN; victims are chosen from the whole drive.
    Striped,
    /// A pool for each LUN; the victim is chosen among the blocks of the same LUN.
    StripedPerLun,
    /// Like `StripedPerLun`, but each logical page has a fixed LUN.
    Static,
}

impl Layout {
    /// Returns the number of domains that collect independently, for a drive with `luns` LUNs.
    pub(crate) fn domains(self, luns: u32) -> u32 {
        match self {
            Layout::Flat | Layout::Striped => 1,
            Layout::StripedPerLun | Layout::Static => luns,
        }
    }
}

/// Rule of wear levelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leveling {
    /// No levelling.
    None,
    /// The free block with the fewest erases is opened; of equals, the one erased last.
    ///
    /// `reserve_blocks` blocks of each pool stay free.
    YoungestFree { reserve_blocks: usize },
    /// Data move from the mostly valid block with the fewest erases to the block just erased.
    ///
    /// They move if the difference of the two blocks' erases is above `threshold`.
    Static { threshold: u32 },
    /// Chang's dual pool.
    DualPool { threshold: u32 },
}

/// Setup of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Erase units of the drive.
    pub blocks: u32,
    pub pages_per_block: u32,
    pub logical_pages: u32,
    /// Number of logical pages, the last ones, that hold the mapping table.
    ///
    /// They have blocks of their own.
    pub table_pages: u32,
    /// LUNs; each has a range of consecutive blocks, all ranges of the same length.
    pub luns: u32,
    pub layout: Layout,
    pub manager: Manager,
    /// For each logical page: true if it belongs to the own stream. Empty without an own stream.
    pub own_pages: Vec<bool>,
    pub victims: Spec,
    pub leveling: Leveling,
    pub seed: u64,
    pub wear: Wear,
    /// True if programs are counted by the placement's handles, in place of the host's tags.
    pub counts_handles: bool,
}

/// Limit of a block's erases, and the spare blocks that replace worn ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wear {
    /// Erases after which a block is worn out; None for unlimited erases.
    pub limit: Option<u32>,
    /// Blocks at the end of each pool that replace worn ones, and are unused until then.
    pub spare_blocks_per_pool: u32,
}
