//! Mix: regions of the address space, each with its own weight and pattern.

use std::ops::Bound::{Included, Unbounded};

use super::NESTED;
use super::shares::{Draw, regions, write_shares};
use super::{MOST_GROUPS, Schedule, Site, Step, Workload, build};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

const BUFFERED_PAGES: usize = 256;

struct Region {
    first_page: u32,
    write_share: f64,
    pattern: Box<dyn Workload>,
    buffer: [u32; BUFFERED_PAGES],
    ready: std::ops::Range<usize>,
}

state! {
    Region {
        fixed first_page,
        fixed write_share,
        nested pattern,
        table buffer,
        value ready,
    } where is_sound
}

impl Region {
    fn is_sound(&self) -> bool {
        let drawn = self.buffer.get(self.ready.clone());
        drawn.is_some_and(|pages| pages.iter().all(|&page| page < self.pattern.pages()))
    }

    fn page(&mut self) -> u32 {
        if self.ready.is_empty() {
            let Step::Writes(count) = self.pattern.next(&mut self.buffer) else {
                unreachable!(
                    "synthetic workloads write pages without end, so the next step is a write"
                )
            };
            self.ready = 0..count;
        }
        self.first_page + self.buffer[self.ready.next().expect("pages were drawn, so one is ready")]
    }
}

/// Mix workload. It draws the region of each write independently, by weight.
pub struct Mix {
    pages: u32,
    regions: Vec<Region>,
    draw: Draw,
    /// Region that was drawn for a write that did not belong in the last batch.
    /// It is the first of the next batch.
    drawn: Option<usize>,
    random: Stream,
}

state!(Mix { fixed pages, nested regions, fixed draw, value drawn, nested random } where is_sound);

impl Mix {
    fn is_sound(&self) -> bool {
        self.drawn.is_none_or(|region| region < self.regions.len())
    }
}

impl Workload for Mix {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        for (at, page) in buffer.iter_mut().enumerate() {
            let drawn = self.drawn.take();
            let region = drawn.unwrap_or_else(|| self.draw.item(self.random.bits()));
            // A region draws more pages only at the start of a call: its groups may change when it
            // draws, and groups may change only between calls.
            if at > 0 && self.regions[region].ready.is_empty() {
                self.drawn = Some(region);
                return Step::Writes(at);
            }
            *page = self.regions[region].page();
        }
        Step::Writes(buffer.len())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn schedule(&self) -> Schedule {
        self.regions
            .iter()
            .map(|region| region.pattern.schedule().at_share(region.write_share))
            .fold(Schedule::default(), Schedule::and)
    }

    /// Groups of the regions, one region after the other.
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

impl Registered<Site> for Mix {
    const ENTRY: Entry = super::entry(
        "mix",
        "regions of the address space, each with its own share of the writes and its own workload",
    )
    .example("mix:sizes=0.1/0.9,weights=0.9/0.1,of=zipf(s=0.9)/sequential")
    .params(&[
        Param::required(
            "sizes",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative size of each region",
        ),
        Param::required(
            "weights",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative number of writes to each region",
        ),
        Param::new(
            "of",
            "uniform",
            Domain::List(&NESTED),
            "workload in each region, or one workload for all regions",
        ),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let (extents, shares) =
            (regions(params, "sizes", pages)?, write_shares(params, "weights")?);
        let mut patterns = params.items("of");
        let count = extents.len();
        if patterns.len() == 1 {
            patterns = vec![patterns[0]; count];
        }
        if shares.len() != count || patterns.len() != count {
            return Err(Error::Spec(format!(
                "mix: {count} sizes, {} weights and {} patterns; give one of each for every region",
                shares.len(),
                patterns.len()
            )));
        }
        let mut regions = Vec::with_capacity(count);
        for (index, (extent, pattern)) in extents.into_iter().zip(patterns).enumerate() {
            let region_pages = extent.end - extent.start;
            regions.push(Region {
                first_page: extent.start,
                write_share: shares[index],
                pattern: build(pattern, region_pages, context.child(index))?,
                buffer: [0; BUFFERED_PAGES],
                ready: 0..0,
            });
        }
        Ok(Mix { pages, regions, draw: Draw::new(&shares), drawn: None, random: context.random() })
    }
}
