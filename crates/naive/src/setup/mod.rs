//! Setup of a drive: its shape, its policies, and what its host says of pages.

mod rules;

use crate::spec::Spec;

pub use rules::GroupRules;
pub(crate) use rules::{Allocation, Detector, Exceptions, FEWEST_GROUPS, Following};

/// Rule for the write streams: their number, and the stream of each kind of write.
#[derive(Debug, Clone, PartialEq)]
pub enum Manager {
    /// Stream 0 for hot pages, stream 1 for cold ones. With a number, hot and cold blocks swap,
    /// and the second victim is the best of so many drawn.
    HotCold { d_swap: Option<u32> },
    /// A stream for each group of pages.
    Grouped(GroupRules),
    /// Streams of a placement.
    Placed(Spec),
}

/// Description that the host gives of one of its groups of pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostGroup {
    pub pages: u32,
    /// Share of the host's writes that goes to the group.
    pub write_share: f64,
}

/// Hint that the host gives with a page that it writes, for managers that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// Index of the group, of those that the drive has heard of.
    pub group: u8,
    /// The clock at which the page is going to be invalid.
    pub invalidation_time: Option<u64>,
}

/// Division of the blocks into pools, and the unit that collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool.
    Flat,
    /// A pool for each LUN; collection looks at the whole drive.
    Striped,
    /// A pool for each LUN, which collects for itself.
    StripedPerLun,
    /// A pool for each LUN, as before, and a logical page goes to the LUN that it belongs to.
    Static,
}

impl Layout {
    /// Parts of a drive of so many LUNs that collect for themselves.
    pub(crate) fn domains(self, luns: u32) -> u32 {
        match self {
            Layout::Flat | Layout::Striped => 1,
            Layout::StripedPerLun | Layout::Static => luns,
        }
    }
}

/// Rule that decides on the blocks which take the wear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leveling {
    /// No levelling.
    None,
    /// The free block erased least is opened, of equals the one erased last; some are kept free.
    YoungestFree { reserve_blocks: usize },
    /// Data of the mostly valid block erased least moves onto one erased more than so many times
    /// more.
    Static { threshold: u32 },
    /// Chang's dual pool.
    DualPool { threshold: u32 },
}

/// A drive to be built.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Erase units in the drive.
    pub blocks: u32,
    pub pages_per_block: u32,
    pub logical_pages: u32,
    /// The last of them that hold a mapping table, whose blocks hold nothing else.
    pub table_pages: u32,
    /// Units that the blocks are divided over, in consecutive ranges of equal length.
    pub luns: u32,
    pub layout: Layout,
    pub manager: Manager,
    pub victims: Spec,
    pub leveling: Leveling,
    pub seed: u64,
    pub wear: Wear,
}

/// Limit of erases of a block, and the spares that replace worn ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wear {
    /// Erases after which a block is worn out, if ever.
    pub limit: Option<u32>,
    /// Blocks at the end of each pool that are not used until they replace worn ones.
    pub spare_blocks_per_pool: u32,
}
