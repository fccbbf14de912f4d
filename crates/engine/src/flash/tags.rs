//! Tags: small numbers that the host gives its writes, by which flash operations are counted.
//!
//! A version of a page has the tag of the request that wrote it, from its program until it is
//! overwritten or trimmed. A collection that moves it counts under this tag, so in the middle of a
//! batch, pages later in the batch still have their earlier tags. Tags are stored by physical page:
//! new tags are then written in sequence, without another random access to memory.

use super::Cause;
use super::memory::{Table, filled};
use crate::error::{Error, Result};
use crate::hints::{MOST_TAGS, OF_DRIVE, UNTAGGED};
use crate::state::{MOST_PLAUSIBLE, Reader, State, Writer, require, state};

/// Number of different values of a tag.
const VALUES: usize = 1 << u8::BITS;

/// Number of counters of each tag: host pages, host bytes, and programs for each cause.
const TAG_COLUMNS: usize = 2 + Cause::ALL.len();

const HOST_PAGES: usize = 0;
const HOST_BYTES: usize = 1;

/// Counters by tag since a drive was new. Their sums are those of [`super::Counters`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCounters {
    /// Number of tags of the host.
    tags: u8,
    counts: Box<[[u64; VALUES]; TAG_COLUMNS]>,
}

impl TagCounters {
    /// Builds counters for a host with `tags` tags.
    pub fn new(tags: u8) -> Self {
        TagCounters { tags, counts: Box::new([[0; VALUES]; TAG_COLUMNS]) }
    }

    /// Tags with counters, in the order of reports: those of the host, [`UNTAGGED`], [`OF_DRIVE`].
    pub fn tags(&self) -> impl Iterator<Item = u8> + use<> {
        (0..self.tags).chain([UNTAGGED, OF_DRIVE])
    }

    /// Number of tags of the host.
    pub fn number(&self) -> u8 {
        self.tags
    }

    /// Counters of all tags, one after another: host pages, host bytes, and programs by `causes`.
    pub fn row(&self, causes: &[Cause]) -> Vec<u64> {
        let mut row = Vec::with_capacity((usize::from(self.tags) + 2) * (2 + causes.len()));
        for tag in self.tags() {
            row.extend(
                [HOST_PAGES, HOST_BYTES].map(|column| self.counts[column][usize::from(tag)]),
            );
            row.extend(causes.iter().map(|&cause| self.programs(tag, cause)));
        }
        row
    }

    /// Index of the programs of a tag for a cause in [`Self::row`] of [`Cause::ALL`].
    pub fn place_of(&self, tag: u8, cause: Cause) -> usize {
        let own = usize::from(self.tags);
        let at = match tag {
            UNTAGGED => own,
            OF_DRIVE => own + 1,
            tag => usize::from(tag),
        };
        at * TAG_COLUMNS + column_of(cause)
    }

    /// Pages programmed for `cause` with data of `tag`.
    pub fn programs(&self, tag: u8, cause: Cause) -> u64 {
        self.counts[column_of(cause)][usize::from(tag)]
    }

    /// Pages that the host wrote with `tag`.
    pub fn host_pages(&self, tag: u8) -> u64 {
        self.counts[HOST_PAGES][usize::from(tag)]
    }

    /// Adds the counters of another drive with the same tags.
    pub fn add(&mut self, other: &TagCounters) {
        let own = self.counts.as_flattened_mut();
        own.iter_mut().zip(other.counts.as_flattened()).for_each(|(own, its)| *own += its);
    }

    /// Counts pages and bytes of a request of the host.
    pub(crate) fn count_host(&mut self, tag: u8, pages: u64, bytes: u64) {
        self.counts[HOST_PAGES][usize::from(tag)] += pages;
        self.counts[HOST_BYTES][usize::from(tag)] += bytes;
    }

    #[inline(always)]
    pub(crate) fn count_programs(&mut self, tag: u8, cause: Cause, pages: u64) {
        self.counts[column_of(cause)][usize::from(tag)] += pages;
    }

