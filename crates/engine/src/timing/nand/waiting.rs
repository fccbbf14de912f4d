//! Waiters for operations, who are told when these are done, or before.

use super::Nand;
use super::ops::{NONE, OpId, Waiter};

impl Nand {
    /// Lets someone wait for an operation.
    #[inline(always)]
    pub fn tell(&mut self, op: OpId, waiter: Waiter) {
        self.ops.tell(op, waiter);
    }

    /// Lets a request wait for all programs that were submitted to any die; returns how many.
    pub fn tell_of_all_programs(&mut self, waiter: Waiter) -> u32 {
        let mut told = 0;
        for op in self.last_program.clone() {
            if op != NONE {
                self.ops.tell(op, waiter);
                told += 1;
            }
        }
        told
    }

    /// Tells the waiters of a program that their data are safe in memory.
    /// These are the requests and pages that wait for it, as there is nothing to fill it up with.
    pub fn release_early(&mut self, op: OpId) {
        let mut kept = Vec::new();
        while let Some(waiter) = self.ops.pop_waiter(op) {
            match waiter {
                Waiter::Request(_) | Waiter::CachedPage => self.told.push(waiter),
                Waiter::Op(waiting) => {
                    self.ops.get_mut(waiting).waits -= 1;
                    kept.push(waiter);
                }
                Waiter::Collection(_) | Waiter::TablePage(_) => kept.push(waiter),
            }
        }
        kept.into_iter().rev().for_each(|waiter| self.ops.tell(op, waiter));
    }
}
