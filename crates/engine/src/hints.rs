//! Hints: knowledge of the host on the pages that it writes, for managers that use it.
//! They are the oracle of paper 4, §2.2, and in a real drive the stream or placement handle of a
//! write command.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Pages of like update frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Logical pages of the group.
    pub pages: u32,
    /// Share of the host's page writes that goes to the group.
    pub write_share: f64,
}

/// Invalidation time of a page whose next write lies beyond the horizon.
pub const NEVER: u64 = u64::MAX;

/// Hints on the pages of a batch of writes; what nobody asked for is empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// The groups as they stand.
    pub groups: &'a [Group],
    /// Indexes into `groups`, one for each page written.
    pub group_of: &'a [u8],
    /// For each page written, the time at which it will be invalid, or [`NEVER`].
    /// It is the clock (host pages written before) of the host's next write or TRIM of the page.
    pub invalidation_times: &'a [u64],
}

impl<'a> Hints<'a> {
    /// Hints on some of the pages.
    pub(crate) fn of(&self, pages: Range<usize>) -> Hints<'a> {
        Hints {
            groups: self.groups,
            group_of: self.group_of.get(pages.clone()).unwrap_or_default(),
            invalidation_times: self.invalidation_times.get(pages).unwrap_or_default(),
        }
    }
}

/// Kind of hint that a manager must get with each page that the host writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hears {
    /// Nothing of a page but its number.
    Nothing,
    /// Its group: [`Hints::groups`] and [`Hints::group_of`].
    Groups,
    /// Its invalidation time: [`Hints::invalidation_times`].
    InvalidationTimes,
}

impl Hears {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Hears::Nothing => "nothing",
            Hears::Groups => "groups",
            Hears::InvalidationTimes => "invalidation_times",
        }
    }

    /// Checks that `hints` on `pages` pages hold what must be heard.
    /// An error is the sentence's end.
    pub(crate) fn check(self, hints: &Hints, pages: usize) -> Result<(), &'static str> {
        match self {
            _ if pages == 0 => Ok(()),
            Hears::Groups if hints.groups.is_empty() || hints.group_of.len() != pages => {
                Err("the group of each page")
            }
            // The maximum vectorises, where a search for one that is too large would not.
            Hears::Groups
                if hints.group_of.iter().copied().max().map_or(0, usize::from)
                    >= hints.groups.len() =>
            {
                Err("the group of each page, among the groups that there are")
            }
            Hears::InvalidationTimes if hints.invalidation_times.len() != pages => {
                Err("when each page will be written next")
            }
            Hears::Nothing | Hears::Groups | Hears::InvalidationTimes => Ok(()),
        }
    }
}

/// The first group that is written most often, page for page; 0 of none.
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

/// For each group, whether it is hot: written more often, page for page, than the average.
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
