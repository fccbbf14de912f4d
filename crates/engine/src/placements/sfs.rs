//! Pages of like hotness together, where hotness is writes over age, and the groups are those that
//! the data falls into by itself (Min et al., FAST 2012, "SFS").
//!
//! SFS finds its groups by k-means over the hotness of segments as it cleans; here, over that of
//! every 16th page as it is placed, each time that enough of them have been seen. The hotness of
//! single pages spans many orders of magnitude, of which a mean would show the highest only; so it is
//! its logarithm that is grouped. The paper's victims are those of
//! cost-hotness; here they are the victim policy's.

use super::LastWrites;
use super::{HostPage, Placement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{filled, prefetch};
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::state;

/// Hotness is counted in 2⁻²⁰ writes per page written.
const HOTNESS_BITS: u32 = 20;
const SAMPLED_EVERY: u32 = 16;
const ITERATIONS: u32 = 3;

pub struct Sfs {
    last_writes: LastWrites,
    /// Writes of each page.
    writes: Vec<u16>,
    /// The mean hotness of each group, rising.
    centers: Vec<u64>,
    samples: Vec<u64>,
    most_samples: usize,
    until_sample: u32,
    is_first: bool,
}

state! {
    Sfs {
        part last_writes,
        table writes,
        table centers,
        list samples,
        fixed most_samples,
        value until_sample,
        value is_first,
    } where is_sound
}

impl Sfs {
    fn is_sound(&self) -> bool {
        let most = octaves(u64::MAX);
        self.samples.len() < self.most_samples
            && self.samples.iter().chain(&self.centers).all(|&octaves| octaves <= most)
            && (1..=SAMPLED_EVERY).contains(&self.until_sample)
    }

    #[inline(always)]
    fn group(&mut self, hotness: u64) -> usize {
        self.until_sample -= 1;
        if self.until_sample == 0 {
            self.until_sample = SAMPLED_EVERY;
            self.sample(hotness);
        }
        nearest(&self.centers, hotness)
    }

    fn sample(&mut self, hotness: u64) {
        self.samples.push(hotness);
        if self.samples.len() < self.most_samples {
            return;
        }
        self.samples.sort_unstable();
        let groups = self.centers.len();
        if self.is_first {
            self.is_first = false;
            for (group, center) in self.centers.iter_mut().enumerate() {
                *center = self.samples[(2 * group + 1) * self.most_samples / (2 * groups)];
            }
        }
        for _ in 0..ITERATIONS {
            let mut found = vec![(0u64, 0u64); groups];
            for &sample in &self.samples {
                let (sum, count) = &mut found[nearest(&self.centers, sample)];
                *sum += sample;
                *count += 1;
            }
            for (center, (sum, count)) in self.centers.iter_mut().zip(found) {
                *center = sum.checked_div(count).unwrap_or(*center);
            }
        }
        self.centers.sort_unstable();
        self.samples.clear();
    }

    #[inline(always)]
    fn hotness(writes: u16, age: u64) -> u64 {
        octaves((u64::from(writes) << HOTNESS_BITS) / age.max(1))
    }
}

/// 16·log₂ of a hotness + 16, the fraction taken as linear; 0 of 0.
#[inline(always)]
fn octaves(hotness: u64) -> u64 {
    let Some(power) = hotness.checked_ilog2() else { return 0 };
    let power = u64::from(power);
    16 * (power + 1) + (((hotness - (1 << power)) << 4) >> power)
}

/// The index of the value nearest to `value`, the first of equals.
#[inline(always)]
pub fn nearest(values: &[u64], value: u64) -> usize {
    let mut best = 0;
    for index in 1..values.len() {
        if values[index].abs_diff(value) < values[best].abs_diff(value) {
            best = index;
        }
    }
    best
}

impl Registered<Sizes> for Sfs {
    const ENTRY: Entry =
        Entry::new("sfs", "by hotness, writes over age, in groups found by k-means")
            .example("sfs")
            .params(&[
                Param::new("groups", "4", Domain::Whole(2, 64), "groups of like hotness"),
                Param::new(
                    "samples",
                    "1024",
                    Domain::Whole(16, 1 << 20),
                    "pages sampled before groups are found anew",
                )
                .extent(Extent::Kept("fewer samples would find other groups")),
            ])
            .small("sfs:groups=3,samples=32");

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let most_samples = params.integer("samples");
        Ok(Sfs {
            last_writes: LastWrites::new(sizes.logical_pages)?,
            writes: filled(0, sizes.logical_pages as usize)?,
            centers: vec![0; params.integer("groups")],
            samples: Vec::with_capacity(most_samples),
            most_samples,
            until_sample: SAMPLED_EVERY,
            is_first: true,
        })
    }
}

impl Placement for Sfs {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let groups = params.integer("groups");
        Streams { all: groups, migration: groups }
    }

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        let age = self.last_writes.replace(page.logical, page.now);
        let writes = &mut self.writes[page.logical as usize];
        let hotness = age.map_or(0, |age| Self::hotness(*writes, age));
        *writes = writes.saturating_add(1);
        self.group(hotness)
    }

    fn forget(&mut self, logical: u32) {
        self.last_writes.forget(logical);
        self.writes[logical as usize] = 0;
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        let age = self.last_writes.age(logical, victim.now).unwrap_or(u64::MAX);
        self.group(Self::hotness(self.writes[logical as usize], age))
    }

    fn bytes(&self) -> u64 {
        self.last_writes.bytes()
            + size_of_val(&self.writes[..]) as u64
            + 8 * self.most_samples as u64
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
        prefetch(&self.writes, logical as usize);
    }
}
