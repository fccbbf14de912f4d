//! The placements, each as the sentences that define it.

mod by_age;
mod by_frequency;
mod by_range;

use std::collections::HashMap;

use super::{Hint, Setup};
use by_age::Midas;
use by_frequency::{Fadac, MultiLog, Sfs, Warcip};
use by_range::{Eti, NvmeFdp};

/// Which stream each page goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// One region up with each write of the host, one down with each migration.
    Dac { regions: usize },
    /// By the inferred time until the page is invalid.
    SepBit,
    /// By the true one.
    Oracle { streams: usize },
    /// By writes over age, in groups found by k-means.
    Sfs { groups: usize, samples: usize },
    /// A log for each class of update frequency.
    MultiLog { logs: usize },
    /// By writes less migrations.
    Fadac { classes: usize },
    /// By rewrite interval, in clusters.
    Warcip { clusters: usize, period_blocks: u64 },
    /// A chain of groups by age.
    Midas { groups: usize },
    /// Hot and cold extents.
    Eti { most_extents: usize },
    /// By the handle that the host names: that of the group, or of the range of pages.
    NvmeFdp { handles: usize, persistent: bool, by_range: bool },
}

impl Placement {
    pub(super) fn scheme(self, setup: &Setup) -> Box<dyn Scheme> {
        match self {
            Placement::Dac { regions } => Box::new(Dac { regions, region: HashMap::new() }),
            Placement::SepBit => Box::new(SepBit::default()),
            Placement::Oracle { streams } => Box::new(Oracle {
                streams,
                pages_per_block: u64::from(setup.pages_per_block),
                invalidation_times: HashMap::new(),
            }),
            Placement::Sfs { groups, samples } => Box::new(Sfs::new(groups, samples)),
            Placement::MultiLog { logs } => Box::new(MultiLog::new(logs, setup)),
            Placement::Fadac { classes } => Box::new(Fadac::new(classes, setup)),
            Placement::Warcip { clusters, period_blocks } => {
                Box::new(Warcip::new(clusters, period_blocks, setup))
            }
            Placement::Midas { groups } => Box::new(Midas::new(groups, setup)),
            Placement::Eti { most_extents } => Box::new(Eti::new(most_extents, setup)),
            Placement::NvmeFdp { handles, persistent, by_range } => {
                let pages = setup.logical_pages;
                Box::new(NvmeFdp { handles, persistent, by_range, pages })
            }
        }
    }
}

/// A block that is collected: the stream it was opened for, when that was, and when it is now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Collected {
    pub stream: usize,
    pub opened: u64,
    pub now: u64,
}

pub(super) trait Scheme: Send {
    /// Streams that migrated pages may go to.
    fn migration_stream(&self) -> usize;

    /// The stream of a page that the host writes, when it has written `now` pages before.
    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize;

    /// Hears of a victim before its pages are migrated.
    fn collected(&mut self, _victim: Collected) {}

    /// The stream of a page of the victim.
    fn migrated(&mut self, logical: u32, victim: Collected) -> usize;

    /// A block that was opened for `stream` closes; true holds it back from the victim policy.
    fn closes(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// The victim that the scheme insists on, if the policy has so many `candidates`.
    fn victim(&self, _domain: usize, _gained_nothing: bool, _candidates: usize) -> Option<u32> {
        None
    }

    /// A held block is collected.
    fn releases(&mut self, _block: u32) {}

    /// A held block's data, `young`, has moved to `worn`.
    fn exchanges(&mut self, _young: u32, _worn: u32) {}
}

struct Dac {
    regions: usize,
    region: HashMap<u32, usize>,
}

impl Scheme for Dac {
    fn migration_stream(&self) -> usize {
        self.regions
    }

    fn host(&mut self, logical: u32, _now: u64, _hint: Hint) -> usize {
        let region = match self.region.get(&logical) {
            None => 0,
            Some(hottest) if hottest + 1 == self.regions => *hottest,
            Some(region) => region + 1,
        };
        self.region.insert(logical, region);
        region
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let region = self.region.get_mut(&logical).expect("a page written before");
        if *region > 0 {
            *region -= 1;
        }
        *region
    }
}

/// Classes 1 to 6 of the paper are streams 0 to 5.
#[derive(Default)]
struct SepBit {
    written_at: HashMap<u32, u64>,
    /// Of blocks of class 1 collected since the mean lifespan was last found.
    lifespans: Vec<u64>,
    /// The sum of the last 16 lifespans: 16·ℓ.
    last_sixteen: Option<u64>,
}

impl SepBit {
    /// True if `age` is below `multiple`·ℓ; ℓ is infinite at first.
    fn is_below(&self, age: u64, multiple: u64) -> bool {
        self.last_sixteen.is_none_or(|sum| 16 * age < multiple * sum)
    }
}

impl Scheme for SepBit {
    fn migration_stream(&self) -> usize {
        4
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        match self.written_at.insert(logical, now) {
            Some(before) if self.is_below(now - before, 1) => 0,
            _ => 1,
        }
    }

    fn collected(&mut self, victim: Collected) {
        if victim.stream == 0 {
            self.lifespans.push(victim.now - victim.opened);
        }
        if self.lifespans.len() == 16 {
            self.last_sixteen = Some(self.lifespans.drain(..).sum());
        }
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let age = victim.now - self.written_at[&logical];
        match victim.stream {
            0 => 2,
            _ if self.is_below(age, 4) => 3,
            _ if self.is_below(age, 16) => 4,
            _ => 5,
        }
    }
}

struct Oracle {
    streams: usize,
    pages_per_block: u64,
    invalidation_times: HashMap<u32, Option<u64>>,
}

impl Oracle {
    /// Stream s takes pages that live for less than 2^s blocks' worth of writes; the last takes all.
    fn stream(&self, logical: u32, now: u64) -> usize {
        let Some(invalidation_time) = self.invalidation_times[&logical] else {
            return self.streams - 1;
        };
        let lives_on = invalidation_time.saturating_sub(now);
        let fits = |stream: &usize| lives_on < self.pages_per_block << stream;
        (0..self.streams).find(fits).unwrap_or(self.streams - 1)
    }
}

impl Scheme for Oracle {
    fn migration_stream(&self) -> usize {
        self.streams
    }

    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize {
        self.invalidation_times.insert(logical, hint.invalidation_time);
        self.stream(logical, now)
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        self.stream(logical, victim.now)
    }
}
