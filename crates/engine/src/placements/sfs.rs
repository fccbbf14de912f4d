//! SFS: groups pages of similar hotness: number of writes over age (Min et al., FAST 2012).
//!
//! Groups are found by k-means over the hotness of blocks (the paper's segments), each time
//! that the host has written a given share of the drive. Alternatively k-means uses the hotness of
//! every 16th page that is placed. It then runs each time that enough pages were sampled.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::params::{Domain, Extent, Param, Params, words};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;
use crate::write_history::{BlockHistory, PageHistory};

use std::ops::Bound::{Excluded, Included};

const SAMPLED_EVERY: u32 = 16;
const ITERATIONS: u32 = 3;

pub struct Sfs {
    scale: Scale,
    unit: Unit,
    start: Start,
    /// Hotness of the page that is placed next.
    hotness: Option<u64>,
    /// Mean hotness of each group, in ascending order.
    centers: Vec<u64>,
    knows_groups: bool,
    /// Hotness of the sampled pages.
    samples: Vec<u64>,
    most_samples: usize,
    until_sample: u32,
    until_survey: u64,
    survey_pages: u64,
}

state! {
    Sfs {
        fixed scale,
        fixed unit,
        fixed start,
        scratch hotness,
        table centers,
        value knows_groups,
        list samples,
        fixed most_samples,
        value until_sample,
        value until_survey,
        fixed survey_pages,
    } where is_sound
}

/// Scale of hotness (number of writes over age) on which k-means finds the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Linear scale.
    /// Hotness spans many orders of magnitude, so the mean hotness of a group reflects only its
    /// highest values. The means of groups therefore begin at 0, and an empty group starts again at
    /// 0, so that the lowest values are divided too.
    Linear,
    /// Logarithmic scale.
    /// Groups begin at quantiles of the hotness. The mean of an empty group does not change.
    Logarithmic,
}

