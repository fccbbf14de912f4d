//! Dynamic data clustering: a page moves one region up with each write of the host, and one down
//! each time that collection moves it (Chiang, Lee & Chang 1999, "Using data clustering to improve
//! cleaning performance for flash memory"). Their regions also ask for how long a page has stayed;
//! here, as where DAC is compared with (Wang et al., FAST 2022), every move counts.

use super::{HostPage, Placement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{filled, prefetch};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::state::{require, state};

/// Not written yet.
const NEW: u8 = u8::MAX;

pub struct Dac {
    regions: u8,
    /// The region of each page, 0 the coldest.
    region: Vec<u8>,
}

state!(Dac { fixed regions, table region } where is_sound);

impl Dac {
    fn is_sound(&self) -> bool {
        self.region.iter().all(|&region| region < self.regions || region == NEW)
    }
}

impl Registered<Sizes> for Dac {
    const ENTRY: Entry =
        Entry::new("dac", "a region hotter with each write, one colder with each migration")
            .example("dac:regions=4")
            .params(&[Param::new("regions", "6", Domain::Whole(2, 64), "regions")])
            .small("dac:regions=3");

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let regions = params.integer("regions");
        Ok(Dac { regions, region: filled(NEW, sizes.logical_pages as usize)? })
    }
}

impl Placement for Dac {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let regions = params.integer("regions");
        Streams { all: regions, migration: regions }
    }

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        let region = &mut self.region[page.logical as usize];
        *region = if *region == NEW { 0 } else { (*region + 1).min(self.regions - 1) };
        usize::from(*region)
    }

    fn forget(&mut self, logical: u32) {
        self.region[logical as usize] = NEW;
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
        let region = &mut self.region[logical as usize];
        *region = region.saturating_sub(1);
        usize::from(*region)
    }

    fn bytes(&self) -> u64 {
        self.region.len() as u64
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        require(drive.knows_pages(|logical| self.region[logical] != NEW), "Dac.region")
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        prefetch(&self.region, logical as usize);
    }
}
