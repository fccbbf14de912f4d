//! Planes that read for themselves.

use std::collections::VecDeque;

use super::{Array, Doing, OpId, Seat};
use crate::timed::profile::transfer_ns;
use crate::timed::{Clock, Event};

#[derive(Debug)]
pub struct Plane {
    doing: Doing,
    /// Reads of the mapping table, then others, then those of copies that yield.
    reads: [VecDeque<OpId>; 3],
}

impl Default for Plane {
    fn default() -> Self {
        Plane { doing: Doing::Nothing, reads: Default::default() }
    }
}

impl Array {
    pub(super) fn queue_on_plane(&mut self, at: usize, id: OpId, rank: usize) {
        let plane = self.profile.plane(self.op(id).page);
        self.units[at].planes[plane].reads[rank].push_back(id);
    }

    /// True if a plane of the die reads, or has something to read.
    pub(super) fn has_plane_reads(&self, at: usize) -> bool {
        self.units[at].planes.iter().any(|plane| {
            plane.doing != Doing::Nothing || plane.reads.iter().any(|reads| !reads.is_empty())
        })
    }

    /// Planes of a die that does nothing else begin what they have to read. True if any reads.
    pub(super) fn begin_on_planes(&mut self, at: usize, clock: &mut Clock) -> bool {
        for plane in 0..self.units[at].planes.len() {
            let found = &mut self.units[at].planes[plane];
            if found.doing == Doing::Nothing
                && let Some(id) = found.reads.iter_mut().find_map(VecDeque::pop_front)
            {
                self.begin_plane_command(at, plane, id, clock);
            }
        }
        self.has_plane_reads(at)
    }

    fn begin_plane_command(&mut self, at: usize, plane: usize, id: OpId, clock: &mut Clock) {
        self.units[at].planes[plane].doing = Doing::Command(id);
        let channel = self.units[at].channel;
        let command = (Seat::Plane(at, plane), self.profile.read_command_ns);
        self.channels[channel].ins.push_back(command);
        self.begin_transfer(channel, clock);
    }

    pub(super) fn on_plane_transferred(&mut self, at: usize, plane: usize, clock: &mut Clock) {
        let done = Event::ArrayDone(Seat::Plane(at, plane));
        match self.units[at].planes[plane].doing {
            Doing::Command(id) => {
                self.units[at].planes[plane].doing = Doing::Array(id);
                clock.at(clock.now_ns + self.op(id).left_ns, done);
            }
            Doing::DataOut(id) if self.op(id).retries > 0 => {
                self.op_mut(id).retries -= 1;
                self.units[at].planes[plane].doing = Doing::Decoding(id);
                let decode_ns = self.errors.as_ref().expect("a read has failed").decode_ns();
                clock.at(clock.now_ns + decode_ns, done);
            }
            Doing::DataOut(id) => {
                self.units[at].planes[plane].doing = Doing::Nothing;
                self.end(at, id, clock);
            }
            doing => unreachable!("a transfer ended of a plane that was {doing:?}"),
        }
    }

    pub(super) fn on_plane_done(&mut self, at: usize, plane: usize, clock: &mut Clock) {
        match self.units[at].planes[plane].doing {
            Doing::Array(id) => {
                self.units[at].planes[plane].doing = Doing::DataOut(id);
                let duration_ns = transfer_ns(self.op(id).bytes, self.profile.channel_mb_s);
                let channel = self.units[at].channel;
                self.channels[channel].outs.push_back((Seat::Plane(at, plane), duration_ns));
                self.begin_transfer(channel, clock);
            }
            Doing::Decoding(id) => self.begin_plane_command(at, plane, id, clock),
            doing => unreachable!("an array ended of a plane that was {doing:?}"),
        }
    }
}
