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

/// Listener to every flash operation, in order.
///
/// The erase of a collected block is reported after the last of its pages has been programmed
/// elsewhere; only if the block itself is opened for them is it reported before that.
pub trait Observer: Any + Send {
    /// Hears of an operation.
    fn on_op(&mut self, op: FlashOp);
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

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        None
    }
}

impl Tap for Box<dyn Observer> {
    const IS_OPEN: bool = true;

    fn report(&mut self, op: FlashOp) {
        self.on_op(op);
    }

    fn observer_mut(&mut self) -> Option<&mut dyn Observer> {
        Some(&mut **self)
    }
}
