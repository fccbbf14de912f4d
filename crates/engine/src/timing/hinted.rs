//! Hints on the requests of a workload, which go to the device with them.

use std::collections::VecDeque;

use super::device::BlockDevice;
use crate::error::Result;
use crate::foresight::Foresight;
use crate::hints::{Group, Hears, Hints};
use crate::request::{Op, Request};
use crate::workloads::Workload;

/// Hints on the pages of one write.
#[derive(Debug, Default)]
pub struct Told {
    groups: Vec<Group>,
    group_of: Vec<u8>,
    invalidation_times: Vec<u64>,
}

impl Told {
    /// The hints, as managers hear them.
    pub fn hints(&self) -> Hints<'_> {
        let Told { groups, group_of, invalidation_times } = self;
        Hints { groups, group_of, invalidation_times }
    }
}

/// A workload whose requests are drawn with hints, for a device that hears them.
pub struct Hinted {
    hears: Hears,
    foresight: Option<Foresight>,
    /// Pages that the host has written so far, by the device's count.
    clock_pages: u64,
    /// Hints on the writes that were drawn and not taken yet, in order.
    told: VecDeque<Told>,
    pages: Vec<u32>,
    times: Vec<u64>,
}

impl Hinted {
    /// Draws from a workload for a device; `None` if the device hears nothing.
    pub fn new(device: &dyn BlockDevice, workload: &dyn Workload) -> Result<Option<Box<Self>>> {
        let hears = device.hears();
        if hears == Hears::Nothing {
            return Ok(None);
        }
        let foresees = hears == Hears::InvalidationTimes && workload.writes();
        Ok(Some(Box::new(Hinted {
            hears,
            foresight: foresees.then(|| Foresight::new(workload)).transpose()?,
            clock_pages: device.counters().map_or(0, |counters| counters.host.written_pages),
            told: VecDeque::new(),
            pages: Vec::new(),
            times: Vec::new(),
        })))
    }

    /// The workload's next request; the hints on a write are kept until they are taken.
    pub fn next_request(&mut self, workload: &mut dyn Workload) -> Option<Request> {
        let request = match &mut self.foresight {
            None => workload.next_request()?,
            Some(foresight) => {
                foresight.next_request(workload, &mut self.times, self.clock_pages)?
            }
        };
        if request.op == Op::Write {
            self.clock_pages += request.range().len() as u64;
            let mut told = Told::default();
            match self.hears {
                Hears::InvalidationTimes => told.invalidation_times.clone_from(&self.times),
                // Without groups, what the device says of that ends the run.
                Hears::Groups => {
                    told.groups = workload.groups().unwrap_or_default();
                    if !told.groups.is_empty() {
                        self.pages.clear();
                        self.pages.extend(request.range());
                        told.group_of.resize(self.pages.len(), 0);
                        workload.find_groups(&self.pages, &mut told.group_of);
                    }
                }
                Hears::Nothing => unreachable!("nothing is drawn with hints then"),
            }
            self.told.push_back(told);
        }
        Some(request)
    }

    /// Takes the hints on the next write that is submitted; they come in the order drawn.
    pub fn take(&mut self) -> Told {
        self.told.pop_front().expect("each write was drawn with hints")
    }
}
