//! Pacing of collection against host writes, at each die.
//!
//! Collections and host programs take turns at a die at which both wait. B is the remaining
//! array time of collections at the die, and R the number of host programs that fit in its erased
//! blocks. Each host program lets collection use B/R of array time. Collection is thus spread
//! evenly over the host's programs, and completes when the space is used up. If only one of the two
//! can proceed, it proceeds, and this does not count as its turn. Copies and all erases count as
//! collection; programs that also contain host data count as host programs.

use super::ops::{Kind, NONE, Op, OpId, Waiter};
use super::{Nand, Places};
use crate::error::Result;
use crate::flash::{Geometry, Table, filled};

/// Kind of the next operation at a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Read of pages that are copied.
    Copy,
    /// Program or erase of a collection.
    Collected,
    /// Program of host data.
    Host,
}

/// Pacing of a unit (die or chip): the remaining array time of collections in ns, and how
/// much of it must be done before the next host program.
#[derive(Debug, Clone, Copy, Default)]
struct UnitPacing {
    backlog_ns: u64,
    credit_ns: i64,
}

/// Pacing of all units, and the data from which the free space of each unit follows.
#[derive(Debug)]
pub struct Pacing {
    units: Vec<UnitPacing>,
    /// Dies of each unit (die, or chip without die interleaving).
    dies_of_unit: Vec<Vec<u32>>,
    /// Last queued operation of each block on each of its dies.
    last_of_block: Table<OpId>,
    dies_per_block: u32,
    /// Number of program units in a block, on all of its dies.
    programs_per_block: u32,
    /// Free blocks of each pool, as counted by the manager.
    free_blocks: Vec<u32>,
    /// Number of block erases in each pool that are not complete, counted per die.
    erases: Vec<u32>,
}

impl Pacing {
    /// Builds the pacing of an idle drive. `unit_of_die` is the unit of each die.
    pub fn new(places: &Places, geometry: &Geometry, unit_of_die: &[u32]) -> Result<Self> {
        let units = unit_of_die.iter().max().map_or(0, |&last| last as usize + 1);
        let mut dies_of_unit = vec![Vec::new(); units];
        for (die, &unit) in (0..).zip(unit_of_die) {
            dies_of_unit[unit as usize].push(die);
        }
        let dies_per_block = places.dies_of(0).len() as u32;
        let places_of_blocks = geometry.blocks() as usize * dies_per_block as usize;
        Ok(Pacing {
            units: vec![UnitPacing::default(); units],
            dies_of_unit,
            last_of_block: filled(NONE, places_of_blocks)?,
            dies_per_block,
            programs_per_block: places.pages_per_block() / places.program_units(),
            free_blocks: Vec::new(),
            erases: Vec::new(),
        })
    }

    fn pool_of(&self, die: u32) -> usize {
        if self.free_blocks.len() == 1 { 0 } else { die as usize }
    }

    /// Number of host programs that fit in the erased blocks of a unit (die or chip).
    fn room(&self, unit: u32) -> u64 {
        let dies_of_pool = self.accounts_dies() / self.free_blocks.len() as u64;
        let of_die = |&die: &u32| {
            let pool = self.pool_of(die);
            let erasing = self.erases[pool].div_ceil(self.dies_per_block);
            let erased = u64::from(self.free_blocks[pool].saturating_sub(erasing));
            erased * u64::from(self.programs_per_block) / dies_of_pool
        };
        self.dies_of_unit[unit as usize].iter().map(of_die).sum()
    }

    fn accounts_dies(&self) -> u64 {
        self.dies_of_unit.iter().map(|dies| dies.len() as u64).sum()
    }

    fn place_of(&self, block: u32, die: u32) -> usize {
        let on_block = if self.dies_per_block == 1 { 0 } else { die };
        (block * self.dies_per_block + on_block) as usize
    }
}

impl Nand {
    /// Sets the number of free blocks of each pool, as counted by the manager.
    pub fn set_free_blocks(&mut self, free_blocks: impl Iterator<Item = u32>) {
        if let Some(pacing) = &mut self.pacing {
            pacing.free_blocks.clear();
            pacing.free_blocks.extend(free_blocks);
            pacing.erases.resize(pacing.free_blocks.len(), 0);
        }
    }

