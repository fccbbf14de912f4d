//! `FADaC`: streams by the number of writes, less the number of migrations.

use std::collections::HashMap;

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Fadac {
    classes: usize,
    logical_pages: u64,
    counts: HashMap<u32, u64>,
    /// Average count, times 2^32.
    average: u64,
}

impl Fadac {
    /// Returns how many of the bounds average, 10·average, 100·average… the page's count exceeds.
    fn class(&self, logical: u32) -> usize {
        let count = self.counts[&logical] << 32;
        let exceeds = |power: &u32| count > self.average * 10u64.pow(*power);
        (0..self.classes as u32 - 1).filter(exceeds).count()
    }
}

impl Scheme for Fadac {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let logical_pages = u64::from(setup.logical_pages);
        Fadac { classes: spec.get("classes"), logical_pages, counts: HashMap::new(), average: 0 }
    }

    fn migration_stream(&self) -> usize {
        self.classes
    }

    fn host(&mut self, logical: u32, _now: u64, _hint: Hint) -> usize {
        self.average += (1 << 32) / self.logical_pages;
        self.average -= (self.average - (1 << 32) / self.logical_pages) / self.logical_pages;
        *self.counts.entry(logical).or_default() += 1;
        self.class(logical)
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.counts.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let count = self.counts.get_mut(&logical).expect("a page written before");
        *count = count.saturating_sub(1);
        self.class(logical)
    }
}
