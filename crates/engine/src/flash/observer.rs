//! Observers of flash operations: the seam for timing, Ready/Busy waveforms and logs.

use std::any::Any;

use super::Cause;

/// One operation on the flash array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlashOp {
    /// Read of a page.
    Read {
        /// Physical page that is read.
        page: u32,
        /// Cause of the read.
        cause: Cause,
    },
    /// Program of a page.
    Program {
        /// Physical page that is programmed.
        page: u32,
        /// Logical page whose data it gets; [`super::NONE`] for padding.
        logical: u32,
        /// Cause of the program.
        cause: Cause,
        /// Physical page that the data comes from, if it is migrated.
        from: Option<u32>,
    },
    /// Erase of a block.
    Erase {
        /// Block that is erased.
        block: u32,
        /// Cause of the erase.
        cause: Cause,
    },
}

/// Notice of what happens beside the operations.
/// That is what policies choose, and what the host gives up.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice<'a> {
    /// A free block is opened.
    Open {
        /// Block that is opened.
        block: u32,
        /// Frontier that it stands behind, stream × pools + pool.
        /// A wear leveller opens blocks without one.
        frontier: Option<u32>,
    },
    /// A block is chosen for collection.
    Victim {
        /// Block that is chosen.
        block: u32,
        /// Measure by which it was chosen, in words; empty if its policy does not say.
        measure: &'a str,
        /// Candidates that were looked at, the chosen one first.
        scores: &'a [Score],
    },
    /// The host unmaps a page that held data.
    Unmap {
        /// Logical page that is unmapped.
        logical: u32,
    },
    /// A group of pages begins; its blocks stand behind the frontiers of a stream of its number.
    GroupCreated {
        /// Number of the group.
        group: u32,
    },
    /// The blocks of a group belong to another from now on.
    GroupMerged {
        /// Group that is no more.
        from: u32,
        /// Group that has its blocks.
        into: u32,
    },
}

/// Score of a candidate for collection; the greatest wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Candidate.
    pub block: u32,
    /// Score, which may be infinite.
    pub score: f64,
}

/// Listener to every flash operation, in order.
///
/// The erase of a collected block is reported after the last of its pages has been programmed
/// elsewhere; only if the block itself is opened for them is it reported before that.
pub trait Observer: Any + Send {
    /// Hears of an operation.
    fn on_op(&mut self, op: FlashOp);

    /// Hears of what happens beside the operations.
    fn on_notice(&mut self, _notice: &Notice) {}

    /// True if it asks for the scores of victims, which cost a look at every candidate.
    fn asks_scores(&self) -> bool {
        false
    }
}

impl Observer for Vec<FlashOp> {
    fn on_op(&mut self, op: FlashOp) {
        self.push(op);
    }
}

/// Observer that keeps operations for someone who looks between requests.
/// It is off until it is switched on, so that a fill leaves nothing behind.
#[derive(Debug, Default)]
pub struct Recorder {
    /// True while operations are kept.
    pub is_on: bool,
    /// Operations since they were taken last.
    pub ops: Vec<FlashOp>,
}

impl Observer for Recorder {
    fn on_op(&mut self, op: FlashOp) {
        if self.is_on {
            self.ops.push(op);
        }
    }
}

/// Connection of a drive to its observer. There are two, so that managers are compiled for no
/// more: [`Silent`], which costs nothing, and a boxed [`Observer`].
pub trait Tap: Send + 'static {
    /// False if nobody listens.
    const IS_OPEN: bool;

    /// Passes an operation on.
    fn report(&mut self, op: FlashOp);

    /// Passes on what happens beside the operations.
    fn notify(&mut self, notice: &Notice);

    /// See [`Observer::asks_scores`].
    fn asks_scores(&self) -> bool;

    /// The observer, if there is one.
    fn observer_mut(&mut self) -> Option<&mut dyn Observer>;
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Tap for Silent {
    const IS_OPEN: bool = false;

    #[inline(always)]
    fn report(&mut self, _op: FlashOp) {}

    #[inline(always)]
    fn notify(&mut self, _notice: &Notice) {}

    #[inline(always)]
    fn asks_scores(&self) -> bool {
        false
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        None
    }
}

impl Tap for Box<dyn Observer> {
    const IS_OPEN: bool = true;

    fn report(&mut self, op: FlashOp) {
        self.on_op(op);
    }

    fn notify(&mut self, notice: &Notice) {
        self.on_notice(notice);
    }

    fn asks_scores(&self) -> bool {
        (**self).asks_scores()
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        Some(&mut **self)
    }
}
