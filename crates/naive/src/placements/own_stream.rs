//! Streams of their own for some pages; a placement has all other pages.

use super::{Collected, Hint, Scheme, Setup, Spec, placement};

/// Stream of own pages that the host writes.
/// Placements never return the numbers of these streams.
const WRITTEN: usize = usize::MAX - 2;
/// Stream of own pages that are migrated.
const MIGRATED: usize = usize::MAX - 1;

pub struct OwnStream {
    placement: Box<dyn Scheme>,
    /// True if the placement has one stream for all pages. Then so do the own pages.
    is_mixed: bool,
    /// For each logical page: true if it is an own page.
    pages: Vec<bool>,
}

impl OwnStream {
    fn is_own(&self, logical: u32) -> bool {
        self.pages[logical as usize]
    }
}

impl Scheme for OwnStream {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        OwnStream {
            placement: placement(spec, setup),
            is_mixed: spec.name == "single",
            pages: setup.own_pages.clone(),
        }
    }

    fn migration_stream(&self) -> usize {
        self.placement.migration_stream() + 1
    }

    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize {
        if self.is_own(logical) { WRITTEN } else { self.placement.host(logical, now, hint) }
    }

    fn on_unmapped(&mut self, logical: u32) {
        if !self.is_own(logical) {
            self.placement.on_unmapped(logical);
        }
    }

    fn collected(&mut self, victim: Collected) {
        if victim.stream != WRITTEN && victim.stream != MIGRATED {
            self.placement.collected(victim);
        }
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        match (self.is_own(logical), self.is_mixed) {
            (false, _) => self.placement.migrated(logical, victim),
            (true, false) => MIGRATED,
            (true, true) => WRITTEN,
        }
    }
}
