//! Hot pages: pages that are often rewritten early (`MiDAS`, "hot block separation").
//!
//! A rewrite is early if it comes before the mean age at which pages of the HOT group are
//! collected.

use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::state::{MOST_PLAUSIBLE, state};

/// Value of a page's counter from which the page is hot. Counters have two bits.
/// For a page in the first group after HOT, an early rewrite adds 1, and a late rewrite subtracts
/// 1. A migration from HOT subtracts 2, and one from the first group after HOT subtracts 1.
const HOT: u8 = 3;
const MARKS: u8 = 0b11;
/// Index of the first bit of a page's position: in the group HOT, in the first other group,
/// or in a later group.
const PLACE_SHIFT: u32 = 2;
const IN_HOT: u8 = 0;
const IN_FIRST: u8 = 1 << PLACE_SHIFT;
const FURTHER: u8 = 2 << PLACE_SHIFT;

/// Smallest share of the host's writes that must go to HOT, so that the detection of hot
/// pages counts as reliable. The next constant is the largest valid share of HOT's victims for
/// which it counts as reliable.
const LEAST_TRAFFIC: f64 = 0.15;
const MOST_VALID: f64 = 0.1;

pub struct HotPages {
    /// Counter of early rewrites and position of each page.
    pages: Table<u8>,
    sizing: HotSizing,
    /// Smoothed mean age of HOT's pages when they are collected, in host pages written.
    age: u64,
    window_ends: u64,
    /// Number of HOT victims since the window began, and the sum of their ages.
    window: Ages,
    /// Number of HOT victims since the last sizing, and the sum of their ages.
    epoch: Ages,
    epoch_writes: u64,
}

#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct Ages {
    victims: u64,
    sum: u64,
}

state! {
    HotPages {
        table pages,
        fixed sizing,
        value age,
        value window_ends,
        value window,
        value epoch,
        value epoch_writes,
    } where is_sound
}

/// Method that chooses the size of the group HOT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HotSizing {
    /// There is no group for hot pages.
    Off,
    /// The model chooses the size while the detection of hot pages is reliable. Otherwise the
    /// measured use of HOT decides.
    ByUse,
    /// The model always chooses the size.
    ByModel,
}

/// Measured use of the HOT group during an epoch.
#[derive(Debug, Clone, Copy)]
pub struct HotUse {
    /// True if the detection of hot pages is reliable, so that the model chooses the size of HOT.
    pub is_good: bool,
    /// Share of the host's writes that went to HOT.
    pub traffic: f64,
    pub valid_share: f64,
    /// Mean age of HOT's pages when they are collected, in host pages written.
    pub age: f64,
}

impl HotPages {
    pub fn new(sizing: HotSizing, logical_pages: u32) -> Result<Self> {
        let pages = if sizing == HotSizing::Off { 0 } else { logical_pages as usize };
        Ok(HotPages {
            pages: filled(IN_FIRST, pages)?,
            sizing,
            age: u64::from(logical_pages),
            window_ends: 0,
            window: Ages::default(),
            epoch: Ages::default(),
            epoch_writes: 0,
        })
    }

    fn is_sound(&self) -> bool {
        self.pages.iter().all(|&page| page & !MARKS <= FURTHER)
            && [self.window, self.epoch]
                .iter()
                .all(|ages| ages.sum.max(ages.victims) < MOST_PLAUSIBLE)
            && self.epoch_writes < MOST_PLAUSIBLE
            && (1..MOST_PLAUSIBLE).contains(&self.age)
            && self.window_ends < 2 * MOST_PLAUSIBLE
    }

    /// Starts to learn which pages are hot.
    pub fn begin(&mut self, now: u64) {
        self.window_ends = now + self.age;
    }

    /// Records that the host rewrites a page `interval` host pages after its last write.
    #[inline(always)]
    pub fn on_rewrite(&mut self, logical: u32, interval: u64) {
        if self.sizing == HotSizing::Off {
            return;
        }
        let page = &mut self.pages[logical as usize];
        if *page & !MARKS == IN_FIRST {
            let marks = *page & MARKS;
            let marks =
                if interval <= self.age { (marks + 1).min(HOT) } else { marks.saturating_sub(1) };
            *page = IN_FIRST | marks;
        }
    }

    /// True if a page that the host writes goes to HOT. Records the group of the page.
    #[inline(always)]
    pub fn place(&mut self, logical: u32) -> bool {
        if self.sizing == HotSizing::Off {
            return false;
        }
        let page = &mut self.pages[logical as usize];
        let marks = *page & MARKS;
        let is_hot = marks == HOT;
        *page = marks | if is_hot { IN_HOT } else { IN_FIRST };
        self.epoch_writes += u64::from(is_hot);
        is_hot
    }

    /// Records that a page is migrated from a group.
    #[inline(always)]
    pub fn on_migrate(&mut self, logical: u32, from: usize) {
        if self.sizing == HotSizing::Off {
            return;
        }
        let page = &mut self.pages[logical as usize];
        let marks = *page & MARKS;
        *page = match from {
            0 => IN_FIRST | marks.saturating_sub(2),
            1 => FURTHER | marks.saturating_sub(1),
            _ => FURTHER | marks,
        };
    }

    /// Records that a HOT block with mean page age `age` is collected.
    pub fn on_victim(&mut self, age: u64, now: u64) {
        for ages in [&mut self.window, &mut self.epoch] {
            ages.victims += 1;
            ages.sum += age;
        }
        if now < self.window_ends {
            return;
        }
        let mean_age = self.window.sum / self.window.victims;
        // The mean moves half of the way to the new age. It rises at most to 1.5 times its old
        // value.
        let age = if mean_age >= 2 * self.age {
            (3 * self.age).div_ceil(2)
        } else {
            u64::midpoint(mean_age, self.age)
        };
        self.age = age.max(1);
        self.window = Ages::default();
        self.window_ends = now + self.age;
    }

    /// Ends an epoch and returns the use of HOT in it.
    /// `writes` are the host writes of the epoch, and `valid_share` is the valid share of HOT's
    /// victims.
    pub fn end_epoch(&mut self, writes: u64, valid_share: f64) -> HotUse {
        let Ages { victims, sum } = std::mem::take(&mut self.epoch);
        let traffic = std::mem::take(&mut self.epoch_writes) as f64 / writes as f64;
        let is_good = match self.sizing {
            HotSizing::Off => false,
            HotSizing::ByUse => traffic >= LEAST_TRAFFIC && valid_share <= MOST_VALID,
            HotSizing::ByModel => true,
        };
        HotUse { is_good, traffic, valid_share, age: sum as f64 / victims.max(1) as f64 }
    }

    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64
    }

    #[inline(always)]
    pub fn prefetch(&self, logical: u32) {
        if self.sizing != HotSizing::Off {
            prefetch(&self.pages, logical as usize);
        }
    }
}
