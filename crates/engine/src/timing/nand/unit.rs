//! Unit that does one operation at a time: a die, or a chip whose dies are not interleaved.

use super::ops::{OpId, Ops, Queue};

/// Stage of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing.
    Idle,
    /// It waits for the channel, or gets a command and its data.
    Command(OpId),
    /// Its array is at work.
    Array(OpId),
    /// Its array is being suspended.
    Suspending(OpId),
    /// It waits for the channel, or hands out what was read.
    DataOut(OpId),
}

/// A unit and its queues.
#[derive(Debug)]
pub struct Unit {
    /// Its channel.
    pub channel: u32,
    /// Stage of its operation.
    pub stage: Stage,
    /// Reads of the mapping table, which go before the others, where reads go first.
    pub table_reads: Queue,
    /// Other reads that go first, where reads do.
    pub reads: Queue,
    /// Programs and erases in order; and reads, where they wait like others.
    pub writes: Queue,
    /// An operation that reads have interrupted.
    pub suspended: Option<OpId>,
    /// A program whose data are loaded while the array is busy with another.
    pub loading: Option<OpId>,
    /// True if those data are loaded.
    pub is_loaded: bool,
    /// Time at which its array will be done.
    pub array_end_ns: u64,
    busy_since_ns: Option<u64>,
    busy_ns: u64,
}

impl Unit {
    /// An idle unit.
    pub fn new(channel: u32) -> Self {
        Unit {
            channel,
            stage: Stage::Idle,
            table_reads: Queue::default(),
            reads: Queue::default(),
            writes: Queue::default(),
            suspended: None,
            loading: None,
            is_loaded: false,
            array_end_ns: 0,
            busy_since_ns: None,
            busy_ns: 0,
        }
    }

    /// Takes the next read that goes first.
    #[inline(always)]
    pub fn next_read(&mut self, ops: &Ops) -> Option<OpId> {
        self.table_reads.pop(ops).or_else(|| self.reads.pop(ops))
    }

    /// Takes the first of the other operations, if it waits for nothing.
    #[inline(always)]
    pub fn next_write(&mut self, ops: &Ops) -> Option<OpId> {
        let head = self.writes.head()?;
        if ops.get(head).waits > 0 {
            return None;
        }
        self.writes.pop(ops)
    }

    /// True if reads wait that go first.
    #[inline(always)]
    pub fn has_reads(&self) -> bool {
        self.table_reads.head().is_some() || self.reads.head().is_some()
    }

    /// True if it has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
            && self.suspended.is_none()
            && !self.has_reads()
            && self.writes.head().is_none()
    }

    /// Counts as busy from now on.
    #[inline(always)]
    pub fn begin_busy(&mut self, now_ns: u64) {
        self.busy_since_ns.get_or_insert(now_ns);
    }

    /// Ends a spell of being busy, unless an operation is suspended.
    #[inline(always)]
    pub fn end_busy(&mut self, now_ns: u64) {
        if self.suspended.is_none() {
            let since_ns = self.busy_since_ns.take().expect("it was busy");
            self.busy_ns += now_ns - since_ns;
        }
    }

    /// Time that it was busy up to now.
    pub fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns + self.busy_since_ns.map_or(0, |since_ns| now_ns - since_ns)
    }
}
