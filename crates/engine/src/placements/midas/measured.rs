//! Measured valid shares of each group's victims, for comparison with predictions.

use crate::state::{MOST_PLAUSIBLE, state};

/// Victims and migrated pages of each group, with snapshots for differences.
/// The counters run since the drive was new.
pub struct Measured {
    victims: Vec<u64>,
    moved_pages: Vec<u64>,
    /// Copy of the counters at the start of the epoch (the time between two choices of group
    /// sizes). The next field is the snapshot at the start of the period in which predictions are
    /// checked.
    epoch: Moment,
    period: Moment,
}

/// Number of victims and of migrated pages of each group, from when the drive was new to some
/// moment.
struct Moment {
    victims: Vec<u64>,
    moved_pages: Vec<u64>,
}

state!(Moment { table victims, table moved_pages });
state!(Measured { table victims, table moved_pages, nested epoch, nested period } where is_sound);

impl Measured {
    pub fn new(groups: usize) -> Self {
        let none = || Moment { victims: vec![0; groups], moved_pages: vec![0; groups] };
        let Moment { victims, moved_pages } = none();
        Measured { victims, moved_pages, epoch: none(), period: none() }
    }

    fn is_sound(&self) -> bool {
        let not_later = |then: &[u64], now: &[u64]| {
            then.iter().zip(now).all(|(then, now)| then <= now && *now < MOST_PLAUSIBLE)
        };
        [&self.epoch, &self.period].iter().all(|then| {
            not_later(&then.victims, &self.victims)
                && not_later(&then.moved_pages, &self.moved_pages)
        })
    }

    pub fn count_victim(&mut self, group: usize) {
        self.victims[group] += 1;
    }

    #[inline(always)]
    pub fn count_page(&mut self, group: usize) {
        self.moved_pages[group] += 1;
    }

    pub fn begin_epoch(&mut self) {
        self.epoch = self.now();
    }

    pub fn begin_period(&mut self) {
        self.period = self.now();
    }

    fn now(&self) -> Moment {
        Moment { victims: self.victims.clone(), moved_pages: self.moved_pages.clone() }
    }

    /// Pages migrated in this epoch.
    pub fn pages_of_epoch(&self) -> u64 {
        let sum = |pages: &[u64]| pages.iter().sum::<u64>();
        sum(&self.moved_pages) - sum(&self.epoch.moved_pages)
    }

    /// Valid share of a group's victims in this epoch, or None without victims.
    pub fn share_of_epoch(&self, group: usize, pages_per_block: u32) -> Option<f64> {
        self.share_since(&self.epoch, group, pages_per_block)
    }

    /// Valid share of a group's victims in this period, or None without victims.
    pub fn share_of_period(&self, group: usize, pages_per_block: u32) -> Option<f64> {
        self.share_since(&self.period, group, pages_per_block)
    }

    fn share_since(&self, then: &Moment, group: usize, pages_per_block: u32) -> Option<f64> {
        let pages = self.moved_pages[group] - then.moved_pages[group];
        let room = (self.victims[group] - then.victims[group]) * u64::from(pages_per_block);
        (room > 0).then(|| pages as f64 / room as f64)
    }
}
