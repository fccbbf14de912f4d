//! Groups by lifetime: how long a page will stay valid, learnt from its write history.
//!
//! This is our design. The filters of paper 3 (§5.6) only detect that a page belongs one group up
//! or down.

use super::life_table::{CLASSES, Class, LifeTable};
use super::open_groups::{Home, OpenGroups};
use super::span::Span;
use crate::error::Result;
use crate::flash::{Divider, Table, filled, prefetch};
use crate::observe::Life;
use crate::placements::{since, stamp};
use crate::state::{elements, state};

/// Write history of a page: its last write, mean write interval and class.
/// The n-th interval changes the mean with the weight 1/n, but never with less than 1/16.
#[derive(Debug, Clone, Copy)]
struct PageHistory {
    /// Clock (host pages written) after the last write, or 0 if the page was never written.
    written_at: u32,
    /// Mean interval between two writes of the page.
    usual: Span,
    /// Class of the page, and in the lower bits the number of its write intervals, counted up to
    /// [`PageHistory::MOST`].
    class_and_intervals: u16,
}

elements!(PageHistory { written_at: u32, usual: Span, class_and_intervals: u16 });

impl PageHistory {
    const COUNT_BITS: u32 = 4;
    const MOST: u16 = (1 << Self::COUNT_BITS) - 1;

    fn nothing() -> Self {
        PageHistory { written_at: 0, usual: Span::of(0), class_and_intervals: 0 }
    }

    fn class(self) -> Class {
        self.class_and_intervals >> Self::COUNT_BITS
    }

    fn intervals(self) -> u16 {
        self.class_and_intervals & Self::MOST
    }

    /// Host pages written since the last write of the page, or None if never written.
    #[inline(always)]
    fn age(self, now: u64) -> Option<u64> {
        since(self.written_at, now)
    }

    /// History after one more write interval.
    #[inline(always)]
    fn after(self, interval: u64, table: &LifeTable) -> PageHistory {
        let last = Span::of(interval);
        let intervals = (self.intervals() + 1).min(Self::MOST);
        let usual = match self.intervals() {
            0 => last,
            count => {
                let usual = self.usual.writes();
                Span::of((usual + step(last.writes() - usual, count)).unsigned_abs())
            }
        };
        let class = table.class_of(intervals, usual, last);
        PageHistory { usual, class_and_intervals: class << Self::COUNT_BITS | intervals, ..self }
    }
}

/// Fast divisions by 2 to 16.
const DIVIDERS: [Divider; PageHistory::MOST as usize] = {
    let mut dividers = [Divider::new(2); PageHistory::MOST as usize];
    let mut at = 1;
    while at < dividers.len() {
        dividers[at] = Divider::new(at as u32 + 2);
        at += 1;
    }
    dividers
};

/// Returns `difference` / (`count` + 1), rounded down.
#[inline(always)]
fn step(difference: i64, count: u16) -> i64 {
    // The divider supports non-negative numbers only. This offset makes all quotients positive.
    const MORE: i64 = 1 << u32::BITS;
    let positive = (difference + MORE * (i64::from(count) + 1)).cast_unsigned();
    DIVIDERS[usize::from(count) - 1].divide_wide(positive).cast_signed() - MORE
}

/// Write histories of all pages, in 8 bytes each, and the lifetimes learnt from them.
pub struct Intervals {
    pages: Table<PageHistory>,
    table: LifeTable,
    groups: OpenGroups,
    /// For each class of pages, the group for host writes.
    /// It follows from the lifetime of the class and the open groups.
    homes: Table<Home>,
    /// Next logical page of the scan that counts the pages of each age.
    next_seen: u32,
}

state! {
    Intervals {
        table pages,
        nested table,
        nested groups,
        table homes,
        value next_seen,
    } where is_sound
}

impl Intervals {
    /// Builds the detector for `groups` groups, of which group 0 is the coldest.
    /// Pages of each group live `ratio` times as long as pages of the group with the next higher
    /// number.
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Result<Self> {
        let mut intervals = Intervals {
            pages: filled(PageHistory::nothing(), logical_pages as usize)?,
            table: LifeTable::new(logical_pages)?,
            groups: OpenGroups::new(ratio, groups, logical_pages),
            homes: filled(Home::default(), CLASSES)?,
            next_seen: 0,
        };
        intervals.find_homes();
        Ok(intervals)
    }

    fn is_sound(&self) -> bool {
        let has_class = |history: &PageHistory| usize::from(history.class()) < CLASSES;
        self.pages.iter().all(has_class)
            && (self.next_seen as usize) < self.pages.len()
            && (0..CLASSES as Class).all(|class| self.homes[usize::from(class)] == self.home(class))
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.pages[..]) as u64 + self.table.bytes()
    }

    /// Expected lifetimes of pages, by class and age.
    pub fn lives(&self) -> Vec<Life> {
        self.table.lives().collect()
    }

    /// Groups by lifetime, which decide the groups to open.
    pub fn groups(&mut self) -> &mut OpenGroups {
        &mut self.groups
    }

    /// Sets the groups that have open blocks.
    pub fn set_open(&mut self, open: &[usize]) {
        if !self.groups.are_open(open) {
            self.groups.set_open(open);
            self.find_homes();
        }
    }

    fn find_homes(&mut self) {
        for class in 0..CLASSES {
            self.homes[class] = self.home(class as Class);
        }
    }

    fn home(&self, class: Class) -> Home {
        self.groups.home(self.table.life(class))
    }

    /// True if `open` are the open groups.
    pub fn are_open(&self, open: &[usize]) -> bool {
        self.groups.are_open(open)
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> f64 {
        self.pages.len() as f64
    }

    /// Group for a page that the host writes at time `now`.
    /// `group` has its previous version, or is None.
    #[inline(always)]
    pub fn group_of_write(&mut self, page: u32, group: Option<usize>, now: u64) -> usize {
        let mut history = self.pages[page as usize];
        if let Some(interval) = history.age(now) {
            self.table.count_death(history.class(), Span::of(interval));
            history = history.after(interval, &self.table);
        }
        history.written_at = stamp(now);
        self.pages[page as usize] = history;
        self.see_next(now);
        if self.table.count_write() {
            self.find_homes();
        }
        self.groups.of_write(self.homes[usize::from(history.class())], group)
    }

    /// Advances the scan by one logical page, and counts that page by its class and age.
    #[inline(always)]
    fn see_next(&mut self, now: u64) {
        let history = self.pages[self.next_seen as usize];
        if let Some(age) = history.age(now) {
            self.table.count_seen(history.class(), Span::of(age));
        }
        self.next_seen += 1;
        if self.next_seen as usize == self.pages.len() {
            self.next_seen = 0;
        }
    }

    /// Group to which collection moves a page that is now in `group`.
    #[inline(always)]
    pub fn group_of_migration(&mut self, page: u32, group: usize, now: u64) -> usize {
        let history = self.pages[page as usize];
        let Some(age) = history.age(now) else { return group };
        let level = self.table.rest_of_life(history.class(), Span::of(age));
        self.groups.of_migration(level, group, history.intervals() == 0)
    }

    /// Forgets the history of an unmapped page.
    /// The history does not predict the lifetime of the page's next data.
    pub fn forget(&mut self, page: u32) {
        self.pages[page as usize] = PageHistory::nothing();
    }

    /// Prefetches the data that a write of `page` changes.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        prefetch(&self.pages, page as usize);
    }
}
