//! Choice of the groups that have open blocks, among groups with a fixed ratio of lifetimes.
//!
//! Open blocks cost space. A group is worthwhile if its pages fill more blocks than it keeps open,
//! or if it receives many writes.

use std::hint::select_unpredictable;

use super::groups::Change;
use super::span::OCTAVE;
use crate::flash::Divider;
use crate::state::{elements, state};

/// Shortest lifetime of pages in the coldest group, in host page writes per logical page.
const REACH: f64 = 4.0;

/// Difference of lifetimes, in fractions of an octave, above which a page leaves its group.
/// Pages that change groups cost more than slightly misplaced pages.
const HYSTERESIS: i32 = OCTAVE / 2;

/// Octaves from the mean logarithm of an exponential lifetime to the logarithm of its mean:
/// γ/ln 2.
const MEAN_OVER_LOG: f64 = 0.83;

/// Expected pages, in blocks per LUN, from which a group gets open blocks.
const PAYING_BLOCKS: f64 = 2.0;
/// Fewer expected pages, in blocks per LUN, that suffice for a group with many arrivals.
/// The next constant is the least number of arriving pages per host page write that is "many".
const FEWEST_BLOCKS: f64 = 0.5;
const PAYING_SHARE: f64 = 0.02;
/// Share of the demand for opening a group, below which an open group is closed.
const CLOSING: f64 = 0.5;

/// Counts that decide whether a group is opened or closed.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct Wanted {
    /// Pages that arrived in this interval.
    counted: u32,
    /// Pages that arrive per page that the host writes.
    arrivals: f64,
    /// Expected pages in the group: arrivals × lifetime.
    pages: f64,
}

/// Groups that may hold pages with a given lifetime when the host writes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Home {
    /// Group of pages with this lifetime if all groups were open.
    /// The next field is the open group nearest to it.
    ideal: u8,
    nearest: u8,
    /// Coldest and hottest open group that may hold these pages.
    /// Pages that are in a group of this range stay there.
    coldest: u8,
    hottest: u8,
}

elements!(Home { ideal: u8, nearest: u8, coldest: u8, hottest: u8 });

/// Groups by the lifetimes of their pages; group 0 is the coldest.
pub struct OpenGroups {
    /// Logarithm of the shortest lifetime in the coldest group.
    /// `step` is the logarithm of the ratio of lifetimes between neighbouring groups.
    longest: i32,
    step: i32,
    by_step: Divider,
    wanted: Vec<Wanted>,
    /// Open group that receives the pages of each group, open or not.
    representative: Vec<u8>,
}

state! {
    OpenGroups {
        fixed longest,
        fixed step,
        fixed by_step,
        value wanted,
        table representative,
    } where is_sound
}

impl OpenGroups {
    /// Builds at most `groups` groups, each `ratio` times as hot as the one before.
    /// Group 0 is open.
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Self {
        let parts = |value: f64| (libm::log2(value) * f64::from(OCTAVE)).round() as i32;
        let step = parts(ratio).max(2);
        OpenGroups {
            longest: parts(REACH * f64::from(logical_pages)),
            step,
            by_step: Divider::new(step.unsigned_abs()),
            wanted: vec![Wanted::default(); groups],
            representative: vec![0; groups],
        }
    }

    fn is_sound(&self) -> bool {
        let is_plausible = |wanted: &Wanted| {
            wanted.counted < u32::MAX / 2
                && [wanted.arrivals, wanted.pages].iter().all(|value| (0.0..1e18).contains(value))
        };
        self.wanted.len() == self.representative.len()
            && self.wanted.iter().all(is_plausible)
            && self.representative.iter().all(|&group| usize::from(group) < self.wanted.len())
    }

    /// Groups that may hold pages with this lifetime when the host writes them.
    pub fn home(&self, level: i32) -> Home {
        let ideal = self.ideal(level);
        let (coldest, hottest) = self.range(level, HYSTERESIS);
        Home { ideal: ideal as u8, nearest: self.representative[ideal], coldest, hottest }
    }

    /// Counts a page that the host writes, and returns its group. The page may stay in `group`.
    #[inline(always)]
    pub fn of_write(&mut self, home: Home, group: Option<usize>) -> usize {
        self.wanted[usize::from(home.ideal)].counted += 1;
        match group {
            Some(group) => clamp(group, home.coldest, home.hottest),
            None => home.nearest.into(),
        }
    }

