//! Requests of a trace as columns, whose memory may belong to the caller.

use std::fmt;

use crate::error::{Error, Result};
use crate::hints::UNTAGGED;
use crate::request::{Op, Request};
use crate::state::Checksum;

/// Numbers of the operations in a column.
const OPS: [Op; 4] = [Op::Write, Op::Trim, Op::Read, Op::Flush];
pub(super) const WRITE: u8 = 0;
pub(super) const TRIM: u8 = 1;

/// Number of an operation in a column.
pub fn number_of(op: Op) -> u8 {
    OPS.iter().position(|candidate| *candidate == op).expect("all columns have this length") as u8
}

/// Operation with this number, which was checked.
#[inline(always)]
pub(super) fn op_of(number: u8) -> Op {
    OPS[usize::from(number & 3)]
}

/// Values of all requests, in any kind of storage.
pub trait Values<T>: Send + Sync {
    /// Value for the request at index `at`.
    fn get(&self, at: usize) -> T;
    /// Copies the values from index `first` on, which is faster than to get each of them.
    fn copy(&self, first: usize, to: &mut [T]);
    /// Number of values in the storage.
    fn count(&self) -> usize;
}

impl<T: Copy + Send + Sync> Values<T> for Vec<T> {
    #[inline(always)]
    fn get(&self, at: usize) -> T {
        self[at]
    }

    fn copy(&self, first: usize, to: &mut [T]) {
        to.copy_from_slice(&self[first..first + to.len()]);
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// Number of requests that are read at once: one for each bit of a mask.
pub(super) const MOST_READ: usize = u64::BITS as usize;

/// Column: one value per request.
pub enum Column<T: 'static> {
    /// Single value that applies to all requests.
    All(T),
    /// One value for each request.
    Each(Box<dyn Values<T>>),
}

impl<T: Copy + PartialEq + Send + Sync> Column<T> {
    /// Builds a column that owns its memory.
    pub fn own(values: Vec<T>) -> Self {
        Column::Each(Box::new(values))
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> T {
        match self {
            Column::All(value) => *value,
            Column::Each(values) => values.get(at),
        }
    }

    /// Copies the values from index `first` on, and returns true. Returns false if all requests
    /// share one value.
    #[inline(always)]
    pub(super) fn copy(&self, first: usize, to: &mut [T]) -> bool {
        if let Column::Each(values) = self {
            values.copy(first, to);
        }
        matches!(self, Column::Each(_))
    }

    /// The value that all requests share, or the default value.
    pub(super) fn shared(&self) -> [T; MOST_READ]
    where
        T: Default,
    {
        match self {
            Column::All(value) => [*value; MOST_READ],
            Column::Each(_) => [T::default(); MOST_READ],
        }
    }

    fn has_length(&self, length: usize) -> bool {
        match self {
            Column::All(_) => true,
            Column::Each(values) => values.count() == length,
        }
    }

    /// True if all `length` values are equal to `value`.
    fn is_all(&self, length: usize, value: T) -> bool
    where
        T: Default,
    {
        match self {
            Column::All(constant) => *constant == value,
            Column::Each(_) => self.values(length).all(|other| other == value),
        }
    }

    /// The first `length` values. They are read in blocks, which is faster than one by one.
    fn values(&self, length: usize) -> impl Iterator<Item = T>
    where
        T: Default,
    {
        (0..length).step_by(MOST_READ).flat_map(move |first| {
            let count = (length - first).min(MOST_READ);
            let mut block = self.shared();
            self.copy(first, &mut block[..count]);
            block.into_iter().take(count)
        })
    }
}

impl<T> fmt::Debug for Column<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Column::All(_) => "Column::All",
            Column::Each(_) => "Column::Each",
        })
    }
}

/// Requests in the order of a trace.
#[derive(Debug)]
pub struct Columns {
    /// Operations: 0 for a write, 1 for a trim, 2 for a read, 3 for a flush.
    pub ops: Column<u8>,
    /// First logical page of each request.
    pub first_pages: Column<u32>,
    /// Number of logical pages; 0 for a flush.
    pub counts: Column<u32>,
    /// Time of each request, in nanoseconds.
    pub at_ns: Column<u64>,
    /// Bytes of the first page before the start of the request.
    pub head_bytes: Column<u32>,
    /// Bytes of the last page after the end of the request.
    pub tail_bytes: Column<u32>,
    /// 1 for FUA writes, which complete only when they would survive a power loss; 0 for all
    /// others.
    pub fua: Column<u8>,
    /// Tag of each write, or [`UNTAGGED`].
    pub tags: Column<u8>,
    /// Number of requests of the trace.
    pub length: usize,
}

