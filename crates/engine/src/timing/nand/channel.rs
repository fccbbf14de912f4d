//! A channel: one transfer at a time; data from dies or commands for them go first.

use std::collections::VecDeque;

use crate::timing::params::Arbitration;

/// A transfer that waits: whose, and how long it takes.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    unit: u32,
    duration_ns: u64,
}

/// A channel, and who waits for it.
#[derive(Debug, Default)]
pub struct Channel {
    current: Option<u32>,
    outs: VecDeque<Transfer>,
    ins: VecDeque<Transfer>,
    /// Time that it was busy, with what was begun.
    pub busy_ns: u64,
}

/// The way of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From a die to the controller.
    Out,
    /// A command, with the data that it brings.
    In,
}

impl Channel {
    /// Asks for the channel; returns when the transfer ends, if it begins now.
    #[inline(always)]
    pub fn request(&mut self, unit: u32, way: Way, duration_ns: u64, now_ns: u64) -> Option<u64> {
        if self.current.is_some() {
            let queue = if way == Way::Out { &mut self.outs } else { &mut self.ins };
            queue.push_back(Transfer { unit, duration_ns });
            return None;
        }
        Some(self.begin(Transfer { unit, duration_ns }, now_ns))
    }

    /// Operation whose transfer is under way.
    #[inline(always)]
    pub fn current(&self) -> u32 {
        self.current.expect("a transfer that ends has begun")
    }

    /// Ends the transfer; returns when the next one ends, if one waits.
    #[inline(always)]
    pub fn release(&mut self, arbitration: Arbitration, now_ns: u64) -> Option<u64> {
        self.current = None;
        let (first, second) = match arbitration {
            Arbitration::DataFirst => (&mut self.outs, &mut self.ins),
            Arbitration::CommandFirst => (&mut self.ins, &mut self.outs),
        };
        let next = first.pop_front().or_else(|| second.pop_front())?;
        Some(self.begin(next, now_ns))
    }

    #[inline(always)]
    fn begin(&mut self, transfer: Transfer, now_ns: u64) -> u64 {
        self.current = Some(transfer.unit);
        self.busy_ns += transfer.duration_ns;
        now_ns + transfer.duration_ns
    }
}