    /// Counts one program for each of `tags`.
    #[inline(always)]
    fn count_each(&mut self, tags: &[u8], cause: Cause) {
        let Some(&first) = tags.first() else { return };
        // Requests of many pages are frequent, and repeated additions to the same number are slow.
        if tags.iter().fold(0, |differs, tag| differs | (tag ^ first)) == 0 {
            return self.count_programs(first, cause, tags.len() as u64);
        }
        let programs = &mut self.counts[column_of(cause)];
        tags.iter().for_each(|&tag| programs[usize::from(tag)] += 1);
    }

    /// Pages programmed for `cause`, summed over all tags.
    pub(super) fn all_programs(&self, cause: Cause) -> u64 {
        self.counts[column_of(cause)].iter().sum()
    }
}

fn column_of(cause: Cause) -> usize {
    HOST_BYTES + 1 + cause as usize
}

impl State for TagCounters {
    fn save(&self, to: &mut Writer) {
        to.table(self.counts.as_flattened());
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        from.table(self.counts.as_flattened_mut(), "the counters by tag")?;
        let is_plausible = self.counts.as_flattened().iter().all(|&count| count < MOST_PLAUSIBLE);
        require(is_plausible, "the counters by tag")
    }
}

/// Tags of the pages that a collection has read and not migrated yet, from one block.
#[derive(Debug, Clone, Default)]
struct Moving {
    first_page: u32,
    tags: Vec<u8>,
    pages_left: usize,
}

/// Tags of the data on a drive, and the counters by tag.
#[derive(Debug, Clone)]
pub struct Tags {
    /// Tag of the data of each physical page.
    of_page: Table<u8>,
    /// Programs by tag. The column of host bytes has the bytes that requests did not cover.
    counters: TagCounters,
    /// Tags of the pages of the present batch, and the number of those that were programmed.
    batch: Vec<u8>,
    done: usize,
    /// Blocks whose pages are being moved, the one read last at the end.
    moving: Vec<Moving>,
    /// Emptied elements of `moving`, whose memory is used again.
    spare: Vec<Moving>,
}

