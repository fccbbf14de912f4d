//! Permutation: every page once per pass, in a new random order each pass.
//!
//! If the order were the same in every pass, as with fio 3.33's `randwrite` and `loops`,
//! whole blocks would become invalid in the order in which they were written. WA would then be 1,
//! which random writes never reach.

use super::{Site, Step, Workload, one_group};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::Params;
use crate::registry::{Entry, Registered};
use crate::rng::Stream;
use crate::state::state;

#[derive(Debug, Clone)]
pub struct Permutation {
    order: Table<u32>,
    next: usize,
    random: Stream,
}

state!(Permutation { table order, value next, nested random } where is_sound);

impl Permutation {
    fn is_sound(&self) -> bool {
        let mut seen = vec![false; self.order.len()];
        let is_new = |seen: &mut bool| !std::mem::replace(seen, true);
        self.next <= self.order.len()
            && self.order.iter().all(|&page| seen.get_mut(page as usize).is_some_and(is_new))
    }
}

impl Workload for Permutation {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if self.next == self.order.len() {
            self.random.shuffle(&mut self.order);
            self.next = 0;
        }
        let count = buffer.len().min(self.order.len() - self.next);
        buffer[..count].copy_from_slice(&self.order[self.next..self.next + count]);
        self.next += count;
        Step::Writes(count)
    }

    fn pages(&self) -> u32 {
        self.order.len() as u32
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(one_group(self.pages()))
    }
}

impl Registered<Site> for Permutation {
    const ENTRY: Entry =
        super::entry("permutation", "every page once per pass, in a new random order each pass");

    fn build(_params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let mut order = filled(0, pages as usize)?;
        for (page, slot) in order.iter_mut().enumerate() {
            *slot = page as u32;
        }
        Ok(Permutation { next: order.len(), order, random: context.random() })
    }
}
