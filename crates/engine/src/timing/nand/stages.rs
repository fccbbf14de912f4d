//! Stages of an operation (command, array, data), and the choice of a unit's next operation.

use super::Nand;
use super::channel::TransferDirection;
use super::ops::{Kind, Op, OpId};
use super::pacing::Turn;
use super::unit::{Rank, Stage};
use crate::timing::device::Edge;
use crate::timing::schedule::{Event, Schedule};

impl Nand {
    /// Reacts to an operation of a unit that became ready.
    /// An idle unit starts its next operation. A unit whose array works may suspend its operation
    /// for a read, or load the data of the next program. `goes_first` is true if the operation that
    /// became ready is a read with priority.
    #[inline(always)]
    pub(super) fn poke(&mut self, unit: u32, goes_first: bool, events: &mut Schedule) {
        match self.units[unit as usize].stage {
            Stage::Idle => self.begin_next(unit, events),
            Stage::Array(op) if goes_first && self.scheduling.suspend => {
                self.try_suspend(unit, op, events);
            }
            Stage::Array(op) if self.cache_program => self.try_load(unit, op, events),
            _ => {}
        }
    }

    /// Starts an operation that others have overtaken for too long.
    /// Returns false if there is none. In both cases, records which waiting operations the next
    /// operation of the unit overtakes.
    fn begin_overdue(&mut self, at: u32, events: &mut Schedule) -> bool {
        let now_ns = events.now_ns();
        let unit = &mut self.units[at as usize];
        let Some(rank) = unit.overdue(now_ns, self.most_wait_ns, &self.ops) else {
            let begun = if !unit.has_only_copies() {
                None
            } else if self.pacing.is_some() {
                let copies = unit.suspended.is_none() && self.turn(at, true) == Some(Turn::Copy);
                Some(if copies { Rank::Copies } else { Rank::Writes })
            } else {
                Some(if unit.has_reads() { Rank::Copies } else { Rank::Writes })
            };
            let unit = &mut self.units[at as usize];
            unit.note_passed(begun, now_ns, &self.ops);
            return false;
        };
        unit.note_passed(Some(rank), now_ns, &self.ops);
        let op = match rank {
            Rank::Copies if self.pacing.is_some() => Some(self.take_turn(at, Turn::Copy)),
            Rank::Copies => unit.copies.pop(&self.ops),
            Rank::Writes if unit.suspended.is_some() => unit.suspended,
            Rank::Writes if self.pacing.is_some() => {
                self.turn(at, false).map(|turn| self.take_turn(at, turn))
            }
            Rank::Writes => unit.next_write(&self.ops),
        };
        let op = op.expect("an operation that others overtook for too long is waiting");
        let unit = &mut self.units[at as usize];
        if rank == Rank::Writes {
            self.ops.get_mut(op).suspends = self.scheduling.most_suspends;
            if unit.suspended.take().is_some() {
                self.begin_array(at, op, events);
                return true;
            }
        }
        unit.stage = Stage::Command(op);
        unit.begin_busy(now_ns);
        self.request_command(at, op, events);
        true
    }

    /// Starts the suspended operation or the next in turn, unless reads have priority.
    /// Returns false if neither can start.
    fn begin_in_turn(&mut self, at: u32, events: &mut Schedule) -> bool {
        let unit = &mut self.units[at as usize];
        if !unit.has_only_copies() {
            return false;
        }
        if let Some(op) = unit.suspended.take() {
            self.begin_array(at, op, events);
            return true;
        }
        let Some(turn) = self.turn(at, true) else { return false };
        let op = self.take_turn(at, turn);
        let unit = &mut self.units[at as usize];
        unit.stage = Stage::Command(op);
        unit.begin_busy(events.now_ns());
        self.request_command(at, op, events);
        true
    }

