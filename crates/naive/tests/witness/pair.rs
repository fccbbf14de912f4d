//! A drive of the engine and a naive drive that serve the same requests.

use std::fmt::Debug;

use writeamp_engine::flash::{Array, Cause, Moment, Wear};
use writeamp_engine::hints::{Group, Hints, NEVER, UNTAGGED};
use writeamp_engine::leveling::WEAR_LEVELERS;
use writeamp_engine::managers::MANAGERS;
use writeamp_engine::managers::{self, BlockManager, Layout};
use writeamp_engine::registry::Registry;
use writeamp_engine::victims::VICTIMS;
use writeamp_naive::{
    Counters, EndOfLife, Erased, GroupRules, Hint, HostGroup, Leveling, Manager, NaiveDrive, Setup,
    Spec, TagCounts, Transfers,
};

use crate::cases::{Case, TAGS};
use crate::host::{Burst, Request};

/// Largest number of requests that the message of a failure quotes.
const QUOTED_REQUESTS: usize = 100;

/// The host has two groups of pages; the first has 1 / this number of the pages.
const GROUP_DIVISOR: u32 = 4;

/// Shares of the writes that go to the first group, in consecutive bursts.
/// They test the rounding of write frequencies to whole steps in FDP.
const FIRST_SHARES: [f64; 3] = [0.9, 0.05, 0.5];

/// Returns the invalidation time that the drives get as a hint on a page.
///
/// The page need not become invalid at that time, so it may be in the past when the page is
/// collected.
fn invalidation_time(page: u32, now: u64) -> u64 {
    if page.is_multiple_of(5) { NEVER } else { now + u64::from(page) * 37 % 800 }
}

/// The two drives, and the requests that they have served so far.
pub struct Pair {
    engine: Box<dyn BlockManager>,
    naive: NaiveDrive,
    drive: Case,
    served: Vec<Request>,
    bursts: usize,
}

impl Pair {
    pub fn new(drive: &Case) -> Self {
        let blueprint = &drive.blueprint;
        let policies = &blueprint.policies;
        let naive = NaiveDrive::new(Setup {
            blocks: blueprint.geometry.blocks(),
            pages_per_block: blueprint.geometry.pages_per_block(),
            logical_pages: drive.logical_pages,
            table_pages: blueprint.table_pages(drive.logical_pages),
            luns: blueprint.geometry.luns(),
            layout: match policies.layout {
                Layout::Flat => writeamp_naive::Layout::Flat,
                Layout::Striped => writeamp_naive::Layout::Striped,
                Layout::StripedPerLun => writeamp_naive::Layout::StripedPerLun,
                Layout::Static => writeamp_naive::Layout::Static,
            },
            manager: manager(policies.manager),
            own_pages: blueprint.own_pages(drive.logical_pages).unwrap_or_default(),
            victims: spec(&VICTIMS, policies.victims),
            leveling: leveler(policies.wear_leveling),
            seed: blueprint.seed,
            wear: wear(blueprint.wear),
            counts_handles: blueprint.counts_handles(),
        });
        let engine = blueprint.build(drive.logical_pages).expect("a drive that the engine accepts");
        Pair { engine, naive, drive: drive.clone(), served: Vec::new(), bursts: 0 }
    }

    pub fn counters(&self) -> Counters {
        self.naive.counters()
    }

    pub fn life_ended(&self) -> bool {
        self.naive.end_of_life().is_some()
    }

    /// Serves a burst on both drives and compares all of their state after every batch.
    pub fn serve(&mut self, burst: &Burst) -> Result<(), String> {
        let groups = host_groups(self.drive.logical_pages, self.bursts);
        let first_pages = groups[0].pages;
        self.bursts += 1;
        for batch in 0..burst.batches() {
            let on_lun = |lun| self.logical_pages_on(lun);
            let request = burst.request(batch, self.drive.logical_pages, on_lun);
            match &request {
                Request::Write(pages) => {
                    let clock = self.naive.counters().host_programs;
                    let invalidation_times: Vec<u64> = pages
                        .iter()
                        .zip(clock..)
                        .map(|(&page, now)| invalidation_time(page, now))
                        .collect();
                    let group_of: Vec<u8> =
                        pages.iter().map(|&page| u8::from(page >= first_pages)).collect();
                    self.naive.set_host_groups(&groups.map(|group| HostGroup {
                        pages: group.pages,
                        write_share: group.write_share,
                    }));
                    let tags: Vec<u8> =
                        pages.iter().zip(clock..).map(|(&page, now)| tag(page, now)).collect();
                    // In every second burst, the host names no handles.
                    let named = if self.bursts.is_multiple_of(2) { pages.as_slice() } else { &[] };
                    let placement: Vec<u8> =
                        named.iter().zip(clock..).map(|(&page, now)| handle(page, now)).collect();
                    for (at, &page) in pages.iter().enumerate() {
                        let (group, tag) = (group_of[at], tags[at]);
                        let invalidation_time = invalidation_times[at];
                        let handle = placement.get(at).copied().filter(|&of| of != UNTAGGED);
                        let invalidation_time =
                            (invalidation_time != NEVER).then_some(invalidation_time);
                        self.naive.write(page, Hint { group, invalidation_time, tag, handle });
                    }
                    let hints = Hints {
                        groups: &groups,
                        group_of: &group_of,
                        invalidation_times: &invalidation_times,
                        tags: &tags,
                        placement: &placement,
                    };
                    self.engine.write(pages, Some(hints)).expect("pages of the drive");
                }
                Request::Idle(lun) => {
                    let lun = lun % self.drive.blueprint.geometry.luns();
                    let collected = self.engine.collect_idle(lun as usize).expect("a victim");
                    equal("idle collection", &collected, &self.naive.collect_idle(lun))?;
                }
                Request::Trim(pages) => {
                    for &page in pages {
                        self.naive.trim(page);
                    }
                    for range in pages.chunk_by(|page, next| page + 1 == *next) {
                        let range = range[0]..range[0] + range.len() as u32;
                        self.engine.trim(range).expect("pages of the drive");
                    }
                }
            }
            self.served.push(request);
            self.engine.assert_invariants();
            self.compare().map_err(|difference| self.report(&difference))?;
        }
        Ok(())
    }

