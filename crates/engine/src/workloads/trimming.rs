//! TRIMs among the writes of any workload.

use std::ops::Range;

use super::{Schedule, Step, Unserved, Workload};
use crate::hints::Group;
use crate::request::{Op, Request};
use crate::rng::{Stream, threshold};
use crate::state::state;

const BUFFERED_PAGES: usize = 256;

/// Workload in which a random share of the page writes is replaced by TRIMs of the page.
pub struct Trimming {
    workload: Box<dyn Workload>,
    threshold: u64,
    random: Stream,
    buffer: [u32; BUFFERED_PAGES],
    /// Range of `buffer` with the drawn pages that were neither written nor trimmed yet.
    ready: Range<usize>,
    /// True if the first of the drawn pages will be trimmed, not written.
    trims_next: bool,
}

state!(Trimming {
    nested workload, fixed threshold, nested random, table buffer, value ready, value trims_next,
} where is_sound);

impl Trimming {
    fn is_sound(&self) -> bool {
        self.ready.start <= self.ready.end
            && self.ready.end <= BUFFERED_PAGES
            && !(self.trims_next && self.ready.is_empty())
            && self.buffer.iter().all(|page| *page < self.pages())
    }

    /// Trims instead of writing with probability `share`, from 0 to 1.
    pub fn new(workload: Box<dyn Workload>, share: f64, random: Stream) -> Self {
        Trimming {
            workload,
            threshold: threshold(share),
            random,
            buffer: [0; BUFFERED_PAGES],
            ready: 0..0,
            trims_next: false,
        }
    }
}

impl Workload for Trimming {
    /// Draws from one batch of the workload at a time, because its groups may change with the
    /// next.
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if self.ready.is_empty() {
            match self.workload.next(&mut self.buffer) {
                Step::Writes(count) => self.ready = 0..count,
                other => return other,
            }
        }
        let mut filled = 0;
        while !self.trims_next && filled < buffer.len() && !self.ready.is_empty() {
            self.trims_next = self.random.chance(self.threshold);
            if !self.trims_next {
                buffer[filled] = self.buffer[self.ready.start];
                self.ready.start += 1;
                filled += 1;
            }
        }
        if filled > 0 {
            return Step::Writes(filled);
        }
        self.trims_next = false;
        let page = self.buffer[self.ready.start];
        self.ready.start += 1;
        Step::Request(Request::of_pages(Op::Trim, page..page + 1))
    }

    fn take_unserved(&mut self) -> Unserved {
        self.workload.take_unserved()
    }

    fn pages(&self) -> u32 {
        self.workload.pages()
    }

    fn horizon_writes(&self) -> u64 {
        self.workload.horizon_writes()
    }

    fn application_bytes(&self) -> Option<u64> {
        self.workload.application_bytes()
    }

    /// A TRIM replaces a page write and is not counted as a write.
    /// A change of the workload therefore comes after fewer counted writes.
    fn schedule(&self) -> Schedule {
        let trimmed = self.threshold as f64 / 2.0_f64.powi(64);
        let Schedule { last_change, cycle } = self.workload.schedule();
        let written = 1.0 - trimmed;
        Schedule { last_change: last_change * written, cycle: cycle * written }
    }

    fn groups(&self) -> Option<Vec<Group>> {
        self.workload.groups()
    }

    fn has_fixed_ranges(&self) -> bool {
        self.workload.has_fixed_ranges()
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        self.workload.find_groups(pages, group_of);
    }
}
