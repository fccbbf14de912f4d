//! Hints on the requests of a workload, passed to the device with them.

use std::collections::VecDeque;

use super::device::BlockDevice;
use crate::error::Result;
use crate::foresight::Foresight;
use crate::hints::{Group, Hints, RequiredHints};
use crate::request::{Op, Request};
use crate::workloads::Workload;

/// Hints on the pages of one write.
#[derive(Debug, Default)]
pub struct WriteHints {
    groups: Vec<Group>,
    group_of: Vec<u8>,
    invalidation_times: Vec<u64>,
    placement: Vec<u8>,
}

impl WriteHints {
    /// Hints in the form that managers use.
    pub fn hints(&self) -> Hints<'_> {
        let WriteHints { groups, group_of, invalidation_times, placement } = self;
        Hints { groups, group_of, invalidation_times, placement, ..Hints::default() }
    }
}

/// Workload whose requests are drawn with hints, for a device that requires them.
pub struct Hinted {
    required_hints: RequiredHints,
    foresight: Option<Foresight>,
    /// Clock of the device (host pages written) once all drawn writes are submitted.
    clock_pages: u64,
    /// Hints on writes that were drawn and not submitted yet, in order.
    pending: VecDeque<WriteHints>,
    pages: Vec<u32>,
    times: Vec<u64>,
}

impl Hinted {
    /// Wraps a workload for a device. Returns None if the device requires no hints.
    pub fn new(device: &dyn BlockDevice, workload: &dyn Workload) -> Result<Option<Box<Self>>> {
        let required_hints = device.required_hints();
        if required_hints == RequiredHints::Nothing {
            return Ok(None);
        }
        let foresees = required_hints == RequiredHints::InvalidationTimes && workload.writes();
        Ok(Some(Box::new(Hinted {
            required_hints,
            foresight: foresees.then(|| Foresight::new(workload)).transpose()?,
            clock_pages: device.counters().map_or(0, |counters| counters.host.written_pages),
            pending: VecDeque::new(),
            pages: Vec::new(),
            times: Vec::new(),
        })))
    }

    /// Next request of the workload. The hints on a write are stored until [`Self::take`].
    pub fn next_request(&mut self, workload: &mut dyn Workload) -> Option<Request> {
        let request = match &mut self.foresight {
            None => workload.next_request()?,
            Some(foresight) => {
                foresight.next_request(workload, &mut self.times, self.clock_pages)?
            }
        };
        if request.op == Op::Write {
            self.clock_pages += request.range().len() as u64;
            let mut hints = WriteHints::default();
            match self.required_hints {
                RequiredHints::InvalidationTimes => {
                    hints.invalidation_times.clone_from(&self.times);
                }
                RequiredHints::Handles if workload.has_tags() => {
                    hints.placement.resize(request.range().len(), request.tag);
                }
                // If the workload has no groups, the hints stay empty, and the device returns an
                // error that ends the run.
                RequiredHints::Groups | RequiredHints::Handles => {
                    hints.groups = workload.groups().unwrap_or_default();
                    if !hints.groups.is_empty() {
                        self.pages.clear();
                        self.pages.extend(request.range());
                        hints.group_of.resize(self.pages.len(), 0);
                        workload.find_groups(&self.pages, &mut hints.group_of);
                    }
                }
                RequiredHints::Nothing => {
                    unreachable!("a device that requires no hints never draws requests with hints")
                }
            }
            self.pending.push_back(hints);
        }
        Some(request)
    }

    /// Removes and returns the hints on the next write to submit.
    /// Writes are submitted in the order in which they were drawn.
    pub fn take(&mut self) -> WriteHints {
        self.pending.pop_front().expect("hints were stored for each write that was drawn")
    }
}
