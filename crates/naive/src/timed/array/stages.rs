//! Stages of what a die is at: command, array, data; and what it begins next.

use std::collections::VecDeque;

use super::turns::Turn;
use super::{Array, Doing, Kind, OpId, Seat, Waiter};
use crate::timed::profile::{Profile, transfer_ns};
use crate::timed::{Clock, Event};

impl Array {
    pub(super) fn begin_next(&mut self, at: usize, clock: &mut Clock) {
        if self.profile.most_wait_ns > 0 && self.begin_overdue(at, clock) {
            return;
        }
        if self.profile.paced && !self.has_first_reads(at) {
            if let Some(op) = self.units[at].suspended.take() {
                self.begin_array(at, op, clock);
                return;
            }
            if let Some(turn) = self.turn(at, true) {
                let op = self.take_turn(at, turn);
                self.begin_command(at, op, clock);
                return;
            }
        }
        if self.begin_on_planes(at, clock) {
            return;
        }
        let unit = &mut self.units[at];
        if let Some(read) = unit.reads.iter_mut().find_map(VecDeque::pop_front) {
            self.begin_command(at, read, clock);
        } else if let Some(op) = unit.suspended.take() {
            self.begin_array(at, op, clock);
        } else if let Some(op) = self.next_ready(at) {
            self.units[at].others.pop_front();
            self.begin_command(at, op, clock);
        } else {
            self.idle_units.push(at);
        }
    }

    /// The first of the other operations, if it waits for nothing.
    pub(super) fn next_ready(&self, at: usize) -> Option<OpId> {
        let first = *self.units[at].others.front()?;
        (self.op(first).waits == 0).then_some(first)
    }

