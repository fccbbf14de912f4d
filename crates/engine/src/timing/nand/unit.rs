//! Unit that performs one operation at a time: a die, or a chip without die interleaving.

use super::ops::{OpId, Ops, Queue};

/// Stage of the operation that a unit performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The unit performs no operation.
    Idle,
    /// The unit waits for the channel, or receives a command and its data.
    Command(OpId),
    /// The array of the unit is working.
    Array(OpId),
    /// The array is being suspended, so that a read can use it.
    Suspending(OpId),
    /// The unit waits for the channel, or sends the read data to the controller.
    DataOut(OpId),
    /// The unit waits for the decoding of wrong data, before it retries the read.
    Decoding(OpId),
}

/// Class of operations that host reads may overtake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Reads of pages to copy, if these reads yield to host reads.
    Copies,
    /// Programs and erases, suspended ones first.
    Writes,
}

impl Rank {
    const ALL: [Rank; 2] = [Rank::Copies, Rank::Writes];
}

/// Unit (die or chip) with its queues of waiting operations.
#[derive(Debug)]
pub struct Unit {
    /// Number of the channel that the unit uses.
    pub channel: u32,
    /// Stage of its operation.
    pub stage: Stage,
    /// Reads waiting or in progress at its planes, if planes read independently.
    pub plane_reads: u32,
    /// Reads of the mapping table, which precede other reads if reads have priority.
    pub table_reads: Queue,
    /// Other reads, if reads have priority.
    pub reads: Queue,
    /// Reads of pages to copy, if these yield to other reads.
    pub copies: Queue,
    /// Programs and erases of collections in order, if collection is paced.
    pub collections: Queue,
    /// Programs and erases in order; also reads, if these have no priority.
    pub writes: Queue,
    /// Operation that was suspended for reads.
    pub suspended: Option<OpId>,
    /// Program whose data is loaded while the array is busy with another.
    pub loading: Option<OpId>,
    /// True if that data is loaded.
    pub is_loaded: bool,
    /// Time at which the current array operation ends.
    pub array_end_ns: u64,
    /// For each class of operations ([`Rank`]): time at which a waiting operation was first
    /// overtaken since the class last started one, or None.
    passed_since_ns: [Option<u64>; 2],
    busy_since_ns: Option<u64>,
    busy_ns: u64,
}

impl Unit {
    /// Builds an idle unit.
    pub fn new(channel: u32) -> Self {
        Unit {
            channel,
            stage: Stage::Idle,
            plane_reads: 0,
            table_reads: Queue::default(),
            reads: Queue::default(),
            copies: Queue::default(),
            collections: Queue::default(),
            writes: Queue::default(),
            suspended: None,
            loading: None,
            is_loaded: false,
            array_end_ns: 0,
            passed_since_ns: [None; 2],
            busy_since_ns: None,
            busy_ns: 0,
        }
    }

    /// Removes the next read with priority.
    #[inline(always)]
    pub fn next_read(&mut self, ops: &Ops) -> Option<OpId> {
        let read = self.table_reads.pop(ops).or_else(|| self.reads.pop(ops));
        read.or_else(|| self.copies.pop(ops))
    }

    /// True if an operation of the class `rank` could start now.
    fn is_waiting(&self, rank: Rank, ops: &Ops) -> bool {
        match rank {
            Rank::Copies => self.copies.head().is_some(),
            Rank::Writes => {
                let is_ready = |head| ops.get(head).waits == 0;
                self.suspended.is_some()
                    || self.writes.head().is_some_and(is_ready)
                    || self.collections.head().is_some_and(is_ready)
            }
        }
    }

    /// Class of operations that has been overtaken for at least `most_ns`.
    /// If there are several, returns the class that was overtaken for the longest time.
    pub fn overdue(&self, now_ns: u64, most_ns: u64, ops: &Ops) -> Option<Rank> {
        let is_overdue = |rank: &Rank| {
            let since_ns = self.passed_since_ns[*rank as usize];
            since_ns.is_some_and(|since_ns| now_ns - since_ns >= most_ns)
                && self.is_waiting(*rank, ops)
        };
        let overdue = Rank::ALL.into_iter().filter(is_overdue);
        overdue.min_by_key(|rank| self.passed_since_ns[*rank as usize])
    }

    /// Records the start of an operation of the class `rank`, or of a host read.
    pub fn note_passed(&mut self, begun: Option<Rank>, now_ns: u64, ops: &Ops) {
        if let Some(rank) = begun {
            self.passed_since_ns[rank as usize] = None;
        }
        for rank in Rank::ALL {
            if Some(rank) != begun && self.is_waiting(rank, ops) {
                self.passed_since_ns[rank as usize].get_or_insert(now_ns);
            }
        }
    }

    /// Removes and returns the first operation of `writes`, if it has no open dependencies.
    #[inline(always)]
    pub fn next_write(&mut self, ops: &Ops) -> Option<OpId> {
        let head = self.writes.head()?;
        if ops.get(head).waits > 0 {
            return None;
        }
        self.writes.pop(ops)
    }

    /// True if reads with priority are waiting.
    #[inline(always)]
    pub fn has_reads(&self) -> bool {
        self.table_reads.head().is_some()
            || self.reads.head().is_some()
            || self.copies.head().is_some()
            || self.plane_reads > 0
    }

    /// True if no read with priority is waiting, except for reads of pages to copy.
    pub fn has_only_copies(&self) -> bool {
        self.table_reads.head().is_none() && self.reads.head().is_none()
    }

    /// True if the unit has no operation in progress or waiting.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
            && self.suspended.is_none()
            && !self.has_reads()
            && self.writes.head().is_none()
            && self.collections.head().is_none()
    }

    /// Starts a busy period.
    #[inline(always)]
    pub fn begin_busy(&mut self, now_ns: u64) {
        self.busy_since_ns.get_or_insert(now_ns);
    }

    /// Ends the busy period, unless an operation is suspended.
    #[inline(always)]
    pub fn end_busy(&mut self, now_ns: u64) {
        if self.suspended.is_none() {
            let since_ns =
                self.busy_since_ns.take().expect("a busy period has begun before it ends");
            self.busy_ns += now_ns - since_ns;
        }
    }

    /// Time in ns for which the unit was busy, up to now.
    pub fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns + self.busy_since_ns.map_or(0, |since_ns| now_ns - since_ns)
    }
}
