//! Caches of large objects, as the offloaded key-value (KV) caches of language models.
//! (`LMCache` #3527, the eviction of its raw-block backend; #4016, its load; Mooncake, FAST 2025.)
//!
//! Each class of objects has consecutive slots of the size of its objects. A new object is written
//! to a free slot. If there are too many objects, the least recently used one is evicted before.
//! Requests write to several objects at the same time, one of each class.

use std::ops::Bound::{Included, Unbounded};
use std::ops::Range;

use super::activities::{Activities, Application, refuse_trim};
use super::age_list::AgeList;
use super::shares::{Draw, regions, write_shares};
use super::zones::{REQUEST_BYTES, request_pages, whole_pages};
use super::{MOST_GROUPS, Site, Step, Workload};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params};
use crate::registry::{Entry, Registered};
use crate::request::Request;
use crate::rng::{Stream, threshold};
use crate::state::state;

/// Objects of one size, with slots of their own.
#[derive(Debug)]
struct Class {
    region: Range<u32>,
    object_pages: u32,
    slots: u32,
    /// Most objects, with the one that is being written.
    most_objects: usize,
    write_share: f64,

    /// Slots of complete objects, by the last use of the object.
    by_use: AgeList,
    free: Vec<u32>,
    /// Slot of the object that is being written, if there is one, and pages written of it.
    slot: Option<u32>,
    written: u32,
}

state! {
    Class {
        fixed region, fixed object_pages, fixed slots, fixed most_objects, fixed write_share,
        nested by_use, list free, value slot, value written,
    } where is_sound
}

impl Class {
    fn is_sound(&self) -> bool {
        let mut is_used = vec![false; self.slots as usize];
        let mut is_new = |slot: u32| {
            is_used.get_mut(slot as usize).is_some_and(|used| !std::mem::replace(used, true))
        };
        self.by_use.iter().chain(self.free.iter().copied()).chain(self.slot).all(&mut is_new)
            && is_used.iter().all(|&used| used)
            && self.by_use.len() + usize::from(self.slot.is_some()) <= self.most_objects
            && self.written < self.object_pages
            && (self.slot.is_some() || self.written == 0)
    }

    fn range_of(&self, slot: u32) -> Range<u32> {
        let first = self.region.start + slot * self.object_pages;
        first..first + self.object_pages
    }

    /// Uses objects at random until a missing one is requested, which is then written.
    /// Returns the slot of the object that is evicted for it, if any is.
    fn begin(&mut self, reuse: u64, random: &mut Stream) -> Option<u32> {
        while random.chance(reuse) {
            let slot = std::iter::repeat_with(|| random.below(self.slots));
            let used = slot.take(self.slots as usize).find(|&slot| self.by_use.contains(slot));
            if let Some(slot) = used {
                self.by_use.renew(slot);
            }
        }
        let is_full = self.by_use.len() >= self.most_objects;
        let evicted = self.by_use.oldest().filter(|_| is_full);
        if let Some(slot) = evicted {
            self.by_use.remove(slot);
            self.free.push(slot);
        }
        let index = random.below(self.free.len() as u32) as usize;
        self.slot = Some(self.free.swap_remove(index));
        evicted
    }

    /// Objects before the run. Without reuse, they were written in order.
    fn load(&mut self, is_in_order: bool, random: &mut Stream) {
        let mut slots: Vec<u32> = (0..self.slots).collect();
        if !is_in_order {
            random.shuffle(&mut slots);
        }
        self.free = slots.split_off(self.most_objects);
        for slot in slots {
            self.by_use.renew(slot);
        }
    }
}

pub struct KvOffload {
    pages: u32,
    request_pages: u32,
    has_discard: bool,
    reuse_threshold: u64,
    draw: Draw,
    random: Stream,

    classes: Vec<Class>,
    /// Class of the current request, and pages that the request still has to write.
    current: u32,
    left: u32,
    activities: Activities,
}

state! {
    KvOffload {
        fixed pages, fixed request_pages, fixed has_discard, fixed reuse_threshold, fixed draw,
        nested random, nested classes, value current, value left, value activities,
    } where is_sound
}

impl KvOffload {
    fn is_sound(&self) -> bool {
        (self.current as usize) < self.classes.len()
            && self.left <= self.request_pages
            && self.activities.are_inside(self.pages)
    }
}

impl Application for KvOffload {
    fn activities(&mut self) -> &mut Activities {
        &mut self.activities
    }

    /// Continues the object of the current request, or begins the next.
    fn plan(&mut self, buffer: &mut [u32]) -> usize {
        if self.left == 0 {
            self.current = self.draw.item(self.random.bits()) as u32;
            self.left = self.request_pages;
        }
        let class = &mut self.classes[self.current as usize];
        let Some(slot) = class.slot else {
            let evicted = class.begin(self.reuse_threshold, &mut self.random);
            if let Some(slot) = evicted
                && self.has_discard
            {
                self.activities.trim(class.range_of(slot));
            }
            return 0;
        };
        let count = buffer.len().min(self.left.min(class.object_pages - class.written) as usize);
        let pages = class.range_of(slot).skip(class.written as usize);
        buffer[..count].iter_mut().zip(pages).for_each(|(place, page)| *place = page);
        self.left -= count as u32;
        class.written += count as u32;
        if class.written == class.object_pages {
            class.by_use.renew(slot);
            (class.slot, class.written) = (None, 0);
        }
        count
    }
}

