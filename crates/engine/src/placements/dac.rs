//! Dynamic data clustering (DAC): host writes move a page up, collections move it down.
//! A page moves one region up with each host write, and one down each time that collection moves it
//! (Chiang, Lee & Chang 1999, "Using data clustering to improve cleaning performance for flash
//! memory"). In the paper, a page must also be young enough to move up, and old enough to move
//! down. The paper gives no value of this age, because it depends on the workload. Here the
//! condition applies only if `residence` sets the age. Otherwise every write and every migration
//! moves the page, as in the comparison of Wang et al. (FAST 2022).

use std::ops::Bound::{Excluded, Unbounded};

use super::LastWrites;
use super::{HostPage, Placement, RegisteredPlacement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::{require, state};

/// Region of a page that was never written.
const NEW: u8 = u8::MAX;

pub struct Dac {
    regions: u8,
    /// Region of each page; 0 is the coldest.
    region: Table<u8>,
    residence: Option<Residence>,
}

state!(Dac { fixed regions, table region, nested residence } where is_sound);

/// Time of each page's last placement, and the longest age at which a page counts as young.
struct Residence {
    since: LastWrites,
    young_writes: u64,
}

state!(Residence { nested since, fixed young_writes });

impl Residence {
    /// Returns true if the page was young until now, and records `now` as the time of its last
    /// placement.
    #[inline(always)]
    fn was_young(&mut self, logical: u32, now: u64) -> bool {
        self.since.replace(logical, now).is_some_and(|age| age < self.young_writes)
    }
}

impl Dac {
    fn is_sound(&self) -> bool {
        self.region.iter().all(|&region| region < self.regions || region == NEW)
    }
}

impl Registered<Sizes> for Dac {
    const ENTRY: Entry = Entry::new(
        "dac",
        "a page moves one region hotter with each write, one colder with each migration",
    )
    .example("dac:regions=4")
    .params(&[
        Param::new("regions", "6", Domain::Whole(2, 64), "number of regions"),
        Param::new(
            "residence",
            "off",
            Domain::Either(&Domain::Word(&["off"]), &Domain::Number(Excluded(0.0), Unbounded)),
            "drive writes since a page's last placement below which it is young: only young pages \
             move to a hotter region, only older ones to a colder region",
        )
        .later(),
    ])
    .small("dac:regions=3")
    .variants(&["dac:regions=3,residence=0.5"])
    .candidates(&[
        Pairs::usual(&["dac:regions=3", "dac:regions=6"], &["greedy"]),
        Pairs::usual(&["dac:regions=3", "dac:regions=4", "dac:regions=6"], &["cost-benefit"]),
        Pairs::rare(&["dac:regions=6"], &["d-choices:d=4"]),
    ]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let regions = params.integer("regions");
        let region = filled(NEW, sizes.logical_pages as usize)?;
        let residence = if params.text("residence") == "off" {
            None
        } else {
            let drive_writes = params.number("residence");
            let young_writes = (drive_writes * f64::from(sizes.logical_pages)) as u64;
            Some(Residence { since: LastWrites::new(sizes.logical_pages)?, young_writes })
        };
        Ok(Dac { regions, region, residence })
    }
}

impl Placement for Dac {
    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        let residence = self.residence.as_mut();
        let moves = residence.is_none_or(|residence| residence.was_young(page.logical, page.now));
        let region = &mut self.region[page.logical as usize];
        if *region == NEW {
            *region = 0;
        } else if moves {
            *region = (*region + 1).min(self.regions - 1);
        }
        usize::from(*region)
    }

    fn forget(&mut self, logical: u32) {
        self.region[logical as usize] = NEW;
        if let Some(residence) = &mut self.residence {
            residence.since.forget(logical);
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        let residence = self.residence.as_mut();
        let moves = residence.is_none_or(|residence| !residence.was_young(logical, victim.now));
        let region = &mut self.region[logical as usize];
        if moves {
            *region = region.saturating_sub(1);
        }
        usize::from(*region)
    }

    fn bytes(&self) -> u64 {
        self.region.len() as u64 + self.residence.as_ref().map_or(0, |r| r.since.bytes())
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        require(drive.holds_for_mapped_pages(|logical| self.region[logical] != NEW), "Dac.region")
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        prefetch(&self.region, logical as usize);
        if let Some(residence) = &self.residence {
            residence.since.prefetch(logical);
        }
    }
}

impl RegisteredPlacement for Dac {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let regions = params.integer("regions");
        Streams { all: regions, migration: regions }
    }
}
