//! Planes of a die that read beside each other, where the profile has such.
//!
//! Each plane reads a flash page of its own through command, array and data, whatever the others do;
//! the channel serves them as it serves dies. Programs and erases take the whole die: they begin,
//! and are resumed, when no plane has a read to do. Units do nothing else while their planes read.

use super::channel::Way;
use super::ops::{Kind, Op, OpId, Queue};
use super::unit::Stage;
use super::{Nand, Schedule};

/// A plane: the stage of its read, and the reads that wait for it.
#[derive(Debug, Clone, Copy)]
struct Plane {
    stage: Stage,
    /// Those of the mapping table, others, and those of pages to be copied that yield.
    waiting: [Queue; 3],
}

/// The planes of all units, numbered on from these where they ask for channels and arrays.
#[derive(Debug)]
pub struct Planes {
    all: Vec<Plane>,
    per_unit: u32,
    /// Planes of each unit whose arrays are at work, for the pin.
    sensing: Vec<u32>,
}

impl Planes {
    /// Planes with nothing to read.
    pub fn new(units: u32, per_unit: u32) -> Self {
        let idle = Plane { stage: Stage::Idle, waiting: [Queue::default(); 3] };
        Planes {
            all: vec![idle; (units * per_unit) as usize],
            per_unit,
            sensing: vec![0; units as usize],
        }
    }

    /// Number of them.
    pub fn count(&self) -> u32 {
        self.all.len() as u32
    }
}

impl Nand {
    fn planes(&mut self) -> &mut Planes {
        self.planes.as_mut().expect("planes that read for themselves")
    }

    fn plane(&mut self, at: u32) -> &mut Plane {
        let first = self.units();
        &mut self.planes().all[(at - first) as usize]
    }

    /// Unit of a plane.
    pub(super) fn unit_of_plane(&self, at: u32) -> u32 {
        let per_unit = self.planes.as_ref().expect("planes that read for themselves").per_unit;
        (at - self.units()) / per_unit
    }

    /// Lets a read that waits for nothing any more wait for its plane.
    pub(super) fn queue_on_plane(&mut self, unit: u32, op: OpId, yields: bool) {
        let Op { first_page, is_of_table, .. } = *self.ops.get(op);
        let rank = if yields { 2 } else { usize::from(!is_of_table) };
        let plane = self.plane_of(first_page);
        let Some(planes) = &mut self.planes else { return };
        let found = &mut planes.all[(unit * planes.per_unit + plane) as usize];
        found.waiting[rank].push(op, &mut self.ops);
        self.units[unit as usize].plane_reads += 1;
    }

    /// Begins what idle planes of a unit that does nothing else have to read.
    /// True if a plane has anything to read, so that the unit can begin nothing else.
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
            self.request_channel(at, Way::In, self.commands.read_ns, events);
        }
        true
    }

    /// A plane has its command, or has handed out what it read.
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
                let found = &mut self.units[unit as usize];
                found.plane_reads -= 1;
                if found.plane_reads == 0 {
                    found.end_busy(now_ns);
                }
                self.finish(op, events);
                self.go_on(unit, events);
            }
            _ => unreachable!("a plane that was served by the channel had asked for it"),
        }
    }

    /// The array of a plane is done, or the decoder with what it read.
    pub(super) fn on_plane_done(&mut self, at: u32, events: &mut Schedule) {
        let stage = self.plane(at).stage;
        match stage {
            Stage::Array(op) => {
                self.plane(at).stage = Stage::DataOut(op);
                self.note_sensing(at, op, false, events.now_ns());
                let bytes = u64::from(self.ops.get(op).bytes);
                let duration_ns = self.commands.data.ns(bytes);
                self.request_channel(at, Way::Out, duration_ns, events);
            }
            Stage::Decoding(op) => {
                self.plane(at).stage = Stage::Command(op);
                self.request_channel(at, Way::In, self.commands.read_ns, events);
            }
            _ => unreachable!("a plane whose array is done was at work"),
        }
    }

    /// Notes that a plane begins or ends to sense; the die is busy while any of them does.
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
