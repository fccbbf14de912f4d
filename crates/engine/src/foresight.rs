//! Foresight: the times at which the pages written by a workload become invalid.
//! They are found by drawing the writes and TRIMs of the workload before the drive receives them.

use std::collections::VecDeque;

use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::NEVER;
use crate::request::{Op, Request};
use crate::state::{MOST_PLAUSIBLE, elements, state};
use crate::workloads::{Step, Unserved, Workload};

/// Position of a page for which no write was drawn yet; valid positions count from 1.
const NOWHERE: u64 = 0;
const UNKNOWN: u32 = u32::MAX;
const BATCH_PAGES: usize = 1024;

/// Future write or TRIM of a page.
#[derive(Debug, Clone, Copy)]
struct Coming {
    page: u32,
    is_write: bool,
    /// Number of host writes before this write or TRIM, modulo 2³².
    writes_before: u32,
    /// Number of host writes from this one to the page's next write or TRIM, or [`UNKNOWN`].
    life: u32,
}

elements!(Coming { page: u32, is_write: bool, writes_before: u32, life: u32 });

/// Reads and flushes between two writes that were drawn ahead.
/// `writes` is the number of writes drawn before these reads and flushes.
#[derive(Debug, Clone, Copy)]
struct Passed {
    writes: u64,
    read_pages: u64,
    read_bytes: u64,
    flushes: u64,
    partial_bytes: u64,
    partial_pages: u64,
}

elements!(Passed {
    writes: u64,
    read_pages: u64,
    read_bytes: u64,
    flushes: u64,
    partial_bytes: u64,
    partial_pages: u64,
});

impl Passed {
    fn unserved(&self) -> Unserved {
        let Passed { read_pages, read_bytes, flushes, partial_bytes, partial_pages, .. } = *self;
        Unserved { read_pages, read_bytes, flushes, partial_bytes, partial_pages }
    }
}

/// Tags of the writes that were drawn ahead, if the workload has tags.
#[derive(Debug, Default)]
struct ComingTags {
    /// Tag of each element of [`Foresight::coming`].
    coming: VecDeque<u8>,
    /// Number of writes drawn before them, tags and bytes of the requests with partial pages.
    partials: VecDeque<(u64, u8, u64)>,
    /// Tags and partial bytes of the pages that were issued last.
    issued: Vec<u8>,
    issued_partials: Vec<(u8, u64)>,
}

state!(ComingTags {
    value coming,
    value partials,
    scratch issued,
    scratch issued_partials,
});

/// Writes and TRIMs of a workload, drawn ahead of time to find when each written page becomes
/// invalid. Every invalidation time within the next `horizon_writes` writes is known.
pub struct Foresight {
    coming: VecDeque<Coming>,
    /// Position of the first element of `coming`; positions count from 1.
    first_place: u64,
    /// Requests with the writes and TRIMs in `coming`, if the run is driven by requests.
    requests: VecDeque<Request>,
    /// Skipped requests that were not counted yet, in the order of the writes.
    passed: VecDeque<Passed>,
    /// Position of each page's last write among those drawn so far, or [`NOWHERE`].
    holder: Table<u64>,
    drawn_writes: u64,
    issued_writes: u64,
    horizon_writes: u64,
    buffer: Vec<u32>,
    ended: bool,
    tags: Option<ComingTags>,
}

state! {
    Foresight {
        list coming,
        value first_place,
        list requests,
        list passed,
        table holder,
        value drawn_writes,
        value issued_writes,
        fixed horizon_writes,
        scratch buffer,
        value ended,
        nested tags,
    } where is_sound
}

impl Foresight {
    /// Wraps `workload`, from which no step may have been drawn.
    pub fn new(workload: &dyn Workload) -> Result<Self> {
        let horizon_writes = workload.horizon_writes().min(u64::from(u32::MAX) - 1);
        Ok(Foresight {
            coming: VecDeque::new(),
            first_place: NOWHERE + 1,
            requests: VecDeque::new(),
            passed: VecDeque::new(),
            holder: filled(NOWHERE, workload.pages() as usize)?,
            drawn_writes: 0,
            issued_writes: 0,
            horizon_writes,
            buffer: vec![0; BATCH_PAGES],
            ended: false,
            tags: workload.has_tags().then(ComingTags::default),
        })
    }

