//! Host hints, stored from the write of a page until it is programmed.
//!
//! A page may wait in the write cache, and is programmed with its latest hint. The manager's
//! clock counts the pages passed to it, and the host's clock counts pages written by the host. When
//! a page is programmed, its remaining lifetime by the host's clock is therefore added to the
//! manager's clock.

use std::ops::Range;

use super::Ssd;
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::{Group, Hints, NEVER, RequiredHints, hottest_group};
use crate::timing::params::Dispatch;

/// Hints that were received and not used yet.
#[derive(Debug)]
pub struct Hinting {
    required_hints: RequiredHints,
    /// Hints on the pages of each write in progress, by request number.
    of_request: Vec<Vec<u64>>,
    /// Groups as last named by the host; at first one group of all pages.
    groups: Vec<Group>,
    /// Group of each host page, if group hints are required.
    group_of: Table<u8>,
    /// Invalidation time of each host page by the host's clock, if required.
    invalid_at: Table<u64>,
}

impl Hinting {
    /// Builds the store of hints for a manager. Returns None if it requires no hints.
    pub fn new(required_hints: RequiredHints, host_pages: u32) -> Result<Option<Box<Self>>> {
        if required_hints == RequiredHints::Nothing {
            return Ok(None);
        }
        let host_pages_if = |is_used: bool| if is_used { host_pages as usize } else { 0 };
        let has_times = required_hints == RequiredHints::InvalidationTimes;
        Ok(Some(Box::new(Hinting {
            required_hints,
            of_request: Vec::new(),
            groups: vec![Group { pages: host_pages, write_share: 1.0 }],
            group_of: filled(0, host_pages_if(!has_times))?,
            invalid_at: filled(NEVER, host_pages_if(has_times))?,
        })))
    }

    /// Stores the hints on a write until it is served. Returns false if hints are missing.
    fn store(&mut self, request: u32, hints: &Hints, pages: usize) -> bool {
        if self.required_hints.check(hints, pages).is_err() {
            return false;
        }
        let at = request as usize;
        if self.of_request.len() <= at {
            self.of_request.resize_with(at + 1, Vec::new);
        }
        let request_hints = &mut self.of_request[at];
        request_hints.clear();
        match self.required_hints {
            _ if pages == 0 => {}
            // The hint of a page is its tag, which waits with the page.
            RequiredHints::Handles if hints.groups.is_empty() => request_hints.resize(pages, 0),
            RequiredHints::Groups | RequiredHints::Handles => {
                if self.groups != hints.groups {
                    self.groups = hints.groups.to_vec();
                }
                request_hints.extend(hints.group_of.iter().map(|&group| u64::from(group)));
            }
            // The clock counts all pages of a write before the first of them is programmed. So the
            // number of pages from a page to the end of the write is added to its invalidation
            // time, and its remaining lifetime stays the same.
            _ => request_hints.extend(hints.invalidation_times.iter().enumerate().map(
                |(at, &time)| {
                    if time == NEVER { NEVER } else { time.saturating_add((pages - at) as u64) }
                },
            )),
        }
        true
    }

    /// Makes the hint on a page of a write the page's current hint.
    pub fn apply(&mut self, request: u32, pages: &Range<u32>, page: u32) {
        let hint = self.of_request[request as usize][(page - pages.start) as usize];
        match self.required_hints {
            RequiredHints::InvalidationTimes => self.invalid_at[page as usize] = hint,
            _ => self.group_of[page as usize] = hint as u8,
        }
    }

    /// Group of a page that is programmed now.
    /// Pages of the mapping table count as members of the group that is written most often. If the
    /// host now names fewer groups than before, pages of removed groups count as members of the
    /// last group.
    fn group_of(&self, page: u32) -> u8 {
        let last = self.groups.len().saturating_sub(1) as u8;
        self.group_of
            .get(page as usize)
            .map_or_else(|| hottest_group(&self.groups), |&of| of.min(last))
    }

    /// Invalidation time, by the manager's clock, of a page that is programmed now.
    fn invalid_at(&self, page: u32, host_now: u64, now: u64) -> u64 {
        match self.invalid_at.get(page as usize) {
            None | Some(&NEVER) => NEVER,
            Some(&at) => now + at.saturating_sub(host_now).max(1),
        }
    }
}

impl Ssd {
    /// Stores the hints on an arrived write. Returns the manager's error if hints are missing.
    pub(super) fn store_hints(&mut self, request: u32, hints: &Hints) -> Result<()> {
        let Some(hinting) = &mut self.hinting else { return Ok(()) };
        let pages = self.requests[request].pages(self.page_bytes);
        if hinting.store(request, hints, pages.len()) {
            return Ok(());
        }
        self.drive.write(&pages.collect::<Vec<_>>(), Some(*hints))
    }

    /// Lets the manager write a page with its tag.
    /// The page also has its hint if the manager requires hints.
    pub(super) fn write_hinted(&mut self, page: u32, tag: u8) -> Result<()> {
        if self.timing.scheduling.dispatch == Dispatch::ShortestQueue {
            self.drive.steer(&self.nand.queues);
        }
        let tags = &[tag];
        let Some(hinting) = &self.hinting else {
            return self.drive.write(&[page], Some(Hints { tags, ..Hints::default() }));
        };
        let (host_now, flash) = (self.counters.host.written_pages, self.drive.flash());
        let group_of = [hinting.group_of(page)];
        let times = [hinting.invalid_at(page, host_now, flash.counters().host.written_pages)];
        let groups = &hinting.groups;
        let are_tags_hints = hinting.required_hints == RequiredHints::Handles;
        let placement = if are_tags_hints { tags.as_slice() } else { &[] };
        let (group_of, invalidation_times) = (&group_of, &times);
        let hints = Hints { groups, group_of, invalidation_times, tags, placement };
        self.drive.write(&[page], Some(hints))
    }

    /// Makes the hint on a page of a write the page's current hint.
    #[inline(always)]
    pub(super) fn apply_hint(&mut self, request: u32, page: u32) {
        if let Some(hinting) = &mut self.hinting {
            let pages = self.requests[request].pages(self.page_bytes);
            hinting.apply(request, &pages, page);
        }
    }
}