    fn logical_pages_on(&self, lun: u32) -> Vec<u32> {
        let geometry = &self.drive.blueprint.geometry;
        let lun_pages = geometry.blocks_per_lun() * geometry.pages_per_block();
        let lun = lun % geometry.luns();
        self.naive.map().into_iter().filter(|(_, p)| p / lun_pages == lun).map(|(l, _)| l).collect()
    }

    fn compare(&self) -> Result<(), String> {
        let flash = self.engine.flash();
        let counters = Counters {
            host_programs: flash.counters().programs(Cause::Host),
            gc_programs: flash.counters().programs(Cause::Gc),
            table_programs: flash.counters().programs(Cause::Mapping),
            wear_leveling_programs: flash.counters().programs(Cause::WearLeveling),
            erases: flash.counters().erases,
            trimmed_pages: flash.counters().unmapped_pages,
        };
        let host_pages = flash.counters().host.written_pages;
        equal("the host's clock", &host_pages, &self.naive.counters().host_programs)?;
        equal("the counters", &counters, &self.naive.counters())?;
        equal("the counters by tag", &by_tag(flash), self.naive.by_tag())?;
        if self.drive.blueprint.counts_handles() {
            let engine = transfers(flash);
            let naive = sums(self.naive.transfers(), engine.len() as u8 - 1);
            equal("the pages moved between handles", &engine, &naive)?;
        }
        equal("the erases of each block", flash.erase_counts(), self.naive.erase_counts())?;
        let of_blocks = |invalid_pages: &dyn Fn(u32) -> u32| -> Vec<u32> {
            (0..flash.geometry().blocks()).map(invalid_pages).collect()
        };
        let engine = of_blocks(&|block| flash.invalid_pages(block));
        let naive = of_blocks(&|block| self.naive.invalid_pages(block));
        equal("the invalid pages of each block", &engine, &naive)?;
        let map = (0..flash.logical_pages())
            .filter_map(|logical| flash.physical(logical).map(|physical| (logical, physical)))
            .collect();
        equal("the map", &map, &self.naive.map())?;
        equal("the mapped pages", &(flash.mapped_pages() as usize), &map.len())?;
        self.compare_wear()
    }

    fn compare_wear(&self) -> Result<(), String> {
        let log = self.engine.flash().wear();
        let first_to_reach: Vec<Erased> = log.first_to_reach().iter().map(erased).collect();
        equal("the first to wear", &first_to_reach[..], self.naive.first_to_reach())?;
        let end_of_life = log.end_of_life().map(|end| EndOfLife {
            after: erased(&end.moment),
            erase_counts: end.erase_counts.clone(),
        });
        equal("the end of life", &end_of_life.as_ref(), &self.naive.end_of_life())?;
        equal("the spare blocks", log.spares(), self.naive.spares())
    }

    fn report(&self, difference: &str) -> String {
        let first = self.served.len().saturating_sub(QUOTED_REQUESTS);
        format!(
            "{difference}\nafter {} requests, of which the last are {:?}",
            self.served.len(),
            &self.served[first..]
        )
    }
}

fn equal<T: PartialEq + Debug + ?Sized>(what: &str, engine: &T, naive: &T) -> Result<(), String> {
    if engine == naive {
        Ok(())
    } else {
        Err(format!("{what} differ:\nengine {engine:?}\nnaive  {naive:?}"))
    }
}

