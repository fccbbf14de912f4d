//! Writes and TRIMs that an application has planned, and their issue in batches.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Step, TRIM};
use crate::error::{Error, Result};
use crate::params::Params;
use crate::request::{Op, Request};

/// Most pages of a write request: 512 KiB of usual pages. Longer writes are several.
const MOST_REQUEST_PAGES: u32 = 128;

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Activity {
    Write(Range<u32>),
    Trim(Range<u32>),
}

/// Requests for ranges of pages that still have to be issued, in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Activities(VecDeque<Activity>);

impl Activities {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the write of a range of pages, unless it is empty.
    pub fn write(&mut self, pages: Range<u32>) {
        if !pages.is_empty() {
            self.0.push_back(Activity::Write(pages));
        }
    }

    /// Adds the TRIM of a range of pages, unless it is empty.
    pub fn trim(&mut self, pages: Range<u32>) {
        if !pages.is_empty() {
            self.0.push_back(Activity::Trim(pages));
        }
    }

    /// True if all ranges are valid and end at or before `pages`, so that they can be issued.
    pub fn are_inside(&self, pages: u32) -> bool {
        self.0.iter().all(|activity| {
            let (Activity::Write(range) | Activity::Trim(range)) = activity;
            range.start < range.end && range.end <= pages
        })
    }

    /// Takes the next request. Long writes are cut at multiples of the largest size, so that only
    /// the ends of a range may cover a mapping unit in part.
    fn take_request(&mut self) -> Option<Request> {
        let (op, pages) = match self.0.front_mut()? {
            Activity::Trim(range) => (Op::Trim, std::mem::take(range)),
            Activity::Write(range) => {
                let cut = (range.start / MOST_REQUEST_PAGES + 1).saturating_mul(MOST_REQUEST_PAGES);
                let end = cut.min(range.end);
                (Op::Write, std::mem::replace(&mut range.start, end)..end)
            }
        };
        let (Activity::Write(rest) | Activity::Trim(rest)) = &self.0[0];
        if rest.is_empty() {
            self.0.pop_front();
        }
        Some(Request::of_pages(op, pages))
    }
}

/// Returns an error if TRIMs would replace a share of the writes of an application.
pub fn refuse_trim(params: &Params) -> Result<()> {
    if params.number(TRIM.name) > 0.0 {
        return Err(Error::Spec(format!(
            "{}: the writes are those of an application, so trim cannot replace a share of them; \
             leave trim out",
            params.entry().name
        )));
    }
    Ok(())
}

/// Application that plans its requests in advance.
pub trait Application {
    /// Most pages of a request that [`Self::plan`] writes to its buffer.
    const PLANNED_PAGES: usize = MOST_REQUEST_PAGES as usize;

    fn activities(&mut self) -> &mut Activities;

    /// Plans further activities if none is left, or writes pages to the start of `buffer`.
    /// Returns the number of these pages, which are consecutive if they are at most
    /// [`Self::PLANNED_PAGES`].
    fn plan(&mut self, buffer: &mut [u32]) -> usize;

    /// Next step of the workload ([`super::Workload::next`]).
    fn next_step(&mut self, buffer: &mut [u32]) -> Step {
        let mut count = 0;
        while count < buffer.len() {
            let Activities(queue) = self.activities();
            match queue.front_mut() {
                Some(Activity::Trim(_)) if count > 0 => break,
                Some(Activity::Trim(range)) => {
                    let request = Request::of_pages(Op::Trim, range.clone());
                    queue.pop_front();
                    return Step::Request(request);
                }
                Some(Activity::Write(range)) => {
                    let slots = &mut buffer[count..];
                    let pages = slots.len().min(range.len());
                    slots.iter_mut().zip(&mut *range).for_each(|(slot, page)| *slot = page);
                    count += pages;
                    if range.start == range.end {
                        queue.pop_front();
                    }
                }
                None => count += self.plan(&mut buffer[count..]),
            }
        }
        Step::Writes(count)
    }

    /// Next request of the workload ([`super::Workload::next_request`]).
    fn next_whole(&mut self) -> Request {
        let mut buffer = [0; MOST_REQUEST_PAGES as usize];
        loop {
            if let Some(request) = self.activities().take_request() {
                return request;
            }
            let count = self.plan(&mut buffer[..Self::PLANNED_PAGES]) as u32;
            if count > 0 {
                return Request::of_pages(Op::Write, buffer[0]..buffer[0] + count);
            }
        }
    }
}

#[cfg(test)]
mod tests;
