//! Replay of a block trace that has been turned into page ranges.

use std::sync::Arc;

use super::{Pacing, Step, Unserved, Workload};
use crate::error::{Error, Result};
use crate::request::{Op, Request};
use crate::state::{Checksum, Identity, state};

/// Requests in order, over and over as often as is asked. Clones share them.
#[derive(Debug, Clone)]
pub struct Trace {
    requests: Arc<Requests>,
    identity: Identity,
    passes_left: u64,
    /// Added to the times of this pass.
    offset_ns: u64,
    request: usize,
    /// Pages of the current request already issued.
    issued: u32,
    unserved: Unserved,
}

state! {
    Trace {
        fixed requests,
        part identity,
        value passes_left,
        value offset_ns,
        value request,
        value issued,
        value unserved,
    } where is_sound
}

/// Requests as columns, 9 bytes each; a column that would hold nothing but zeros is empty.
#[derive(Debug, Default)]
struct Requests {
    ops: Vec<Op>,
    first_pages: Vec<u32>,
    counts: Vec<u32>,
    at_ns: Vec<u64>,
    partial_bytes: Vec<[u32; 2]>,
    page_bytes: u32,
    /// Logical pages that they touch, from 0.
    pages: u32,
    /// A pass begins so much later than the one before.
    pass_ns: u64,
}

impl Requests {
    fn push(&mut self, request: &Request) -> Result<()> {
        self.pages = self.pages.max(checked_end(request, self.page_bytes)?);
        let before = self.ops.len();
        self.ops.push(request.op);
        self.first_pages.push(request.first_page);
        self.counts.push(request.pages);
        if request.at_ns != 0 || !self.at_ns.is_empty() {
            self.at_ns.resize(before, 0);
            self.at_ns.push(request.at_ns);
        }
        if request.partial_bytes() != 0 || !self.partial_bytes.is_empty() {
            self.partial_bytes.resize(before, [0; 2]);
            self.partial_bytes.push([request.head_bytes, request.tail_bytes]);
        }
        Ok(())
    }

    /// A trace has no spec, so its requests stand for themselves.
    fn identity(&self, passes: u64) -> Identity {
        let mut checksum = Checksum::default();
        checksum.add(&self.ops);
        checksum.add(&self.first_pages);
        checksum.add(&self.counts);
        checksum.add(&self.at_ns);
        checksum.add(&self.partial_bytes);
        Identity::default()
            .with("workload", format!("a trace of checksum {:08x}", checksum.value()))
            .with("size of a page in the trace", self.page_bytes.to_string())
            .with("number of passes", passes.to_string())
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Request {
        let [head_bytes, tail_bytes] = self.partial_bytes.get(at).copied().unwrap_or_default();
        Request {
            at_ns: self.at_ns.get(at).copied().unwrap_or(0),
            op: self.ops[at],
            first_page: self.first_pages[at],
            pages: self.counts[at],
            head_bytes,
            tail_bytes,
            fua: false,
        }
    }
}

impl Trace {
    /// A trace of `requests` on pages of `page_bytes`, in the order of their times, replayed
    /// `passes` times.
    pub fn new(
        requests: impl IntoIterator<Item = Request>,
        page_bytes: u32,
        passes: u64,
    ) -> Result<Self> {
        let mut columns = Requests { page_bytes, ..Requests::default() };
        requests.into_iter().try_for_each(|request| columns.push(&request))?;
        if !columns.ops.contains(&Op::Write) {
            return Err(Error::Spec("the trace has no write".into()));
        }
        let times = columns.at_ns.first().zip(columns.at_ns.last());
        columns.pass_ns = times.map_or(0, |(first, last)| last.saturating_sub(*first));
        let identity = columns.identity(passes);
        let (requests, unserved) = (Arc::new(columns), Unserved::default());
        Ok(Trace {
            requests,
            identity,
            passes_left: passes,
            offset_ns: 0,
            request: 0,
            issued: 0,
            unserved,
        })
    }

