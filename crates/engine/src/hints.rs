//! Hints: information from the host about the pages that it writes.
//! They correspond to the oracle of paper 4, §2.2. A real host could give such information as the
//! stream or placement handle of a write command.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Group of pages with similar update frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Logical pages of the group.
    pub pages: u32,
    /// Page writes to the group, over all page writes of the host.
    pub write_share: f64,
}

/// Invalidation time of a page whose next write is beyond the horizon.
pub const NEVER: u64 = u64::MAX;

/// Tag of data without a tag, such as data written before a run.
pub const UNTAGGED: u8 = u8::MAX;

/// Tag of the drive's own pages: padding, and the mapping table.
pub const OF_DRIVE: u8 = u8::MAX - 1;

/// Largest number of tags of a host; their numbers begin at 0.
pub const MOST_TAGS: u8 = OF_DRIVE;

/// Hints on the pages of a batch of writes.
/// The fields of hints that the manager does not require are empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// The host's groups of pages at this batch, with their current sizes and write shares.
    pub groups: &'a [Group],
    /// Index into `groups` for each page written.
    pub group_of: &'a [u8],
    /// Time at which each page written becomes invalid, or [`NEVER`].
    /// The time is the clock (host pages written) of the host's next write or TRIM of the page.
    pub invalidation_times: &'a [u64],
    /// Tag of each page written, for drives that count by tag. Empty if the pages have no tags.
    pub tags: &'a [u8],
    /// Placement hint of each page written: the number of the handle that the host names, or
    /// [`UNTAGGED`] if it names none. Empty if the host names no handles.
    pub placement: &'a [u8],
}

impl<'a> Hints<'a> {
    /// Hints on a range of the pages.
    pub(crate) fn of(&self, pages: Range<usize>) -> Hints<'a> {
        Hints {
            groups: self.groups,
            group_of: self.group_of.get(pages.clone()).unwrap_or_default(),
            invalidation_times: self.invalidation_times.get(pages.clone()).unwrap_or_default(),
            tags: self.tags.get(pages.clone()).unwrap_or_default(),
            placement: self.placement.get(pages).unwrap_or_default(),
        }
    }
}

/// Kind of hint that a manager requires with each host write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredHints {
    /// The manager requires no hint.
    Nothing,
    /// Group of the page: [`Hints::groups`] and [`Hints::group_of`].
    Groups,
    /// Invalidation time of the page: [`Hints::invalidation_times`].
    InvalidationTimes,
    /// Placement hint of the page, or else its group.
    /// They are in [`Hints::placement`] or [`Hints::group_of`].
    Handles,
}

impl RequiredHints {
    /// Word for the kind of hint in reports.
    pub fn name(self) -> &'static str {
        match self {
            RequiredHints::Nothing => "nothing",
            RequiredHints::Groups => "groups",
            RequiredHints::InvalidationTimes => "invalidation_times",
            RequiredHints::Handles => "handles",
        }
    }

    /// Checks that `hints` on `pages` pages contain the required kind.
    /// The error text completes a sentence about the hints.
    pub(crate) fn check(self, hints: &Hints, pages: usize) -> Result<(), &'static str> {
        match self {
            _ if pages == 0 => Ok(()),
            RequiredHints::Handles if hints.placement.len() == pages => Ok(()),
            RequiredHints::Handles => RequiredHints::Groups
                .check(hints, pages)
                .map_err(|_| "the placement handle or the group of each page"),
            RequiredHints::Groups if hints.groups.is_empty() || hints.group_of.len() != pages => {
                Err("the group of each page")
            }
            // Only the largest group is compared, because a maximum uses vector instructions,
            // unlike a search for a wrong group.
            RequiredHints::Groups
                if hints.group_of.iter().copied().max().map_or(0, usize::from)
                    >= hints.groups.len() =>
            {
                Err("the group of each page, as the index of a named group")
            }
            RequiredHints::InvalidationTimes if hints.invalidation_times.len() != pages => {
                Err("the time of the next write or TRIM of each page")
            }
            RequiredHints::Nothing | RequiredHints::Groups | RequiredHints::InvalidationTimes => {
                Ok(())
            }
        }
    }
}

/// Index of the first group with the highest write rate per page, or 0 without groups.
pub fn hottest_group(groups: &[Group]) -> u8 {
    let mut hottest = 0;
    for (at, group) in groups.iter().enumerate() {
        let Group { pages, write_share } = groups[hottest];
        if group.write_share * f64::from(pages) > write_share * f64::from(group.pages) {
            hottest = at;
        }
    }
    hottest as u8
}

/// For each group: true if its write rate per page is above the average.
pub fn hot_groups(groups: &[Group]) -> impl Iterator<Item = bool> + '_ {
    let pages: f64 = groups.iter().map(|group| f64::from(group.pages)).sum();
    let writes: f64 = groups.iter().map(|group| group.write_share).sum();
    groups.iter().map(move |group| group.write_share * pages > f64::from(group.pages) * writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_hot_if_its_pages_are_written_more_often_than_the_average_page() {
        let hot = |groups: &[(u32, f64)]| {
            let groups: Vec<Group> =
                groups.iter().map(|&(pages, write_share)| Group { pages, write_share }).collect();
            hot_groups(&groups).collect::<Vec<_>>()
        };
        assert_eq!(hot(&[(10, 0.9), (90, 0.1)]), [true, false]);
        assert_eq!(hot(&[(90, 0.6), (5, 0.3), (5, 0.1)]), [false, true, true]);
        assert_eq!(hot(&[(100, 1.0)]), [false]);
    }
}
