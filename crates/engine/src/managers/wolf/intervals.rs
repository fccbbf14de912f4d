//! Groups by lifetime: how long a page will stay valid, learnt from when it was written.
//!
//! Ours, not paper 3's, whose filters (§5.6) see no more than that a page belongs one group up or
//! down.

use super::life_table::{CLASSES, Class, LifeTable};
use super::open_groups::{Home, OpenGroups};
use super::span::Span;
use crate::error::Result;
use crate::flash::{Divider, Table, filled, prefetch};
use crate::observe::Life;
use crate::placements::{since, stamp};
use crate::state::{elements, state};

/// Write history of a page: its last write, and its mean interval and class.
/// Intervals are averaged; the n-th has a weight of 1/n, down to a 16th.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The clock after its last write; 0 if there was none.
    written_at: u32,
    /// Mean of its intervals.
    usual: Span,
    /// Its class, and in the lower bits the number of intervals, at most [`Known::MOST`].
    class_and_intervals: u16,
}

elements!(Known { written_at: u32, usual: Span, class_and_intervals: u16 });

impl Known {
    const COUNT_BITS: u32 = 4;
    const MOST: u16 = (1 << Self::COUNT_BITS) - 1;

    fn nothing() -> Self {
        Known { written_at: 0, usual: Span::of(0), class_and_intervals: 0 }
    }

    fn class(self) -> Class {
        self.class_and_intervals >> Self::COUNT_BITS
    }

    fn intervals(self) -> u16 {
        self.class_and_intervals & Self::MOST
    }

    /// Time since its last write, if there was one.
    #[inline(always)]
    fn age(self, now: u64) -> Option<u64> {
        since(self.written_at, now)
    }

    /// History after one more interval.
    #[inline(always)]
    fn after(self, interval: u64, table: &LifeTable) -> Known {
        let last = Span::of(interval);
        let intervals = (self.intervals() + 1).min(Self::MOST);
        let usual = match self.intervals() {
            0 => last,
            before => {
                let usual = self.usual.writes();
                Span::of((usual + step(last.writes() - usual, before)).unsigned_abs())
            }
        };
        let class = table.class_of(intervals, usual, last);
        Known { usual, class_and_intervals: class << Self::COUNT_BITS | intervals, ..self }
    }
}

/// Divisions by 2 to 16.
const DIVIDERS: [Divider; Known::MOST as usize] = {
    let mut dividers = [Divider::new(2); Known::MOST as usize];
    let mut at = 1;
    while at < dividers.len() {
        dividers[at] = Divider::new(at as u32 + 2);
        at += 1;
    }
    dividers
};

/// A difference of spans over one more than the number of intervals before, rounded down.
#[inline(always)]
fn step(difference: i64, before: u16) -> i64 {
    // The divider knows no negative numbers; this much of a quotient makes all positive.
    const MORE: i64 = 1 << u32::BITS;
    let positive = (difference + MORE * (i64::from(before) + 1)).cast_unsigned();
    DIVIDERS[usize::from(before) - 1].divide_wide(positive).cast_signed() - MORE
}

/// Intervals of all pages, in 8 bytes each, and the lives of pages that follow from them.
pub struct Intervals {
    pages: Table<Known>,
    table: LifeTable,
    groups: OpenGroups,
    /// Groups that the host's writes of each class go to, by its life and the open groups.
    homes: Table<Home>,
    /// The page that the scan comes to next.
    next_seen: u32,
}

state! {
    Intervals {
        table pages,
        part table,
        part groups,
        table homes,
        value next_seen,
    } where is_sound
}

impl Intervals {
    /// Starts with `groups`, of which 0 is the coldest.
    /// Pages of each live `ratio` times as long as those of the next.
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Result<Self> {
        let mut intervals = Intervals {
            pages: filled(Known::nothing(), logical_pages as usize)?,
            table: LifeTable::new(logical_pages)?,
            groups: OpenGroups::new(ratio, groups, logical_pages),
            homes: filled(Home::default(), CLASSES)?,
            next_seen: 0,
        };
        intervals.find_homes();
        Ok(intervals)
    }

    fn is_sound(&self) -> bool {
        let has_class = |known: &Known| usize::from(known.class()) < CLASSES;
        self.pages.iter().all(has_class)
            && (self.next_seen as usize) < self.pages.len()
            && (0..CLASSES as Class).all(|class| self.homes[usize::from(class)] == self.home(class))
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.pages[..]) as u64 + self.table.bytes()
    }

    /// The lives of pages, by class and age.
    pub fn lives(&self) -> Vec<Life> {
        self.table.lives().collect()
    }

    /// Groups by lives, which say which of them should be open.
    pub fn groups(&mut self) -> &mut OpenGroups {
        &mut self.groups
    }

    /// Hears which groups are `open` from now on.
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

    /// True if these are the groups that are open.
    pub fn are_open(&self, open: &[usize]) -> bool {
        self.groups.are_open(open)
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> f64 {
        self.pages.len() as f64
    }

    /// Group of a page that the host writes after `now` pages written, and that `group` holds.
    #[inline(always)]
    pub fn group_of_write(&mut self, page: u32, group: Option<usize>, now: u64) -> usize {
        let mut known = self.pages[page as usize];
        if let Some(interval) = known.age(now) {
            self.table.count_death(known.class(), Span::of(interval));
            known = known.after(interval, &self.table);
        }
        known.written_at = stamp(now);
        self.pages[page as usize] = known;
        self.see_next(now);
        if self.table.count_write() {
            self.find_homes();
        }
        self.groups.of_write(self.homes[usize::from(known.class())], group)
    }

    /// Counts the next page of the scan.
    #[inline(always)]
    fn see_next(&mut self, now: u64) {
        let known = self.pages[self.next_seen as usize];
        if let Some(age) = known.age(now) {
            self.table.count_seen(known.class(), Span::of(age));
        }
        self.next_seen += 1;
        if self.next_seen as usize == self.pages.len() {
            self.next_seen = 0;
        }
    }

    /// The group of a page of `group` that collection moves.
    #[inline(always)]
    pub fn group_of_migration(&mut self, page: u32, group: usize, now: u64) -> usize {
        let known = self.pages[page as usize];
        let Some(age) = known.age(now) else { return group };
        let level = self.table.rest_of_life(known.class(), Span::of(age));
        self.groups.of_migration(level, group, known.intervals() == 0)
    }

    /// Forgets a page whose data is gone.
    /// What is known of it says nothing of what will be there.
    pub fn forget(&mut self, page: u32) {
        self.pages[page as usize] = Known::nothing();
    }

    /// Fetches what a write of `page` will touch.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        prefetch(&self.pages, page as usize);
    }
}
