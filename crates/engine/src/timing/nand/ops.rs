//! Operations that are queued or in progress, and their waiters.
//! Both are stored in pools whose slots are reused, so that memory is allocated only while a pool
//! grows.

use crate::timing::slab::Slab;

/// Number of an operation in its pool.
pub type OpId = u32;
/// Value that means "no operation" or "no node".
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

/// Waiter, which is notified when an operation completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiter {
    /// Another operation, which then has one dependency less.
    Op(OpId),
    /// A request of the host, by its number.
    Request(u32),
    /// A page of the write cache, whose space is then free.
    CachedPage,
    /// A background collection, by LUN.
    Collection(u32),
    /// The cache of the mapping table, by the page of the table that is read.
    TablePage(u32),
}

/// Operation. It fills exactly one cache line of the processor.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Op {
    /// Kind of operation.
    pub kind: Kind,
    /// Die that performs the operation.
    pub die: u32,
    /// First mapping unit (page of the map) of the operation.
    pub first_page: u32,
    /// Number of mapping units of a program that are filled.
    pub filled: u32,
    /// Number of mapping units of a program that must be filled before it is submitted.
    pub needed: u32,
    /// Number of erases of a program's block that were requested before the program.
    pub erases_before: u32,
    /// Bytes transferred over the channel.
    pub bytes: u32,
    /// Number of dependencies that are not complete.
    /// An operation that is not submitted yet has one more, so that it cannot start.
    pub waits: u32,
    /// True for a read of the mapping table, which other operations wait for.
    pub is_of_table: bool,
    /// True for a read of a page that is copied.
    pub is_of_copy: bool,
    /// True for a program that contains copied pages.
    pub holds_copies: bool,
    /// True for a program that contains host data.
    pub holds_data: bool,
    /// True for operations of a collection, if collection is paced.
    pub is_collection: bool,
    /// Remaining retries of a read.
    pub retries: u8,
    /// Number of suspensions so far.
    pub suspends: u32,
    /// Remaining time for which the operation occupies the array, in ns.
    pub array_ns: u64,
    /// Waiter that was added last. Most operations have no other.
    waiter: Option<Waiter>,
    /// First node of the waiters that were added before, the last of them first.
    waiters: u32,
    /// Next operation in the same queue.
    next: OpId,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    waiter: Waiter,
    next: u32,
}

/// Operations with their waiters.
#[derive(Debug, Default)]
pub struct Ops {
    pool: Slab<Op>,
    nodes: Slab<Node>,
}

impl Ops {
    /// Adds an operation that is not submitted yet.
    #[inline(always)]
    pub fn add(&mut self, kind: Kind, die: u32, first_page: u32, array_ns: u64) -> OpId {
        let op = Op {
            kind,
            die,
            first_page,
            filled: 0,
            needed: 0,
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
            waiter: None,
            waiters: NONE,
            next: NONE,
        };
        self.pool.insert(op)
    }

    /// Deletes a completed operation whose waiters were notified.
    #[inline(always)]
    pub fn remove(&mut self, id: OpId) {
        debug_assert_eq!(self.pool[id].waiter, None);
        self.pool.remove(id);
    }

    /// Operation with this number.
    #[inline(always)]
    pub fn get(&self, id: OpId) -> &Op {
        &self.pool[id]
    }

    /// Mutable operation with this number.
    #[inline(always)]
    pub fn get_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.pool[id]
    }

    /// Adds a waiter to an operation. A waiting operation then has one more dependency.
    #[inline(always)]
    pub fn add_waiter(&mut self, id: OpId, waiter: Waiter) {
        if let Waiter::Op(waiting) = waiter {
            self.pool[waiting].waits += 1;
        }
        let op = &mut self.pool[id];
        if let Some(waiter) = op.waiter.replace(waiter) {
            op.waiters = self.nodes.insert(Node { waiter, next: op.waiters });
        }
    }

    /// Removes and returns the waiter that was added last. None without waiters.
    #[inline(always)]
    pub fn pop_waiter(&mut self, id: OpId) -> Option<Waiter> {
        let op = &mut self.pool[id];
        let waiter = op.waiter.take()?;
        if op.waiters != NONE {
            let Node { waiter, next } = self.nodes.remove(op.waiters);
            (op.waiter, op.waiters) = (Some(waiter), next);
        }
        Some(waiter)
    }

    /// Prefetches the operation that waits for this one, if it is the last waiter added.
    #[inline(always)]
    pub fn prefetch_waiting(&self, id: OpId) {
        if let Some(Waiter::Op(waiting)) = self.pool[id].waiter {
            self.pool.prefetch(waiting);
        }
    }
}

/// Queue of operations, linked through their `next` fields.
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
    /// First operation of the queue, or None if the queue is empty.
    #[inline(always)]
    pub fn head(self) -> Option<OpId> {
        (self.head != NONE).then_some(self.head)
    }

    /// Appends an operation to the queue.
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

    /// Removes the first operation.
    /// The next one is prefetched: a long queue is not in the processor's cache.
    #[inline(always)]
    pub fn pop(&mut self, ops: &Ops) -> Option<OpId> {
        let id = self.head()?;
        self.head = ops.get(id).next;
        ops.pool.prefetch(self.head);
        Some(id)
    }
}
