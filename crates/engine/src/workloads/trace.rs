//! Replay of a block trace that was converted to page ranges.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::columns::Columns;
use super::section::{Section, requests};
use super::{MOST_GROUPS, Pacing, Step, Unserved, Workload};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::request::{Op, Request};
use crate::state::{Checksum, Identity, state};

/// Trace workload: requests in order, repeated for a number of passes. Clones share the
/// requests.
#[derive(Debug, Clone)]
pub struct Trace {
    requests: Arc<Requests>,
    identity: Identity,
    passes_left: u64,
    /// Offset added to the times of this pass, in ns.
    offset_ns: u64,
    request: usize,
    /// Number of pages of the current request that were issued.
    issued: u32,
    /// Requests that were read from the columns last.
    section: Section,
    unserved: Unserved,
    /// Tags of the pages that were returned last; empty if the requests have no tags.
    tags: Vec<u8>,
    /// Bytes of these pages outside their requests, by the tags of the requests.
    partials: Vec<(u8, u64)>,
}

state! {
    Trace {
        fixed requests,
        nested identity,
        value passes_left,
        value offset_ns,
        value request,
        value issued,
        value unserved,
        scratch section,
        scratch tags,
        scratch partials,
    } where is_sound
}

/// Requests that all clones share.
#[derive(Debug)]
struct Requests {
    columns: Columns,
    page_bytes: u32,
    /// Number of logical pages, from 0, that the requests access.
    pages: u32,
    /// Delay of each pass after the previous one, in ns.
    pass_ns: u64,
    groups: Groups,
}

/// Consecutive groups of pages, for example the devices of a trace. May be empty.
#[derive(Debug, Default)]
struct Groups {
    /// Page after the last one of each group.
    ends: Vec<u32>,
    groups: Vec<Group>,
}

impl Groups {
    /// Groups that end at `ends`, with the share of the writes that begin in each.
    fn of(ends: &[u32], columns: &Columns, pages: u32) -> Result<Self> {
        if ends.is_empty() {
            return Ok(Groups::default());
        }
        let is_ascending = ends.is_sorted_by(|end, next| end < next) && ends.first() != Some(&0);
        let has_all = ends.last().is_some_and(|&last| last >= pages);
        if !is_ascending || !has_all || ends.len() > MOST_GROUPS {
            return Err(Error::Spec(format!(
                "the groups of a trace must be at most {MOST_GROUPS}, with ascending ends up to \
                 the last of its {pages} pages"
            )));
        }
        let mut written = vec![0; ends.len()];
        for request in requests(columns).filter(|request| request.op == Op::Write) {
            written[group_at(ends, request.first_page)] += u64::from(request.pages);
        }
        let all: u64 = written.iter().sum();
        let starts = [0].into_iter().chain(ends.iter().copied());
        let groups = starts.zip(ends).zip(written).map(|((start, end), written)| Group {
            pages: end - start,
            write_share: written as f64 / all as f64,
        });
        Ok(Groups { groups: groups.collect(), ends: ends.to_vec() })
    }
}

/// Group of a page. Pages beyond the last group belong to the last group.
fn group_at(ends: &[u32], page: u32) -> usize {
    ends.partition_point(|&end| end <= page).min(ends.len() - 1)
}

impl Requests {
    /// A trace has no spec, so its identity is a checksum of the requests.
    fn identity(&self, passes: u64) -> Identity {
        let mut checksum = Checksum::default();
        self.columns.add_to(&mut checksum);
        Identity::default()
            .with("workload", format!("a trace of checksum {:08x}", checksum.value()))
            .with("size of a page in the trace", self.page_bytes.to_string())
            .with("number of passes", passes.to_string())
            .with("groups of pages in the trace", format!("{:?}", self.groups.ends))
    }
}