state!(Tags {
    table of_page,
    nested counters,
    scratch batch,
    scratch done,
    scratch moving,
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
            moving: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Counters by tag of a drive without timing, which programs each host page once for the host.
    pub fn counters(&self, page_bytes: u32) -> TagCounters {
        let mut counters = self.counters.clone();
        counters.counts[HOST_PAGES] = counters.counts[column_of(Cause::Host)];
        for tag in 0..VALUES {
            let bytes = counters.counts[HOST_PAGES][tag] * u64::from(page_bytes);
            let partial_bytes = self.counters.counts[HOST_BYTES][tag];
            counters.counts[HOST_BYTES][tag] = bytes.saturating_sub(partial_bytes);
        }
        counters
    }

    /// Pages programmed for `cause`, summed over all tags.
    pub(super) fn all_programs(&self, cause: Cause) -> u64 {
        self.counters.all_programs(cause)
    }

    /// Counts bytes of host pages that a request with `tag` did not cover.
    pub(crate) fn count_partial(&mut self, tag: u8, bytes: u64) {
        self.counters.counts[HOST_BYTES][usize::from(tag)] += bytes;
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
        let own = self.counters.tags;
        let highest = tags.iter().filter(|&&tag| tag < OF_DRIVE).max();
        if let Some(tag) = highest.filter(|&&tag| tag >= own) {
            return Err(Error::Spec(format!(
                "a page has the tag {tag}, but the drive counts by {own} tags, numbered from 0"
            )));
        }
        self.batch.clear();
        self.batch.extend_from_slice(tags);
        self.done = 0;
        Ok(())
    }

    /// Tags the next page of the batch, which is programmed at physical page `page`.
    #[inline(always)]
    pub(super) fn program(&mut self, page: u32, cause: Cause) {
        let tag = self.batch.get(self.done).copied().unwrap_or(UNTAGGED);
        self.done += 1;
        self.of_page[page as usize] = tag;
        self.counters.count_programs(tag, cause, 1);
    }

    /// Tags the next `count` pages of the batch, programmed from physical page `first_page` on.
    pub(super) fn program_run(&mut self, first_page: u32, count: usize) {
        let first = first_page as usize;
        let of_page = &mut self.of_page[first..first + count];
        match self.batch.get(self.done..self.done + count) {
            Some(tags) => {
                of_page.copy_from_slice(tags);
                self.counters.count_each(tags, Cause::Host);
            }
            None => {
                of_page.fill(UNTAGGED);
                self.counters.count_programs(UNTAGGED, Cause::Host, count as u64);
            }
        }
        self.done += count;
    }

    /// Tags the next pages of the batch, which were programmed where `map` has them now.
    /// If a page is programmed several times, the last one counts as its present version.
    pub(super) fn program_each(&mut self, pages: &[u32], map: &[u32]) {
        for &logical in pages {
            self.program(map[logical as usize], Cause::Host);
        }
    }

    /// Counts pages of padding, which have no data.
    pub(super) fn pad(&mut self, pages: u32) {
        self.counters.count_programs(OF_DRIVE, Cause::Padding, u64::from(pages));
    }

    /// Remembers the tags of a block that is about to be erased, and of which `valid_pages` will
    /// be migrated.
    pub(super) fn read(&mut self, first_page: u32, pages_per_block: u32, valid_pages: usize) {
        if valid_pages == 0 {
            return;
        }
        let mut block = self.spare.pop().unwrap_or_default();
        block.first_page = first_page;
        block.pages_left = valid_pages;
        let first = first_page as usize;
        block.tags.clear();
        block.tags.extend_from_slice(&self.of_page[first..first + pages_per_block as usize]);
        self.moving.push(block);
    }

    /// Tags a page that is migrated from physical page `from` to `page`.
    #[inline(always)]
    pub(super) fn migrate(&mut self, from: u32, page: u32, cause: Cause) {
        let tag = self.take_moved(from);
        self.of_page[page as usize] = tag;
        self.counters.count_programs(tag, cause, 1);
    }

    /// Tags pages that are migrated to the pages from `first_page` on, and counts them.
    /// `map` still has the pages from which they are migrated.
    pub(super) fn migrate_all(
        &mut self,
        pages: &[u32],
        map: &[u32],
        first_page: u32,
        cause: Cause,
    ) {
        let mut rest = pages;
        let mut page = first_page as usize;
        while let Some(&logical) = rest.first() {
            let at = self.block_of(map[logical as usize]);
            let Moving { first_page, tags, pages_left } = &mut self.moving[at];
            let mut count = 0;
            for (&logical, slot) in rest.iter().zip(&mut self.of_page[page..]) {
                let offset = map[logical as usize].wrapping_sub(*first_page) as usize;
                let Some(&tag) = tags.get(offset).filter(|_| count < *pages_left) else { break };
                *slot = tag;
                count += 1;
            }
            *pages_left -= count;
            self.counters.count_each(&self.of_page[page..page + count], cause);
            (rest, page) = (&rest[count..], page + count);
            self.drop_emptied(at);
        }
    }

    /// Tag of a page that was read at physical page `from`. The page counts as migrated.
    #[inline(always)]
    fn take_moved(&mut self, from: u32) -> u8 {
        let at = self.block_of(from);
        let block = &mut self.moving[at];
        let tag = block.tags[(from - block.first_page) as usize];
        block.pages_left -= 1;
        self.drop_emptied(at);
        tag
    }

    /// Index in `moving` of the block that was read last of those with physical page `from`.
    /// A block may be read again before all pages of its earlier contents are migrated. They are
    /// migrated after its later contents.
    #[inline(always)]
    fn block_of(&self, from: u32) -> usize {
        let holds =
            |block: &Moving| (from.wrapping_sub(block.first_page) as usize) < block.tags.len();
        let at = self.moving.iter().rposition(holds);
        at.expect("a page is migrated only after its block was read")
    }

    #[inline(always)]
    fn drop_emptied(&mut self, at: usize) {
        if self.moving[at].pages_left == 0 {
            let block = self.moving.remove(at);
            self.spare.push(block);
        }
    }
}