    /// Draws like [`Workload::next`], and also finds the invalidation times of the pages written.
    /// `times` receives the clock at which each page becomes invalid. `now` is the current clock.
    pub fn next(
        &mut self,
        workload: &mut dyn Workload,
        pages: &mut [u32],
        times: &mut Vec<u64>,
        now: u64,
    ) -> Step {
        while !self.sees_far(pages.len()) {
            self.draw(workload);
        }
        times.clear();
        self.forget_issued_tags();
        let Some(&Coming { is_write, page: first, .. }) = self.coming.front() else {
            return Step::End;
        };
        if is_write {
            while let Some(slot) = pages.get_mut(times.len())
                && let Some(&coming) = self.coming.front().filter(|coming| coming.is_write)
            {
                *slot = coming.page;
                self.coming.pop_front();
                self.issue_write(coming, times, now);
            }
            return Step::Writes(times.len());
        }
        let mut end = first;
        while self.coming.front().is_some_and(|c| !c.is_write && c.page == end) {
            self.coming.pop_front();
            self.pass_tag();
            end += 1;
            self.first_place += 1;
        }
        Step::Request(Request::of_pages(Op::Trim, first..end))
    }

    /// Draws like [`Workload::next_request`], with invalidation times like [`Self::next`].
    /// A run must use only one of the two methods.
    pub fn next_request(
        &mut self,
        workload: &mut dyn Workload,
        times: &mut Vec<u64>,
        now: u64,
    ) -> Option<Request> {
        let mut pages = 1;
        loop {
            while !self.sees_far(pages) {
                self.draw_request(workload);
            }
            // A request may extend beyond the pages that were drawn ahead.
            match self.requests.front() {
                Some(next) if next.pages as usize > pages => pages = next.pages as usize,
                _ => break,
            }
        }
        let request = self.requests.pop_front()?;
        times.clear();
        self.forget_issued_tags();
        if matches!(request.op, Op::Write | Op::Trim) {
            for _ in request.range() {
                let coming =
                    self.coming.pop_front().expect("each page of the request was drawn ahead");
                if coming.is_write {
                    self.issue_write(coming, times, now);
                } else {
                    self.pass_tag();
                    self.first_place += 1;
                }
            }
        }
        Some(request)
    }

    /// Returns the reads and flushes before the last issued write, each only once.
    /// Reads and flushes between writes that were drawn together are returned after the last of
    /// these writes.
    pub fn take_unserved(&mut self) -> Unserved {
        let mut total = Unserved::default();
        while let Some(passed) = self.passed.front()
            && passed.writes <= self.issued_writes
        {
            total = total + passed.unserved();
            self.passed.pop_front();
        }
        total
    }

    /// Tags of the pages that were issued last; empty if they have none.
    pub fn tags(&self) -> &[u8] {
        self.tags.as_ref().map_or(&[], |tags| &tags.issued)
    }

    /// Tags and bytes of the partial pages before the last issued write, each only once.
    /// They are returned together with those of [`Self::take_unserved`].
    pub fn partials(&mut self) -> &[(u8, u64)] {
        let Some(tags) = &mut self.tags else { return &[] };
        tags.issued_partials.clear();
        while let Some(&(writes, tag, bytes)) = tags.partials.front()
            && writes <= self.issued_writes
        {
            tags.issued_partials.push((tag, bytes));
            tags.partials.pop_front();
        }
        &tags.issued_partials
    }

    fn forget_issued_tags(&mut self) {
        if let Some(tags) = &mut self.tags {
            tags.issued.clear();
        }
    }

    /// Passes over the tag of a TRIM.
    fn pass_tag(&mut self) {
        if let Some(tags) = &mut self.tags {
            tags.coming.pop_front();
        }
    }

