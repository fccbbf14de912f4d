//! Hints of the host, from its writes to the pages as they are programmed.
//!
//! A page may wait in the write cache; it is programmed with what the host said of it last. The
//! manager's clock counts pages that are programmed, and the host's those that it has written: what
//! is left of a page's life by the host's clock begins when the page is programmed.

use std::ops::Range;

use super::Ssd;
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::{Group, Hears, Hints, NEVER, hottest_group};
use crate::timing::params::Dispatch;

/// Hints that were given and are to be used.
#[derive(Debug)]
pub struct Hinting {
    hears: Hears,
    /// Hints on the pages of each write under way, by its number.
    of_request: Vec<Vec<u64>>,
    /// The groups as they were told last; one of all pages as long as nothing was told.
    groups: Vec<Group>,
    /// The group of each logical page of the host, if groups are heard.
    group_of: Table<u8>,
    /// Time by the host's clock at which each page of the host is invalid, if that is heard.
    invalid_at: Table<u64>,
}

impl Hinting {
    /// Keeps hints for a manager; `None` if it hears nothing.
    pub fn new(hears: Hears, host_pages: u32) -> Result<Option<Box<Self>>> {
        let pages = |is_heard: bool| if is_heard { host_pages as usize } else { 0 };
        Ok(match hears {
            Hears::Nothing => None,
            Hears::Groups | Hears::InvalidationTimes => Some(Box::new(Hinting {
                hears,
                of_request: Vec::new(),
                groups: vec![Group { pages: host_pages, write_share: 1.0 }],
                group_of: filled(0, pages(hears == Hears::Groups))?,
                invalid_at: filled(NEVER, pages(hears == Hears::InvalidationTimes))?,
            })),
        })
    }

    /// Keeps the hints on a write of so many pages until it is served; false if some are missing.
    fn hear(&mut self, request: u32, hints: &Hints, pages: usize) -> bool {
        if self.hears.check(hints, pages).is_err() {
            return false;
        }
        let at = request as usize;
        if self.of_request.len() <= at {
            self.of_request.resize_with(at + 1, Vec::new);
        }
        let kept = &mut self.of_request[at];
        kept.clear();
        match self.hears {
            _ if pages == 0 => {}
            Hears::Groups => {
                if self.groups != hints.groups {
                    self.groups = hints.groups.to_vec();
                }
                kept.extend(hints.group_of.iter().map(|&group| u64::from(group)));
            }
            // The clock stands behind all pages of the write once it is served, not before each.
            _ => kept.extend(hints.invalidation_times.iter().enumerate().map(|(at, &time)| {
                if time == NEVER { NEVER } else { time.saturating_add((pages - at) as u64) }
            })),
        }
        true
    }

    /// Takes what was said of a page, one of those of a write, as the last word on it.
    pub fn apply(&mut self, request: u32, pages: &Range<u32>, page: u32) {
        let hint = self.of_request[request as usize][(page - pages.start) as usize];
        match self.hears {
            Hears::Groups => self.group_of[page as usize] = hint as u8,
            _ => self.invalid_at[page as usize] = hint,
        }
    }

    /// The group of a page that is programmed now.
    /// Pages of the mapping table are written most often of all, and so are told. Where the host has
    /// come to name fewer groups, its pages of those gone count to the last that there is.
    fn group_of(&self, page: u32) -> u8 {
        let last = self.groups.len().saturating_sub(1) as u8;
        self.group_of
            .get(page as usize)
            .map_or_else(|| hottest_group(&self.groups), |&of| of.min(last))
    }

    /// Time by a manager's clock at which a page that is programmed now will be invalid.
    fn invalid_at(&self, page: u32, host_now: u64, now: u64) -> u64 {
        match self.invalid_at.get(page as usize) {
            None | Some(&NEVER) => NEVER,
            Some(&at) => now + at.saturating_sub(host_now).max(1),
        }
    }
}

impl Ssd {
    /// Keeps the hints on a write that has come; without them, the manager refuses it.
    pub(super) fn hear_hints(&mut self, request: u32, hints: &Hints) -> Result<()> {
        let Some(hinting) = &mut self.hinting else { return Ok(()) };
        let pages = self.requests[request].pages(self.page_bytes);
        if hinting.hear(request, hints, pages.len()) {
            return Ok(());
        }
        self.drive.write(&pages.collect::<Vec<_>>(), Some(*hints))
    }

    /// Lets the manager write a page, with the hint on it if it hears hints.
    pub(super) fn write_hinted(&mut self, page: u32) -> Result<()> {
        if self.timing.scheduling.dispatch == Dispatch::ShortestQueue {
            self.drive.steer(&self.nand.queues);
        }
        let Some(hinting) = &self.hinting else { return self.drive.write(&[page], None) };
        let (host_now, flash) = (self.counters.host.written_pages, self.drive.flash());
        let group_of = [hinting.group_of(page)];
        let times = [hinting.invalid_at(page, host_now, flash.counters().host.written_pages)];
        let hints =
            Hints { groups: &hinting.groups, group_of: &group_of, invalidation_times: &times };
        self.drive.write(&[page], Some(hints))
    }

    /// Takes what was said of a page with a write as the last word on it.
    #[inline(always)]
    pub(super) fn apply_hint(&mut self, request: u32, page: u32) {
        if let Some(hinting) = &mut self.hinting {
            let pages = self.requests[request].pages(self.page_bytes);
            hinting.apply(request, &pages, page);
        }
    }
}