    /// The current request, at the start of which the next pass may begin; `None` at the end.
    fn current(&mut self) -> Option<Request> {
        if self.request == self.requests.ops.len() {
            self.passes_left = self.passes_left.saturating_sub(1);
            self.offset_ns = self.offset_ns.saturating_add(self.requests.pass_ns);
            self.request = 0;
        }
        (self.passes_left > 0).then(|| self.requests.get(self.request))
    }

    fn is_sound(&self) -> bool {
        let ops = &self.requests.ops;
        let is_within =
            |at: usize| ops.get(at) == Some(&Op::Write) && self.issued < self.requests.counts[at];
        self.request <= ops.len()
            && (self.issued == 0 || is_within(self.request))
            && self.unserved.is_plausible()
    }

    fn pass_over(&mut self, request: &Request) {
        self.request += 1;
        if request.op == Op::Flush {
            self.unserved.flushes += 1;
        } else {
            self.unserved.read_pages += u64::from(request.pages);
            self.unserved.read_bytes += request.bytes(self.requests.page_bytes);
        }
    }
}

/// The end of a request's pages, if it is one.
fn checked_end(request: &Request, page_bytes: u32) -> Result<u32> {
    let Request { op, first_page, pages, .. } = *request;
    let invalid = |why: &str| {
        Error::Spec(format!(
            "a trace request of {pages} pages from {first_page} is not valid: {why}"
        ))
    };
    if (pages == 0) != (op == Op::Flush) {
        return Err(invalid("a flush has no pages, and anything else has some"));
    }
    if request.partial_bytes() >= u64::from(page_bytes) * u64::from(pages.max(1)) {
        return Err(invalid("what it leaves of its first and last page is all of it"));
    }
    first_page.checked_add(pages).ok_or_else(|| invalid("page numbers have 32 bits"))
}

impl Workload for Trace {
    /// Merges writes across the reads and flushes between them.
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let mut filled = 0;
        loop {
            // A batch ends with its pass, so that each pass is the same sequence of batches.
            if filled > 0 && self.request == self.requests.ops.len() {
                return Step::Writes(filled);
            }
            let Some(request) = self.current() else { return Step::End };
            match request.op {
                Op::Read | Op::Flush => self.pass_over(&request),
                Op::Trim if filled > 0 => return Step::Writes(filled),
                Op::Trim => {
                    self.request += 1;
                    return Step::Request(request);
                }
                Op::Write => {
                    let first = request.first_page + self.issued;
                    let left = request.pages - self.issued;
                    let count = left.min((buffer.len() - filled) as u32);
                    for (slot, page) in buffer[filled..].iter_mut().zip(first..first + count) {
                        *slot = page;
                    }
                    filled += count as usize;
                    self.issued += count;
                    if count == left {
                        self.unserved.partial_bytes += request.partial_bytes();
                        self.request += 1;
                        self.issued = 0;
                    }
                    if filled == buffer.len() {
                        return Step::Writes(filled);
                    }
                }
            }
        }
    }

    fn next_request(&mut self) -> Option<Request> {
        let request = self.current()?;
        self.request += 1;
        Some(Request { at_ns: request.at_ns.saturating_add(self.offset_ns), ..request })
    }

    fn take_unserved(&mut self) -> Unserved {
        std::mem::take(&mut self.unserved)
    }

    fn pacing(&self) -> Pacing {
        if self.requests.at_ns.is_empty() { Pacing::default() } else { Pacing::Open }
    }

    fn pages(&self) -> u32 {
        self.requests.pages
    }

    /// One pass: a page that is ever written again is written within it.
    fn horizon_writes(&self) -> u64 {
        let requests = self.requests.ops.iter().zip(&self.requests.counts);
        requests.filter(|(op, _)| **op == Op::Write).map(|(_, &count)| u64::from(count)).sum()
    }
}