    /// Group of a page that collection moves; counts the page if it changes groups.
    /// The move to a hotter group needs a smaller difference of lifetimes than a host write does.
    /// If `stays_cold` is set, the page does not move to a hotter group: it would cool down again
    /// there.
    #[inline(always)]
    pub fn of_migration(&mut self, level: i32, group: usize, stays_cold: bool) -> usize {
        let (coldest, hottest) = self.range(level, self.step / 4);
        let coldest = if stays_cold { 0 } else { coldest };
        let to = clamp(group, coldest, hottest);
        let ideal = self.ideal(level);
        self.wanted[ideal].counted += u32::from(to != group);
        to
    }

    /// Coldest and hottest open group that may hold a page with this lifetime.
    #[inline(always)]
    fn range(&self, level: i32, to_hotter: i32) -> (u8, u8) {
        let at = |level: i32| self.representative[self.ideal(level)];
        (at(level + to_hotter), at(level - HYSTERESIS))
    }

    /// Group of pages with this lifetime, open or not.
    #[inline(always)]
    fn ideal(&self, level: i32) -> usize {
        let shorter = self.longest - level;
        let group = self.by_step.divide(shorter.cast_unsigned()) as usize + 1;
        select_unpredictable(shorter < 0, 0, group.min(self.wanted.len() - 1))
    }

    /// Ends an interval of `writes` host writes.
    /// The interval has the weight `weight` in the averages.
    pub fn end_interval(&mut self, writes: u32, weight: f64, logical_pages: f64) {
        for group in 0..self.wanted.len() {
            let life = self.mean_life(group);
            let wanted = &mut self.wanted[group];
            let arrivals = f64::from(std::mem::take(&mut wanted.counted)) / f64::from(writes);
            let pages = (arrivals * life).min(logical_pages);
            wanted.arrivals += weight * (arrivals - wanted.arrivals);
            wanted.pages += weight * (pages - wanted.pages);
        }
    }

    /// Lifetime of pages in the middle of a group, in page writes.
    fn mean_life(&self, group: usize) -> f64 {
        let octaves = |parts: i32| f64::from(parts) / f64::from(OCTAVE);
        let middle = octaves(self.longest) + octaves(self.step) * (0.5 - group as f64);
        libm::exp2(middle + MEAN_OVER_LOG)
    }

    /// Change of `group`, or None: open it, or merge it into the nearest other open group.
    /// `open` are the open groups. `block_pages` is the number of pages in one block of every LUN.
    pub fn change(&self, group: usize, open: &[usize], block_pages: f64) -> Option<Change> {
        let worth = self.worth(group, open, block_pages);
        if !open.contains(&group) {
            return (worth >= 1.0).then_some(Change::Created { group });
        }
        if worth >= CLOSING {
            return None;
        }
        let others = open.iter().copied().filter(|&other| other != group);
        nearest(others, group).map(|into| Change::Merged { from: group, into })
    }

    /// Demand for `group`, over the demand from which a group is opened.
    fn worth(&self, group: usize, open: &[usize], block_pages: f64) -> f64 {
        let is_represented =
            |&level: &usize| nearest(open.iter().copied().chain([group]), level) == Some(group);
        let (mut pages, mut arrivals) = (0.0, 0.0);
        for level in (0..self.wanted.len()).filter(is_represented) {
            pages += self.wanted[level].pages;
            arrivals += self.wanted[level].arrivals;
        }
        let by_size = pages / (PAYING_BLOCKS * block_pages);
        let by_writes = (pages / (FEWEST_BLOCKS * block_pages)).min(arrivals / PAYING_SHARE);
        by_size.max(by_writes)
    }

    /// Sets the groups that have open blocks.
    pub fn set_open(&mut self, open: &[usize]) {
        for (level, representative) in self.representative.iter_mut().enumerate() {
            *representative =
                nearest(open.iter().copied(), level).expect("at least one group is open") as u8;
        }
    }

    /// True if `open` are the open groups.
    pub fn are_open(&self, open: &[usize]) -> bool {
        let mut levels = self.representative.iter().enumerate();
        levels.all(|(level, &group)| nearest(open.iter().copied(), level) == Some(group.into()))
    }
}

/// Open group nearest to `group` between `coldest` and `hottest`.
/// Unlike the methods of integers, it is compiled without branches, which would be mispredicted.
#[inline(always)]
fn clamp(group: usize, coldest: u8, hottest: u8) -> usize {
    let (coldest, hottest) = (usize::from(coldest), usize::from(hottest));
    let group = select_unpredictable(group < coldest, coldest, group);
    select_unpredictable(group > hottest, hottest, group)
}

