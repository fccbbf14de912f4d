//! Waiters of operations, which are notified at completion or earlier.

use super::Nand;
use super::ops::{NONE, OpId, Waiter};

impl Nand {
    /// Adds a waiter to an operation.
    #[inline(always)]
    pub fn add_waiter(&mut self, op: OpId, waiter: Waiter) {
        self.ops.add_waiter(op, waiter);
    }

    /// Makes a request wait for all programs submitted to any die.
    /// It waits for the last program of each write queue, because queues are served in order.
    /// Returns the number of these programs, which the caller must add to the request's
    /// dependencies.
    pub fn wait_for_all_programs(&mut self, waiter: Waiter) -> u32 {
        let mut programs = 0;
        for op in self.last_program.clone() {
            if op != NONE {
                self.ops.add_waiter(op, waiter);
                programs += 1;
            }
        }
        programs
    }

    /// Notifies the requests and cached pages that wait for a program.
    /// Its data is safe in memory, its unit is not full, and no data is coming that could fill it.
    /// Other waiters still wait for the program.
    pub fn release_early(&mut self, op: OpId) {
        let mut remaining = Vec::new();
        while let Some(waiter) = self.ops.pop_waiter(op) {
            match waiter {
                Waiter::Request(_) | Waiter::CachedPage => self.released.push(waiter),
                Waiter::Op(waiting) => {
                    self.ops.get_mut(waiting).waits -= 1;
                    remaining.push(waiter);
                }
                Waiter::Collection(_) | Waiter::TablePage(_) => remaining.push(waiter),
            }
        }
        remaining.into_iter().rev().for_each(|waiter| self.ops.add_waiter(op, waiter));
    }
}
