//! By writes over age, in groups found by k-means.

use std::collections::HashMap;

use super::nearest;
use super::{Collected, Hint, Scheme, Setup, Spec};

/// Sixteenths of powers of two, from 16 for 1 on; linear between two powers. 0 for 0.
fn logarithm(value: u64) -> u64 {
    let powers = (0..64).map(|power| 1u64 << power).take_while(|power| *power <= value);
    let count = powers.clone().count() as u64;
    powers.last().map_or(0, |power| 16 * count + 16 * (value - power) / power)
}

pub struct Sfs {
    samples: usize,
    written_at: HashMap<u32, u64>,
    writes: HashMap<u32, u64>,
    centers: Vec<u64>,
    /// The hotness of every page placed since the groups were last found.
    placed: Vec<u64>,
    knows_groups: bool,
}

impl Sfs {
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
    fn read(spec: &Spec, _setup: &Setup) -> Self {
        let (groups, samples) = (spec.get("groups"), spec.get("samples"));
        Sfs {
            samples,
            written_at: HashMap::new(),
            writes: HashMap::new(),
            centers: vec![0; groups],
            placed: Vec::new(),
            knows_groups: false,
        }
    }

    fn migration_stream(&self) -> usize {
        self.centers.len()
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let hotness = self.hotness(logical, now);
        self.written_at.insert(logical, now);
        *self.writes.entry(logical).or_default() += 1;
        self.group(hotness)
    }

    fn forgets(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.writes.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let hotness = self.hotness(logical, victim.now);
        self.group(hotness)
    }
}
