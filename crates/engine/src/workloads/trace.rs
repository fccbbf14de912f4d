//! Replay of a block trace that has been turned into page ranges.

use std::sync::Arc;

use super::{Step, Workload};
use crate::error::{Error, Result};

/// What a request of a trace does to its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOp {
    Write,
    Trim,
}

/// Requests in order, over and over as often as is asked. Clones share them.
#[derive(Debug, Clone)]
pub struct Trace {
    requests: Arc<Requests>,
    passes_left: u64,
    request: usize,
    /// Pages of the current request already issued.
    issued: u32,
    pages: u32,
}

#[derive(Debug)]
struct Requests {
    ops: Vec<TraceOp>,
    first_pages: Vec<u32>,
    counts: Vec<u32>,
}

impl Trace {
    /// A trace of requests over `counts[i]` pages from `first_pages[i]`, replayed `passes` times.
    pub fn new(
        ops: Vec<TraceOp>,
        first_pages: Vec<u32>,
        counts: Vec<u32>,
        passes: u64,
    ) -> Result<Self> {
        if ops.len() != first_pages.len() || ops.len() != counts.len() {
            return Err(Error::Spec("a trace needs as many ops as first pages and counts".into()));
        }
        if !ops.contains(&TraceOp::Write) {
            return Err(Error::Spec("the trace has no write".into()));
        }
        let mut pages = 0;
        for (&first, &count) in first_pages.iter().zip(&counts) {
            let end = first.checked_add(count).filter(|_| count > 0).ok_or_else(|| {
                Error::Spec(format!("a trace request of {count} pages from {first} is not valid"))
            })?;
            pages = pages.max(end);
        }
        let requests = Arc::new(Requests { ops, first_pages, counts });
        Ok(Trace { requests, passes_left: passes, request: 0, issued: 0, pages })
    }
}

impl Workload for Trace {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let Requests { ops, first_pages, counts } = &*self.requests;
        if self.request == ops.len() {
            self.passes_left = self.passes_left.saturating_sub(1);
            self.request = 0;
        }
        if self.passes_left == 0 {
            return Step::End;
        }
        let op = ops[self.request];
        let mut filled = 0;
        while filled < buffer.len() && self.request < ops.len() && ops[self.request] == op {
            let first = first_pages[self.request] + self.issued;
            let left = counts[self.request] - self.issued;
            let count = left.min((buffer.len() - filled) as u32);
            for (slot, page) in buffer[filled..].iter_mut().zip(first..first + count) {
                *slot = page;
            }
            filled += count as usize;
            self.issued += count;
            if count == left {
                self.request += 1;
                self.issued = 0;
            }
        }
        match op {
            TraceOp::Write => Step::Write(filled),
            TraceOp::Trim => Step::Trim(filled),
        }
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    /// One pass: a page that is ever written again is written within it.
    fn horizon_writes(&self) -> u64 {
        let written = self
            .requests
            .ops
            .iter()
            .zip(&self.requests.counts)
            .filter(|(op, _)| **op == TraceOp::Write);
        written.map(|(_, &count)| u64::from(count)).sum()
    }
}
