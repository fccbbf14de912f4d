//! Wear levellers, which distribute erases over the blocks. One file each.
//!
//! A leveller works with any block manager and victim policy. It may choose among the free
//! blocks, and it may move the pages of a closed block onto the block just erased. The erased block
//! is then no longer written, and the closed block is erased and used instead. To add one, write
//! its file and add a line to `levelers!`.

mod dual_pool;
mod static_threshold;
mod youngest_free;

use std::ops::Range;

use crate::error::Result;
use crate::flash::{Array, BlockState, Geometry};
use crate::params::{Domain, Param, Params, U32_MAX};
use crate::registry::{Registered, Registry, dispatch, entries};
use crate::state::{State, state};

/// Wear of one pool of blocks.
#[derive(Debug, Clone)]
pub struct PoolWear<'a> {
    /// Numbers of the blocks of the pool.
    pub blocks: Range<u32>,
    /// Flash array of the drive.
    pub array: &'a Array,
}

impl PoolWear<'_> {
    /// Blocks of the pool that are neither spare nor retired.
    fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.clone().filter(|block| {
            !matches!(self.array.state(*block), BlockState::Spare | BlockState::Retired)
        })
    }

    /// Closed blocks of the pool with at most an eighth of their pages invalid.
    /// A block with fewer valid pages is not moved onto a worn block: the worn block would soon be
    /// collected again, and wear even faster.
    fn mostly_valid(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.clone().filter(|&block| {
            self.array.state(block) == BlockState::Closed
                && self.array.invalid_pages(block) <= self.array.geometry().pages_per_block() / 8
        })
    }
}

/// Declaration of a leveller, read before it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// Free blocks of each pool that are reserved, so that the leveller can choose.
    pub reserve_blocks: u32,
    /// True if the leveller moves pages of closed blocks.
    pub moves_pages: bool,
}

/// Levels the wear of one pool of blocks.
pub trait WearLeveler: Send + State {
    /// Declares the leveller's needs with these parameters.
    fn declared(_params: &Params) -> Declared
    where
        Self: Sized,
    {
        Declared { reserve_blocks: 0, moves_pages: true }
    }

    /// Chooses the block to open, and returns its index in `free`.
    /// The blocks in `free` are in the order in which they joined the pool. By default, the last
    /// one is chosen.
    fn open(&mut self, free: &[u32], _erase_counts: &[u32]) -> usize {
        free.len() - 1
    }

    /// Called when `block`, erased `erases` times so far, is closed because it is full.
    fn on_close(&mut self, _block: u32, _erases: u32) {}

    /// Called when the spare `block`, erased `erases` times so far, replaces a worn-out block.
    fn on_spare_used(&mut self, _block: u32, _erases: u32) {}

    /// Closed block whose pages should move onto `erased`, which was just erased; None for no
    /// move.
    fn exchange(&mut self, _erased: u32, _wear: &PoolWear) -> Option<u32> {
        None
    }
}

macro_rules! levelers {
    ($then:ident! $with:tt) => {
        $then! { $with
            youngest_free::YoungestFree,
            static_threshold::StaticThreshold,
            dual_pool::DualPool,
        }
    };
}

/// Every registered leveller.
pub static WEAR_LEVELERS: Registry = Registry {
    name: "wear_levelers",
    noun: "wear leveller",
    plural: "wear levellers",
    entries: levelers!(entries! { Registered<Geometry> }),
    absent: &[],
};

/// Builds the leveller of spec `text` for one pool of a drive.
pub fn build(text: &str, geometry: &Geometry) -> Result<Box<dyn WearLeveler>> {
    let params = WEAR_LEVELERS.read(text)?;
    levelers!(dispatch! {
        Registered<Geometry>, params, Leveler => Ok(Box::new(Leveler::build(&params, geometry)?))
    })
}

/// Declaration of the leveller of spec `text`.
pub fn declared(text: &str) -> Result<Declared> {
    let params = WEAR_LEVELERS.read(text)?;
    levelers!(dispatch! { Registered<Geometry>, params, Leveler => Ok(Leveler::declared(&params)) })
}

/// Free blocks of each pool that the leveller reserves, or 0 without a leveller.
pub fn reserve_blocks(text: Option<&str>) -> Result<u32> {
    text.map_or(Ok(0), |text| Ok(declared(text)?.reserve_blocks))
}

/// Lower bound of a value over a set of blocks.
/// The value of a block never decreases, so that only a joining block can lower the bound. The
/// exact minimum is recomputed only when it can change a decision.
#[derive(Debug, Clone, Copy, Default)]
struct Least {
    bound: u32,
}

state!(Least { value bound });

impl Least {
    /// Adds a block with `value` to the set.
    fn join(&mut self, value: u32) {
        self.bound = self.bound.min(value);
    }

    /// Block with the least value, if `value` is greater by more than `threshold`; else None.
    /// Of equal blocks, the first is returned. `blocks` yields each block of the set with its
    /// value.
    fn exceeded_by(
        &mut self,
        value: u32,
        threshold: u32,
        blocks: impl Iterator<Item = (u32, u32)>,
    ) -> Option<u32> {
        if value.saturating_sub(self.bound) <= threshold {
            return None;
        }
        let (block, least) = blocks.min_by_key(|(_, value)| *value)?;
        self.bound = least;
        (value.saturating_sub(least) > threshold).then_some(block)
    }
}

const THRESHOLD: Param = Param::new(
    "threshold",
    "16",
    Domain::Whole(1, U32_MAX),
    "data moves if the erase counts of two blocks differ by more than this",
);
