//! Tags: small numbers that the host gives its writes, to count flash operations by tag.
//!
//! A version of a page has the tag of the request that wrote it, from its program until it is
//! overwritten or trimmed. A collection that moves it counts under this tag, so in the middle of a
//! batch, pages later in the batch still have their earlier tags.
//!
//! Tags are stored by physical page: new tags are then written in sequence, without another random
//! access to memory. Only the tag is stored for each page, and programs are counted for many pages
//! at once, so that the processor can still fetch the data of several pages at the same time.

use std::ops::Range;

use super::compaction::keep_unmarked;
use super::memory::{Table, filled, prefetch};
use super::{Cause, Flash, TagCounters, Tap};
use crate::error::{Error, Result};
use crate::hints::{MOST_TAGS, OF_DRIVE, UNTAGGED};
use crate::state::state;

/// Tags of the valid pages of a block that a collection has read, in their order.
#[derive(Debug, Clone, Default)]
struct Moving {
    tags: Vec<u8>,
    /// Number of these pages that were migrated.
    done: usize,
}

impl Moving {
    fn is_empty(&self) -> bool {
        self.done == self.tags.len()
    }
}

/// Tags of the data on a drive, and the counters by tag.
#[derive(Debug, Clone)]
pub struct Tags {
    /// Tag of the data of each physical page.
    of_page: Table<u8>,
    /// Programs by tag. The column of host bytes has the bytes that requests did not cover.
    counters: TagCounters,
    /// Tags of the pages of the present batch, and the number of those that were programmed.
    /// They are counted at the end of the batch.
    batch: Vec<u8>,
    done: usize,
    /// Tags and causes of pages of the batch that are not programmed for the host.
    not_host: Vec<(u8, Cause)>,
    /// The block that was read last, whose pages are being moved. Managers migrate its pages in
    /// order, before those of blocks that were read earlier.
    moving: Moving,
    /// Blocks that were read earlier, and have pages that are not migrated yet.
    waiting: Vec<Moving>,
    /// Lists without content, whose memory is used again.
    spare: Vec<Moving>,
}

state!(Tags {
    table of_page,
    nested counters,
    scratch batch,
    scratch done,
    scratch not_host,
    scratch moving,
    scratch waiting,
    scratch spare,
});

