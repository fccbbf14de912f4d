//! Stages of a die's operation (command, array, data), and the choice of the next one.

use std::collections::VecDeque;

use super::turns::Turn;
use super::{Array, DieOrPlane, OpId, OpKind, Stage, Waiter};
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
            self.units[at].main_queue.pop_front();
            self.begin_command(at, op, clock);
        } else {
            self.idle_units.push(at);
        }
    }

    /// Returns the head of the queue of programs and erases, if it waits for nothing.
    pub(super) fn next_ready(&self, at: usize) -> Option<OpId> {
        let first = *self.units[at].main_queue.front()?;
        (self.op(first).waits == 0).then_some(first)
    }

    pub(super) fn begin_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        self.units[at].stage = Stage::Command(id);
        self.send_command(at, id, clock);
    }

    fn send_command(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let (profile, op) = (&self.profile, self.op(id));
        let duration_ns = match op.kind {
            OpKind::Read => profile.read_command_ns,
            OpKind::Program => {
                profile.program_command_ns + transfer_ns(op.bytes, profile.channel_mb_s)
            }
            OpKind::Erase => profile.erase_command_ns,
        };
        let channel = self.units[at].channel;
        self.channels[channel].ins.push_back((DieOrPlane::Die(at), duration_ns));
        self.begin_transfer(channel, clock);
    }

    /// Begins the next transfer of a channel, if it is free.
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
        if let Some((user, duration_ns)) = next {
            channel.user = Some(user);
            clock.at(clock.now_ns + duration_ns, Event::ChannelFree(at));
        }
    }

    pub fn on_channel_free(&mut self, channel: usize, clock: &mut Clock) {
        match self.channels[channel].user.expect("a transfer has ended") {
            DieOrPlane::Die(at) => self.on_transferred(at, clock),
            DieOrPlane::Plane(at, plane) => self.on_plane_transferred(at, plane, clock),
        }
        self.channels[channel].user = None;
        self.begin_transfer(channel, clock);
    }

    fn on_transferred(&mut self, at: usize, clock: &mut Clock) {
        match self.units[at].stage {
            Stage::Command(id) => self.begin_array(at, id, clock),
            Stage::DataOut(id) if self.op(id).retries > 0 => {
                self.op_mut(id).retries -= 1;
                self.units[at].stage = Stage::Decoding(id);
                let decode_ns = self.errors.as_ref().expect("a read has failed").decode_ns();
                clock.at(clock.now_ns + decode_ns, Event::ArrayDone(DieOrPlane::Die(at)));
            }
            Stage::DataOut(id) => {
                self.units[at].stage = Stage::Idle;
                self.end(at, id, clock);
            }
            Stage::Idle | Stage::Array(_) | Stage::Suspending(_) | Stage::Decoding(_) => {
                self.units[at].loading.as_mut().expect("data were loaded").1 = true;
            }
        }
    }

    pub(super) fn begin_array(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let end_ns = clock.now_ns + self.op(id).left_ns;
        self.units[at].stage = Stage::Array(id);
        self.units[at].array_end_ns = end_ns;
        clock.at(end_ns, Event::ArrayDone(DieOrPlane::Die(at)));
        self.load_next(at, clock);
    }

    pub fn on_array_done(&mut self, user: DieOrPlane, clock: &mut Clock) {
        match user {
            DieOrPlane::Die(at) => self.on_die_done(at, clock),
            DieOrPlane::Plane(at, plane) => self.on_plane_done(at, plane, clock),
        }
    }

    fn on_die_done(&mut self, at: usize, clock: &mut Clock) {
        match self.units[at].stage {
            Stage::Suspending(id) => {
                self.units[at].stage = Stage::Idle;
                self.units[at].suspended = Some(id);
                self.begin_next(at, clock);
            }
            Stage::Array(id) if self.op(id).kind == OpKind::Read => {
                self.units[at].stage = Stage::DataOut(id);
                let duration_ns = transfer_ns(self.op(id).bytes, self.profile.channel_mb_s);
                let channel = self.units[at].channel;
                self.channels[channel].outs.push_back((DieOrPlane::Die(at), duration_ns));
                self.begin_transfer(channel, clock);
            }
            Stage::Array(id) => {
                self.units[at].stage = Stage::Idle;
                match self.units[at].loading.take() {
                    Some((next, true)) => self.begin_array(at, next, clock),
                    Some((next, false)) => self.units[at].stage = Stage::Command(next),
                    None => {}
                }
                self.end(at, id, clock);
            }
            Stage::Decoding(id) => self.begin_command(at, id, clock),
            stage => unreachable!("an array operation ended in stage {stage:?}"),
        }
    }

    /// Finishes an operation, notifies its waiters, and lets the die continue.
    pub(super) fn end(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let place = self.ops.iter().position(|op| op.id == id).expect("an unfinished operation");
        let op = self.ops.remove(place);
        for waiter in op.waiters.into_iter().rev() {
            match waiter {
                Waiter::Operation(waiting) => self.free(waiting, clock),
                _ => self.to_notify.push(waiter),
            }
        }
        if self.units[at].stage == Stage::Idle {
            self.begin_next(at, clock);
        }
    }

    pub(super) fn load_next(&mut self, at: usize, clock: &mut Clock) {
        let unit = &self.units[at];
        let Stage::Array(current) = unit.stage else { return };
        let is_program = |id: OpId| self.op(id).kind == OpKind::Program;
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
                Some(Turn::Host) => unit.main_queue.front(),
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
            self.units[at].main_queue.pop_front();
            self.units[at].loading = Some((next, false));
            self.send_command(at, next, clock);
        }
    }

    pub(super) fn suspend(&mut self, at: usize, id: OpId, clock: &mut Clock) {
        let left_ns = self.units[at].array_end_ns - clock.now_ns;
        let Profile { suspend_ns, resume_ns, most_suspends, .. } = self.profile;
        let is_loading = self.units[at].loading.is_some();
        let op = self.op_mut(id);
        if op.kind == OpKind::Read
            || is_loading
            || op.suspensions == most_suspends
            || left_ns <= suspend_ns
        {
            return;
        }
        op.suspensions += 1;
        op.left_ns = left_ns + resume_ns;
        self.units[at].stage = Stage::Suspending(id);
        clock.cancel_array(at);
        clock.at(clock.now_ns + suspend_ns, Event::ArrayDone(DieOrPlane::Die(at)));
    }

    pub fn is_idle(&self, at: usize) -> bool {
        let unit = &self.units[at];
        unit.stage == Stage::Idle
            && !self.has_plane_reads(at)
            && unit.suspended.is_none()
            && unit.reads.iter().all(VecDeque::is_empty)
            && unit.main_queue.is_empty()
            && unit.collections.is_empty()
    }

    /// True if a submitted operation is not done.
    pub fn has_work(&self) -> bool {
        self.ops.iter().any(|op| op.is_submitted)
    }
}