/// Returns the programs by tag and cause, without those that are 0.
fn by_tag(flash: &Array) -> TagCounts {
    let counters = flash.tag_counters().expect("a drive that counts by tag");
    let keys = counters.tags().flat_map(|tag| Cause::ALL.map(|cause| (tag, cause)));
    keys.map(|(tag, cause)| ((tag, cause as usize), counters.programs(tag, cause)))
        .filter(|&(_, programs)| programs > 0)
        .collect()
}

/// Returns the tag of a write: few tags, and sometimes none.
fn tag(page: u32, now: u64) -> u8 {
    match (u64::from(page) + now) * 7 % 11 % u64::from(TAGS + 1) {
        tag if tag < u64::from(TAGS) => tag as u8,
        _ => UNTAGGED,
    }
}

/// Returns the placement handle that the host names: sometimes none, or one too high.
fn handle(page: u32, now: u64) -> u8 {
    match (u64::from(page) * 5 + now) % 7 {
        6 => UNTAGGED,
        handle => handle as u8,
    }
}

/// Returns the pages moved into and out of the blocks of each handle, and of shared blocks.
fn transfers(flash: &Array) -> Vec<(u64, u64)> {
    let counters = flash.tag_counters().expect("a drive that counts by handle");
    (0..counters.number()).chain([UNTAGGED]).map(|handle| counters.transfers(handle)).collect()
}

/// Returns the same sums of a naive drive's transfers, for a drive with `handles` handles.
fn sums(transfers: &Transfers, handles: u8) -> Vec<(u64, u64)> {
    let sums_of = |own: Option<u8>| {
        transfers.iter().fold((0, 0), |(moved_in, moved_out), (&(from, into), &pages)| {
            let pages_if = |is_counted| if is_counted { pages } else { 0 };
            (moved_in + pages_if(into == own), moved_out + pages_if(from == own))
        })
    };
    (0..handles).map(Some).chain([None]).map(sums_of).collect()
}

fn erased(moment: &Moment) -> Erased {
    Erased {
        erases: moment.erases,
        migrated_pages: Cause::ALL.iter().map(|&cause| moment.migrated_pages(cause)).sum(),
        host_pages: moment.host_pages,
    }
}

fn wear(wear: Wear) -> writeamp_naive::Wear {
    writeamp_naive::Wear {
        limit: (wear.limit != Wear::NO_LIMIT).then_some(wear.limit),
        spare_blocks_per_pool: wear.spare_blocks_per_pool,
    }
}

/// Returns the host's description of its two groups: the first pages, and the others.
///
/// The description changes with each burst, and so does the hotter group.
fn host_groups(logical_pages: u32, bursts: usize) -> [Group; 2] {
    let first_pages = logical_pages / GROUP_DIVISOR;
    let first_share = FIRST_SHARES[bursts % FIRST_SHARES.len()];
    [(first_pages, first_share), (logical_pages - first_pages, 1.0 - first_share)]
        .map(|(pages, write_share)| Group { pages, write_share })
}

/// Returns the spec for the naive drive, with all parameters.
pub fn spec(registry: &Registry, text: &str) -> Spec {
    let params = registry.read(text).expect("a spec of its entry");
    let values: Vec<_> = params.canonical_values().collect();
    Spec::new(params.entry().name, values.iter().map(|(name, value)| (*name, value.as_str())))
}

pub fn manager(text: &str) -> Manager {
    let spec = spec(&MANAGERS, text);
    if managers::declared(text).is_ok_and(|declared| declared.is_placement) {
        return Manager::Placed(spec);
    }
    match spec.name.as_str() {
        "hcwf" => Manager::HotCold { d_swap: None },
        "hcwf-swap" => Manager::HotCold { d_swap: Some(spec.get("d_swap")) },
        "two-region" => Manager::TwoRegion { below: spec.get("below") },
        // A canonical spec leaves out `moves` at its default.
        "wolf" | "wolf-interval" => {
            Manager::Grouped(GroupRules::wolf(|name| spec.get_or(name, "unlimited".to_owned())))
        }
        "fdp-frequency" => Manager::Grouped(GroupRules::fdp(|name| spec.get(name))),
        other => panic!(
            "block manager '{other}' has no naive counterpart; write one in crates/naive/src/drive/ \
             and name it here"
        ),
    }
}

fn leveler(text: Option<&str>) -> Leveling {
    let Some(text) = text else { return Leveling::None };
    let spec = spec(&WEAR_LEVELERS, text);
    match spec.name.as_str() {
        "youngest-free" => Leveling::YoungestFree { reserve_blocks: spec.get("reserve") },
        "static" => Leveling::Static { threshold: spec.get("threshold") },
        "dual-pool" => Leveling::DualPool { threshold: spec.get("threshold") },
        other => panic!(
            "wear leveller '{other}' has no naive counterpart; write one in \
             crates/naive/src/drive/leveling.rs and name it here"
        ),
    }
}
