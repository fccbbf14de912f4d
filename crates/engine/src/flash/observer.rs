//! An optional listener to every flash operation: the seam for timing, Ready/Busy waveforms and logs.

use super::Cause;

/// One operation on the flash array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlashOp {
    Read { page: u32, cause: Cause },
    Program { page: u32, cause: Cause },
    Erase { block: u32, cause: Cause },
}

/// Hears of every flash operation, in order.
pub trait Observer {
    fn on_op(&mut self, op: FlashOp);
}

/// Hears nothing, and costs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    #[inline(always)]
    fn on_op(&mut self, _op: FlashOp) {}
}

impl Observer for Vec<FlashOp> {
    fn on_op(&mut self, op: FlashOp) {
        self.push(op);
    }
}
