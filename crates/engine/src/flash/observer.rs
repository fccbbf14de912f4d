//! Observers of flash operations: the interface for timing, Ready/Busy waveforms and logs.

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
        /// Logical page whose data is programmed, or [`super::NONE`] for padding.
        logical: u32,
        /// Cause of the program.
        cause: Cause,
        /// Physical page from which the data is migrated, or None for other programs.
        from: Option<u32>,
        /// Tag of the data; [`UNTAGGED`](crate::hints::UNTAGGED) without counters by tag.
        tag: u8,
    },
    /// Erase of a block.
    Erase {
        /// Number of the erased block.
        block: u32,
        /// Cause of the erase.
        cause: Cause,
    },
}

/// Event that is not a flash operation: a policy's choice or an unmapping by the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice<'a> {
    /// A free block is opened.
    Open {
        /// Number of the opened block.
        block: u32,
        /// Index of the block's frontier: stream × number of pools + pool.
        /// None if a wear leveller opened the block.
        frontier: Option<u32>,
    },
    /// A block is chosen for collection.
    Victim {
        /// Number of the chosen block.
        block: u32,
        /// Name of the number that the policy compares between blocks, such as "invalid pages"; empty
        /// if it has no name.
        measure: &'a str,
        /// Candidates that were compared, the chosen one first.
        scores: &'a [Score],
    },
    /// The host unmaps a page that holds data.
    Unmap {
        /// Logical page that is unmapped.
        logical: u32,
    },
    /// A group of pages is created.
    /// Its pages are written at the frontiers of the stream with the same number.
    GroupCreated {
        /// Number of the created group.
        group: u32,
    },
    /// The blocks of one group join another group.
    GroupMerged {
        /// Group that ceases to exist.
        from: u32,
        /// Group that receives the blocks.
        into: u32,
    },
}

/// Score of a candidate for collection; the highest score wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Number of the candidate block.
    pub block: u32,
    /// Score of the block, possibly infinite.
    pub score: f64,
}

/// Observer that is called for each flash operation, in order.
///
/// The erase of a collected block is reported after its last page was programmed elsewhere.
/// The erase is reported earlier only if the erased block itself is opened for those pages, which
/// must then follow the erase.
pub trait Observer: Any + Send {
    /// Called for each flash operation.
    fn on_op(&mut self, op: FlashOp);

    /// Called for each event that is not an operation.
    fn on_notice(&mut self, _notice: &Notice) {}

    /// True if the observer needs the scores of all candidates for each victim.
    /// To compute them, all candidates are scanned.
    fn needs_scores(&self) -> bool {
        false
    }
}

impl Observer for Vec<FlashOp> {
    fn on_op(&mut self, op: FlashOp) {
        self.push(op);
    }
}

/// Observer that records operations until they are taken between requests.
/// It is off at first, so that the initial fill is not recorded.
#[derive(Debug, Default)]
pub struct Recorder {
    /// True while operations are recorded.
    pub is_on: bool,
    /// Operations recorded since they were last taken.
    pub ops: Vec<FlashOp>,
}

impl Observer for Recorder {
    #[inline(always)]
    fn on_op(&mut self, op: FlashOp) {
        if self.is_on {
            self.ops.push(op);
        }
    }
}

/// Connection of a drive to its observer.
/// Managers are compiled for two implementations only: [`Silent`], which has no observer and takes
/// no time, and [`Observed`].
pub trait Tap: Send + 'static {
    /// False for a connection without an observer.
    const IS_OPEN: bool;

    /// Reports a flash operation to the observer.
    fn report(&mut self, op: FlashOp);

    /// Reports an event that is not an operation.
    fn notify(&mut self, notice: &Notice);

    /// True if the observer needs the scores of all candidates; see [`Observer::needs_scores`].
    fn needs_scores(&self) -> bool;

    /// Observer of the drive, or None.
    fn observer_mut(&mut self) -> Option<&mut dyn Observer>;
}

/// Connection without an observer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Tap for Silent {
    const IS_OPEN: bool = false;

    #[inline(always)]
    fn report(&mut self, _op: FlashOp) {}

    #[inline(always)]
    fn notify(&mut self, _notice: &Notice) {}

    #[inline(always)]
    fn needs_scores(&self) -> bool {
        false
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        None
    }
}

/// Connection to an observer.
pub enum Observed {
    /// Recorder of operations. Timed drives have one, so it is called without a pointer.
    Recorder(Recorder),
    /// Any other observer.
    Other(Box<dyn Observer>),
}

impl Observed {
    /// Connects an observer.
    pub fn new(observer: Box<dyn Observer>) -> Self {
        let any: &dyn Any = &*observer;
        if !any.is::<Recorder>() {
            return Observed::Other(observer);
        }
        let any: Box<dyn Any> = observer;
        Observed::Recorder(*any.downcast().expect("the type was just checked"))
    }

    fn observer(&self) -> &dyn Observer {
        match self {
            Observed::Recorder(recorder) => recorder,
            Observed::Other(observer) => &**observer,
        }
    }
}

impl Tap for Observed {
    const IS_OPEN: bool = true;

    #[inline(always)]
    fn report(&mut self, op: FlashOp) {
        match self {
            Observed::Recorder(recorder) => recorder.on_op(op),
            Observed::Other(observer) => observer.on_op(op),
        }
    }

    fn notify(&mut self, notice: &Notice) {
        if let Some(observer) = self.observer_mut() {
            observer.on_notice(notice);
        }
    }

    fn needs_scores(&self) -> bool {
        self.observer().needs_scores()
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        Some(match self {
            Observed::Recorder(recorder) => recorder,
            Observed::Other(observer) => &mut **observer,
        })
    }
}
