//! SFS: streams by hotness (writes over age), in groups computed by k-means.

use std::collections::HashMap;

use super::nearest;
use super::{Collected, Hint, Scheme, Setup, Spec};

/// Returns a logarithm in sixteenths of powers of two, linear between two powers.
///
/// It is 0 for 0, and 16 for 1.
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
    /// Host pages between two updates of the groups from the blocks.
    update_pages: u64,
    /// Host pages written since the last of these updates.
    since_update: u64,
    written_at: HashMap<u32, u64>,
    writes: HashMap<u32, u64>,
    centers: Vec<u64>,
    /// Hotness of every page placed since the groups were last computed.
    placed: Vec<u64>,
    has_groups: bool,
}

impl Sfs {
    fn is_linear(&self) -> bool {
        self.scale == "linear"
    }

    fn is_by_page(&self) -> bool {
        self.unit == "page"
    }

    /// Returns 2^32·writes/age on the linear scale, else the logarithm of 2^20·writes/age.
    fn ratio(&self, writes: u64, age: u64) -> u64 {
        let age = u128::from(age.max(1));
        let parts = |scale: u128| (u128::from(writes) * scale / age) as u64;
        if self.is_linear() { parts(4_294_967_296) } else { logarithm(parts(1_048_576)) }
    }

    fn hotness(&self, logical: u32, now: u64) -> Option<u64> {
        let previous_write = self.written_at.get(&logical)?;
        Some(self.ratio(self.writes[&logical], now - previous_write))
    }

    fn group(&mut self, hotness: u64) -> usize {
        if self.is_by_page() {
            self.placed.push(hotness);
            if self.placed.len() == 16 * self.samples {
                let samples = self.placed.chunks(16).map(|chunk| chunk[15]).collect();
                self.placed.clear();
                self.compute_groups(samples);
            }
        }
        nearest(&self.centers, hotness)
    }

    fn compute_groups(&mut self, mut hotnesses: Vec<u64>) {
        let groups = self.centers.len();
        hotnesses.sort_unstable();
        if hotnesses.is_empty() {
            return;
        }
        if self.is_linear() && hotnesses.len() <= groups {
            self.centers = (0..groups).map(|group| hotnesses[group % hotnesses.len()]).collect();
        } else {
            if !self.is_linear() && !self.has_groups {
                let middle = |group| hotnesses[(2 * group + 1) * hotnesses.len() / (2 * groups)];
                self.centers = (0..groups).map(middle).collect();
            }
            for _ in 0..3 {
                self.centers = (0..groups).map(|group| self.mean(group, &hotnesses)).collect();
            }
        }
        self.has_groups = true;
        self.centers.sort_unstable();
    }

    /// Returns the mean of the hotnesses that are nearest to the center of a group.
    ///
    /// Without such hotnesses, a linear center becomes 0, and a logarithmic one stays.
    fn mean(&self, group: usize, hotnesses: &[u64]) -> u64 {
        let of_group = |hotness: &&u64| nearest(&self.centers, **hotness) == group;
        let members: Vec<u128> =
            hotnesses.iter().filter(of_group).map(|&hotness| u128::from(hotness)).collect();
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
            update_pages: ((share * f64::from(setup.logical_pages)).floor() as u64).max(1),
            since_update: 0,
            written_at: HashMap::new(),
            writes: HashMap::new(),
            centers: vec![0; groups],
            placed: Vec::new(),
            has_groups: false,
        }
    }

    fn migration_stream(&self) -> usize {
        self.centers.len()
    }

    fn needs_blocks(&mut self) -> bool {
        self.since_update += 1;
        if self.since_update == self.update_pages {
            self.since_update = 0;
            return !self.is_by_page();
        }
        false
    }

    fn observe_blocks(&mut self, pages: Vec<Vec<u32>>, now: u64) {
        let filled = pages.into_iter().filter(|pages| !pages.is_empty());
        let ratios = filled.map(|pages| {
            let writes = pages.iter().map(|page| self.writes[page]).sum();
            let ages = pages.iter().map(|page| now - self.written_at[page]).sum();
            self.ratio(writes, ages)
        });
        let hotnesses = ratios.collect();
        self.compute_groups(hotnesses);
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let hotness = self.hotness(logical, now);
        self.written_at.insert(logical, now);
        *self.writes.entry(logical).or_default() += 1;
        match hotness {
            None if self.start == "hottest" => self.centers.len() - 1,
            hotness => self.group(hotness.unwrap_or(0)),
        }
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.writes.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let hotness = self.hotness(logical, victim.now).expect("a page written before");
        self.group(hotness)
    }
}