    /// True if the invalidation times of the next `pages` pages are known up to the horizon.
    fn sees_far(&self, pages: usize) -> bool {
        self.ended || self.drawn_writes - self.issued_writes > self.horizon_writes + pages as u64
    }

    fn issue_write(&mut self, coming: Coming, times: &mut Vec<u64>, now: u64) {
        // The number of writes drawn beyond the horizon depends on the batch size. Times beyond the
        // horizon are not used, so that the result does not depend on the batch size.
        let is_foreseen = u64::from(coming.life) <= self.horizon_writes;
        let clock = now + times.len() as u64;
        if let Some(tags) = &mut self.tags {
            tags.issued.extend(tags.coming.pop_front());
        }
        times.push(if is_foreseen { clock + u64::from(coming.life) } else { NEVER });
        self.first_place += 1;
        self.issued_writes += 1;
    }

    fn is_sound(&self) -> bool {
        let end = self.first_place.saturating_add(self.coming.len() as u64);
        let writes = self.coming.iter().filter(|coming| coming.is_write).count() as u64;
        let pages = self.holder.len();
        self.coming.iter().all(|coming| (coming.page as usize) < pages)
            && self.holder.iter().all(|&place| place < end)
            && self.first_place > NOWHERE
            && self.drawn_writes < MOST_PLAUSIBLE
            && end < MOST_PLAUSIBLE
            && self.issued_writes.checked_add(writes) == Some(self.drawn_writes)
            && self.passed.iter().all(|passed| {
                passed.writes <= self.drawn_writes && passed.unserved().is_plausible()
            })
            && (self.requests.is_empty() || self.requests_are_coming())
            && self.tags.as_ref().is_none_or(|tags| {
                tags.coming.len() == self.coming.len()
                    && tags.partials.iter().all(|&(_, _, bytes)| bytes < MOST_PLAUSIBLE)
            })
    }

    /// True if `coming` has exactly the pages that `requests` write or trim, in order.
    fn requests_are_coming(&self) -> bool {
        let mut coming = self.coming.iter();
        let mut changes = self.requests.iter().filter(|r| matches!(r.op, Op::Write | Op::Trim));
        changes.all(|request| {
            request.first_page.checked_add(request.pages).is_some()
                && request.range().all(|page| {
                    let is_write = request.op == Op::Write;
                    coming.next().is_some_and(|c| (c.page, c.is_write) == (page, is_write))
                })
        }) && coming.next().is_none()
    }

    fn draw(&mut self, workload: &mut dyn Workload) {
        match workload.next(&mut self.buffer) {
            Step::Writes(count) => {
                (0..count).for_each(|at| self.foresee(self.buffer[at], true));
                if let Some(tags) = &mut self.tags {
                    tags.coming.extend(workload.tags());
                }
            }
            Step::Request(request) if request.op == Op::Trim => {
                request.range().for_each(|page| self.foresee(page, false));
                self.foresee_tags(&request);
            }
            Step::Request(_) => {}
            Step::End => self.ended = true,
        }
        let writes = self.drawn_writes;
        if let Some(tags) = &mut self.tags {
            tags.partials.extend(workload.partials().iter().map(|&(tag, n)| (writes, tag, n)));
        }
        let unserved = workload.take_unserved();
        if unserved != Unserved::default() {
            let Unserved { read_pages, read_bytes, flushes, partial_bytes, partial_pages } =
                unserved;
            self.passed.push_back(Passed {
                writes,
                read_pages,
                read_bytes,
                flushes,
                partial_bytes,
                partial_pages,
            });
        }
    }

    fn draw_request(&mut self, workload: &mut dyn Workload) {
        let Some(request) = workload.next_request() else {
            self.ended = true;
            return;
        };
        if matches!(request.op, Op::Write | Op::Trim) {
            let is_write = request.op == Op::Write;
            request.range().for_each(|page| self.foresee(page, is_write));
            self.foresee_tags(&request);
        }
        self.requests.push_back(request);
    }

    fn foresee_tags(&mut self, request: &Request) {
        if let Some(tags) = &mut self.tags {
            tags.coming.extend(request.range().map(|_| request.tag));
        }
    }