impl Trace {
    /// Builds a replay of `requests` on pages of `page_bytes`, in order of their times.
    /// It has `passes` passes.
    pub fn new(
        requests: impl IntoIterator<Item = Request>,
        page_bytes: u32,
        passes: u64,
    ) -> Result<Self> {
        let requests: Vec<Request> = requests.into_iter().collect();
        Trace::of_columns(Columns::of(&requests), page_bytes, passes)
    }

    /// Builds a replay of columns, which are neither copied nor changed.
    pub fn of_columns(columns: Columns, page_bytes: u32, passes: u64) -> Result<Self> {
        Trace::of_groups(columns, page_bytes, passes, &[])
    }

    /// Builds a replay of columns with hints.
    /// The pages before each of `group_ends` form a group of similar write frequency. An empty
    /// `group_ends` gives no hints.
    pub fn of_groups(
        columns: Columns,
        page_bytes: u32,
        passes: u64,
        group_ends: &[u32],
    ) -> Result<Self> {
        let columns = columns.checked()?;
        let (mut pages, mut has_writes) = (0, false);
        for request in requests(&columns) {
            pages = pages.max(checked_end(&request, page_bytes)?);
            has_writes |= request.op == Op::Write;
        }
        if !has_writes {
            return Err(Error::Spec("the trace has no writes".into()));
        }
        let (first, last) = (columns.get(0).at_ns, columns.get(columns.length - 1).at_ns);
        let pass_ns = last.saturating_sub(first);
        let groups = Groups::of(group_ends, &columns, pages)?;
        let requests = Requests { columns, page_bytes, pages, pass_ns, groups };
        let identity = requests.identity(passes);
        Ok(Trace {
            section: Section::of(&requests.columns),
            requests: Arc::new(requests),
            identity,
            passes_left: passes,
            offset_ns: 0,
            request: 0,
            issued: 0,
            unserved: Unserved::default(),
            tags: Vec::new(),
            partials: Vec::new(),
        })
    }

    /// Place of the current request in the section, beginning the next pass if necessary.
    /// Returns None at the end.
    #[inline(always)]
    fn current(&mut self) -> Option<usize> {
        if self.request == self.requests.columns.length {
            self.passes_left = self.passes_left.saturating_sub(1);
            self.offset_ns = self.offset_ns.saturating_add(self.requests.pass_ns);
            self.request = 0;
        }
        if self.passes_left == 0 {
            return None;
        }
        if self.section.place(self.request).is_none() {
            self.section.read(&self.requests.columns, self.request);
        }
        self.section.place(self.request)
    }

    fn is_sound(&self) -> bool {
        let columns = &self.requests.columns;
        let is_within = |at: usize| {
            at < columns.length && columns.op(at) == Op::Write && self.issued < columns.pages(at)
        };
        self.request <= columns.length
            && (self.issued == 0 || is_within(self.request))
            && self.unserved.is_plausible()
    }

    /// Notes the tag of the next `pages` pages of the present batch.
    #[inline(always)]
    fn tag(&mut self, tag: u8, pages: u32) {
        // One page is the usual case, and faster than a loop.
        if pages == 1 {
            self.tags.push(tag);
        } else {
            self.tags.resize(self.tags.len() + pages as usize, tag);
        }
    }

    /// Notes the bytes of the present request's pages that the request does not cover.
    #[inline(always)]
    fn count_partial(&mut self, request: &Request) {
        let bytes = request.partial_bytes();
        // Most requests cover whole pages.
        if bytes == 0 {
            return;
        }
        self.unserved.partial_bytes += bytes;
        self.unserved.partial_pages += request.partial_pages();
        if self.requests.columns.has_tags() {
            self.partials.push((request.tag, bytes));
        }
    }

    /// Notes the tags of plain requests whose pages are in the present batch, and counts the
    /// reads and flushes among them.
    #[inline(always)]
    fn pass_plain(&mut self, place: usize, count: usize) {
        if self.requests.columns.has_tags() {
            for (tag, pages) in self.section.tags(place, count) {
                self.tags.extend(std::iter::repeat_n(tag, pages as usize));
            }
        }
        for request in self.section.skipped(place, count) {
            self.unserved.skip(&request, self.requests.page_bytes);
        }
        self.request += count;
    }

