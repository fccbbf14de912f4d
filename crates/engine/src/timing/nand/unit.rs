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
    /// It waits until what was read has turned out wrong, to read it again.
    Decoding(OpId),
}

/// Rank of operations that let the host's reads go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// Reads of pages that are copied, where they yield.
    Copies,
    /// Programs and erases, suspended ones first.
    Writes,
}

impl Rank {
    const ALL: [Rank; 2] = [Rank::Copies, Rank::Writes];
}

/// A unit and its queues.
#[derive(Debug)]
pub struct Unit {
    /// Its channel.
    pub channel: u32,
    /// Stage of its operation.
    pub stage: Stage,
    /// Reads that its planes have to do or are at, where these read for themselves.
    pub plane_reads: u32,
    /// Reads of the mapping table, which go before the others, where reads go first.
    pub table_reads: Queue,
    /// Other reads that go first, where reads do.
    pub reads: Queue,
    /// Reads of pages that are copied, where they let other reads go first.
    pub copies: Queue,
    /// Programs and erases of collections in order, where these are paced.
    pub collections: Queue,
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
    /// Time since which others have gone before copies, and before programs and erases.
    passed_since_ns: [Option<u64>; 2],
    busy_since_ns: Option<u64>,
    busy_ns: u64,
}

impl Unit {
    /// An idle unit.
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

    /// Takes the next read that goes first.
    #[inline(always)]
    pub fn next_read(&mut self, ops: &Ops) -> Option<OpId> {
        let read = self.table_reads.pop(ops).or_else(|| self.reads.pop(ops));
        read.or_else(|| self.copies.pop(ops))
    }

    /// True if operations of a rank could begin now.
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

    /// The rank that others have gone before for too long, and for longest.
    pub fn overdue(&self, now_ns: u64, most_ns: u64, ops: &Ops) -> Option<Rank> {
        let is_overdue = |rank: &Rank| {
            let since_ns = self.passed_since_ns[*rank as usize];
            since_ns.is_some_and(|since_ns| now_ns - since_ns >= most_ns)
                && self.is_waiting(*rank, ops)
        };
        let overdue = Rank::ALL.into_iter().filter(is_overdue);
        overdue.min_by_key(|rank| self.passed_since_ns[*rank as usize])
    }

    /// Notes that an operation begins: of a rank, or a read of the host.
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
        self.table_reads.head().is_some()
            || self.reads.head().is_some()
            || self.copies.head().is_some()
            || self.plane_reads > 0
    }

    /// True if no reads wait but of pages that are copied.
    pub fn has_only_copies(&self) -> bool {
        self.table_reads.head().is_none() && self.reads.head().is_none()
    }

    /// True if it has nothing to do.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
            && self.suspended.is_none()
            && !self.has_reads()
            && self.writes.head().is_none()
            && self.collections.head().is_none()
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