    /// Starts the next operation of an idle unit, if any can start.
    fn begin_next(&mut self, at: u32, events: &mut Schedule) {
        let now_ns = events.now_ns();
        if self.most_wait_ns > 0 && self.begin_overdue(at, events) {
            return;
        }
        if self.pacing.is_some() && self.begin_in_turn(at, events) {
            return;
        }
        if self.planes.is_some() && self.begin_on_planes(at, events) {
            return;
        }
        let unit = &mut self.units[at as usize];
        debug_assert_eq!(unit.stage, Stage::Idle);
        if let Some(op) = unit.next_read(&self.ops) {
            unit.stage = Stage::Command(op);
        } else if let Some(op) = unit.suspended.take() {
            self.begin_array(at, op, events);
            return;
        } else if let Some(op) = unit.next_write(&self.ops) {
            unit.stage = Stage::Command(op);
        } else {
            if self.reports_idle {
                self.idle_units.push(at);
            }
            return;
        }
        unit.begin_busy(now_ns);
        let Stage::Command(op) = unit.stage else { unreachable!("just set") };
        self.request_command(at, op, events);
    }

    fn request_command(&mut self, unit: u32, op: OpId, events: &mut Schedule) {
        let Op { kind, bytes, .. } = *self.ops.get(op);
        let commands = &mut self.commands;
        let duration_ns = match kind {
            Kind::Read => commands.read_ns,
            Kind::Program => commands.program_ns + commands.data.ns(u64::from(bytes)),
            Kind::Erase => commands.erase_ns,
        };
        self.request_channel(unit, TransferDirection::In, duration_ns, events);
    }

    /// Requests the channel for a unit or a plane.
    pub(super) fn request_channel(
        &mut self,
        at: u32,
        direction: TransferDirection,
        duration_ns: u64,
        events: &mut Schedule,
    ) {
        let channel = match self.units.get(at as usize) {
            Some(unit) => unit.channel,
            None => self.units[self.unit_of_plane(at) as usize].channel,
        };
        let end_ns =
            self.channels[channel as usize].request(at, direction, duration_ns, events.now_ns());
        if let Some(end_ns) = end_ns {
            events.at(end_ns, Event::ChannelFree(channel));
        }
    }

    /// Handles the end of a transfer on a channel.
    pub fn on_channel_free(&mut self, channel: u32, events: &mut Schedule) {
        let user = self.channels[channel as usize].current();
        // The channel is released only after this call, so that operations that become ready in it
        // queue behind those that already wait for the channel.
        self.on_transferred(user, events);
        let end_ns = self.channels[channel as usize].release(self.arbitration, events.now_ns());
        if let Some(end_ns) = end_ns {
            events.at(end_ns, Event::ChannelFree(channel));
        }
    }

    fn on_transferred(&mut self, at: u32, events: &mut Schedule) {
        let Some(unit) = self.units.get_mut(at as usize) else {
            self.on_plane_transferred(at, events);
            return;
        };
        match unit.stage {
            Stage::Command(op) => self.begin_array(at, op, events),
            Stage::DataOut(op) if self.retrying.is_some() && self.ops.get(op).retries > 0 => {
                unit.stage = Stage::Decoding(op);
                self.fail(at, op, events);
            }
            Stage::DataOut(op) => {
                unit.stage = Stage::Idle;
                unit.end_busy(events.now_ns());
                self.finish(op, events);
                self.start_next(at, events);
            }
            Stage::Array(_) | Stage::Idle | Stage::Suspending(_) => unit.is_loaded = true,
            Stage::Decoding(_) => unreachable!("no program data is loaded while a read is decoded"),
        }
    }

    /// Starts the unit's next operation, unless one was already started when the waiters of the
    /// last operation were notified.
    pub(super) fn start_next(&mut self, unit: u32, events: &mut Schedule) {
        if self.units[unit as usize].stage == Stage::Idle {
            self.begin_next(unit, events);
        }
    }

    fn begin_array(&mut self, at: u32, op: OpId, events: &mut Schedule) {
        let now_ns = events.now_ns();
        let Op { array_ns, die, .. } = *self.ops.get(op);
        let unit = &mut self.units[at as usize];
        unit.stage = Stage::Array(op);
        unit.array_end_ns = now_ns + array_ns;
        events.array_done(unit.array_end_ns, at);
        self.record(die, array_ns, true, now_ns);
        if self.cache_program {
            self.try_load(at, op, events);
        }
    }