impl Tags {
    /// Builds the tags of a new drive, whose host has `tags` tags.
    pub fn new(tags: u8, physical_pages: u32) -> Result<Self> {
        if tags > MOST_TAGS {
            return Err(Error::Spec(format!(
                "the drive would count by {tags} tags; at most {MOST_TAGS} are possible"
            )));
        }
        Ok(Tags {
            of_page: filled(UNTAGGED, physical_pages as usize)?,
            counters: TagCounters::new(tags),
            batch: Vec::new(),
            done: 0,
            not_host: Vec::new(),
            moving: Moving::default(),
            waiting: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Counters by tag of a drive without timing.
    pub fn counters(&self, page_bytes: u32) -> TagCounters {
        self.counters.of_untimed(page_bytes)
    }

    /// Pages programmed for `cause`, summed over all tags.
    pub(super) fn all_programs(&self, cause: Cause) -> u64 {
        self.counters.all_programs(cause)
    }

    /// Counts bytes of host pages that a request with `tag` did not cover.
    pub(crate) fn count_partial(&mut self, tag: u8, bytes: u64) {
        self.counters.count_host(tag, 0, bytes);
    }

    /// Tag of the data of a physical page.
    #[inline(always)]
    pub fn tag_of(&self, page: u32) -> u8 {
        self.of_page[page as usize]
    }

    /// Sets the tags of the next `pages` pages that are programmed for the host, in order.
    /// Empty `tags` leave these pages untagged. Returns an error for tags that the drive does not
    /// have.
    pub(crate) fn begin_batch(&mut self, tags: &[u8], pages: usize) -> Result<()> {
        if !tags.is_empty() && tags.len() != pages {
            return Err(Error::Spec(format!(
                "{} tags were given for {pages} pages; each page needs one",
                tags.len()
            )));
        }
        let own = self.counters.number();
        let is_wrong = |tag: u8| tag.wrapping_sub(own) < OF_DRIVE - own;
        // This uses vector instructions, unlike a search for a wrong tag.
        if tags.iter().fold(false, |any, &tag| any | is_wrong(tag))
            && let Some(tag) = tags.iter().find(|&&tag| is_wrong(tag))
        {
            return Err(Error::Spec(format!(
                "a page has the tag {tag}, but the drive counts by {own} tags, numbered from 0"
            )));
        }
        // Only an error of a policy can end a collection before all of its pages are migrated.
        self.spare.append(&mut self.waiting);
        self.moving.done = self.moving.tags.len();
        self.batch.clear();
        self.batch.extend_from_slice(tags);
        self.batch.resize(pages, UNTAGGED);
        self.done = 0;
        Ok(())
    }

    /// Counts the pages of the batch that were programmed.
    pub(crate) fn end_batch(&mut self) {
        self.counters.count_each(&self.batch[..self.done], Cause::Host);
        for (tag, cause) in self.not_host.drain(..) {
            self.counters.change_cause(tag, Cause::Host, cause);
        }
        self.done = 0;
        self.batch.clear();
    }

    /// Tags the next page of the batch, which is programmed at physical page `page`.
    #[inline(always)]
    pub(super) fn program(&mut self, page: u32, cause: Cause) {
        let tag = self.batch[self.done];
        self.done += 1;
        self.of_page[page as usize] = tag;
        if cause != Cause::Host {
            self.not_host.push((tag, cause));
        }
    }

    /// Tags the next `count` pages of the batch, programmed from physical page `first_page` on.
    pub(super) fn program_run(&mut self, first_page: u32, count: usize) {
        let first = first_page as usize;
        let tags = &self.batch[self.done..self.done + count];
        self.of_page[first..first + count].copy_from_slice(tags);
        self.done += count;
    }

    /// Tags the next pages of the batch, which were programmed where `map` has them now.
    /// If a page is programmed several times, the last one counts as its present version.
    #[inline(never)]
    pub(super) fn program_each(&mut self, pages: &[u32], map: &[u32]) {
        let tags = &self.batch[self.done..self.done + pages.len()];
        for (&logical, &tag) in pages.iter().zip(tags) {
            self.of_page[map[logical as usize] as usize] = tag;
        }
        self.done += pages.len();
    }

    /// Counts pages of padding, which have no data.
    pub(super) fn pad(&mut self, pages: u32) {
        self.counters.count_programs(OF_DRIVE, Cause::Padding, u64::from(pages));
    }

    /// Prefetches the tags of a block with these pages.
    pub(super) fn prefetch_block(&self, pages: Range<usize>) {
        const LINE_TAGS: usize = 64;
        pages.step_by(LINE_TAGS).for_each(|page| prefetch(&self.of_page, page));
    }

    /// Reads the tags of the valid pages of a block.
    /// `marks` has one bit for each page, which is 1 for invalid pages.
    pub(super) fn read(&mut self, pages: Range<usize>, marks: &[u64]) {
        let mut block = self.spare.pop().unwrap_or_default();
        keep_unmarked(&self.of_page[pages], marks, &mut block.tags);
        block.done = 0;
        if !block.is_empty() {
            std::mem::swap(&mut block, &mut self.moving);
        }
        let list = if block.is_empty() { &mut self.spare } else { &mut self.waiting };
        list.push(block);
    }

    /// Counts pages that collection moves from the blocks of one handle to those of another.
    pub(crate) fn count_transfer(&mut self, from: u8, into: u8, pages: u64) {
        self.counters.count_transfer(from, into, pages);
    }

    /// Counts the `pages` pages that were read last, which are migrated for `cause`.
    pub(super) fn count_moved(&mut self, pages: usize, cause: Cause) {
        if pages > 0 {
            debug_assert_eq!(self.moving.tags.len(), pages);
            self.counters.count_each(&self.moving.tags, cause);
        }
    }

    /// Tags the next page that is migrated, to physical page `page`.
    #[inline(always)]
    pub(super) fn migrate(&mut self, page: u32) {
        let block = &mut self.moving;
        self.of_page[page as usize] = block.tags[block.done];
        block.done += 1;
        if block.is_empty() {
            self.resume();
        }
    }

    /// Tags the next pages that are migrated, to the pages from `first_page` on.
    pub(super) fn migrate_all(&mut self, first_page: u32, pages: usize) {
        let (mut first, end) = (first_page as usize, first_page as usize + pages);
        while first < end {
            let block = &mut self.moving;
            assert!(!block.is_empty(), "pages are migrated after their block was read");
            let count = (end - first).min(block.tags.len() - block.done);
            let tags = &block.tags[block.done..block.done + count];
            self.of_page[first..first + count].copy_from_slice(tags);
            block.done += count;
            first += count;
            if block.is_empty() {
                self.resume();
            }
        }
    }

    /// Continues with the block that was read before, as all pages of this one were migrated.
    #[cold]
    fn resume(&mut self) {
        let next = self.waiting.pop().unwrap_or_default();
        self.spare.push(std::mem::replace(&mut self.moving, next));
    }
}

impl<T: Tap> Flash<T> {
    /// Counts flash operations by tag from now on, for a host with this number of tags.
    /// The drive must be new.
    pub(crate) fn count_tags(&mut self, tags: u8) -> Result<()> {
        let tags = Tags::new(tags, self.array.geometry.physical_pages())?;
        self.array.tags = Some(Box::new(tags));
        Ok(())
    }

    /// Tags of the drive's data, if it counts by tag.
    pub fn tags_mut(&mut self) -> Option<&mut Tags> {
        self.array.tags.as_deref_mut()
    }
}
