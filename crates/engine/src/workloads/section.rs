//! Section of a trace: requests that are read from its columns together.

use super::columns::{Columns, MOST_READ, TRIM, WRITE, op_of};
use crate::request::Request;

/// Largest number of pages of a write that is decoded without a branch.
const PLAIN_PAGES: usize = 8;

/// Consecutive requests that were read from the columns, without times and FUA marks.
/// Only timed runs need these two.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Index of the first request.
    first: usize,
    /// Number of requests.
    count: usize,
    ops: [u8; MOST_READ],
    first_pages: [u32; MOST_READ],
    counts: [u32; MOST_READ],
    head_bytes: [u32; MOST_READ],
    tail_bytes: [u32; MOST_READ],
    tags: [u8; MOST_READ],
    /// Number of pages that each request writes.
    written: [u32; MOST_READ],
    /// Bit for each request, set if it is plain: a read, a flush, or a write of at most
    /// [`PLAIN_PAGES`] whole pages.
    plain: u64,
    /// Bit for each request, set if it is a write.
    writes: u64,
}

impl Section {
    /// Section without requests, with the values that all requests of these columns share.
    pub(super) fn of(columns: &Columns) -> Self {
        let mut section = Section {
            first: 0,
            count: 0,
            ops: columns.ops.shared(),
            first_pages: columns.first_pages.shared(),
            counts: columns.counts.shared(),
            head_bytes: columns.head_bytes.shared(),
            tail_bytes: columns.tail_bytes.shared(),
            tags: columns.tags.shared(),
            written: [0; MOST_READ],
            plain: 0,
            writes: 0,
        };
        section.classify();
        section
    }

    fn classify(&mut self) {
        let (mut plain, mut writes) = (0, 0);
        // Places without a request are classified too, so that the loop has a fixed length. Numbers
        // take the place of truth values, of which the compiler makes branches.
        for at in (0..MOST_READ).rev() {
            let (op, count) = (self.ops[at] & 3, self.counts[at]);
            let is_write = u32::from(op == WRITE);
            let of_writes = is_write.wrapping_neg();
            let is_long = u32::from(count > PLAIN_PAGES as u32);
            let excess = (is_long | self.head_bytes[at] | self.tail_bytes[at]) & of_writes;
            self.written[at] = count & of_writes;
            plain = plain << 1 | u64::from(excess == 0) & u64::from(op != TRIM);
            writes = writes << 1 | u64::from(is_write);
        }
        (self.plain, self.writes) = (plain, writes);
    }

    /// Reads the requests from index `first` on, at most [`MOST_READ`].
    #[inline(never)]
    pub(super) fn read(&mut self, columns: &Columns, first: usize) {
        let count = (columns.length - first).min(MOST_READ);
        (self.first, self.count) = (first, count);
        columns.first_pages.copy(first, &mut self.first_pages[..count]);
        columns.tags.copy(first, &mut self.tags[..count]);
        let mut is_changed = columns.ops.copy(first, &mut self.ops[..count]);
        is_changed |= columns.counts.copy(first, &mut self.counts[..count]);
        is_changed |= columns.head_bytes.copy(first, &mut self.head_bytes[..count]);
        is_changed |= columns.tail_bytes.copy(first, &mut self.tail_bytes[..count]);
        if is_changed {
            self.classify();
        }
    }

    /// Place of the request at index `at` of the trace, or None if the section does not have it.
    #[inline(always)]
    pub(super) fn place(&self, at: usize) -> Option<usize> {
        let place = at.wrapping_sub(self.first);
        (place < self.count).then_some(place)
    }

    /// Decodes plain requests from a place on, and returns the numbers of requests and of pages.
    /// Stops before a request that is not plain, or when the buffer may be too small for the next
    /// one. Has no branch that depends on a request, because these would be mispredicted.
    #[inline(always)]
    pub(super) fn decode_plain(&self, place: usize, buffer: &mut [u32]) -> (usize, usize) {
        let plain = (self.plain >> place).trailing_ones() as usize;
        let end = self.count.min(place + plain);
        let (mut at, mut pages) = (place, 0);
        for (&first, &written) in self.first_pages[place..end].iter().zip(&self.written[place..end])
        {
            let Some(slots) = buffer.get_mut(pages..).and_then(<[u32]>::first_chunk_mut) else {
                break;
            };
            *slots = std::array::from_fn::<u32, PLAIN_PAGES, _>(|ahead| {
                first.wrapping_add(ahead as u32)
            });
            pages += written as usize;
            at += 1;
        }
        (at - place, pages)
    }

    /// Tags of `count` requests from a place on, and the number of pages that each writes.
    pub(super) fn tags(&self, place: usize, count: usize) -> impl Iterator<Item = (u8, u32)> {
        let places = place..place + count;
        self.tags[places.clone()].iter().copied().zip(self.written[places].iter().copied())
    }

    /// Requests other than writes among `count` requests from a place on.
    pub(super) fn skipped(&self, place: usize, count: usize) -> impl Iterator<Item = Request> {
        let among = u64::MAX.checked_shr((MOST_READ - count) as u32).unwrap_or(0) << place;
        let mut skipped = !self.writes & among;
        std::iter::from_fn(move || {
            let place = skipped.trailing_zeros() as usize;
            skipped &= skipped.wrapping_sub(1);
            (place < MOST_READ).then(|| self.get(place))
        })
    }

    /// Request at a place, without its time and FUA mark.
    #[inline(always)]
    pub(super) fn get(&self, place: usize) -> Request {
        Request {
            at_ns: 0,
            op: op_of(self.ops[place]),
            first_page: self.first_pages[place],
            pages: self.counts[place],
            head_bytes: self.head_bytes[place],
            tail_bytes: self.tail_bytes[place],
            fua: false,
            tag: self.tags[place],
        }
    }
}

/// All requests of a trace in order, without their times and FUA marks.
pub(super) fn requests(columns: &Columns) -> impl Iterator<Item = Request> {
    let mut section = Section::of(columns);
    (0..columns.length).map(move |at| {
        let place = section.place(at).unwrap_or_else(|| {
            section.read(columns, at);
            0
        });
        section.get(place)
    })
}
