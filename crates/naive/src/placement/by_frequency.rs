//! Placements by how often a page is written, or how long it rests.

use std::collections::HashMap;

use writeamp_engine::rng::Stream;

use super::super::{Hint, Setup};
use super::{Collected, Scheme};

/// The index of the center nearest to `value`; of equals the first.
fn nearest(centers: &[u64], value: u64) -> usize {
    let distance = |&at: &usize| centers[at].abs_diff(value);
    (0..centers.len()).min_by_key(distance).expect("a center")
}

/// Sixteenths of powers of two, from 16 for 1 on; linear between two powers. 0 for 0.
fn logarithm(value: u64) -> u64 {
    let powers = (0..64).map(|power| 1u64 << power).take_while(|power| *power <= value);
    let count = powers.clone().count() as u64;
    powers.last().map_or(0, |power| 16 * count + 16 * (value - power) / power)
}

pub(super) struct Sfs {
    samples: usize,
    written_at: HashMap<u32, u64>,
    writes: HashMap<u32, u64>,
    centers: Vec<u64>,
    /// The hotness of every page placed since the groups were last found.
    placed: Vec<u64>,
    knows_groups: bool,
}

impl Sfs {
    pub fn new(groups: usize, samples: usize) -> Self {
        Sfs {
            samples,
            written_at: HashMap::new(),
            writes: HashMap::new(),
            centers: vec![0; groups],
            placed: Vec::new(),
            knows_groups: false,
        }
    }

    /// The logarithm of writes over age, where that is in parts of 2^20.
    fn hotness(&self, logical: u32, now: u64) -> u64 {
        match self.written_at.get(&logical) {
            None => 0,
            Some(before) => logarithm(self.writes[&logical] * 1_048_576 / (now - before).max(1)),
        }
    }

    fn group(&mut self, hotness: u64) -> usize {
        self.placed.push(hotness);
        if self.placed.len() == 16 * self.samples {
            let mut samples: Vec<u64> = self.placed.chunks(16).map(|chunk| chunk[15]).collect();
            self.placed.clear();
            samples.sort_unstable();
            self.find_groups(&samples);
        }
        nearest(&self.centers, hotness)
    }

    fn find_groups(&mut self, samples: &[u64]) {
        let groups = self.centers.len();
        if !self.knows_groups {
            let middle = |group| samples[(2 * group + 1) * samples.len() / (2 * groups)];
            self.centers = (0..groups).map(middle).collect();
            self.knows_groups = true;
        }
        for _ in 0..3 {
            let members = |group: usize| {
                let of_group = |sample: &&u64| nearest(&self.centers, **sample) == group;
                samples.iter().filter(of_group).copied().collect::<Vec<u64>>()
            };
            let mean = |group: usize| match &members(group)[..] {
                [] => self.centers[group],
                some => some.iter().sum::<u64>() / some.len() as u64,
            };
            self.centers = (0..groups).map(mean).collect();
        }
        self.centers.sort_unstable();
    }
}

impl Scheme for Sfs {
    fn migration_stream(&self) -> usize {
        self.centers.len()
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let hotness = self.hotness(logical, now);
        self.written_at.insert(logical, now);
        *self.writes.entry(logical).or_default() += 1;
        self.group(hotness)
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let hotness = self.hotness(logical, victim.now);
        self.group(hotness)
    }
}

pub(super) struct MultiLog {
    logical_pages: u64,
    pages_per_block: usize,
    written_at: HashMap<u32, u64>,
    log_of: HashMap<u32, usize>,
    /// Writes to the pages of each log, fading.
    writes: Vec<u64>,
    lowest: usize,
    random: Stream,
}

impl MultiLog {
    pub fn new(logs: usize, setup: &Setup) -> Self {
        MultiLog {
            logical_pages: u64::from(setup.logical_pages),
            pages_per_block: setup.pages_per_block as usize,
            written_at: HashMap::new(),
            log_of: HashMap::new(),
            writes: vec![0; logs],
            lowest: 0,
            random: Stream::new(setup.seed, "placement"),
        }
    }

    fn pages(&self, log: usize) -> usize {
        self.log_of.values().filter(|&&other| other == log).count()
    }
}

