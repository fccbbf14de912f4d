//! Planes that read independently.

use std::collections::VecDeque;

use super::{Array, DieOrPlane, OpId, Stage};
use crate::timed::profile::transfer_ns;
use crate::timed::{Clock, Event};

#[derive(Debug)]
pub struct Plane {
    stage: Stage,
    /// Queues of reads, the most urgent first: of the mapping table, other reads, of copies that
    /// yield.
    reads: [VecDeque<OpId>; 3],
}

impl Default for Plane {
    fn default() -> Self {
        Plane { stage: Stage::Idle, reads: Default::default() }
    }
}

impl Array {
    pub(super) fn queue_on_plane(&mut self, at: usize, id: OpId, rank: usize) {
        let plane = self.profile.plane(self.op(id).page);
        self.units[at].planes[plane].reads[rank].push_back(id);
    }

    /// True if a plane of the die reads, or has reads in its queues.
    pub(super) fn has_plane_reads(&self, at: usize) -> bool {
        self.units[at].planes.iter().any(|plane| {
            plane.stage != Stage::Idle || plane.reads.iter().any(|reads| !reads.is_empty())
        })
    }

    /// Begins the next read of each idle plane; true if any plane reads.
    ///
    /// No other operation of the die may be in progress.
    pub(super) fn begin_on_planes(&mut self, at: usize, clock: &mut Clock) -> bool {
        for plane in 0..self.units[at].planes.len() {
            let state = &mut self.units[at].planes[plane];
            if state.stage == Stage::Idle
                && let Some(id) = state.reads.iter_mut().find_map(VecDeque::pop_front)
            {
                self.begin_plane_command(at, plane, id, clock);
            }
        }
        self.has_plane_reads(at)
    }

    fn begin_plane_command(&mut self, at: usize, plane: usize, id: OpId, clock: &mut Clock) {
        self.units[at].planes[plane].stage = Stage::Command(id);
        let channel = self.units[at].channel;
        let command = (DieOrPlane::Plane(at, plane), self.profile.read_command_ns);
        self.channels[channel].ins.push_back(command);
        self.begin_transfer(channel, clock);
    }

    pub(super) fn on_plane_transferred(&mut self, at: usize, plane: usize, clock: &mut Clock) {
        let done = Event::ArrayDone(DieOrPlane::Plane(at, plane));
        match self.units[at].planes[plane].stage {
            Stage::Command(id) => {
                self.units[at].planes[plane].stage = Stage::Array(id);
                clock.at(clock.now_ns + self.op(id).left_ns, done);
            }
            Stage::DataOut(id) if self.op(id).retries > 0 => {
                self.op_mut(id).retries -= 1;
                self.units[at].planes[plane].stage = Stage::Decoding(id);
                let decode_ns = self.errors.as_ref().expect("a read has failed").decode_ns();
                clock.at(clock.now_ns + decode_ns, done);
            }
            Stage::DataOut(id) => {
                self.units[at].planes[plane].stage = Stage::Idle;
                self.end(at, id, clock);
            }
            stage => unreachable!("a transfer ended on a plane in stage {stage:?}"),
        }
    }

    pub(super) fn on_plane_done(&mut self, at: usize, plane: usize, clock: &mut Clock) {
        match self.units[at].planes[plane].stage {
            Stage::Array(id) => {
                self.units[at].planes[plane].stage = Stage::DataOut(id);
                let duration_ns = transfer_ns(self.op(id).bytes, self.profile.channel_mb_s);
                let channel = self.units[at].channel;
                self.channels[channel].outs.push_back((DieOrPlane::Plane(at, plane), duration_ns));
                self.begin_transfer(channel, clock);
            }
            Stage::Decoding(id) => self.begin_plane_command(at, plane, id, clock),
            stage => unreachable!("an array operation ended on a plane in stage {stage:?}"),
        }
    }
}
