//! Groups of pages by their forecast lives.
//!
//! This is `detector=interval` of `docs/wolf-algorithm.md`.

use std::collections::BTreeMap;

use super::lives::{Class, Lives, OCTAVE};

/// Times of the host's writes, forecast lives of pages, and the matching groups.
pub(crate) struct Intervals {
    /// Times of the host's writes of each page, in host pages written.
    written_at: BTreeMap<u32, Vec<u64>>,
    lives: Lives,
    logical_pages: u32,
    /// Number of pages that the endless scan of the logical pages has visited so far.
    scanned: u64,
    groups: usize,
    /// Level (logarithm of a life) above which pages belong to group 0, the coldest.
    longest: i64,
    /// Distance in level from a group to the next.
    step: i64,
    /// Group of each page that arrived in this interval.
    arrived: Vec<usize>,
    wanted: Vec<Wanted>,
}

/// Forecast of the pages and arrivals of a group, open or not.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    /// Pages that arrive in the group per write of the host.
    arrivals: f64,
    pages: f64,
}

/// Decision on a group at the end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Opens,
    Closes { into: usize },
    Stays,
}

impl Intervals {
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Self {
        let parts = |value: f64| (libm::log2(value) * OCTAVE as f64).round() as i64;
        Intervals {
            written_at: BTreeMap::new(),
            lives: Lives::new(logical_pages),
            logical_pages,
            scanned: 0,
            groups,
            longest: parts(4.0 * f64::from(logical_pages)),
            step: parts(ratio).max(2),
            arrived: Vec::new(),
            wanted: vec![Wanted::default(); groups],
        }
    }

    /// Removes the history of a page that was unmapped.
    pub fn on_unmapped(&mut self, page: u32) {
        self.written_at.remove(&page);
    }

    /// Returns the open group of a page of group `holder` that the host writes at time `now`.
    pub fn group_of_write(
        &mut self,
        page: u32,
        holder: Option<usize>,
        open: &[usize],
        now: u64,
    ) -> usize {
        if let Some((class, age)) = self.class_and_age(page, now) {
            self.lives.count_overwritten(class, age);
        }
        self.written_at.entry(page).or_default().push(now);
        let next = (self.scanned % u64::from(self.logical_pages)) as u32;
        self.scanned += 1;
        if let Some((class, age)) = self.class_and_age(next, now) {
            self.lives.count_seen(class, age);
        }
        self.lives.count_write();
        let (class, age) =
            self.class_and_age(page, now).expect("the page must have been written before");
        let life = self.lives.forecast(class, age);
        self.arrived.push(self.group_for(life));
        match holder {
            None => nearest(open, self.group_for(life)),
            Some(holder) => self.group_nearby(life, holder, open, OCTAVE / 2),
        }
    }

    /// Returns the open group of a page of group `holder` that collection moves.
    pub fn group_of_migration(
        &mut self,
        page: u32,
        holder: usize,
        open: &[usize],
        now: u64,
    ) -> usize {
        let Some((class, age)) = self.class_and_age(page, now) else { return holder };
        let life = self.lives.forecast(class, age);
        let nearby = self.group_nearby(life, holder, open, self.step / 4);
        let group = if class == Class::New { nearby.min(holder) } else { nearby };
        if group != holder {
            self.arrived.push(self.group_for(life));
        }
        group
    }

    fn class_and_age(&self, page: u32, now: u64) -> Option<(Class, u64)> {
        let times = self.written_at.get(&page)?;
        Some((self.lives.class_of(times), now - times.last()?))
    }

    /// Returns the group for pages with this level of life, open or not.
    fn group_for(&self, life: i64) -> usize {
        let shorter = self.longest - life;
        if shorter < 0 { 0 } else { (1 + (shorter / self.step) as usize).min(self.groups - 1) }
    }

    /// Returns the open group of a page, with a margin that favours `holder`.
    ///
    /// The page moves to a hotter group only if a life longer by `to_hotter` would still give that
    /// group. It moves to a colder group only if a life shorter by half an octave would still give
    /// that group.
    fn group_nearby(&self, life: i64, holder: usize, open: &[usize], to_hotter: i64) -> usize {
        let if_longer = nearest(open, self.group_for(life + to_hotter));
        let if_shorter = nearest(open, self.group_for(life - OCTAVE / 2));
        holder.clamp(if_longer, if_shorter)
    }

    /// Ends an interval of `writes`; `a` is its weight in the moving averages.
    pub fn end_interval(&mut self, writes: u32, a: f64) {
        let arrived = std::mem::take(&mut self.arrived);
        let octaves = |level: i64| level as f64 / OCTAVE as f64;
        for (group, wanted) in self.wanted.iter_mut().enumerate() {
            let own = arrived.iter().filter(|&&other| other == group).count();
            let arrivals = own as f64 / f64::from(writes);
            let middle = octaves(self.longest) + octaves(self.step) * (0.5 - group as f64);
            let pages = (arrivals * libm::exp2(middle + 0.83)).min(f64::from(self.logical_pages));
            wanted.arrivals += a * (arrivals - wanted.arrivals);
            wanted.pages += a * (pages - wanted.pages);
        }
    }

    /// Decides if `group` opens or closes, beside the `open` groups.
    ///
    /// `block_pages` are the pages of one block on each LUN, together.
    pub fn turn(&self, group: usize, open: &[usize], block_pages: f64) -> Turn {
        let others: Vec<usize> = open.iter().copied().filter(|&other| other != group).collect();
        let with_it: Vec<usize> = others.iter().copied().chain([group]).collect();
        let mut for_it = Wanted::default();
        for (number, wanted) in self.wanted.iter().enumerate() {
            if nearest(&with_it, number) == group {
                for_it.pages += wanted.pages;
                for_it.arrivals += wanted.arrivals;
            }
        }
        let by_size = for_it.pages / (2.0 * block_pages);
        let by_writes = (for_it.pages / (0.5 * block_pages)).min(for_it.arrivals / 0.02);
        let worth = by_size.max(by_writes);
        match open.contains(&group) {
            false if worth >= 1.0 => Turn::Opens,
            true if worth < 0.5 && !others.is_empty() => {
                Turn::Closes { into: nearest(&others, group) }
            }
            _ => Turn::Stays,
        }
    }
}

/// Returns the open group nearest to `group`; of two equally near ones, the colder.
fn nearest(open: &[usize], group: usize) -> usize {
    let by_distance = |other: &usize| (other.abs_diff(group), *other);
    open.iter().copied().min_by_key(by_distance).expect("an open group")
}