impl Workload for KvOffload {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.next_step(buffer)
    }

    fn next_request(&mut self) -> Option<Request> {
        Some(self.next_whole())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    /// The classes, so that each has a placement handle of its own.
    fn groups(&self) -> Option<Vec<Group>> {
        let group = |class: &Class| Group {
            pages: class.region.len() as u32,
            write_share: class.write_share,
        };
        Some(self.classes.iter().map(group).collect())
    }

    fn has_fixed_ranges(&self) -> bool {
        true
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            *group = self.classes.partition_point(|class| class.region.end <= page) as u8;
        }
    }
}

impl Registered<Site> for KvOffload {
    const ENTRY: Entry = super::entry(
        "kv-offload",
        "caches of large objects that are evicted by their last use, as KV caches of language models",
    )
    .example("kv-offload:objects=8k/40k,space=1/3,writes=1/1,bs=12k")
    .variants(&["kv-offload:objects=40k,space=1,writes=1,reuse=0,used=80%,bs=4k,discard=on"])
    .params(&[
        Param::new(
            "objects",
            "1M/2M/4M/16M/32M",
            Domain::List(&Domain::Bytes(512, 1 << 40)),
            "bytes of an object of each class, rounded to whole pages",
        )
        .extent(Extent::EraseUnits),
        Param::new(
            "space",
            "45/270/180/180/180",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative size of each class's space",
        ),
        Param::new(
            "writes",
            "45/270/180/180/180",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative number of pages written to each class",
        )
        .stated(),
        Param::new(
            "reuse",
            "0.5",
            Domain::Number(Included(0.0), Included(0.99)),
            "share of the requested objects that the cache holds; each of them is requested with \
             equal probability",
        )
        .stated(),
        Param::new(
            "used",
            "1",
            Domain::Number(Included(0.1), Included(1.0)),
            "slots that hold objects, as a share of all slots of a class; at least one",
        ),
        Param::new(
            "bs",
            "512k",
            REQUEST_BYTES,
            "bytes written to a class before another class is drawn, rounded to whole pages, at \
             least one",
        )
        .extent(Extent::EraseUnits),
        Param::new(
            "discard",
            "off",
            Domain::Word(&["on", "off"]),
            "on: evicted objects are trimmed; off: their pages are only overwritten",
        ),
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        refuse_trim(params)?;
        let regions = regions(params, "space", site.pages)?;
        let shares = write_shares(params, "writes")?;
        let objects = params.items("objects");
        let (classes, most) = (objects.len(), MOST_GROUPS);
        if [regions.len(), shares.len()] != [classes; 2] || classes > most {
            return Err(Error::Spec(format!(
                "kv-offload: {classes} objects, {} space and {} writes; give one of each for every \
                 class, of which there are at most {most}",
                regions.len(),
                shares.len()
            )));
        }
        let mut workload = KvOffload {
            pages: site.pages,
            request_pages: request_pages(params, site),
            has_discard: params.choice("discard", &[("on", true), ("off", false)]),
            reuse_threshold: threshold(params.number("reuse")),
            draw: Draw::new(&shares),
            random: site.context.random(),
            classes: Vec::new(),
            current: 0,
            left: 0,
            activities: Activities::default(),
        };
        let classes = params.sizes("objects").into_iter().zip(regions).zip(shares);
        for ((bytes, region), write_share) in classes {
            let object_pages = whole_pages(bytes, site.page_bytes);
            let slots = (region.len() as u64).checked_div(object_pages).unwrap_or(0) as u32;
            if slots < 2 {
                return Err(Error::Spec(format!(
                    "kv-offload: objects of {bytes} bytes are {object_pages} pages, and their \
                     space of {} pages holds {slots} of them; give objects of at least half a \
                     page, at least two of which fit in their space, or a larger drive",
                    region.len()
                )));
            }
            let most_objects = (params.number("used") * f64::from(slots)).round().max(1.0) as usize;
            let object_pages = object_pages as u32;
            let by_use = AgeList::new(slots)?;
            let mut class = Class {
                region,
                object_pages,
                slots,
                most_objects,
                write_share,
                by_use,
                free: Vec::new(),
                slot: None,
                written: 0,
            };
            class.load(workload.reuse_threshold == 0, &mut workload.random);
            if workload.has_discard {
                // The fill may have written pages that hold no object.
                let end = class.region.start + slots * object_pages;
                class.free.iter().for_each(|&slot| workload.activities.trim(class.range_of(slot)));
                workload.activities.trim(end..class.region.end);
            }
            workload.classes.push(class);
        }
        Ok(workload)
    }
}

#[cfg(test)]
mod tests;