/// Group nearest to `group`; of two equally near groups, the colder one.
fn nearest(groups: impl Iterator<Item = usize>, group: usize) -> Option<usize> {
    groups.min_by_key(|&other| (other.abs_diff(group), other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK_PAGES: f64 = 100.0;

    /// Builds groups: pages that live longer than 4,000 writes are in group 0.
    /// Pages that live longer than 2,000 writes are in group 1, and so on.
    fn groups() -> OpenGroups {
        OpenGroups::new(2.0, 6, 1000)
    }

    fn of_new(groups: &mut OpenGroups, writes: f64) -> usize {
        groups.of_write(groups.home(level(writes)), None)
    }

    fn of_write(groups: &mut OpenGroups, writes: f64, group: usize) -> usize {
        groups.of_write(groups.home(level(writes)), Some(group))
    }

    fn level(writes: f64) -> i32 {
        (libm::log2(writes) * f64::from(OCTAVE)) as i32
    }

    /// Builds groups with these numbers of pages that belong to each group.
    fn wanting(pages: [f64; 6]) -> OpenGroups {
        let mut groups = groups();
        for (wanted, pages) in groups.wanted.iter_mut().zip(pages) {
            wanted.pages = pages;
        }
        groups
    }

    #[test]
    fn a_page_is_in_the_group_of_its_life_if_that_is_open_or_else_in_the_nearest() {
        let mut groups = groups();
        groups.set_open(&[0, 1, 2, 3, 4, 5]);
        let of = |groups: &mut OpenGroups| {
            [9000.0, 2500.0, 1200.0, 600.0, 300.0, 150.0, 1.0].map(|life| of_new(groups, life))
        };
        assert_eq!(of(&mut groups), [0, 1, 2, 3, 4, 5, 5]);
        groups.set_open(&[1, 4]);
        assert_eq!(of(&mut groups), [1, 1, 1, 4, 4, 4, 4]);
    }

    #[test]
    fn a_page_that_hardly_differs_from_its_group_stays() {
        let mut groups = groups();
        groups.set_open(&[0, 1, 2, 3, 4, 5]);
        assert_eq!(of_write(&mut groups, 1500.0, 2), 2);
        assert_eq!(of_write(&mut groups, 2700.0, 2), 2);
        assert_eq!(of_write(&mut groups, 3000.0, 2), 1);
        assert_eq!(of_write(&mut groups, 750.0, 2), 2);
        assert_eq!(of_write(&mut groups, 650.0, 2), 3);
        assert_eq!(groups.of_migration(level(750.0), 2, false), 3, "collection warms by less");
        assert_eq!(groups.of_migration(level(100.0), 2, true), 2);
        assert_eq!(groups.of_migration(level(9000.0), 2, true), 0);
    }

    #[test]
    fn a_group_opens_for_two_blocks_of_pages_and_closes_below_one() {
        let open = |pages| wanting([500.0, 0.0, 0.0, pages, 0.0, 0.0]).change(3, &[0], BLOCK_PAGES);
        assert_eq!((open(190.0), open(210.0)), (None, Some(Change::Created { group: 3 })));
        let close =
            |pages| wanting([500.0, 0.0, 0.0, pages, 0.0, 0.0]).change(3, &[0, 3], BLOCK_PAGES);
        assert_eq!((close(110.0), close(90.0)), (None, Some(Change::Merged { from: 3, into: 0 })));
        assert_eq!(wanting([0.0; 6]).change(0, &[0], BLOCK_PAGES), None, "the last one stays");
    }

    #[test]
    fn groups_too_small_for_themselves_open_one_together() {
        let groups = wanting([500.0, 0.0, 0.0, 0.0, 150.0, 150.0]);
        assert_eq!(groups.change(5, &[0], BLOCK_PAGES), Some(Change::Created { group: 5 }));
        assert_eq!(groups.change(4, &[0, 5], BLOCK_PAGES), None);
    }

    #[test]
    fn a_small_group_pays_by_the_writes_it_gets() {
        let mut groups = wanting([500.0, 0.0, 0.0, 0.0, 0.0, 60.0]);
        assert_eq!(groups.change(5, &[0], BLOCK_PAGES), None);
        groups.wanted[5].arrivals = 0.03;
        assert_eq!(groups.change(5, &[0], BLOCK_PAGES), Some(Change::Created { group: 5 }));
    }

    #[test]
    fn what_a_group_would_hold_is_arrivals_times_life() {
        let mut groups = groups();
        (0..100).for_each(|_| {
            of_new(&mut groups, 1400.0);
        });
        groups.end_interval(1000, 1.0, 1000.0);
        // A tenth of the writes go to pages with lifetimes of 1,000 to 2,000 writes, by mean
        // logarithm.
        let expected = 0.1 * 1000.0 * 2f64.powf(0.5 + MEAN_OVER_LOG);
        assert!((groups.wanted[2].pages - expected).abs() < 1.0, "{:?}", groups.wanted[2]);
    }
}
