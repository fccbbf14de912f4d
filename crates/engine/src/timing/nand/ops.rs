//! Operations that are queued or under way, and their waiters.
//! Both are pools, which allocate only while they grow.

use crate::timing::slab::Slab;

/// The number of an operation in its pool.
pub type OpId = u32;
/// No operation, or no node.
pub const NONE: u32 = u32::MAX;

/// Kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Read of a flash page.
    Read,
    /// Program of a program unit.
    Program,
    /// Erase of a block, on one die.
    Erase,
}

/// Waiter: told when an operation is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    /// Another operation, which waits for one thing less.
    Op(OpId),
    /// A request, by its number.
    Request(u32),
    /// A page of the write cache, whose place is free then.
    CachedPage,
    /// A collection that goes on in the background, by its LUN.
    Collection(u32),
    /// The cache of the mapping table, by the page of the table that comes.
    TablePage(u32),
}

/// One operation, in a cache line of its own.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Op {
    /// Kind.
    pub kind: Kind,
    /// Die that does it.
    pub die: u32,
    /// The first mapping unit of a program.
    pub first_page: u32,
    /// Mapping units of a program that are filled.
    pub filled: u32,
    /// Mapping units of a program that are still to be filled.
    pub missing: u32,
    /// Erases of a program's block that were asked for before it.
    pub erases_before: u32,
    /// Bytes that cross the channel.
    pub bytes: u32,
    /// Number of things to be done before it begins; one is that it is complete itself.
    pub waits: u32,
    /// True of a read of the mapping table, which others wait for.
    pub is_of_table: bool,
    /// True of a read of a page that is copied.
    pub is_of_copy: bool,
    /// True of a program that holds pages that were copied.
    pub holds_copies: bool,
    /// True of a program that holds data that were written.
    pub holds_data: bool,
    /// True of what is done for a collection, where that is paced.
    pub is_collection: bool,
    /// Further tries that a read is to be given.
    pub retries: u8,
    /// Times that it was suspended.
    pub suspends: u32,
    /// Time of the array that is left.
    pub array_ns: u64,
    waiters: u32,
    /// The next in a queue.
    next: OpId,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    waiter: Waiter,
    next: u32,
}

/// Operations and who waits for them.
#[derive(Debug, Default)]
pub struct Ops {
    pool: Slab<Op>,
    nodes: Slab<Node>,
}

impl Ops {
    /// A new operation, which waits to be complete.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, die: u32, first_page: u32, array_ns: u64) -> OpId {
        let op = Op {
            kind,
            die,
            first_page,
            filled: 0,
            missing: 0,
            erases_before: 0,
            bytes: 0,
            waits: 1,
            is_of_table: false,
            is_of_copy: false,
            holds_copies: false,
            holds_data: false,
            is_collection: false,
            retries: 0,
            suspends: 0,
            array_ns,
            waiters: NONE,
            next: NONE,
        };
        self.pool.insert(op)
    }

    /// Gives up an operation that is done and whose waiters were told.
    #[inline(always)]
    pub fn remove(&mut self, id: OpId) {
        debug_assert_eq!(self.pool[id].waiters, NONE);
        self.pool.remove(id);
    }

    /// An operation.
    #[inline(always)]
    pub fn get(&self, id: OpId) -> &Op {
        &self.pool[id]
    }

    /// An operation, to change.
    #[inline(always)]
    pub fn get_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.pool[id]
    }

    /// Lets someone wait for an operation.
    #[inline(always)]
    pub fn tell(&mut self, id: OpId, waiter: Waiter) {
        if let Waiter::Op(waiting) = waiter {
            self.pool[waiting].waits += 1;
        }
        let node = Node { waiter, next: self.pool[id].waiters };
        self.pool[id].waiters = self.nodes.insert(node);
    }

    /// Takes the next of those who wait for an operation, the last first.
    #[inline(always)]
    pub fn pop_waiter(&mut self, id: OpId) -> Option<Waiter> {
        let at = self.pool[id].waiters;
        if at == NONE {
            return None;
        }
        let Node { waiter, next } = self.nodes.remove(at);
        self.pool[id].waiters = next;
        Some(waiter)
    }
}

/// A queue of operations, linked through themselves.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    head: OpId,
    tail: OpId,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { head: NONE, tail: NONE }
    }
}

impl Queue {
    /// The first operation.
    #[inline(always)]
    pub fn head(self) -> Option<OpId> {
        (self.head != NONE).then_some(self.head)
    }

    /// Adds an operation at the end.
    #[inline(always)]
    pub fn push(&mut self, id: OpId, ops: &mut Ops) {
        ops.get_mut(id).next = NONE;
        if self.head == NONE {
            self.head = id;
        } else {
            ops.get_mut(self.tail).next = id;
        }
        self.tail = id;
    }

    /// Takes the first operation.
    #[inline(always)]
    pub fn pop(&mut self, ops: &Ops) -> Option<OpId> {
        let id = self.head()?;
        self.head = ops.get(id).next;
        Some(id)
    }
}
