//! Counters of host writes and programs by tag.

use super::Cause;
use crate::error::Result;
use crate::hints::{OF_DRIVE, UNTAGGED};
use crate::state::{MOST_PLAUSIBLE, Reader, State, Writer, require};

/// Number of different values of a tag.
const VALUES: usize = 1 << u8::BITS;

/// Number of counters of each tag.
/// They are host pages, host bytes, programs for each cause, and pages that collection moved into
/// and out of the blocks of a handle.
const TAG_COLUMNS: usize = 2 + Cause::ALL.len() + 2;

const HOST_PAGES: usize = 0;
const HOST_BYTES: usize = 1;
const MOVED_IN: usize = TAG_COLUMNS - 2;
const MOVED_OUT: usize = TAG_COLUMNS - 1;

/// Counters by tag since a drive was new. Their sums are those of [`super::Counters`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCounters {
    /// Number of tags of the host.
    tags: u8,
    counts: Box<[[u64; VALUES]]>,
}

impl TagCounters {
    /// Builds counters for a host with `tags` tags.
    pub fn new(tags: u8) -> Self {
        TagCounters { tags, counts: vec![[0; VALUES]; TAG_COLUMNS].into() }
    }

    /// Tags with counters, in the order of reports.
    /// They are those of the host, [`UNTAGGED`] and [`OF_DRIVE`].
    pub fn tags(&self) -> impl Iterator<Item = u8> + use<> {
        (0..self.tags).chain([UNTAGGED, OF_DRIVE])
    }

    /// Number of tags of the host.
    pub fn number(&self) -> u8 {
        self.tags
    }

    /// Counters of all tags, one after another: host pages, host bytes, programs by `causes`, and
    /// pages moved into and out of the blocks of a handle.
    pub fn row(&self, causes: &[Cause]) -> Vec<u64> {
        let mut row = Vec::with_capacity((usize::from(self.tags) + 2) * (4 + causes.len()));
        for tag in self.tags() {
            let counts = |columns: [usize; 2]| columns.map(|at| self.counts[at][usize::from(tag)]);
            row.extend(counts([HOST_PAGES, HOST_BYTES]));
            row.extend(causes.iter().map(|&cause| self.programs(tag, cause)));
            row.extend(counts([MOVED_IN, MOVED_OUT]));
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

    /// Pages that collection moved into and out of the blocks of a handle.
    /// [`UNTAGGED`] is for blocks that handles share.
    pub fn transfers(&self, handle: u8) -> (u64, u64) {
        let at = usize::from(handle);
        (self.counts[MOVED_IN][at], self.counts[MOVED_OUT][at])
    }

    /// Counts pages that collection moves from the blocks of one handle to those of another.
    pub(super) fn count_transfer(&mut self, from: u8, into: u8, pages: u64) {
        self.counts[MOVED_OUT][usize::from(from)] += pages;
        self.counts[MOVED_IN][usize::from(into)] += pages;
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

    /// Counters of a drive that programs each host page once for the host.
    /// Until here, its host bytes are those of host pages that their requests did not cover.
    pub(super) fn of_untimed(&self, page_bytes: u32) -> TagCounters {
        let mut counters = self.clone();
        let host_pages = self.counts[column_of(Cause::Host)];
        counters.counts[HOST_PAGES] = host_pages;
        for (bytes, pages) in counters.counts[HOST_BYTES].iter_mut().zip(host_pages) {
            *bytes = pages.saturating_mul(page_bytes.into()).saturating_sub(*bytes);
        }
        counters
    }

    /// Counts a program for another cause.
    pub(super) fn change_cause(&mut self, tag: u8, counted: Cause, cause: Cause) {
        self.counts[column_of(counted)][usize::from(tag)] -= 1;
        self.count_programs(tag, cause, 1);
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
    /// Requests of several pages are frequent, so equal tags are counted together, and repeated
    /// additions to the same number are slow.
    #[inline(always)]
    pub(super) fn count_each(&mut self, tags: &[u8], cause: Cause) {
        let programs = &mut self.counts[column_of(cause)];
        let (words, rest) = tags.as_chunks::<8>();
        for word in words {
            let first = word[0];
            if u64::from_ne_bytes(*word) == u64::from_ne_bytes([first; 8]) {
                programs[usize::from(first)] += 8;
            } else {
                for &tag in word {
                    programs[usize::from(tag)] += 1;
                }
            }
        }
        for &tag in rest {
            programs[usize::from(tag)] += 1;
        }
    }

    /// Pages programmed for `cause`, summed over all tags.
    pub(super) fn all_programs(&self, cause: Cause) -> u64 {
        // The numbers of a forged saved state may be too large for a sum.
        self.counts[column_of(cause)].iter().fold(0, |sum, &programs| sum.saturating_add(programs))
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
