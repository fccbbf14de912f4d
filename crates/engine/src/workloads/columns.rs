//! The requests of a trace as columns, which may be lent by whoever keeps them.

use std::fmt;

use crate::error::{Error, Result};
use crate::request::{Op, Request};
use crate::state::{Checksum, Element};

/// Numbers of the operations in a column of them.
const OPS: [Op; 4] = [Op::Write, Op::Trim, Op::Read, Op::Flush];

/// Number of an operation in a column of them.
pub fn number_of(op: Op) -> u8 {
    OPS.iter().position(|one| *one == op).expect("all are there") as u8
}

/// Values of all requests, wherever they are kept.
pub trait Values<T>: Send + Sync {
    /// The value of a request.
    fn get(&self, at: usize) -> T;
    /// Number of values.
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

/// Column: one value of each request, all of one kind.
pub enum Column<T: 'static> {
    /// One value for all requests.
    All(T),
    /// One for each.
    Each(Box<dyn Values<T>>),
}

impl<T: Copy + PartialEq + Send + Sync> Column<T> {
    /// A column with memory of its own.
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

    fn has_length(&self, length: usize) -> bool {
        match self {
            Column::All(_) => true,
            Column::Each(values) => values.count() == length,
        }
    }

    fn is_all(&self, value: T) -> bool {
        match self {
            Column::All(one) => *one == value,
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
    /// 0 for a write, 1 for a trim, 2 for a read, 3 for a flush.
    pub ops: Column<u8>,
    /// The first logical page of each.
    pub first_pages: Column<u32>,
    /// Logical pages of each; 0 for a flush.
    pub counts: Column<u32>,
    /// Times in nanoseconds.
    pub at_ns: Column<u64>,
    /// Bytes of the first page that lie before the request.
    pub head_bytes: Column<u32>,
    /// Bytes of the last page that lie behind it.
    pub tail_bytes: Column<u32>,
    /// 1 for a write that is complete only once it would survive a loss of power, else 0.
    pub fua: Column<u8>,
    /// Requests.
    pub length: usize,
}

impl Columns {
    /// Columns of their own for some requests.
    pub fn of(requests: &[Request]) -> Self {
        Columns {
            ops: Column::own(requests.iter().map(|one| number_of(one.op)).collect()),
            first_pages: Column::own(requests.iter().map(|one| one.first_page).collect()),
            counts: Column::own(requests.iter().map(|one| one.pages).collect()),
            at_ns: Column::own(requests.iter().map(|one| one.at_ns).collect()),
            head_bytes: Column::own(requests.iter().map(|one| one.head_bytes).collect()),
            tail_bytes: Column::own(requests.iter().map(|one| one.tail_bytes).collect()),
            fua: Column::own(requests.iter().map(|one| u8::from(one.fua)).collect()),
            length: requests.len(),
        }
    }

    /// The columns, with those that hold nothing but zeros as such.
    ///
    /// An operation without a number and columns that differ in length are refused.
    pub(super) fn checked(mut self) -> Result<Self> {
        let length = self.length;
        let is_even = self.ops.has_length(length)
            && self.first_pages.has_length(length)
            && self.counts.has_length(length)
            && self.at_ns.has_length(length)
            && self.head_bytes.has_length(length)
            && self.tail_bytes.has_length(length)
            && self.fua.has_length(length);
        if !is_even {
            return Err(Error::Spec("the columns of a trace differ in length".into()));
        }
        if (0..length).any(|at| usize::from(self.ops.get(at)) >= OPS.len()) {
            return Err(Error::Spec("the operations of a trace have the numbers 0 to 3".into()));
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
        Ok(self)
    }

    /// Whether the requests have times.
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

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Request {
        Request {
            at_ns: self.at_ns.get(at),
            op: self.op(at),
            first_page: self.first_pages.get(at),
            pages: self.counts.get(at),
            head_bytes: self.head_bytes.get(at),
            tail_bytes: self.tail_bytes.get(at),
            fua: self.fua.get(at) != 0,
        }
    }

    /// Takes in what the requests are, however their columns are kept.
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
    }
}

fn add<T: Element>(checksum: &mut Checksum, length: usize, value: impl Fn(usize) -> T) {
    checksum.add(length, (0..length).map(value));
}
