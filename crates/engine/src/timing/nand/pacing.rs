//! Pacing of collection against the host's writes, at each die.
//!
//! They take turns at a die that could go on with either. With B of the array's time left of
//! collections at a die, and R programs of the host that its erased blocks have room for, each
//! of these programs lets collection have B/R of that time. So a collection is spread evenly over the
//! host's programs and ends as the room does. Where one of them could go on alone, it does, at no
//! cost to the other. A collection is what copies pages, and all erases; programs that hold data of
//! the host too are the host's.

use super::ops::{Kind, NONE, Op, OpId, Waiter};
use super::{Nand, Places};
use crate::error::Result;
use crate::flash::{Geometry, Table, filled};

/// Turn of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// A read of pages that are copied.
    Copy,
    /// A program or an erase of a collection.
    Collected,
    /// A program of the host.
    Host,
}

/// Account of a unit: what collection has to do, and what of that it may do before the host.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    backlog_ns: u64,
    credit_ns: i64,
}

/// Accounts of the units, and what says how much room they have.
#[derive(Debug)]
pub struct Pacing {
    accounts: Vec<Account>,
    /// Dies of each unit.
    dies_of_unit: Vec<Vec<u32>>,
    /// Operation in a queue that was queued last for each block on each of its dies.
    last_of_block: Table<OpId>,
    dies_per_block: u32,
    /// Programs of a block, on all of its dies.
    programs_per_block: u32,
    /// Free blocks of each pool, as the manager has them.
    free_blocks: Vec<u32>,
    /// Erases of blocks of each pool, one for each die of a block, that are not done.
    erases: Vec<u32>,
}

impl Pacing {
    /// Starts with nothing to do, on a drive whose dies belong to those units.
    pub fn new(places: &Places, geometry: &Geometry, unit_of_die: &[u32]) -> Result<Self> {
        let units = unit_of_die.iter().max().map_or(0, |&last| last as usize + 1);
        let mut dies_of_unit = vec![Vec::new(); units];
        for (die, &unit) in (0..).zip(unit_of_die) {
            dies_of_unit[unit as usize].push(die);
        }
        let dies_per_block = places.dies_of(0).len() as u32;
        let places_of_blocks = geometry.blocks() as usize * dies_per_block as usize;
        Ok(Pacing {
            accounts: vec![Account::default(); units],
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

    /// Programs of the host that the erased blocks of a unit have room for.
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
    /// Takes down how many free blocks each pool has, as the manager has them.
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

    /// Enters an operation that is complete into the books of its unit.
    /// Programs and erases of a block that stand in both queues keep their order.
    pub(super) fn enter_paced(&mut self, op: OpId) {
        let mut found = *self.ops.get(op);
        let unit = self.unit_of(found.die);
        let block = self.block_of(&found);
        let Some(pacing) = &mut self.pacing else { return };
        found.is_collection = match found.kind {
            Kind::Read => found.is_of_copy,
            Kind::Program => found.holds_copies && !found.holds_data,
            Kind::Erase => true,
        };
        self.ops.get_mut(op).is_collection = found.is_collection;
        if found.is_collection {
            pacing.accounts[unit as usize].backlog_ns += found.array_ns;
        }
        if found.kind == Kind::Read {
            return;
        }
        if found.kind == Kind::Erase {
            let pool = pacing.pool_of(found.die);
            pacing.erases[pool] += 1;
        }
        let place = pacing.place_of(block, found.die);
        let before = std::mem::replace(&mut pacing.last_of_block[place], op);
        if before != NONE && self.ops.get(before).is_collection != found.is_collection {
            self.ops.tell(before, Waiter::Op(op));
        }
    }

    /// Strikes an operation that is done from the books.
    pub(super) fn leave_paced(&mut self, op: OpId) {
        let found = *self.ops.get(op);
        let block = self.block_of(&found);
        let Some(pacing) = &mut self.pacing else { return };
        if found.kind == Kind::Erase {
            let pool = pacing.pool_of(found.die);
            pacing.erases[pool] -= 1;
        }
        if found.kind != Kind::Read {
            let place = pacing.place_of(block, found.die);
            let last = &mut pacing.last_of_block[place];
            if *last == op {
                *last = NONE;
            }
        }
    }

    /// The turn of a unit that no read goes before; of programs and erases only, where copies are
    /// left out.
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
            (Some(_), Some(_)) if pacing.accounts[at as usize].credit_ns <= 0 => host,
            _ => collected.or(host),
        }
    }

    /// Takes the operation whose turn it is.
    pub(super) fn take_turn(&mut self, at: u32, turn: Turn) -> OpId {
        let is_ready = |ops: &super::Ops, head: OpId| ops.get(head).waits == 0;
        let unit = &mut self.units[at as usize];
        let host_waits = unit.writes.head().is_some_and(|head| is_ready(&self.ops, head));
        let op = match turn {
            Turn::Copy => unit.copies.pop(&self.ops),
            Turn::Collected => unit.collections.pop(&self.ops),
            Turn::Host => unit.writes.pop(&self.ops),
        };
        let op = op.expect("who has a turn waits");
        let array_ns = self.ops.get(op).array_ns;
        let pacing = self.pacing.as_mut().expect("turns are taken where collection is paced");
        let room = pacing.room(at).max(1);
        let account = &mut pacing.accounts[at as usize];
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
