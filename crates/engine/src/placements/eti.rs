//! Extent-based temperature identification (ETI): hot and cold ranges of the address space.
//! The method needs no per-page table (Shafaei, Desnoyers & Fitzpatrick, `HotStorage` 2016).
//!
//! The address space is divided into extents, at first one. A request splits extents at its
//! first and last page, and increments the counts of the extents that it covers. Every 4096
//! requests the counts are halved, and neighbours that are both cold or have equal counts are
//! merged. Once the maximum number of extents is reached, a request increments only the counts of
//! extents that it covers completely. Pages of hot extents, pages of cold extents, and migrated
//! pages have one stream each. A request is any run of consecutive pages here; it is counted when
//! the run ends. The paper does not cover TRIM. Here a run of trimmed pages resets the counts of
//! the extents that it covers.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;

const HOT: usize = 0;
const COLD: usize = 1;
const MIGRATED: usize = 2;

/// Lowest write count of a hot extent. The next constant is the highest count that is
/// recorded.
const HOT_COUNT: u8 = 4;
const MOST_COUNT: u8 = 15;
const REQUESTS_BETWEEN_DECAYS: u32 = 4096;

pub struct Eti {
    pages: u32,
    most_extents: usize,
    /// First page of each extent, in ascending order from 0.
    /// The next field has the write count of each extent.
    firsts: Vec<u32>,
    counts: Vec<u8>,
    until_decay: u32,
    /// Current run of written pages.
    first: u32,
    end: u32,
    /// Current run of trimmed pages.
    first_trimmed: u32,
    end_trimmed: u32,
}

state! {
    Eti {
        fixed pages,
        fixed most_extents,
        list firsts,
        list counts,
        value until_decay,
        value first,
        value end,
        value first_trimmed,
        value end_trimmed,
    } where is_sound
}

impl Eti {
    fn is_sound(&self) -> bool {
        self.firsts.first() == Some(&0)
            && self.firsts.is_sorted_by(|page, next| page < next)
            && self.firsts.last().is_some_and(|&last| last < self.pages)
            && self.firsts.len() <= self.most_extents
            && self.counts.len() == self.firsts.len()
            && self.counts.iter().all(|&count| count <= MOST_COUNT)
            && (1..=REQUESTS_BETWEEN_DECAYS).contains(&self.until_decay)
            && self.first <= self.end
            && self.end <= self.pages
            && self.first_trimmed <= self.end_trimmed
            && self.end_trimmed <= self.pages
    }

    fn end_of(&self, extent: usize) -> u32 {
        self.firsts.get(extent + 1).copied().unwrap_or(self.pages)
    }

    fn count_request(&mut self) {
        let from = self.split_at(self.first);
        let mut to = self.split_at(self.end);
        let last_ends = self.firsts.get(to).copied().unwrap_or(self.pages);
        if last_ends != self.end {
            to -= 1;
        }
        for count in &mut self.counts[from.min(to)..to] {
            *count = (*count + 1).min(MOST_COUNT);
        }
        self.until_decay -= 1;
        if self.until_decay == 0 {
            self.decay();
        }
    }

    /// Splits an extent at `page`, unless the maximum number of extents is reached.
    /// Returns the first extent that begins at or after `page`.
    fn split_at(&mut self, page: u32) -> usize {
        let at = self.firsts.partition_point(|&first| first < page);
        let begins = page == self.pages || self.firsts.get(at) == Some(&page);
        if !begins && self.firsts.len() < self.most_extents {
            self.firsts.insert(at, page);
            self.counts.insert(at, self.counts[at - 1]);
        }
        at
    }

    fn decay(&mut self) {
        self.until_decay = REQUESTS_BETWEEN_DECAYS;
        let mut merged = 0;
        for at in 0..self.firsts.len() {
            let count = self.counts[at] / 2;
            let previous = if at == 0 { None } else { Some(self.counts[merged - 1]) };
            let is_like =
                |previous| previous == count || (previous < HOT_COUNT && count < HOT_COUNT);
            if !previous.is_some_and(is_like) {
                self.firsts[merged] = self.firsts[at];
                self.counts[merged] = count;
                merged += 1;
            }
        }
        self.firsts.truncate(merged);
        self.counts.truncate(merged);
    }
}

