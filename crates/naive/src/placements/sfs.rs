//! SFS: streams by writes over age, in groups found by k-means.

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
    scale: String,
    unit: String,
    start: String,
    samples: usize,
    /// Host pages between two looks at the blocks, and those written since the last.
    between_looks: u64,
    since_look: u64,
    written_at: HashMap<u32, u64>,
    writes: HashMap<u32, u64>,
    centers: Vec<u64>,
    /// The hotness of every page placed since the groups were last found.
    placed: Vec<u64>,
    knows_groups: bool,
}

impl Sfs {
    fn is_linear(&self) -> bool {
        self.scale == "linear"
    }

    fn is_by_page(&self) -> bool {
        self.unit == "page"
    }

    /// Writes over age: in parts of 2^32, or the logarithm of it in parts of 2^20.
    fn ratio(&self, writes: u64, age: u64) -> u64 {
        let age = u128::from(age.max(1));
        let parts = |one: u128| (u128::from(writes) * one / age) as u64;
        if self.is_linear() { parts(4_294_967_296) } else { logarithm(parts(1_048_576)) }
    }

    fn hotness(&self, logical: u32, now: u64) -> Option<u64> {
        let before = self.written_at.get(&logical)?;
        Some(self.ratio(self.writes[&logical], now - before))
    }

    fn group(&mut self, hotness: u64) -> usize {
        if self.is_by_page() {
            self.placed.push(hotness);
            if self.placed.len() == 16 * self.samples {
                let samples = self.placed.chunks(16).map(|chunk| chunk[15]).collect();
                self.placed.clear();
                self.find_groups(samples);
            }
        }
        nearest(&self.centers, hotness)
    }

    fn find_groups(&mut self, mut found: Vec<u64>) {
        let groups = self.centers.len();
        found.sort_unstable();
        if found.is_empty() {
            return;
        }
        if self.is_linear() && found.len() <= groups {
            self.centers = (0..groups).map(|group| found[group % found.len()]).collect();
        } else {
            if !self.is_linear() && !self.knows_groups {
                let middle = |group| found[(2 * group + 1) * found.len() / (2 * groups)];
                self.centers = (0..groups).map(middle).collect();
            }
            for _ in 0..3 {
                self.centers = (0..groups).map(|group| self.mean(group, &found)).collect();
            }
        }
        self.knows_groups = true;
        self.centers.sort_unstable();
    }

    /// Returns the mean of those nearest to the center of a group. Where there are none, a linear
    /// center is 0, and a logarithmic one stays.
    fn mean(&self, group: usize, found: &[u64]) -> u64 {
        let of_group = |hotness: &&u64| nearest(&self.centers, **hotness) == group;
        let members: Vec<u128> =
            found.iter().filter(of_group).map(|&hotness| u128::from(hotness)).collect();
        match &members[..] {
            [] if self.is_linear() => 0,
            [] => self.centers[group],
            some => (some.iter().sum::<u128>() / some.len() as u128) as u64,
        }
    }
}

impl Scheme for Sfs {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let share: f64 = spec.get("period");
        let (groups, samples) = (spec.get("groups"), spec.get("samples"));
        Sfs {
            scale: spec.get("scale"),
            unit: spec.get("unit"),
            start: spec.get("start"),
            samples,
            between_looks: ((share * f64::from(setup.logical_pages)).floor() as u64).max(1),
            since_look: 0,
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

    fn wants_blocks(&mut self) -> bool {
        self.since_look += 1;
        if self.since_look == self.between_looks {
            self.since_look = 0;
            return !self.is_by_page();
        }
        false
    }

    fn sees_blocks(&mut self, pages: Vec<Vec<u32>>, now: u64) {
        let some = pages.into_iter().filter(|pages| !pages.is_empty());
        let found = some.map(|pages| {
            let writes = pages.iter().map(|page| self.writes[page]).sum();
            let ages = pages.iter().map(|page| now - self.written_at[page]).sum();
            self.ratio(writes, ages)
        });
        let found = found.collect();
        self.find_groups(found);
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let hotness = self.hotness(logical, now);
        self.written_at.insert(logical, now);
        *self.writes.entry(logical).or_default() += 1;
        match hotness {
            None if self.start == "hottest" => self.centers.len() - 1,
            known => self.group(known.unwrap_or(0)),
        }
    }

    fn forgets(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.writes.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let hotness = self.hotness(logical, victim.now).expect("a page written before");
        self.group(hotness)
    }
}
