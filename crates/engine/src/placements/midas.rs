//! A chain of groups by age (Oh et al., FAST 2024, "`MiDAS`").
//!
//! The host writes to the first group; what survives the collection of a block in one group goes to
//! the next. A group of bounded size gives up its oldest block when it holds more than that; the last
//! one takes all other space. How many groups there are, and of which size, follows from the
//! distribution of update intervals, looked at with every drive's worth of writes: the next bound is
//! the one with the least predicted write amplification, as long as that gains anything.
//!
//! Where no group is too large, the victim is the policy's choice in the last one; where that gains
//! nothing, the oldest block of the first bounded group that has one.
//!
//! Left out: the group for hot pages, and the check that merges groups where the prediction fails.

use std::collections::VecDeque;

use super::LastWrites;
use super::{HostPage, Placement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::{require, state};

/// Intervals are counted in buckets of equal ratio, eight for each power of two.
const FINE_BITS: u32 = 3;
const BUCKETS: usize = (33 - FINE_BITS as usize) << FINE_BITS;

/// A further group must lower the predicted write amplification to this share of it.
const WORTH_A_GROUP: f64 = 0.99;

pub struct Midas {
    last_writes: LastWrites,
    /// Update intervals of the host's writes, fading.
    intervals: Vec<u64>,
    until_sizing: u64,
    groups: usize,
    /// Most closed blocks of each bounded group, for each collection domain.
    most_blocks: Vec<usize>,
    /// Closed blocks of each domain and bounded group, the oldest first.
    queues: Vec<VecDeque<u32>>,
    /// Closed blocks of each domain that the policy knows.
    candidates: Vec<usize>,
    /// The queue that each block is in, or [`NO_QUEUE`].
    queue_of: Vec<u32>,
    blocks_per_domain: u32,
    sizes: Sizes,
}

const NO_QUEUE: u32 = u32::MAX;

state! {
    Midas {
        part last_writes,
        table intervals,
        value until_sizing,
        fixed groups,
        value most_blocks,
        lists queues,
        table candidates,
        table queue_of,
        fixed blocks_per_domain,
        fixed sizes,
    } where is_sound
}

impl Midas {
    fn is_sound(&self) -> bool {
        // Counts of writes fade, so that they stay far below this.
        self.intervals.iter().all(|&count| count < 1 << 40)
            && self.most_blocks.len() < self.groups
            && (1..=u64::from(self.sizes.logical_pages)).contains(&self.until_sizing)
    }

    fn last_group(&self) -> usize {
        self.most_blocks.len().max(1)
    }

    #[cold]
    fn size_groups(&mut self) {
        self.until_sizing = u64::from(self.sizes.logical_pages);
        let model = Model::new(&self.intervals, &self.sizes);
        let ages = model.bounds(self.groups - 1);
        self.most_blocks = model.blocks(&ages, self.sizes.domains);
        self.intervals.iter_mut().for_each(|count| *count /= 2);
    }
}

/// What write amplification to expect of bounds between groups, given as ages in writes.
struct Model {
    /// The lower edge of each bucket, and the share of writes with an interval of at least that.
    edges: Vec<f64>,
    survive: Vec<f64>,
    /// Pages written at an age of at most each edge that are valid yet: ∫ survive.
    valid: Vec<f64>,
    logical_pages: f64,
    physical_pages: f64,
    pages_per_block: f64,
}

impl Model {
    fn new(intervals: &[u64], sizes: &Sizes) -> Self {
        let total = intervals.iter().sum::<u64>().max(1) as f64;
        let edges: Vec<f64> = (0..intervals.len()).map(|at| lower_edge(at) as f64).collect();
        let (mut survive, mut valid) = (Vec::new(), Vec::new());
        let (mut dead, mut area) = (0u64, 0.0);
        for at in 0..intervals.len() {
            survive.push(1.0 - dead as f64 / total);
            valid.push(area);
            let width = edges.get(at + 1).map_or(0.0, |next| next - edges[at]);
            // Within a bucket, the survivors fall from one share to the next.
            area += width * (survive[at] - intervals[at] as f64 / total / 2.0);
            dead += intervals[at];
        }
        Model {
            edges,
            survive,
            valid,
            logical_pages: f64::from(sizes.logical_pages),
            physical_pages: f64::from(sizes.blocks) * f64::from(sizes.pages_per_block),
            pages_per_block: f64::from(sizes.pages_per_block),
        }
    }

    /// The buckets at whose edges groups are best divided, at most `most` of them.
    fn bounds(&self, most: usize) -> Vec<usize> {
        let mut bounds = Vec::new();
        let mut least = self.write_amplification(&bounds);
        while bounds.len() < most {
            let mut best = None;
            for bucket in bounds.last().map_or(1, |last| last + 1)..self.edges.len() {
                bounds.push(bucket);
                let expected = self.write_amplification(&bounds);
                bounds.pop();
                if expected < least * WORTH_A_GROUP
                    && best.is_none_or(|(_, before)| expected < before)
                {
                    best = Some((bucket, expected));
                }
            }
            let Some((bucket, expected)) = best else { break };
            bounds.push(bucket);
            least = expected;
        }
        bounds
    }

    /// Host pages, those that pass each bound, and those that circulate in the last group, where
    /// collection finds v valid pages in a page (Menon 1995: u = (v − 1)/ln v).
    fn write_amplification(&self, bounds: &[usize]) -> f64 {
        let (mut passing, mut room, mut inflow) = (0.0, self.physical_pages, 1.0);
        let mut from = 0;
        for &bound in bounds {
            room -= inflow * (self.edges[bound] - self.edges[from]);
            inflow = self.survive[bound];
            passing += inflow;
            from = bound;
        }
        let utilization = (self.logical_pages - self.valid[from]).max(0.0) / room;
        if room <= 0.0 || utilization >= 1.0 {
            return f64::INFINITY;
        }
        let victims_valid = valid_share(utilization);
        1.0 + passing + inflow * victims_valid / (1.0 - victims_valid)
    }

    /// The blocks of each bounded group in each of `domains`.
    fn blocks(&self, bounds: &[usize], domains: u32) -> Vec<usize> {
        let mut from = 0;
        let mut found = Vec::new();
        for &bound in bounds {
            let pages = self.survive[from] * (self.edges[bound] - self.edges[from]);
            found.push((pages / self.pages_per_block / f64::from(domains)) as usize + 1);
            from = bound;
        }
        found
    }
}

/// Solves u = (v − 1)/ln v for v by halving intervals.
fn valid_share(utilization: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = f64::midpoint(low, high);
        if (middle - 1.0) / libm::log(middle) < utilization {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[inline(always)]
fn bucket(interval: u64) -> usize {
    let interval = interval.min(u64::from(u32::MAX)) as u32;
    if interval < 1 << FINE_BITS {
        return interval as usize;
    }
    let shift = interval.ilog2() - FINE_BITS;
    ((shift as usize) << FINE_BITS) + (interval >> shift) as usize
}

fn lower_edge(bucket: usize) -> u64 {
    let fine = 1 << FINE_BITS;
    if bucket < fine {
        return bucket as u64;
    }
    let shift = bucket / fine - 1;
    ((bucket - shift * fine) as u64) << shift
}

impl Registered<Sizes> for Midas {
    const ENTRY: Entry =
        Entry::new("midas", "a chain of groups by age, sized from update intervals")
            .example("midas:groups=4")
            .params(&[Param::new("groups", "6", Domain::Whole(2, 32), "most groups")])
            .small("midas:groups=3");

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let groups = params.integer("groups");
        let queues = groups * sizes.domains as usize;
        Ok(Midas {
            last_writes: LastWrites::new(sizes.logical_pages)?,
            intervals: vec![0; BUCKETS],
            until_sizing: u64::from(sizes.logical_pages),
            groups,
            most_blocks: Vec::new(),
            queues: vec![VecDeque::new(); queues],
            candidates: vec![0; sizes.domains as usize],
            queue_of: filled(NO_QUEUE, sizes.blocks as usize)?,
            blocks_per_domain: sizes.blocks / sizes.domains,
            sizes: *sizes,
        })
    }
}

impl Placement for Midas {
    const KNOWS_VICTIMS: bool = true;
    const CHOOSES_VICTIMS: bool = true;

    fn streams(params: &Params) -> Streams {
        let groups: usize = params.integer("groups");
        Streams { all: groups, migration: groups - 1 }
    }

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        if let Some(interval) = self.last_writes.replace(page.logical, page.now) {
            self.intervals[bucket(interval)] += 1;
        }
        self.until_sizing -= 1;
        if self.until_sizing == 0 {
            self.size_groups();
        }
        0
    }

    fn forget(&mut self, logical: u32) {
        self.last_writes.forget(logical);
    }

    #[inline(always)]
    fn migration_stream(&mut self, _logical: u32, victim: &Victim) -> usize {
        (victim.stream + 1).min(self.last_group())
    }

    fn on_close(&mut self, block: u32, stream: usize, domain: usize) -> bool {
        let is_held = stream < self.most_blocks.len();
        if is_held {
            let queue = domain * self.groups + stream;
            self.queue_of[block as usize] = queue as u32;
            self.queues[queue].push_back(block);
        } else {
            self.candidates[domain] += 1;
        }
        is_held
    }

    fn on_collect(&mut self, block: u32) {
        match std::mem::replace(&mut self.queue_of[block as usize], NO_QUEUE) {
            NO_QUEUE => self.candidates[(block / self.blocks_per_domain) as usize] -= 1,
            queue => assert_eq!(self.queues[queue as usize].pop_front(), Some(block)),
        }
    }

    fn on_exchange(&mut self, young: u32, worn: u32) {
        let queue = std::mem::replace(&mut self.queue_of[young as usize], NO_QUEUE);
        self.queue_of[worn as usize] = queue;
        if queue != NO_QUEUE {
            let place = self.queues[queue as usize].iter_mut().find(|block| **block == young);
            *place.expect("a held block is in its queue") = worn;
        }
    }

    fn victim(&mut self, domain: usize, gained_nothing: bool) -> Option<u32> {
        let queues = &self.queues[domain * self.groups..(domain + 1) * self.groups];
        let must_give = gained_nothing || self.candidates[domain] == 0;
        let most = |group: usize| self.most_blocks.get(group).copied().unwrap_or(0);
        let too_large = queues.iter().enumerate().find(|(group, queue)| queue.len() > most(*group));
        let any = || queues.iter().enumerate().find(|(_, queue)| must_give && !queue.is_empty());
        let (_, queue) = too_large.or_else(any)?;
        queue.front().copied()
    }

    /// The queues hold the blocks that are held back, and the candidates are the others.
    fn check(&self, drive: &Restored) -> Result<()> {
        let mut candidates = vec![0; self.candidates.len()];
        let mut queue_of = vec![NO_QUEUE; self.queue_of.len()];
        let mut queued = 0;
        for closed in drive.closed {
            if closed.is_held {
                let queue = closed.domain * self.groups + closed.stream;
                queue_of[closed.block as usize] = queue as u32;
                queued += 1;
            } else {
                candidates[closed.domain] += 1;
            }
        }
        require(candidates == self.candidates, "Midas.candidates")?;
        require(queue_of == self.queue_of, "Midas.queue_of")?;
        for (queue, blocks) in (0..).zip(&self.queues) {
            for &block in blocks {
                let place = queue_of.get_mut(block as usize);
                let expected = place.is_some_and(|of| std::mem::replace(of, NO_QUEUE) == queue);
                require(expected, "Midas.queues")?;
                queued -= 1;
            }
        }
        require(queued == 0, "Midas.queues")
    }

    fn bytes(&self) -> u64 {
        let queued: usize = self.queues.iter().map(VecDeque::capacity).sum();
        // Four bytes a block here and in the queues, and one that marks those held back.
        self.last_writes.bytes() + (5 * self.queue_of.len() + 4 * queued + 8 * BUCKETS) as u64
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_begins_where_the_one_before_ends() {
        assert!((0..2000).all(|n| lower_edge(bucket(n)) <= n && n < lower_edge(bucket(n) + 1)));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_share_of_valid_pages_solves_its_equation() {
        for utilization in [0.1, 0.5, 0.9] {
            let v = valid_share(utilization);
            assert!(((v - 1.0) / v.ln() - utilization).abs() < 1e-6);
        }
    }
}
