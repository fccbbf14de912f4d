//! Channel: one transfer at a time.
//! The profile sets which transfers have priority: data from dies, or commands to dies.

use std::collections::VecDeque;

use crate::timing::params::Arbitration;

/// Waiting transfer: its unit (die or chip) and its duration.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    unit: u32,
    duration_ns: u64,
}

/// Channel between the controller and dies, with its waiting transfers.
#[derive(Debug, Default)]
pub struct Channel {
    current: Option<u32>,
    outs: VecDeque<Transfer>,
    ins: VecDeque<Transfer>,
    /// Busy time, including the transfer in progress.
    pub busy_ns: u64,
}

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferDirection {
    /// Data from a die to the controller.
    Out,
    /// Command from the controller to a die, with the data of a program.
    In,
}

impl Channel {
    /// Requests the channel for a transfer.
    /// Returns the end of the transfer if it begins now, or None if it waits until another ends.
    #[inline(always)]
    pub fn request(
        &mut self,
        unit: u32,
        direction: TransferDirection,
        duration_ns: u64,
        now_ns: u64,
    ) -> Option<u64> {
        if self.current.is_some() {
            let queue =
                if direction == TransferDirection::Out { &mut self.outs } else { &mut self.ins };
            queue.push_back(Transfer { unit, duration_ns });
            return None;
        }
        Some(self.begin(Transfer { unit, duration_ns }, now_ns))
    }

    /// Unit whose transfer is in progress.
    #[inline(always)]
    pub fn current(&self) -> u32 {
        self.current.expect("a transfer is in progress when one ends")
    }

    /// Ends the transfer. Returns the end of the next one, if one waits.
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
