//! Regions of the address space, each with a weight and a pattern of its own.

use super::{Context, Registered, Step, Workload, build};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::rng::{Stream, threshold};
use crate::spec::{Param, Params};

const BUFFERED_PAGES: usize = 256;

/// What fits a byte.
const MOST_GROUPS: usize = 256;

struct Region {
    first_page: u32,
    write_share: f64,
    pattern: Box<dyn Workload>,
    buffer: [u32; BUFFERED_PAGES],
    ready: std::ops::Range<usize>,
}

impl Region {
    fn page(&mut self) -> u32 {
        if self.ready.is_empty() {
            let Step::Write(count) = self.pattern.next(&mut self.buffer) else {
                unreachable!("synthetic workloads write without end")
            };
            self.ready = 0..count;
        }
        self.first_page + self.buffer[self.ready.next().expect("a page is ready")]
    }
}

/// Draws the region of each write independently, by weight.
pub struct Mix {
    pages: u32,
    regions: Vec<Region>,
    /// Region i is drawn below `cumulative[i]`; the last takes what is left.
    cumulative: Vec<u64>,
    /// The region that was drawn for the next write already.
    drawn: Option<usize>,
    random: Stream,
}

impl Mix {
    #[inline(always)]
    fn draw(&mut self) -> usize {
        let draw = self.random.bits();
        let last = self.regions.len() - 1;
        self.cumulative[..last].partition_point(|&bound| bound <= draw)
    }
}

impl Workload for Mix {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for (at, page) in buffer.iter_mut().enumerate() {
            let region = self.drawn.take().unwrap_or_else(|| self.draw());
            // A region draws its next pages at the start of a call only: its groups may change then.
            if at > 0 && self.regions[region].ready.is_empty() {
                self.drawn = Some(region);
                return Step::Write(at);
            }
            *page = self.regions[region].page();
        }
        Step::Write(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    /// Those of the regions, one region after the other.
    fn groups(&self) -> Option<Vec<Group>> {
        let mut all = Vec::new();
        for region in &self.regions {
            let scaled = |group: Group| Group {
                write_share: group.write_share * region.write_share,
                ..group
            };
            all.extend(region.pattern.groups()?.into_iter().map(scaled));
        }
        (all.len() <= MOST_GROUPS).then_some(all)
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        let mut first_group = 0;
        let mut first_groups = Vec::with_capacity(self.regions.len());
        for region in &self.regions {
            first_groups.push(first_group);
            first_group += region.pattern.groups().map_or(0, |groups| groups.len());
        }
        for (group, &page) in group_of.iter_mut().zip(pages) {
            let at = self.regions.partition_point(|region| region.first_page <= page) - 1;
            let region = &self.regions[at];
            region.pattern.find_groups(&[page - region.first_page], std::slice::from_mut(group));
            *group += first_groups[at] as u8;
        }
    }
}

impl Registered for Mix {
    const NAME: &'static str = "mix";
    const SUMMARY: &'static str = "regions of the address space, each with its weight and pattern";
    const PARAMS: &'static [Param] = &[
        Param {
            name: "sizes",
            default: "",
            help: "relative size of each region, separated by '/'",
        },
        Param { name: "weights", default: "", help: "relative share of the writes of each region" },
        Param { name: "of", default: "uniform", help: "pattern of each region, or one for all" },
    ];
    const EXAMPLE: &'static str = "mix:sizes=0.1/0.9,weights=0.9/0.1,of=zipf(s=0.9)/sequential";

    fn build(params: &Params, pages: u32, context: Context) -> Result<Self> {
        let sizes = params.numbers("sizes", "a list of numbers above 0", |v| v > 0.0)?;
        let weights = params.numbers("weights", "a list of numbers of at least 0", |v| v >= 0.0)?;
        let mut patterns = params.list("of")?;
        let count = sizes.len();
        if patterns.len() == 1 {
            patterns = vec![patterns[0].clone(); count];
        }
        if weights.len() != count || patterns.len() != count {
            return Err(Error::Spec(format!(
                "mix: {count} sizes, {} weights and {} patterns; give one of each for every region",
                weights.len(),
                patterns.len()
            )));
        }
        let (total_size, total_weight): (f64, f64) = (sizes.iter().sum(), weights.iter().sum());
        if !(total_size.is_finite() && total_weight.is_finite() && total_weight > 0.0) {
            return Err(Error::Spec(format!(
                "mix: sizes add up to {total_size} and weights to {total_weight}; both sums must \
                 be finite and above 0"
            )));
        }

        let mut regions = Vec::with_capacity(count);
        let mut cumulative = Vec::with_capacity(count);
        let (mut size_before, mut weight_before) = (0.0, 0.0);
        for (index, pattern) in patterns.iter().enumerate() {
            let bound = |size: f64| (size / total_size * f64::from(pages)).round() as u32;
            let first_page = bound(size_before);
            size_before += sizes[index];
            weight_before += weights[index];
            let region_pages = bound(size_before) - first_page;
            if region_pages == 0 {
                return Err(params.outside(
                    "sizes",
                    &params.text("sizes")?,
                    &format!("a list that leaves each region at least one of {pages} pages"),
                ));
            }
            regions.push(Region {
                first_page,
                write_share: weights[index] / total_weight,
                pattern: build(pattern, region_pages, context.part(index)?)?,
                buffer: [0; BUFFERED_PAGES],
                ready: 0..0,
            });
            cumulative.push(threshold(weight_before / total_weight));
        }
        Ok(Mix { pages, regions, cumulative, drawn: None, random: context.random() })
    }
}
