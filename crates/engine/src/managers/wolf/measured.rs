//! Effective sizes of groups, measured at collection, for `allocation=effective-size`
//! (`marginal`).
//!
//! This is our design. Paper 3 divides space by the sizes of groups and their shares of the host's
//! writes (§5.5), which assumes random host writes within each group. The assumption fails for
//! pages that cool down, which arrive without a host write. It also fails for a log or a sorted
//! run, which needs almost no spare space.

use libm::{log, pow};

use crate::state::state;

/// Speed with which effective sizes of groups approach the measured sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Share of the deviation from the newly measured size that each interval corrects, from 0 to
    /// 1.
    pub pace: f64,
    /// Factor on the weight of earlier victims, applied at the end of each interval.
    pub memory: f64,
}

/// Bounds of the effective size of a group, over its number of pages.
/// The effective size is never larger than the group.
const EFFECTIVE: (f64, f64) = (0.02, 1.0);
/// Bounds of the valid share of victims. A share outside of them contains no information.
const VALID: (f64, f64) = (0.001, 0.999);

/// Measurements of one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Pages that arrive from the host or from a hotter group, per page that the host writes.
    pub arrivals: f64,
    /// Effective size of the group, over its number of pages.
    /// A group of the effective size with uniform random writes would have the measured share of
    /// valid pages in its victims.
    pub effective: f64,
    interval_migrations: u32,
    victims_valid: f64,
    victims_pages: f64,
}

state! {
    Measured {
        value arrivals,
        value effective,
        value interval_migrations,
        value victims_valid,
        value victims_pages,
    } where is_sound
}

impl Measured {
    pub fn new(arrivals: f64) -> Self {
        Measured {
            arrivals,
            effective: 1.0,
            interval_migrations: 0,
            victims_valid: 0.0,
            victims_pages: 0.0,
        }
    }

    fn is_sound(&self) -> bool {
        self.interval_migrations < u32::MAX / 2
    }

    /// Counts pages that came from another group.
    #[inline(always)]
    pub fn count_migrations(&mut self, pages: u32) {
        self.interval_migrations += pages;
    }

    /// Counts a collected block of this group.
    pub fn count_victim(&mut self, valid_pages: u32, pages_per_block: u32) {
        self.victims_valid += f64::from(valid_pages);
        self.victims_pages += f64::from(pages_per_block);
    }

    /// Updates the arrivals after an interval of `writes` host writes, of which `own` went to the
    /// group.
    pub fn end_interval(&mut self, own: u32, writes: u32, weight: f64) {
        let arrived = own.saturating_add(self.interval_migrations);
        self.arrivals += weight * (f64::from(arrived) / f64::from(writes.max(1)) - self.arrivals);
        self.interval_migrations = 0;
    }

    /// Updates the effective size from the valid pages of victims (eqs. 3 and 9).
    /// The group has `pages` valid pages and `spare_pages` other flash pages. Does nothing until
    /// victims with twice the pages of a block were collected.
    pub fn follow(&mut self, pages: f64, spare_pages: f64, pages_per_block: u32, by: Pace) {
        if self.victims_pages < 2.0 * f64::from(pages_per_block) || pages == 0.0 {
            return;
        }
        let valid_share = (self.victims_valid / self.victims_pages).clamp(VALID.0, VALID.1);
        let y = 1.0 / valid_share;
        let spare_per_page = y * log(y) / (y - 1.0) - 1.0;
        let (least, most) = EFFECTIVE;
        let latest_effective = if spare_pages > 0.0 {
            (spare_pages / spare_per_page / pages).clamp(least, most)
        } else {
            most
        };
        self.effective *= pow(latest_effective / self.effective, by.pace);
        self.victims_valid *= by.memory;
        self.victims_pages *= by.memory;
    }

    /// Adds the measurements of a group that was merged into this one.
    pub fn join(&mut self, other: Measured) {
        self.arrivals += other.arrivals;
        self.interval_migrations += other.interval_migrations;
        self.victims_valid += other.victims_valid;
        self.victims_pages += other.victims_pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { pace: 0.02, memory: 0.98 };

    /// Measures a group whose victims always had this valid share, with this spare space.
    fn followed(valid_pages: u32, spare_pages: f64) -> f64 {
        let mut group = Measured::new(0.5);
        for _ in 0..1000 {
            group.count_victim(valid_pages, 100);
            group.count_victim(valid_pages, 100);
            group.follow(1000.0, spare_pages, 100, PACE);
        }
        group.effective
    }

    #[test]
    fn a_group_that_is_collected_as_the_model_expects_counts_in_full() {
        // At y = 2, there are 2·ln 2 − 1 spare pages for each page.
        let spare_pages = 1000.0 * (2.0 * log(2.0) - 1.0);
        assert!((followed(50, spare_pages) - 1.0).abs() < 1e-6);
        assert!((followed(50, spare_pages / 4.0) - 0.25).abs() < 1e-6);
        let most = followed(50, 4.0 * spare_pages);
        assert!((most - 1.0).abs() < 1e-6, "no group counts for more than it is: {most}");
    }

    #[test]
    fn a_group_whose_blocks_empty_by_themselves_needs_next_to_nothing() {
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-6;
        assert!(followed(0, 1000.0) < 0.2);
        assert!(near(followed(0, 10.0), EFFECTIVE.0));
        assert!(near(followed(99, 0.0), EFFECTIVE.1));
    }

    #[test]
    fn too_few_victims_say_nothing() {
        let mut group = Measured::new(0.5);
        group.count_victim(0, 100);
        group.follow(1000.0, 10.0, 100, PACE);
        assert!((group.effective - 1.0).abs() < 1e-12);
    }

    #[test]
    fn pages_that_other_groups_send_arrive_as_those_of_the_host_do() {
        let mut group = Measured::new(0.5);
        group.count_migrations(30);
        group.end_interval(20, 100, 0.5);
        assert!((group.arrivals - 0.5).abs() < 1e-12);
        group.end_interval(20, 100, 0.5);
        assert!((group.arrivals - 0.35).abs() < 1e-12);
    }
}
