//! Independent reads by the planes of a die, if the profile supports them.
//!
//! Each plane reads its own flash page (command, array, data) regardless of the other planes.
//! The channel serves planes like dies. A program or erase occupies the whole die. It starts, or
//! resumes, only when no plane has a read. While planes read, their unit (die or chip) does nothing
//! else.

use super::channel::TransferDirection;
use super::ops::{Kind, Op, OpId, Queue};
use super::unit::Stage;
use super::{Nand, Schedule};

/// Plane of a die: the stage of its read, and its waiting reads.
#[derive(Debug, Clone, Copy)]
struct Plane {
    stage: Stage,
    /// Queues of three kinds: mapping-table reads, other reads, and reads of pages to copy.
    /// The third queue is used if reads of pages to copy yield to other reads.
    waiting: [Queue; 3],
}

/// Planes of all units. For channels and arrays, plane numbers continue after unit numbers.
#[derive(Debug)]
pub struct Planes {
    all: Vec<Plane>,
    per_unit: u32,
    /// Number of planes of each unit whose arrays are working.
    /// The Ready/Busy pin of the die depends on it.
    sensing: Vec<u32>,
}

impl Planes {
    /// Builds idle planes.
    pub fn new(units: u32, per_unit: u32) -> Self {
        let idle = Plane { stage: Stage::Idle, waiting: [Queue::default(); 3] };
        Planes {
            all: vec![idle; (units * per_unit) as usize],
            per_unit,
            sensing: vec![0; units as usize],
        }
    }

    /// Number of planes of all units together.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }
}

impl Nand {
    fn planes(&mut self) -> &mut Planes {
        self.planes.as_mut().expect("this drive's planes must read independently")
    }

    fn plane(&mut self, at: u32) -> &mut Plane {
        let first = self.units();
        &mut self.planes().all[(at - first) as usize]
    }

    /// Unit (die or chip) that contains a plane.
    pub(super) fn unit_of_plane(&self, at: u32) -> u32 {
        let per_unit =
            self.planes.as_ref().expect("this drive's planes must read independently").per_unit;
        (at - self.units()) / per_unit
    }

    /// Queues a read without open dependencies at its plane.
    pub(super) fn queue_on_plane(&mut self, unit: u32, op: OpId, yields: bool) {
        let Op { first_page, is_of_table, .. } = *self.ops.get(op);
        let rank = if yields { 2 } else { usize::from(!is_of_table) };
        let plane = self.plane_of(first_page);
        let Some(planes) = &mut self.planes else { return };
        let plane_queue = &mut planes.all[(unit * planes.per_unit + plane) as usize];
        plane_queue.waiting[rank].push(op, &mut self.ops);
        self.units[unit as usize].plane_reads += 1;
    }

    /// Starts the waiting reads of idle planes of a unit that does nothing else.
    /// Returns true if a plane has a read, so that the unit can start nothing else.
    pub(super) fn begin_on_planes(&mut self, unit: u32, events: &mut Schedule) -> bool {
        if self.units[unit as usize].plane_reads == 0 {
            return false;
        }
        let per_unit = self.planes().per_unit;
        let first = self.units() + unit * per_unit;
        for at in first..first + per_unit {
            let Some(planes) = &mut self.planes else { break };
            let plane = &mut planes.all[(at - self.units.len() as u32) as usize];
            if plane.stage != Stage::Idle {
                continue;
            }
            let ops = &self.ops;
            let Some(op) = plane.waiting.iter_mut().find_map(|queue| queue.pop(ops)) else {
                continue;
            };
            plane.stage = Stage::Command(op);
            self.units[unit as usize].begin_busy(events.now_ns());
            self.request_channel(at, TransferDirection::In, self.commands.read_ns, events);
        }
        true
    }

    /// Handles the end of a plane's transfer: of its command, or of its data.
    pub(super) fn on_plane_transferred(&mut self, at: u32, events: &mut Schedule) {
        let (now_ns, stage) = (events.now_ns(), self.plane(at).stage);
        match stage {
            Stage::Command(op) => {
                self.plane(at).stage = Stage::Array(op);
                let Op { array_ns, .. } = *self.ops.get(op);
                events.array_done(now_ns + array_ns, at);
                self.note_sensing(at, op, true, now_ns);
            }
            Stage::DataOut(op) if self.retrying.is_some() && self.ops.get(op).retries > 0 => {
                self.plane(at).stage = Stage::Decoding(op);
                self.fail(at, op, events);
            }
            Stage::DataOut(op) => {
                self.plane(at).stage = Stage::Idle;
                let unit = self.unit_of_plane(at);
                let busy_unit = &mut self.units[unit as usize];
                busy_unit.plane_reads -= 1;
                if busy_unit.plane_reads == 0 {
                    busy_unit.end_busy(now_ns);
                }
                self.finish(op, events);
                self.start_next(unit, events);
            }
            _ => unreachable!("a plane whose transfer ended was sending a command or data"),
        }
    }

    /// Handles the end of a plane's array time, or of the decoding of its data.
    pub(super) fn on_plane_done(&mut self, at: u32, events: &mut Schedule) {
        let stage = self.plane(at).stage;
        match stage {
            Stage::Array(op) => {
                self.plane(at).stage = Stage::DataOut(op);
                self.note_sensing(at, op, false, events.now_ns());
                let bytes = u64::from(self.ops.get(op).bytes);
                let duration_ns = self.commands.data.ns(bytes);
                self.request_channel(at, TransferDirection::Out, duration_ns, events);
            }
            Stage::Decoding(op) => {
                self.plane(at).stage = Stage::Command(op);
                self.request_channel(at, TransferDirection::In, self.commands.read_ns, events);
            }
            _ => unreachable!("a plane whose array time ended was reading or decoding"),
        }
    }

    /// Records the start or end of a plane's array time. The die is busy while any plane works.
    fn note_sensing(&mut self, at: u32, op: OpId, begins: bool, now_ns: u64) {
        let Op { kind, die, array_ns, .. } = *self.ops.get(op);
        debug_assert_eq!(kind, Kind::Read);
        if array_ns == 0 {
            return;
        }
        let unit = self.unit_of_plane(at) as usize;
        let sensing = &mut self.planes().sensing[unit];
        *sensing = if begins { *sensing + 1 } else { *sensing - 1 };
        let is_edge = *sensing == u32::from(begins);
        if is_edge {
            self.record(die, array_ns, begins, now_ns);
        }
    }
}