impl Scale {
    const ALL: [(&'static str, Scale); 2] =
        [("linear", Scale::Linear), ("log", Scale::Logarithmic)];

    /// Hotness on this scale of pages with `writes` writes and the sum `ages` of their ages.
    /// The linear scale multiplies it by 2³². The logarithmic scale multiplies it by 2²⁰ before it
    /// takes the logarithm.
    #[inline(always)]
    fn hotness(self, writes: u64, ages: u64) -> u64 {
        match self {
            Scale::Linear => (writes << 32) / ages.max(1),
            Scale::Logarithmic => octaves((writes << 20) / ages.max(1)),
        }
    }
}

/// Unit whose hotness is the input of k-means: block or page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Segment,
    Page,
}

impl Unit {
    const ALL: [(&'static str, Unit); 2] = [("segment", Unit::Segment), ("page", Unit::Page)];
}

/// Group of a page that the host writes for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Coldest,
    Hottest,
}

impl Start {
    const ALL: [(&'static str, Start); 2] =
        [("coldest", Start::Coldest), ("hottest", Start::Hottest)];
}

impl Sfs {
    fn is_sound(&self) -> bool {
        let most = if self.scale == Scale::Linear { u64::MAX } else { octaves(u64::MAX) };
        self.samples.len() < self.most_samples
            && self.samples.iter().chain(&self.centers).all(|&hotness| hotness <= most)
            && (1..=SAMPLED_EVERY).contains(&self.until_sample)
            && (1..=self.survey_pages).contains(&self.until_survey)
    }

    #[inline(always)]
    fn group(&mut self, hotness: u64) -> usize {
        if self.unit == Unit::Page {
            self.until_sample -= 1;
            if self.until_sample == 0 {
                self.until_sample = SAMPLED_EVERY;
                self.sample(hotness);
            }
        }
        nearest(&self.centers, hotness)
    }

    fn sample(&mut self, hotness: u64) {
        self.samples.push(hotness);
        if self.samples.len() == self.most_samples {
            let mut samples = std::mem::take(&mut self.samples);
            self.find_groups(&mut samples);
            samples.clear();
            self.samples = samples;
        }
    }

    /// Divides the hotness of pages or blocks by k-means, starting from the last result.
    fn find_groups(&mut self, samples: &mut [u64]) {
        if samples.is_empty() {
            return;
        }
        samples.sort_unstable();
        match self.scale {
            Scale::Linear if samples.len() <= self.centers.len() => {
                let all = samples.iter().cycle();
                self.centers.iter_mut().zip(all).for_each(|(center, &hotness)| *center = hotness);
            }
            Scale::Linear => self.iterate(samples, |_| 0),
            Scale::Logarithmic => {
                if !self.knows_groups {
                    let groups = self.centers.len();
                    for (group, center) in self.centers.iter_mut().enumerate() {
                        *center = samples[(2 * group + 1) * samples.len() / (2 * groups)];
                    }
                }
                self.iterate(samples, |center| center);
            }
        }
        self.knows_groups = true;
        self.centers.sort_unstable();
    }

    /// Iterates k-means three times, which is the largest number in the paper.
    /// `empty` computes the new center of an empty group.
    fn iterate(&mut self, samples: &[u64], empty: fn(u64) -> u64) {
        for _ in 0..ITERATIONS {
            let mut sums = vec![(0u128, 0u128); self.centers.len()];
            for &hotness in samples {
                let (sum, count) = &mut sums[nearest(&self.centers, hotness)];
                *sum += u128::from(hotness);
                *count += 1;
            }
            for (center, (sum, count)) in self.centers.iter_mut().zip(sums) {
                *center = sum.checked_div(count).map_or(empty(*center), |mean| mean as u64);
            }
        }
    }
}

/// 16·log₂(number) + 16, interpolated linearly between powers of two; 0 for 0.
#[inline(always)]
fn octaves(number: u64) -> u64 {
    let Some(power) = number.checked_ilog2() else { return 0 };
    let rest = u128::from(number - (1 << power)) << 4 >> power;
    16 * (u64::from(power) + 1) + rest as u64
}

/// Index of the value nearest to `value`; of equally near values, the first.
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
    const ENTRY: Entry = Entry::new(
        "sfs",
        "pages separated by hotness (number of writes over age), in groups found by k-means",
    )
    .example("sfs")
    .params(&[
        Param::new("groups", "4", Domain::Whole(2, 64), "number of hotness groups"),
        Param::new(
            "scale",
            "linear",
            Domain::Word(&words(&Scale::ALL)),
            "scale on which hotness is grouped: linear, or logarithmic (log)",
        ),
        Param::new(
            "unit",
            "segment",
            Domain::Word(&words(&Unit::ALL)),
            "data from which groups are found: hotness of all closed blocks (segment) or of \
             sampled pages (page)",
        ),
        Param::new(
            "start",
            "coldest",
            Domain::Word(&words(&Start::ALL)),
            "group of a page that is written for the first time",
        ),
        Param::new(
            "period",
            "0.01",
            Domain::Number(Excluded(0.0), Included(1.0)),
            "segment: host page writes between two searches for groups, divided by the logical \
             pages",
        ),
        Param::new(
            "samples",
            "1024",
            Domain::Whole(16, 1 << 20),
            "page: number of pages sampled between two searches for groups",
        )
        .extent(Extent::Kept("with fewer samples the groups would differ")),
    ])
    .small("sfs:groups=3,period=0.1")
    .variants(&[
        "sfs:groups=3,unit=page,scale=log,samples=32",
        "sfs:groups=5,unit=page,samples=16,start=hottest",
        "sfs:groups=3,scale=log,period=0.05",
    ])
    .candidates(&[Pairs::rare(&["sfs"], &["greedy", "cost-benefit", "d-choices:d=4"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let most_samples = params.integer("samples");
        let survey_pages = (params.number("period") * f64::from(sizes.logical_pages)) as u64;
        let survey_pages = survey_pages.max(1);
        Ok(Sfs {
            scale: params.choice("scale", &Scale::ALL),
            unit: params.choice("unit", &Unit::ALL),
            start: params.choice("start", &Start::ALL),
            hotness: None,
            centers: vec![0; params.integer("groups")],
            knows_groups: false,
            samples: Vec::with_capacity(most_samples),
            most_samples,
            until_sample: SAMPLED_EVERY,
            until_survey: survey_pages,
            survey_pages,
        })
    }
}

impl Placement for Sfs {
    const USES_WRITE_HISTORY: bool = true;

    #[inline(always)]
    fn recall(&mut self, page: Option<PageHistory>) {
        self.hotness = page.map(|page| self.scale.hotness(page.writes, page.age));
    }

    #[inline(always)]
    fn is_survey_due(&mut self) -> bool {
        self.until_survey -= 1;
        let is_due = self.until_survey == 0;
        if is_due {
            self.until_survey = self.survey_pages;
        }
        is_due && self.unit == Unit::Segment
    }

    #[cold]
    fn survey(&mut self, closed: &mut dyn Iterator<Item = BlockHistory>) {
        // A block without valid pages has no hotness, so it is left out.
        let closed = closed.filter(|block| block.writes > 0);
        let mut samples: Vec<u64> =
            closed.map(|block| self.scale.hotness(block.writes, block.ages)).collect();
        self.find_groups(&mut samples);
    }

    #[inline(always)]
    fn host_stream(&mut self, _page: HostPage) -> usize {
        match (self.hotness, self.start) {
            (Some(hotness), _) => self.group(hotness),
            (None, Start::Coldest) => self.group(0),
            (None, Start::Hottest) => self.centers.len() - 1,
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        self.group(self.hotness.expect("a migrated page must have been written by the host"))
    }

    fn bytes(&self) -> u64 {
        if self.unit == Unit::Page { 8 * self.most_samples as u64 } else { 0 }
    }
}

impl RegisteredPlacement for Sfs {
    const VICTIMS: &'static str = "cost-hotness";

    fn streams(params: &Params) -> Streams {
        let groups = params.integer("groups");
        Streams { all: groups, migration: groups }
    }

    /// Default victim policy: cost-hotness with `unit=segment`, and cost-benefit (by age) with
    /// `unit=page`, which does not measure the hotness of blocks.
    fn victims(params: &Params) -> &'static str {
        match params.choice("unit", &Unit::ALL) {
            Unit::Segment => Self::VICTIMS,
            Unit::Page => "cost-benefit",
        }
    }
}
