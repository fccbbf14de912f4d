//! Measurements of a group that are taken when its blocks are collected.
//!
//! They are for `allocation=marginal` of `docs/wolf-algorithm.md`.

use crate::setup::Following;

/// Measurements of one group.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    /// Pages that arrive from the host or another group, per write of the host.
    pub share: f64,
    /// Effective size of the group, divided by its number of pages.
    ///
    /// With random writes, a group of the effective size has victims with the same share of valid
    /// pages.
    pub effective: f64,
    /// Pages that collection moved to the group from other groups in the interval.
    interval_migrations: u32,
    victims: Vec<Victim>,
}

/// Collected block, with its weight in the mean over victims.
#[derive(Debug, Clone, Copy)]
struct Victim {
    valid_pages: u32,
    /// Weight of the block.
    /// It is 1 at first, and multiplied by `Following::memory` at the end of each interval.
    weight: f64,
}

impl Arrivals {
    pub fn new(share: f64) -> Self {
        Arrivals { share, effective: 1.0, interval_migrations: 0, victims: Vec::new() }
    }

    pub fn count_migration(&mut self) {
        self.interval_migrations += 1;
    }

    pub fn count_victim(&mut self, valid_pages: u32) {
        self.victims.push(Victim { valid_pages, weight: 1.0 });
    }

    /// Ends an interval in which `own` of `all` writes went to the group; `a` is its weight.
    pub fn end_interval(&mut self, own: u32, all: f64, a: f64) {
        let arrived = f64::from(own + std::mem::take(&mut self.interval_migrations));
        self.share += a * (arrived / all - self.share);
    }

    /// Adapts the effective size to the victims, if their weights sum to at least 2.
    ///
    /// The share of valid pages of victims gives a new effective size by eqs. 3 and 9. The group
    /// has `pages` logical and `spare` spare pages. `Following::pace` is the weight of the new
    /// size.
    pub fn follow(&mut self, pages: f64, spare: f64, pages_per_block: u32, by: Following) {
        let blocks: f64 = self.victims.iter().map(|victim| victim.weight).sum();
        if blocks < 2.0 || pages == 0.0 {
            return;
        }
        let valid = self.victims.iter().map(|victim| f64::from(victim.valid_pages) * victim.weight);
        let delta =
            (valid.sum::<f64>() / (blocks * f64::from(pages_per_block))).clamp(0.001, 0.999);
        // OP/s by eq. 9: with LBA/PBA = (δ − 1)/ln δ, that is PBA/LBA − 1.
        let op_per_page = libm::log(delta) / (delta - 1.0) - 1.0;
        let measured =
            if spare > 0.0 { (spare / op_per_page / pages).clamp(0.02, 1.0) } else { 1.0 };
        self.effective = libm::pow(self.effective, 1.0 - by.pace) * libm::pow(measured, by.pace);
        for victim in &mut self.victims {
            victim.weight *= by.memory;
        }
    }

    /// Adds the measurements of a group that merged into this one.
    pub fn join(&mut self, other: Arrivals) {
        self.share += other.share;
        self.interval_migrations += other.interval_migrations;
        self.victims.extend(other.victims);
    }
}