impl Scheme for MultiLog {
    fn migration_stream(&self) -> usize {
        self.writes.len()
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let log = *self.log_of.entry(logical).or_insert(0);
        let before = self.written_at.insert(logical, now);
        self.writes[log] += 1;
        if self.writes.iter().sum::<u64>() >= 2 * self.logical_pages {
            self.writes.iter_mut().for_each(|writes| *writes /= 2);
        }
        let Some(before) = before.filter(|_| log > 0) else { return log };
        let interval = now - before;
        let all_writes: u64 = self.writes.iter().sum();
        let half_the_mean = match self.writes[log] {
            0 => u64::from(u32::MAX),
            writes => self.pages(log) as u64 * all_writes / (2 * writes),
        };
        let half_the_mean = half_the_mean.min(u64::from(u32::MAX));
        if interval < half_the_mean
            && u64::from(self.random.below(half_the_mean as u32)) >= interval
        {
            self.log_of.insert(logical, log - 1);
        }
        self.log_of[&logical]
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let log = self.log_of[&logical];
        let may_grow = self.lowest + 1 < self.writes.len();
        if log == self.lowest && may_grow && self.pages(log) >= self.pages_per_block {
            self.lowest += 1;
        }
        self.log_of.insert(logical, self.lowest.min(log + 1));
        self.log_of[&logical]
    }
}

pub(super) struct Fadac {
    classes: usize,
    logical_pages: u64,
    counts: HashMap<u32, u64>,
    /// In parts of 2^32.
    average: u64,
}

impl Fadac {
    pub fn new(classes: usize, setup: &Setup) -> Self {
        let logical_pages = u64::from(setup.logical_pages);
        Fadac { classes, logical_pages, counts: HashMap::new(), average: 0 }
    }

    /// How many of the bounds average, 10·average, 100·average… the page exceeds.
    fn class(&self, logical: u32) -> usize {
        let count = self.counts[&logical] << 32;
        let exceeds = |power: &u32| count > self.average * 10u64.pow(*power);
        (0..self.classes as u32 - 1).filter(exceeds).count()
    }
}

impl Scheme for Fadac {
    fn migration_stream(&self) -> usize {
        self.classes
    }

    fn host(&mut self, logical: u32, _now: u64, _hint: Hint) -> usize {
        self.average += (1 << 32) / self.logical_pages;
        self.average -= (self.average - (1 << 32) / self.logical_pages) / self.logical_pages;
        *self.counts.entry(logical).or_default() += 1;
        self.class(logical)
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let count = self.counts.get_mut(&logical).expect("a page written before");
        *count = count.saturating_sub(1);
        self.class(logical)
    }
}

struct Cluster {
    mean: u64,
    weight: u64,
    writes: u64,
}

/// The last stream takes migrated pages.
pub(super) struct Warcip {
    period_blocks: u64,
    pages_per_block: u64,
    written_at: HashMap<u32, u64>,
    migrated: Vec<u32>,
    clusters: Vec<Cluster>,
}

impl Warcip {
    pub fn new(clusters: usize, period_blocks: u64, setup: &Setup) -> Self {
        let halvings = |times| (0..times).fold(u64::from(setup.logical_pages), |mean, _| mean / 2);
        let cluster = |at| Cluster { mean: halvings(clusters - 1 - at), weight: 1, writes: 0 };
        Warcip {
            period_blocks,
            pages_per_block: u64::from(setup.pages_per_block),
            written_at: HashMap::new(),
            migrated: Vec::new(),
            clusters: (0..clusters).map(cluster).collect(),
        }
    }

    fn split(&mut self) {
        let writes: Vec<u64> = self.clusters.iter().map(|cluster| cluster.writes).collect();
        let first_with = |wanted: u64| writes.iter().position(|w| *w == wanted).expect("a cluster");
        let busiest = first_with(*writes.iter().max().expect("a cluster"));
        let idlest = first_with(*writes.iter().min().expect("a cluster"));
        if writes[busiest] > writes.iter().sum::<u64>() / 2 && writes[idlest] < self.pages_per_block
        {
            self.clusters[idlest].mean = self.clusters[busiest].mean / 2;
            self.clusters[idlest].weight = 1;
        }
        self.clusters.iter_mut().for_each(|cluster| cluster.writes = 0);
    }
}

impl Scheme for Warcip {
    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let means: Vec<u64> = self.clusters.iter().map(|cluster| cluster.mean).collect();
        let was_migrated = self.migrated.contains(&logical);
        self.migrated.retain(|&page| page != logical);
        let stream = match self.written_at.insert(logical, now) {
            None => nearest(&means, u64::MAX),
            Some(before) => {
                let interval = (now - before) * if was_migrated { 2 } else { 1 };
                let stream = nearest(&means, interval);
                let Cluster { mean, weight, .. } = &mut self.clusters[stream];
                *mean = (*mean * *weight + interval) / (*weight + 1);
                *weight = self.pages_per_block.min(*weight + 1);
                stream
            }
        };
        self.clusters[stream].writes += 1;
        let writes: u64 = self.clusters.iter().map(|cluster| cluster.writes).sum();
        if writes == self.period_blocks * self.pages_per_block * self.clusters.len() as u64 {
            self.split();
        }
        stream
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        if !self.migrated.contains(&logical) {
            self.migrated.push(logical);
        }
        self.clusters.len()
    }
}
