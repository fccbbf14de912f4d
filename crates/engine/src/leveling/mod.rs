//! Wear levellers: which block takes the wear, decided by erase counts. One file each.
//!
//! A leveller works beside any block manager and victim policy: it may choose among the free
//! blocks, and it may have the pages of a closed block moved onto the block just erased, which
//! then rests while the other is used. To add one, write its file and add its line to `levelers!`.

mod dual_pool;
mod static_threshold;
mod youngest_free;

use std::ops::Range;

use crate::error::Result;
use crate::flash::{Array, BlockState, Geometry};
use crate::params::{Domain, Param, Params, U32_MAX};
use crate::registry::{Registered, Registry, dispatch, entries};
use crate::state::{State, state};

/// The wear of one pool of blocks.
#[derive(Debug, Clone)]
pub struct PoolWear<'a> {
    /// Blocks of the pool.
    pub blocks: Range<u32>,
    /// The drive that it belongs to.
    pub array: &'a Array,
}

impl PoolWear<'_> {
    /// The blocks of the pool that are neither spare nor retired.
    fn in_use(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.clone().filter(|block| {
            !matches!(self.array.state(*block), BlockState::Spare | BlockState::Retired)
        })
    }

    /// The closed blocks of the pool with at most an eighth of their pages invalid. A block that
    /// fewer valid pages move to is left so empty that it is soon collected again, and wears all
    /// the faster.
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
    /// Free blocks of each pool that it keeps back, so that there is a choice.
    pub reserve_blocks: u32,
    /// True if it has pages of closed blocks moved.
    pub moves_pages: bool,
}

/// Levels the wear of one pool.
pub trait WearLeveler: Send + State {
    /// Declares what the leveller needs with such parameters.
    fn declared(_params: &Params) -> Declared
    where
        Self: Sized,
    {
        Declared { reserve_blocks: 0, moves_pages: true }
    }

    /// Chooses the block to open, by its place in `free`, where the one erased last comes last.
    fn open(&mut self, free: &[u32], _erase_counts: &[u32]) -> usize {
        free.len() - 1
    }

    /// Hears that `block`, erased `erases` times so far, filled up.
    fn on_close(&mut self, _block: u32, _erases: u32) {}

    /// Hears that the spare `block`, erased `erases` times so far, has replaced a worn-out one.
    fn on_spare_used(&mut self, _block: u32, _erases: u32) {}

    /// The closed block, if any, whose pages should move onto `erased`, which was just erased.
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
};

/// Builds the leveller that `text` names, for one pool of a drive.
pub fn build(text: &str, geometry: &Geometry) -> Result<Box<dyn WearLeveler>> {
    let params = WEAR_LEVELERS.read(text)?;
    levelers!(dispatch! {
        Registered<Geometry>, params, Leveler => Ok(Box::new(Leveler::build(&params, geometry)?))
    })
}

/// Declaration of the leveller that `text` names.
pub fn declared(text: &str) -> Result<Declared> {
    let params = WEAR_LEVELERS.read(text)?;
    levelers!(dispatch! { Registered<Geometry>, params, Leveler => Ok(Leveler::declared(&params)) })
}

/// The free blocks of each pool that a leveller keeps back, if there is one.
pub fn reserve_blocks(text: Option<&str>) -> Result<u32> {
    text.map_or(Ok(0), |text| Ok(declared(text)?.reserve_blocks))
}

/// Lower bound of some value over a set of blocks.
/// The value of a block never falls, so that only a block that joins can lower the bound, and the
/// least is found anew only when that can matter.
#[derive(Debug, Clone, Copy, Default)]
struct Least {
    bound: u32,
}

state!(Least { value bound });

impl Least {
    /// A block with `value` joins the set.
    fn join(&mut self, value: u32) {
        self.bound = self.bound.min(value);
    }

    /// The block with the least value, of equals the first, if `value` exceeds that by more than
    /// `threshold`. `blocks` yields each block of the set with its value.
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
    "erases by which two blocks may differ before data moves",
);