    fn foresee(&mut self, page: u32, is_write: bool) {
        let place = self.first_place + self.coming.len() as u64;
        let next = if is_write { place } else { NOWHERE };
        let held = std::mem::replace(&mut self.holder[page as usize], next);
        let writes_before = self.drawn_writes as u32;
        if held >= self.first_place {
            let holder = &mut self.coming[(held - self.first_place) as usize];
            holder.life = writes_before.wrapping_sub(holder.writes_before);
        }
        self.coming.push_back(Coming { page, is_write, writes_before, life: UNKNOWN });
        self.drawn_writes += u64::from(is_write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{self, Context, Trace};

    /// Draws a workload in batches of `batch_pages`, and returns pages with invalidation times.
    /// Times count from the first write.
    fn foreseen(
        mut workload: Box<dyn Workload>,
        batch_pages: usize,
        writes: usize,
    ) -> Vec<(u32, u64)> {
        let mut foresight = Foresight::new(&*workload).unwrap();
        let (mut pages, mut times) = (vec![0; batch_pages], Vec::new());
        let mut writes_seen = Vec::new();
        while writes_seen.len() < writes {
            let now = writes_seen.len() as u64;
            match foresight.next(&mut *workload, &mut pages, &mut times, now) {
                Step::Writes(_) => {
                    writes_seen.extend(pages.iter().copied().zip(times.iter().copied()));
                }
                Step::Request(_) => {}
                Step::End => break,
            }
        }
        writes_seen.truncate(writes);
        writes_seen
    }

    /// Draws a workload request by request, and returns pages with invalidation times.
    fn foreseen_of_requests(mut workload: Box<dyn Workload>) -> Vec<(u32, u64)> {
        let mut foresight = Foresight::new(&*workload).unwrap();
        let (mut times, mut writes_seen) = (Vec::new(), Vec::new());
        while let Some(request) =
            foresight.next_request(&mut *workload, &mut times, writes_seen.len() as u64)
        {
            let pages = if request.op == Op::Write { request.range() } else { 0..0 };
            assert_eq!(pages.len(), times.len());
            writes_seen.extend(pages.zip(times.iter().copied()));
        }
        writes_seen
    }

    #[test]
    fn a_page_is_invalid_at_its_next_write_or_trim_also_in_the_next_pass_of_a_trace() {
        let of_pages = Request::of_pages;
        let requests = [
            of_pages(Op::Write, 0..3),
            of_pages(Op::Trim, 1..2),
            of_pages(Op::Read, 0..3),
            of_pages(Op::Write, 0..1),
            of_pages(Op::Write, 5..6),
        ];
        let trace = Trace::new(requests, 4096, 2).unwrap();
        let expected = [
            (0, 3),
            (1, 3),
            (2, 7),
            (0, 5),
            (5, 9), // the first pass: writes 0 to 4
            (0, 8),
            (1, 8),
            (2, NEVER),
            (0, NEVER),
            (5, NEVER),
        ];
        for batch_pages in [1, 2, 100] {
            assert_eq!(foreseen(Box::new(trace.clone()), batch_pages, 100), expected);
        }
        assert_eq!(foreseen_of_requests(Box::new(trace)), expected);
    }

    #[test]
    fn foresight_does_not_depend_on_batches_and_ends_at_the_horizon() {
        let build = || workloads::build("zipf:s=1", 50, Context::root(3)).unwrap();
        let whole = foreseen(build(), 1024, 5000);
        assert_eq!(foreseen(build(), 1, 5000), whole);
        assert_eq!(foreseen(build(), 7, 5000), whole);
        let horizon = build().horizon_writes() as usize;
        for (at, &(page, invalidation_time)) in whole[..2000].iter().enumerate() {
            let next = whole[at + 1..=at + horizon].iter().position(|&(other, _)| other == page);
            assert_eq!(invalidation_time, next.map_or(NEVER, |after| (at + 1 + after) as u64));
        }
        assert!(whole.iter().any(|&(_, invalidation_time)| invalidation_time == NEVER));
    }
}
