//! `sprandom` of fio 3.41: random writes that leave flash blocks as full as steady ones do.
//!
//! The writes are divided into regions of equal size, each of which has a target share of valid
//! blocks. A share of the blocks that a region writes is drawn and written again in the next
//! region, which makes it invalid. The shares follow the distribution of valid pages that
//! Desnoyers (ACM Transactions on Storage 8, 2, 2012) derives for random writes.

use std::collections::VecDeque;

use crate::lfsr::Lfsr;
use crate::random::Random;

/// Unit of the share of blocks that become invalid.
const UNIT: f64 = 10_000.0;

/// Options of `sprandom`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprandom {
    /// `spr_op`: over-provisioning of the drive.
    pub op: f64,
    /// `spr_num_regions`.
    pub regions: u64,
    /// `spr_cs`: bytes of the drive's write cache, or 0.
    pub cache: u64,
}

impl Sprandom {
    /// Bytes of all writes to a region of `size` bytes, in blocks of `block` bytes.
    pub fn bytes(&self, size: u64, block: u64) -> u64 {
        let bytes = size + (size as f64 * self.op).ceil() as u64;
        bytes.next_multiple_of(block)
    }

    /// Bytes of each region of the writes.
    pub fn region_bytes(&self, size: u64, block: u64) -> u64 {
        self.bytes(size, block) / self.regions
    }

    /// Share of valid blocks of each region, in the order of the writes.
    pub(crate) fn validities(&self) -> Vec<f64> {
        let wa = 0.5 / self.op + 0.7;
        let validities = evenly(1.0, 1.0 - 1.0 / wa, self.regions);
        let mut end = 0.0;
        let ends: Vec<f64> = validities
            .iter()
            .map(|validity| {
                // A share of the drive is inversely proportional to its validity.
                end += 1.0 / validity;
                end
            })
            .collect();
        let places = evenly(ends[0], ends[ends.len() - 1], self.regions);
        places.iter().rev().map(|&place| interpolated(place, &ends, &validities)).collect()
    }
}

/// Numbers from one to another at equal distances.
fn evenly(first: f64, last: f64, count: u64) -> Vec<f64> {
    let step = if count > 1 { (last - first) / (count as f64 - 1.0) } else { 0.0 };
    (0..count).map(|number| first + number as f64 * step).collect()
}

/// Value at a place of a line through points with ascending places.
fn interpolated(place: f64, places: &[f64], values: &[f64]) -> f64 {
    let right = places.partition_point(|&other| other < place);
    if right == 0 {
        return values[0];
    }
    if right == places.len() {
        return values[right - 1];
    }
    let left = right - 1;
    let share = (place - places[left]) / (places[right] - places[left]);
    values[left] + (values[right] - values[left]) * share
}

/// Blocks that a copy of a job writes, in order.
#[derive(Debug, Clone)]
pub struct Regions {
    /// Blocks of each 10,000 that become invalid, by region.
    invalid: Vec<u64>,
    blocks_per_region: u64,
    /// Whether old blocks are written at the end of a region, beyond the drive's cache.
    is_deferred: bool,
    random: Random,
    region: usize,
    /// New blocks that the region still writes.
    left: u64,
    /// Blocks to write again: those of the last region, then those of this one.
    again: VecDeque<u64>,
    /// Number of blocks of the last region in `again`.
    of_last: usize,
    /// Number of blocks of this region that were drawn.
    drawn: u64,
}

impl Regions {
    /// Blocks of a region of `size` bytes, in blocks of `block` bytes.
    pub fn new(options: &Sprandom, size: u64, block: u64, seed: u64) -> Self {
        let invalid = |validity: &f64| ((1.0 - validity) * UNIT).round() as u64;
        let blocks_per_region = options.region_bytes(size, block) / block;
        Regions {
            invalid: options.validities().iter().map(invalid).collect(),
            blocks_per_region,
            is_deferred: options.cache > 0,
            random: Random::new(seed, false),
            region: 0,
            left: blocks_per_region,
            again: VecDeque::new(),
            of_last: 0,
            drawn: 0,
        }
    }

    /// Next block, or None after the last region or after the last block of the register.
    pub fn draw(&mut self, lfsr: &mut Lfsr) -> Option<u64> {
        if (!self.is_deferred || self.left == 0) && self.of_last > 0 {
            let block = self.pop();
            self.keep(block);
            return Some(block);
        }
        if self.left == 0 {
            if self.region >= self.invalid.len() {
                return None;
            }
            self.region += 1;
            // Regions of a few blocks may draw one block more than they write.
            self.left = self.blocks_per_region.saturating_sub(self.drawn);
            (self.of_last, self.drawn) = (self.again.len(), 0);
        }
        let Some(block) = lfsr.draw() else {
            // The cache has delayed these blocks, so they are still due.
            return (self.is_deferred && self.of_last > 0).then(|| self.pop());
        };
        self.left = self.left.saturating_sub(1);
        self.keep(block);
        Some(block)
    }

    fn pop(&mut self) -> u64 {
        self.of_last -= 1;
        self.again.pop_front().expect("blocks of the last region are in the queue")
    }

    /// Keeps a block with the chance of the region, to write it again.
    fn keep(&mut self, block: u64) {
        // fio reads beyond its table after the last region, whose blocks are not written again.
        let invalid = self.invalid.get(self.region).copied().unwrap_or(0);
        if self.random.between(0, UNIT as u64) <= invalid {
            self.again.push_back(block);
            self.drawn += 1;
        }
    }
}