    fn block_of(&self, op: &Op) -> u32 {
        match op.kind {
            Kind::Erase => op.first_page,
            Kind::Read | Kind::Program => self.places.block_of(op.first_page).0,
        }
    }

    /// Adds a queued operation to the pacing of its unit.
    /// Programs and erases of a block in different queues keep their order.
    pub(super) fn enter_paced(&mut self, op: OpId) {
        let mut entry = *self.ops.get(op);
        let unit = self.unit_of(entry.die);
        let block = self.block_of(&entry);
        let Some(pacing) = &mut self.pacing else { return };
        entry.is_collection = match entry.kind {
            Kind::Read => entry.is_of_copy,
            Kind::Program => entry.holds_copies && !entry.holds_data,
            Kind::Erase => true,
        };
        self.ops.get_mut(op).is_collection = entry.is_collection;
        if entry.is_collection {
            pacing.units[unit as usize].backlog_ns += entry.array_ns;
        }
        if entry.kind == Kind::Read {
            return;
        }
        if entry.kind == Kind::Erase {
            let pool = pacing.pool_of(entry.die);
            pacing.erases[pool] += 1;
        }
        let place = pacing.place_of(block, entry.die);
        let previous = std::mem::replace(&mut pacing.last_of_block[place], op);
        if previous != NONE && self.ops.get(previous).is_collection != entry.is_collection {
            self.ops.add_waiter(previous, Waiter::Op(op));
        }
    }

    /// Removes a completed operation from the pacing of its unit.
    pub(super) fn leave_paced(&mut self, op: OpId) {
        let entry = *self.ops.get(op);
        let block = self.block_of(&entry);
        let Some(pacing) = &mut self.pacing else { return };
        if entry.kind == Kind::Erase {
            let pool = pacing.pool_of(entry.die);
            pacing.erases[pool] -= 1;
        }
        if entry.kind != Kind::Read {
            let place = pacing.place_of(block, entry.die);
            let last = &mut pacing.last_of_block[place];
            if *last == op {
                *last = NONE;
            }
        }
    }

    /// Kind of the next operation of a unit that has no waiting reads with priority.
    /// Without `with_copies`, only programs and erases are considered.
    pub(super) fn turn(&self, at: u32, with_copies: bool) -> Option<Turn> {
        let pacing = self.pacing.as_ref()?;
        let unit = &self.units[at as usize];
        let is_ready = |head: OpId| self.ops.get(head).waits == 0;
        let collected = if with_copies && unit.copies.head().is_some() {
            Some(Turn::Copy)
        } else {
            unit.collections.head().filter(|&head| is_ready(head)).map(|_| Turn::Collected)
        };
        let host = unit.writes.head().filter(|&head| is_ready(head)).map(|_| Turn::Host);
        match (collected, host) {
            (Some(_), Some(_)) if pacing.units[at as usize].credit_ns <= 0 => host,
            _ => collected.or(host),
        }
    }

    /// Removes the next operation of this kind from its queue.
    pub(super) fn take_turn(&mut self, at: u32, turn: Turn) -> OpId {
        let is_ready = |ops: &super::Ops, head: OpId| ops.get(head).waits == 0;
        let unit = &mut self.units[at as usize];
        let host_waits = unit.writes.head().is_some_and(|head| is_ready(&self.ops, head));
        let op = match turn {
            Turn::Copy => unit.copies.pop(&self.ops),
            Turn::Collected => unit.collections.pop(&self.ops),
            Turn::Host => unit.writes.pop(&self.ops),
        };
        let op = op.expect("the chosen kind of operation has one waiting");
        let array_ns = self.ops.get(op).array_ns;
        let pacing = self.pacing.as_mut().expect("collection is paced on a drive that takes turns");
        let room = pacing.room(at).max(1);
        let account = &mut pacing.units[at as usize];
        if turn == Turn::Host {
            account.credit_ns += (account.backlog_ns / room).cast_signed();
            return op;
        }
        account.backlog_ns -= array_ns;
        if host_waits {
            account.credit_ns -= array_ns.cast_signed();
        }
        if account.backlog_ns == 0 {
            account.credit_ns = 0;
        }
        op
    }
}
