//! One region up with each write of the host, one down with each migration.

use std::collections::HashMap;

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Dac {
    regions: usize,
    region: HashMap<u32, usize>,
}

impl Scheme for Dac {
    fn read(spec: &Spec, _setup: &Setup) -> Self {
        Dac { regions: spec.get("regions"), region: HashMap::new() }
    }

    fn migration_stream(&self) -> usize {
        self.regions
    }

    fn host(&mut self, logical: u32, _now: u64, _hint: Hint) -> usize {
        let region = match self.region.get(&logical) {
            None => 0,
            Some(hottest) if hottest + 1 == self.regions => *hottest,
            Some(region) => region + 1,
        };
        self.region.insert(logical, region);
        region
    }

    fn forgets(&mut self, logical: u32) {
        self.region.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let region = self.region.get_mut(&logical).expect("a page written before");
        if *region > 0 {
            *region -= 1;
        }
        *region
    }
}
