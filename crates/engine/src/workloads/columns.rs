//! Requests of a trace as columns, whose memory may belong to the caller.

use std::fmt;

use crate::error::{Error, Result};
use crate::hints::UNTAGGED;
use crate::request::{Op, Request};
use crate::state::{Checksum, Element};

/// Numbers of the operations in a column.
const OPS: [Op; 4] = [Op::Write, Op::Trim, Op::Read, Op::Flush];

/// Number of an operation in a column.
pub fn number_of(op: Op) -> u8 {
    OPS.iter().position(|candidate| *candidate == op).expect("all columns have this length") as u8
}

/// Values of all requests, in any kind of storage.
pub trait Values<T>: Send + Sync {
    /// Value for the request at index `at`.
    fn get(&self, at: usize) -> T;
    /// Copies the values from index `first` on, which is faster than to get each of them.
    fn copy(&self, first: usize, to: &mut [T]) {
        to.iter_mut().zip(first..).for_each(|(to, at)| *to = self.get(at));
    }
    /// Number of values in the storage.
    fn count(&self) -> usize;
}

impl<T: Copy + Send + Sync> Values<T> for Vec<T> {
    #[inline(always)]
    fn get(&self, at: usize) -> T {
        self[at]
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// Number of requests that are read at once.
const MOST_READ: usize = 64;

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
    fn get(&self, at: usize) -> T {
        match self {
            Column::All(value) => *value,
            Column::Each(values) => values.get(at),
        }
    }

    /// Values from index `first` on, of which there are `count`.
    #[inline(always)]
    fn some(&self, first: usize, count: usize) -> [T; MOST_READ]
    where
        T: Default,
    {
        let mut some = [T::default(); MOST_READ];
        match self {
            Column::All(value) => some.fill(*value),
            Column::Each(values) => values.copy(first, &mut some[..count]),
        }
        some
    }

    fn has_length(&self, length: usize) -> bool {
        match self {
            Column::All(_) => true,
            Column::Each(values) => values.count() == length,
        }
    }

    fn is_all(&self, value: T) -> bool {
        match self {
            Column::All(constant) => *constant == value,
            Column::Each(values) => (0..values.count()).all(|at| values.get(at) == value),
        }
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
        if (0..length).any(|at| usize::from(self.ops.get(at)) >= OPS.len()) {
            return Err(Error::Spec(
                "the column of operations of a trace has an invalid number; valid: 0 (write), 1 \
                 (trim), 2 (read), 3 (flush)"
                    .into(),
            ));
        }
        if self.at_ns.is_all(0) {
            self.at_ns = Column::All(0);
        }
        if self.head_bytes.is_all(0) && self.tail_bytes.is_all(0) {
            (self.head_bytes, self.tail_bytes) = (Column::All(0), Column::All(0));
        }
        if self.fua.is_all(0) {
            self.fua = Column::All(0);
        }
        if self.tags.is_all(UNTAGGED) {
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
        OPS[usize::from(self.ops.get(at) & 3)]
    }

    #[inline(always)]
    pub(super) fn pages(&self, at: usize) -> u32 {
        self.counts.get(at)
    }

    /// Reads the requests from index `first` on, at most [`MOST_READ`].
    #[inline(never)]
    pub(super) fn read(&self, first: usize, requests: &mut Vec<Request>) {
        let count = (self.length - first).min(MOST_READ);
        let (ops, fua, tags) = (
            self.ops.some(first, count),
            self.fua.some(first, count),
            self.tags.some(first, count),
        );
        let (first_pages, counts) =
            (self.first_pages.some(first, count), self.counts.some(first, count));
        let (head_bytes, tail_bytes) =
            (self.head_bytes.some(first, count), self.tail_bytes.some(first, count));
        let at_ns = self.at_ns.some(first, count);
        requests.clear();
        requests.extend((0..count).map(|at| Request {
            at_ns: at_ns[at],
            op: OPS[usize::from(ops[at] & 3)],
            first_page: first_pages[at],
            pages: counts[at],
            head_bytes: head_bytes[at],
            tail_bytes: tail_bytes[at],
            fua: fua[at] != 0,
            tag: tags[at],
        }));
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
        add(checksum, self.length, |at| self.op(at));
        add(checksum, self.length, |at| self.first_pages.get(at));
        add(checksum, self.length, |at| self.counts.get(at));
        add(checksum, if self.has_times() { self.length } else { 0 }, |at| self.at_ns.get(at));
        add(checksum, if has_parts { self.length } else { 0 }, |at| {
            [self.head_bytes.get(at), self.tail_bytes.get(at)]
        });
        let is_any_durable = matches!(self.fua, Column::Each(_));
        add(checksum, if is_any_durable { self.length } else { 0 }, |at| self.fua.get(at));
        // Left out without tags, so that states that were saved before tags existed stay valid.
        if self.has_tags() {
            add(checksum, self.length, |at| self.tags.get(at));
        }
    }
}

fn add<T: Element>(checksum: &mut Checksum, length: usize, value: impl Fn(usize) -> T) {
    checksum.add(length, (0..length).map(value));
}