    /// Handles the end or suspension of the array time of a unit.
    pub fn on_array_done(&mut self, at: u32, events: &mut Schedule) {
        let now_ns = events.now_ns();
        let Some(unit) = self.units.get_mut(at as usize) else {
            self.on_plane_done(at, events);
            return;
        };
        match unit.stage {
            Stage::Suspending(op) => {
                let Op { array_ns, die, .. } = *self.ops.get(op);
                unit.stage = Stage::Idle;
                unit.suspended = Some(op);
                self.record(die, array_ns, false, now_ns);
                self.begin_next(at, events);
            }
            Stage::Array(op) => {
                let Op { kind, bytes, die, array_ns, .. } = *self.ops.get(op);
                self.record(die, array_ns, false, now_ns);
                if kind == Kind::Read {
                    self.ops.prefetch_waiting(op);
                    self.units[at as usize].stage = Stage::DataOut(op);
                    let duration_ns = self.commands.data.ns(u64::from(bytes));
                    self.request_channel(at, TransferDirection::Out, duration_ns, events);
                    return;
                }
                let unit = &mut self.units[at as usize];
                match unit.loading.take() {
                    None => {
                        unit.stage = Stage::Idle;
                        unit.end_busy(now_ns);
                    }
                    Some(next) if unit.is_loaded => self.begin_array(at, next, events),
                    Some(next) => unit.stage = Stage::Command(next),
                }
                self.finish(op, events);
                self.start_next(at, events);
            }
            Stage::Decoding(op) => {
                unit.stage = Stage::Command(op);
                self.request_command(at, op, events);
            }
            Stage::Idle | Stage::Command(_) | Stage::DataOut(_) => {
                unreachable!("a unit whose array time ended was working or being suspended")
            }
        }
    }

    /// Loads the data of the next program while the array is programming.
    fn try_load(&mut self, at: u32, current: OpId, events: &mut Schedule) {
        let unit = &mut self.units[at as usize];
        let is_program = |op: OpId| self.ops.get(op).kind == Kind::Program;
        if unit.loading.is_some() || !is_program(current) {
            return;
        }
        if self.pacing.is_some() {
            self.load_in_turn(at, events);
            return;
        }
        if unit.has_reads() {
            return;
        }
        let Some(next) = unit.writes.head().filter(|&op| is_program(op)) else { return };
        if self.ops.get(next).waits > 0 {
            return;
        }
        unit.writes.pop(&self.ops);
        unit.loading = Some(next);
        unit.is_loaded = false;
        self.request_command(at, next, events);
    }

    /// Loads the data of the next program, if it is in turn and no read has priority.
    fn load_in_turn(&mut self, at: u32, events: &mut Schedule) {
        let unit = &self.units[at as usize];
        if !unit.has_only_copies() {
            return;
        }
        let Some(turn) = self.turn(at, true) else { return };
        let head = match turn {
            Turn::Copy => None,
            Turn::Collected => unit.collections.head(),
            Turn::Host => unit.writes.head(),
        };
        if head.is_some_and(|head| self.ops.get(head).kind == Kind::Program) {
            let next = self.take_turn(at, turn);
            let unit = &mut self.units[at as usize];
            unit.loading = Some(next);
            unit.is_loaded = false;
            self.request_command(at, next, events);
        }
    }

    fn try_suspend(&mut self, at: u32, op: OpId, events: &mut Schedule) {
        let unit = &mut self.units[at as usize];
        let left_ns = unit.array_end_ns - events.now_ns();
        let entry = self.ops.get_mut(op);
        if entry.kind == Kind::Read
            || unit.loading.is_some()
            || entry.suspends >= self.scheduling.most_suspends
            || left_ns <= self.suspend_ns
        {
            return;
        }
        entry.suspends += 1;
        entry.array_ns = self.resume_ns + left_ns;
        unit.stage = Stage::Suspending(op);
        events.call_off_array(at);
        events.array_done(events.now_ns() + self.suspend_ns, at);
    }

    /// Records an edge of a die's Ready/Busy pin, if edges are recorded.
    pub(super) fn record(&mut self, die: u32, array_ns: u64, busy: bool, at_ns: u64) {
        if let Some(edges) = &mut self.edges
            && array_ns > 0
        {
            edges.push(Edge { at_ns, die, busy });
        }
    }
}
