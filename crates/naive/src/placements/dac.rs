//! DAC: a page moves one region up with each host write, and one down with each migration.
//!
//! With a residence time, a page moves up only if it was programmed less than that time ago. It
//! moves down only if it was programmed at least that time ago.

use std::collections::HashMap;

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Dac {
    regions: usize,
    region: HashMap<u32, usize>,
    residence_writes: Option<u64>,
    came_at: HashMap<u32, u64>,
}

impl Dac {
    /// True if the page was last programmed less than a residence time ago.
    /// Records that it is programmed again now.
    fn was_young(&mut self, logical: u32, now: u64) -> bool {
        let came = self.came_at.insert(logical, now);
        let residence = self.residence_writes.expect("a residence");
        came.is_some_and(|came| now - came < residence)
    }
}

impl Scheme for Dac {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let drive_writes = spec.word("residence", "off").parse::<f64>().ok();
        let pages = f64::from(setup.logical_pages);
        Dac {
            regions: spec.get("regions"),
            region: HashMap::new(),
            residence_writes: drive_writes.map(|count| (count * pages).floor() as u64),
            came_at: HashMap::new(),
        }
    }

    fn migration_stream(&self) -> usize {
        self.regions
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let stays = self.residence_writes.is_some() && !self.was_young(logical, now);
        let region = match self.region.get(&logical) {
            None => 0,
            Some(region) if stays || region + 1 == self.regions => *region,
            Some(region) => region + 1,
        };
        self.region.insert(logical, region);
        region
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.region.remove(&logical);
        self.came_at.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        let stays = self.residence_writes.is_some() && self.was_young(logical, victim.now);
        let region = self.region.get_mut(&logical).expect("a page written before");
        if *region > 0 && !stays {
            *region -= 1;
        }
        *region
    }
}