    pub(super) fn begin_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        self.units[at].doing = Doing::Command(id);
        self.send_command(at, id, clock);
    }

    fn send_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let (profile, op) = (&self.profile, self.op(id));
        let duration_ns = match op.kind {
            Kind::Read => profile.read_command_ns,
            Kind::Program => {
                profile.program_command_ns + transfer_ns(op.bytes, profile.channel_mb_s)
            }
            Kind::Erase => profile.erase_command_ns,
        };
        let channel = self.units[at].channel;
        self.channels[channel].ins.push_back((Seat::Die(at), duration_ns));
        self.begin_transfer(channel, clock);
    }

    /// Begins the next transfer of a channel that is free.
    pub(super) fn begin_transfer(&mut self, at: usize, clock: &mut Clock) {
        let channel = &mut self.channels[at];
        if channel.user.is_some() {
            return;
        }
        let next = if self.profile.commands_first {
            channel.ins.pop_front().or_else(|| channel.outs.pop_front())
        } else {
            channel.outs.pop_front().or_else(|| channel.ins.pop_front())
        };
        if let Some((seat, duration_ns)) = next {
            channel.user = Some(seat);
            clock.at(clock.now_ns + duration_ns, Event::ChannelFree(at));
        }
    }

    pub fn on_channel_free(&mut self, channel: usize, clock: &mut Clock) {
        match self.channels[channel].user.expect("a transfer has ended") {
            Seat::Die(at) => self.on_transferred(at, clock),
            Seat::Plane(at, plane) => self.on_plane_transferred(at, plane, clock),
        }
        self.channels[channel].user = None;
        self.begin_transfer(channel, clock);
    }

    fn on_transferred(&mut self, at: usize, clock: &mut Clock) {
        match self.units[at].doing {
            Doing::Command(id) => self.begin_array(at, id, clock),
            Doing::DataOut(id) if self.op(id).retries > 0 => {
                self.op_mut(id).retries -= 1;
                self.units[at].doing = Doing::Decoding(id);
                let decode_ns = self.errors.as_ref().expect("a read has failed").decode_ns();
                clock.at(clock.now_ns + decode_ns, Event::ArrayDone(Seat::Die(at)));
            }
            Doing::DataOut(id) => {
                self.units[at].doing = Doing::Nothing;
                self.end(at, id, clock);
            }
            Doing::Nothing | Doing::Array(_) | Doing::Suspending(_) | Doing::Decoding(_) => {
                self.units[at].loading.as_mut().expect("data were loaded").1 = true;
            }
        }
    }

    pub(super) fn begin_array(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let end_ns = clock.now_ns + self.op(id).left_ns;
        self.units[at].doing = Doing::Array(id);
        self.units[at].array_end_ns = end_ns;
        clock.at(end_ns, Event::ArrayDone(Seat::Die(at)));
        self.load_next(at, clock);
    }

    pub fn on_array_done(&mut self, seat: Seat, clock: &mut Clock) {
        match seat {
            Seat::Die(at) => self.on_die_done(at, clock),
            Seat::Plane(at, plane) => self.on_plane_done(at, plane, clock),
        }
    }

    fn on_die_done(&mut self, at: usize, clock: &mut Clock) {
        match self.units[at].doing {
            Doing::Suspending(id) => {
                self.units[at].doing = Doing::Nothing;
                self.units[at].suspended = Some(id);
                self.begin_next(at, clock);
            }
            Doing::Array(id) if self.op(id).kind == Kind::Read => {
                self.units[at].doing = Doing::DataOut(id);
                let duration_ns = transfer_ns(self.op(id).bytes, self.profile.channel_mb_s);
                let channel = self.units[at].channel;
                self.channels[channel].outs.push_back((Seat::Die(at), duration_ns));
                self.begin_transfer(channel, clock);
            }
            Doing::Array(id) => {
                self.units[at].doing = Doing::Nothing;
                match self.units[at].loading.take() {
                    Some((next, true)) => self.begin_array(at, next, clock),
                    Some((next, false)) => self.units[at].doing = Doing::Command(next),
                    None => {}
                }
                self.end(at, id, clock);
            }
            Doing::Decoding(id) => self.begin_command(at, id, clock),
            doing => unreachable!("an array ended that was {doing:?}"),
        }
    }

    /// An operation is done.
    pub(super) fn end(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let place = self.ops.iter().position(|op| op.id == id).expect("it was under way");
        let op = self.ops.remove(place);
        for waiter in op.waiters.into_iter().rev() {
            match waiter {
                Waiter::Operation(waiting) => self.free(waiting, clock),
                _ => self.told.push(waiter),
            }
        }
        if self.units[at].doing == Doing::Nothing {
            self.begin_next(at, clock);
        }
    }

    pub(super) fn load_next(&mut self, at: usize, clock: &mut Clock) {
        let unit = &self.units[at];
        let Doing::Array(current) = unit.doing else { return };
        let is_program = |id: OpId| self.op(id).kind == Kind::Program;
        if !self.profile.cache_program
            || unit.loading.is_some()
            || self.has_first_reads(at)
            || self.has_plane_reads(at)
            || !is_program(current)
        {
            return;
        }
        if self.profile.paced {
            let unit = &self.units[at];
            let turn = self.turn(at, true);
            let first = match turn {
                None | Some(Turn::Copy) => None,
                Some(Turn::Collected) => unit.collections.front(),
                Some(Turn::Host) => unit.others.front(),
            };
            if let (Some(turn), Some(&first)) = (turn, first)
                && is_program(first)
            {
                let next = self.take_turn(at, turn);
                self.units[at].loading = Some((next, false));
                self.send_command(at, next, clock);
            }
            return;
        }
        if !unit.reads[2].is_empty() {
            return;
        }
        if let Some(next) = self.next_ready(at).filter(|&id| is_program(id)) {
            self.units[at].others.pop_front();
            self.units[at].loading = Some((next, false));
            self.send_command(at, next, clock);
        }
    }

    pub(super) fn suspend(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let left_ns = self.units[at].array_end_ns - clock.now_ns;
        let Profile { suspend_ns, resume_ns, most_suspends, .. } = self.profile;
        let is_loading = self.units[at].loading.is_some();
        let op = self.op_mut(id);
        if op.kind == Kind::Read
            || is_loading
            || op.suspensions == most_suspends
            || left_ns <= suspend_ns
        {
            return;
        }
        op.suspensions += 1;
        op.left_ns = left_ns + resume_ns;
        self.units[at].doing = Doing::Suspending(id);
        clock.call_off_array(at);
        clock.at(clock.now_ns + suspend_ns, Event::ArrayDone(Seat::Die(at)));
    }

    pub fn is_idle(&self, at: usize) -> bool {
        let unit = &self.units[at];
        unit.doing == Doing::Nothing
            && !self.has_plane_reads(at)
            && unit.suspended.is_none()
            && unit.reads.iter().all(VecDeque::is_empty)
            && unit.others.is_empty()
            && unit.collections.is_empty()
    }

    /// True if an operation was submitted that is not done.
    pub fn has_work(&self) -> bool {
        self.ops.iter().any(|op| op.is_submitted)
    }
}
