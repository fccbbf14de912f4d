//! Writes and TRIMs that an application has planned, and their issue in batches.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Step;
use crate::request::{Op, Request};

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
}

/// Application that plans its requests in advance.
pub trait Application {
    fn activities(&mut self) -> &mut Activities;

    /// Plans further activities if none is left, or writes pages to the start of `buffer`.
    /// Returns the number of these pages.
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
}
