//! Choice of the next operation of a die: overdue operations, and paced collection.

use std::collections::VecDeque;

use super::{Array, OpId, OpKind, Operation};
use crate::timed::Clock;

/// Queue that a die serves next, if collection is paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Copy,
    Collected,
    Host,
}

impl Array {
    /// Returns the number of host programs that fit into the erased blocks of a unit, at least 1.
    fn room(&self, at: usize) -> i128 {
        let (profile, pools) = (&self.profile, self.free_blocks.len());
        let dies = profile.dies() as usize;
        let pool_of = |die: usize| if pools == 1 { 0 } else { die };
        let mut room = 0;
        for die in (0..dies).filter(|&die| profile.unit_of(die) == at) {
            let pool = pool_of(die);
            let is_erase = |op: &&Operation| op.kind == OpKind::Erase && pool_of(op.die) == pool;
            let under_way = self.ops.iter().filter(is_erase).count();
            let erasing = under_way.div_ceil(profile.dies_of(0).len()) as u32;
            let erased = self.free_blocks[pool].saturating_sub(erasing);
            let programs = profile.pages_per_block / profile.program_units();
            room += i128::from(erased * programs) / (dies / pools) as i128;
        }
        room.max(1)
    }

    /// Returns the queue that the die serves next, if any operation can begin.
    ///
    /// It is called if collection is paced, and no read goes first.
    pub(super) fn turn(&self, at: usize, with_copies: bool) -> Option<Turn> {
        let unit = &self.units[at];
        let is_ready =
            |queue: &VecDeque<OpId>| queue.front().is_some_and(|&first| self.op(first).waits == 0);
        let has_copy = with_copies && !unit.reads[2].is_empty();
        let has_host = is_ready(&unit.main_queue);
        if (has_copy || is_ready(&unit.collections)) && !(has_host && unit.credit_ns <= 0) {
            Some(if has_copy { Turn::Copy } else { Turn::Collected })
        } else {
            has_host.then_some(Turn::Host)
        }
    }

    pub(super) fn take_turn(&mut self, at: usize, turn: Turn) -> OpId {
        let room = self.room(at);
        let host_waits = self.next_ready(at).is_some();
        let unit = &mut self.units[at];
        let queue = match turn {
            Turn::Copy => &mut unit.reads[2],
            Turn::Collected => &mut unit.collections,
            Turn::Host => &mut unit.main_queue,
        };
        let id = queue.pop_front().expect("the queue whose turn it is must not be empty");
        let left_ns = i128::from(self.op(id).left_ns);
        let unit = &mut self.units[at];
        if turn == Turn::Host {
            unit.credit_ns += unit.backlog_ns / room;
        } else {
            unit.backlog_ns -= left_ns;
            unit.credit_ns -= if host_waits { left_ns } else { 0 };
            if unit.backlog_ns == 0 {
                unit.credit_ns = 0;
            }
        }
        id
    }

    /// True if reads wait that go before all other operations.
    pub(super) fn has_first_reads(&self, at: usize) -> bool {
        self.units[at].reads[..2].iter().any(|reads| !reads.is_empty())
    }

    /// Begins an overdue copy, program or erase; true if there is one.
    pub(super) fn begin_overdue(&mut self, at: usize, clock: &mut Clock) -> bool {
        let (now_ns, most_ns) = (clock.now_ns, self.profile.most_wait_ns);
        let (has_copies, has_write) = (
            !self.units[at].reads[2].is_empty(),
            self.units[at].suspended.is_some()
                || self.next_ready(at).is_some()
                || self.profile.paced && self.turn(at, false).is_some(),
        );
        let is_copys_turn = if self.profile.paced {
            self.units[at].suspended.is_none() && self.turn(at, true) == Some(Turn::Copy)
        } else {
            has_copies
        };
        let unit = &mut self.units[at];
        let overdue = |since: Option<u64>| since.filter(|since| since + most_ns <= now_ns);
        let copies = overdue(unit.copies_wait_since).filter(|_| has_copies);
        let writes = overdue(unit.writes_wait_since).filter(|_| has_write);
        let (copy_goes, write_goes) = match (copies, writes) {
            (Some(copies), Some(writes)) => (copies <= writes, copies > writes),
            (copies, writes) => (copies.is_some(), writes.is_some()),
        };
        // This operation goes next if none is overdue.
        let has_reads = !unit.reads[0].is_empty() || !unit.reads[1].is_empty();
        let is_forced = copy_goes || write_goes;
        let copy_begins = copy_goes || !is_forced && !has_reads && is_copys_turn;
        let write_begins = write_goes || !is_forced && !has_reads && !is_copys_turn;
        if copy_begins {
            unit.copies_wait_since = None;
        } else if has_copies && unit.copies_wait_since.is_none() {
            unit.copies_wait_since = Some(now_ns);
        }
        if write_begins {
            unit.writes_wait_since = None;
        } else if has_write && unit.writes_wait_since.is_none() {
            unit.writes_wait_since = Some(now_ns);
        }
        if copy_goes {
            let read = if self.profile.paced {
                self.take_turn(at, Turn::Copy)
            } else {
                unit.reads[2].pop_front().expect("there are copies")
            };
            self.begin_command(at, read, clock);
        } else if write_goes {
            let suspended = unit.suspended.take();
            let op = match (suspended, self.turn(at, false)) {
                (Some(op), _) => op,
                (None, Some(turn)) if self.profile.paced => self.take_turn(at, turn),
                _ => self.units[at].main_queue.pop_front().expect("the queue must not be empty"),
            };
            self.op_mut(op).suspensions = self.profile.most_suspends;
            match suspended {
                Some(op) => self.begin_array(at, op, clock),
                None => self.begin_command(at, op, clock),
            }
        }
        is_forced
    }
}
