//! Groups of pages of similar update frequency, two of which may swap their frequencies.
//! The swaps happen during a run: they are the workload changes of paper 3, §6.1.

use std::ops::Bound::{Included, Unbounded};
use std::ops::Range;

use super::shares::{Draw, regions, write_shares};
use super::{MOST_GROUPS, Schedule, Site, Step, Workload};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, Reader, State, Writer, require};

/// Times at which two groups swap, in writes since the start.
#[derive(Debug, Clone)]
struct Swaps {
    pair: (usize, usize),
    /// Times of the individual swaps.
    single: Vec<u64>,
    /// Number of writes between the swaps that follow, if swaps recur.
    period: Option<u64>,
}

impl Swaps {
    /// Time of swap `number`, counted from 0, or None after the last swap.
    fn at(&self, number: u64) -> Option<u64> {
        let singles = self.single.len() as u64;
        if number < singles {
            return Some(self.single[number as usize]);
        }
        let periods = self.period?.checked_mul(number - singles + 1)?;
        self.single.last()?.checked_add(periods)
    }
}

/// Groups workload. The groups are consecutive; writes are uniform within each.
#[derive(Debug, Clone)]
pub struct StaticGroups {
    regions: Vec<Range<u32>>,
    write_shares: Vec<f64>,
    draw: Draw,
    drawn: u64,
    /// Number of swaps so far. The next field is the time of the next swap, in writes.
    swapped: u64,
    next_swap: Option<u64>,
    swaps: Swaps,
    random: Stream,
}

impl StaticGroups {
    fn swap(&mut self) {
        self.write_shares.swap(self.swaps.pair.0, self.swaps.pair.1);
        self.draw = Draw::new(&self.write_shares);
        self.swapped += 1;
        self.next_swap = self.swaps.at(self.swapped);
    }
}

/// Saves the number of swaps; the shares of the groups and the time of the next swap follow.
impl State for StaticGroups {
    fn save(&self, to: &mut Writer) {
        to.value(&(self.drawn, self.swapped));
        self.random.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        let swapped_before = self.swapped;
        (self.drawn, self.swapped) = from.value("StaticGroups.drawn")?;
        if swapped_before % 2 != self.swapped % 2 {
            self.write_shares.swap(self.swaps.pair.0, self.swaps.pair.1);
            self.draw = Draw::new(&self.write_shares);
        }
        self.next_swap = self.swaps.at(self.swapped);
        let last_swap = self.swapped.checked_sub(1).map(|last| self.swaps.at(last));
        let is_past = last_swap.is_none_or(|at| at.is_some_and(|at| at <= self.drawn));
        let is_to_come = self.next_swap.is_none_or(|at| at >= self.drawn);
        let is_sound = is_past && is_to_come && self.drawn < MOST_PLAUSIBLE;
        require(is_sound, "StaticGroups.swapped")?;
        self.random.restore(from)
    }
}

impl Workload for StaticGroups {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if self.next_swap == Some(self.drawn) {
            self.swap();
        }
        let until_swap = self.next_swap.map_or(u64::MAX, |at| at - self.drawn);
        let count = buffer.len().min(usize::try_from(until_swap).unwrap_or(usize::MAX));
        for page in &mut buffer[..count] {
            let region = &self.regions[self.draw.item(self.random.bits())];
            *page = region.start + self.random.below(region.end - region.start);
        }
        self.drawn += count as u64;
        Step::Writes(count)
    }

    fn pages(&self) -> u32 {
        self.regions.last().map_or(0, |region| region.end)
    }

    /// Two swaps form a cycle, because the second reverses the first. So a cycle lasts two
    /// periods.
    fn schedule(&self) -> Schedule {
        Schedule {
            last_change: self.swaps.single.last().map_or(0.0, |&at| at as f64),
            cycle: self.swaps.period.map_or(0.0, |period| 2.0 * period as f64),
        }
    }

    fn groups(&self) -> Option<Vec<Group>> {
        let groups = self
            .regions
            .iter()
            .zip(&self.write_shares)
            .map(|(region, &write_share)| Group { pages: region.end - region.start, write_share });
        Some(groups.collect())
    }

    /// Frequencies may be swapped, but then they differ from one page to the next.
    fn has_fixed_ranges(&self) -> bool {
        self.schedule() == Schedule::default()
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = self.regions.partition_point(|region| region.end <= page) as u8;
        }
    }
}

impl Registered<Site> for StaticGroups {
    const ENTRY: Entry = super::entry(
        "groups",
        "groups of pages with different update frequencies; two groups may swap their frequencies",
    )
    .example("groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at=5000")
    .params(&[
        Param::required(
            "sizes",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative size of each group",
        ),
        Param::required(
            "frequencies",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative number of writes to each group",
        )
        .or(&["freq"]),
        Param::new(
            "swap_at",
            "never",
            Domain::Either(&Domain::Word(&["never"]), &Domain::List(&Domain::Whole(1, u64::MAX))),
            "numbers of writes after which two groups swap their frequencies, ascending",
        )
        .extent(Extent::Writes),
        Param::new(
            "swap",
            "first/last",
            Domain::List(&Domain::Either(
                &Domain::Word(&["first", "last"]),
                &Domain::Whole(0, 255),
            )),
            "the two groups that swap, numbered from 0",
        ),
        Param::new(
            "period",
            "never",
            Domain::Either(&Domain::Word(&["never"]), &Domain::Whole(1, u64::MAX)),
            "number of writes between further swaps, which follow the last one of swap_at",
        )
        .extent(Extent::Writes),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let (regions, write_shares) =
            (regions(params, "sizes", pages)?, write_shares(params, "frequencies")?);
        if regions.len() != write_shares.len() || regions.len() > MOST_GROUPS {
            return Err(Error::Spec(format!(
                "groups: {} sizes and {} frequencies; give one of each for every group, and at \
                 most {MOST_GROUPS} groups",
                regions.len(),
                write_shares.len()
            )));
        }
        let swaps = swaps(params, regions.len())?;
        Ok(StaticGroups {
            draw: Draw::new(&write_shares),
            regions,
            write_shares,
            drawn: 0,
            swapped: 0,
            next_swap: swaps.at(0),
            swaps,
            random: context.random(),
        })
    }
}

fn swaps(params: &Params, groups: usize) -> Result<Swaps> {
    if params.text("swap_at") == "never" {
        if let Some(name) = ["swap", "period"].into_iter().find(|name| params.is_given(name)) {
            return Err(Error::Spec(format!(
                "groups: {name}= needs swap_at=, the number of writes before the first swap"
            )));
        }
        return Ok(Swaps { pair: (0, 0), single: Vec::new(), period: None });
    }
    let single: Vec<u64> = params.integers("swap_at");
    if let Some(pair) = single.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(params.outside("swap_at", pair[1], "an ascending list"));
    }
    let period = (params.text("period") != "never").then(|| params.integer("period"));
    Ok(Swaps { pair: pair(params, groups)?, single, period })
}

fn pair(params: &Params, groups: usize) -> Result<(usize, usize)> {
    let index = |text: &str| match text {
        "first" => Some(0),
        "last" => Some(groups - 1),
        _ => text.parse().ok().filter(|&index| index < groups),
    };
    let indices: Vec<_> = params.items("swap").into_iter().map(index).collect();
    match indices[..] {
        [Some(first), Some(second)] if first != second => Ok((first, second)),
        _ => Err(params.outside(
            "swap",
            params.text("swap"),
            format!("two different groups as in 0/{}, numbered from 0 to {0}", groups - 1),
        )),
    }
}