impl Registered<Sizes> for Eti {
    const ENTRY: Entry = Entry::new(
        "eti",
        "separate frontiers for hot extents (address ranges), cold extents and migrated pages",
    )
    .example("eti")
    .params(&[Param::new("extents", "1024", Domain::Whole(4, 65_536), "largest number of extents")
        .extent(Extent::Kept("requests split extents on drives of any size"))])
    .small("eti:extents=9")
    .candidates(&[Pairs::rare(&["eti"], &["greedy", "cost-benefit", "d-choices:d=4"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let most_extents = params.integer("extents");
        let (mut firsts, mut counts) =
            (Vec::with_capacity(most_extents), Vec::with_capacity(most_extents));
        firsts.push(0);
        counts.push(0);
        let until_decay = REQUESTS_BETWEEN_DECAYS;
        Ok(Eti {
            pages: sizes.logical_pages,
            most_extents,
            firsts,
            counts,
            until_decay,
            first: 0,
            end: 0,
            first_trimmed: 0,
            end_trimmed: 0,
        })
    }
}

impl Placement for Eti {
    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        if page.logical != self.end || self.first == self.end {
            if self.first < self.end {
                self.count_request();
            }
            self.first = page.logical;
        }
        self.end = page.logical + 1;
        self.end_trimmed = self.first_trimmed;
        let extent = self.firsts.partition_point(|&first| first <= page.logical) - 1;
        if self.counts[extent] >= HOT_COUNT { HOT } else { COLD }
    }

    fn forget(&mut self, logical: u32) {
        if self.first < self.end {
            self.count_request();
            self.end = self.first;
        }
        if logical != self.end_trimmed || self.first_trimmed == self.end_trimmed {
            self.first_trimmed = logical;
        }
        self.end_trimmed = logical + 1;
        let extent = self.firsts.partition_point(|&first| first <= logical) - 1;
        let begins = self.firsts[extent] >= self.first_trimmed;
        if begins && self.end_of(extent) == self.end_trimmed {
            self.counts[extent] = 0;
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, _victim: &Victim) -> usize {
        MIGRATED
    }

    fn bytes(&self) -> u64 {
        (self.firsts.capacity() * size_of::<u32>() + self.counts.capacity()) as u64
    }
}

impl RegisteredPlacement for Eti {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(_params: &Params) -> Streams {
        Streams { all: 3, migration: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::UNTAGGED;
    use crate::managers::MANAGERS;

    #[test]
    fn a_run_of_trims_cools_the_extents_that_it_covers_and_no_others() {
        let params = MANAGERS.read("eti").unwrap();
        let sizes = Sizes {
            logical_pages: 100,
            blocks: 8,
            pages_per_block: 16,
            domains: 1,
            pools: 1,
            seed: 1,
        };
        let mut eti = <Eti as Registered<Sizes>>::build(&params, &sizes).unwrap();
        // Returns the stream of the first of four pages.
        let write = |eti: &mut Eti, first: u32| {
            let page = |logical| HostPage {
                logical,
                now: 0,
                group: 0,
                hint: UNTAGGED,
                invalidation_time: 0,
            };
            let streams = [0u32, 1, 2, 3].map(|at| eti.host_stream(page(first + at)));
            streams[0]
        };
        for first in [20, 40].repeat(5) {
            write(&mut eti, first);
        }
        (20..23).for_each(|page| eti.forget(page));
        assert_eq!(write(&mut eti, 20), HOT);
        eti.forget(23); // of another run of TRIMs
        assert_eq!(write(&mut eti, 20), HOT);
        (19..24).for_each(|page| eti.forget(page));
        assert_eq!([20, 40].map(|first| write(&mut eti, first)), [COLD, HOT]);
    }
}