impl Columns {
    /// Builds columns that own their memory from requests.
    pub fn of(requests: &[Request]) -> Self {
        Columns {
            ops: Column::own(requests.iter().map(|request| number_of(request.op)).collect()),
            first_pages: Column::own(requests.iter().map(|request| request.first_page).collect()),
            counts: Column::own(requests.iter().map(|request| request.pages).collect()),
            at_ns: Column::own(requests.iter().map(|request| request.at_ns).collect()),
            head_bytes: Column::own(requests.iter().map(|request| request.head_bytes).collect()),
            tail_bytes: Column::own(requests.iter().map(|request| request.tail_bytes).collect()),
            fua: Column::own(requests.iter().map(|request| u8::from(request.fua)).collect()),
            tags: Column::own(requests.iter().map(|request| request.tag).collect()),
            length: requests.len(),
        }
    }

    /// Validates the columns, and stores columns that are all 0 as a single value.
    /// This applies to the times, to the FUA marks, and to the bytes before and after requests
    /// together. Tags become a single value if no request has one.
    ///
    /// Returns an error for an unknown operation number, or for columns of different lengths.
    pub(super) fn checked(mut self) -> Result<Self> {
        let length = self.length;
        let is_even = self.ops.has_length(length)
            && self.first_pages.has_length(length)
            && self.counts.has_length(length)
            && self.at_ns.has_length(length)
            && self.head_bytes.has_length(length)
            && self.tail_bytes.has_length(length)
            && self.fua.has_length(length)
            && self.tags.has_length(length);
        if !is_even {
            return Err(Error::Spec(
                "the columns of a trace have different lengths; each must have one value per \
                 request, or be a single value"
                    .into(),
            ));
        }
        if self.ops.values(length).any(|op| usize::from(op) >= OPS.len()) {
            return Err(Error::Spec(
                "the column of operations of a trace has an invalid number; valid: 0 (write), 1 \
                 (trim), 2 (read), 3 (flush)"
                    .into(),
            ));
        }
        if self.ops.is_all(length, WRITE) {
            self.ops = Column::All(WRITE);
        }
        if self.counts.is_all(length, 1) {
            self.counts = Column::All(1);
        }
        if self.at_ns.is_all(length, 0) {
            self.at_ns = Column::All(0);
        }
        if self.head_bytes.is_all(length, 0) && self.tail_bytes.is_all(length, 0) {
            (self.head_bytes, self.tail_bytes) = (Column::All(0), Column::All(0));
        }
        if self.fua.is_all(length, 0) {
            self.fua = Column::All(0);
        }
        if self.tags.is_all(length, UNTAGGED) {
            self.tags = Column::All(UNTAGGED);
        }
        Ok(self)
    }

    /// True if any request has a tag.
    pub(super) fn has_tags(&self) -> bool {
        !matches!(self.tags, Column::All(UNTAGGED))
    }

    /// True if the requests have times.
    pub(super) fn has_times(&self) -> bool {
        matches!(self.at_ns, Column::Each(_))
    }

    #[inline(always)]
    pub(super) fn op(&self, at: usize) -> Op {
        op_of(self.ops.get(at))
    }

    #[inline(always)]
    pub(super) fn pages(&self, at: usize) -> u32 {
        self.counts.get(at)
    }

    /// Request at index `at`.
    pub(super) fn get(&self, at: usize) -> Request {
        Request {
            at_ns: self.at_ns.get(at),
            op: self.op(at),
            first_page: self.first_pages.get(at),
            pages: self.counts.get(at),
            head_bytes: self.head_bytes.get(at),
            tail_bytes: self.tail_bytes.get(at),
            fua: self.fua.get(at) != 0,
            tag: self.tags.get(at),
        }
    }

    /// Adds the requests to a checksum, independent of the storage of the columns.
    pub(super) fn add_to(&self, checksum: &mut Checksum) {
        let has_parts = matches!(
            (&self.head_bytes, &self.tail_bytes),
            (Column::Each(_), _) | (_, Column::Each(_))
        );
        let is_any_durable = matches!(self.fua, Column::Each(_));
        let length_if = |is_stored| if is_stored { self.length } else { 0 };
        let (timed, partial) = (length_if(self.has_times()), length_if(has_parts));
        let parts = self.head_bytes.values(partial).zip(self.tail_bytes.values(partial));
        checksum.add(self.length, self.ops.values(self.length).map(op_of));
        checksum.add(self.length, self.first_pages.values(self.length));
        checksum.add(self.length, self.counts.values(self.length));
        checksum.add(timed, self.at_ns.values(timed));
        checksum.add(partial, parts.map(|(head, tail)| [head, tail]));
        let durable = length_if(is_any_durable);
        checksum.add(durable, self.fua.values(durable));
        // Left out without tags, so that states that were saved before tags existed stay valid.
        if self.has_tags() {
            checksum.add(self.length, self.tags.values(self.length));
        }
    }
}