    fn pass_over(&mut self, request: &Request) {
        self.request += 1;
        self.unserved.skip(request, self.requests.page_bytes);
    }
}

/// Page after the last one of a request. Returns an error for an invalid request.
fn checked_end(request: &Request, page_bytes: u32) -> Result<u32> {
    let Request { op, first_page, pages, .. } = *request;
    let invalid = |why: &str| {
        Error::Spec(format!(
            "a trace request of {pages} pages from {first_page} is not valid: {why}"
        ))
    };
    if (pages == 0) != (op == Op::Flush) {
        return Err(invalid("a flush must have 0 pages, any other request at least 1"));
    }
    if request.partial_bytes() >= u64::from(page_bytes) * u64::from(pages.max(1)) {
        return Err(invalid("its head_bytes and tail_bytes leave no byte of it"));
    }
    first_page.checked_add(pages).ok_or_else(|| invalid("its page numbers must fit in 32 bits"))
}

impl Workload for Trace {
    /// Merges writes across the reads and flushes between them.
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let mut filled = 0;
        let has_tags = self.requests.columns.has_tags();
        self.tags.clear();
        self.partials.clear();
        loop {
            // A batch does not extend beyond its pass, so that every pass has the same sequence of
            // batches. If the buffer is empty, only the requests before the next write of this pass
            // are processed.
            let is_begun = filled > 0 || buffer.is_empty();
            if is_begun && self.request == self.requests.columns.length {
                return Step::Writes(filled);
            }
            let Some(place) = self.current() else { return Step::End };
            if self.issued == 0 {
                let (requests, pages) = self.section.decode_plain(place, &mut buffer[filled..]);
                if requests > 0 {
                    self.pass_plain(place, requests);
                    filled += pages;
                    if filled == buffer.len() {
                        return Step::Writes(filled);
                    }
                    continue;
                }
            }
            let request = self.section.get(place);
            match request.op {
                Op::Read | Op::Flush => self.pass_over(&request),
                Op::Trim if filled > 0 => return Step::Writes(filled),
                Op::Trim => {
                    let request = self.requests.columns.get(self.request);
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
                    if has_tags {
                        self.tag(request.tag, count);
                    }
                    filled += count as usize;
                    self.issued += count;
                    if count == left {
                        self.count_partial(&request);
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
        let place = self.current()?;
        let at_ns = self.requests.columns.at_ns.get(self.request).saturating_add(self.offset_ns);
        let fua = self.requests.columns.fua.get(self.request) != 0;
        self.request += 1;
        Some(Request { at_ns, fua, ..self.section.get(place) })
    }

    fn take_unserved(&mut self) -> Unserved {
        std::mem::take(&mut self.unserved)
    }

    fn has_tags(&self) -> bool {
        self.requests.columns.has_tags()
    }

    fn tags(&self) -> &[u8] {
        &self.tags
    }

    fn partials(&self) -> &[(u8, u64)] {
        &self.partials
    }

    fn pacing(&self) -> Pacing {
        if self.requests.columns.has_times() { Pacing::Open } else { Pacing::default() }
    }

    fn pages(&self) -> u32 {
        self.requests.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let Groups { groups, .. } = &self.requests.groups;
        (!groups.is_empty()).then(|| groups.clone())
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = group_at(&self.requests.groups.ends, page) as u8;
        }
    }

    /// Number of page writes of one pass.
    /// Within this number of page writes, every page is written again that is ever written again.
    fn horizon_writes(&self) -> u64 {
        let writes = requests(&self.requests.columns).filter(|request| request.op == Op::Write);
        writes.map(|request| u64::from(request.pages)).sum()
    }
}
