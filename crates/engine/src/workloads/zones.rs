//! Zones: a host that writes sequentially inside zones, several of which are active.
//!
//! After the patterns `zns` and `nowa` of SSD-iq (PVLDB 18(11), 2025) and of its successor for
//! `ZLeanStore` (arXiv 2603.09927). Each request goes to a random active zone. In
//! `zones-sequential`, a full zone is replaced by a random other one. In `nowa`, all active zones
//! are filled before a random other group of zones is rewritten. Zones that were written together
//! then become invalid together, with all erase units that they share.

use std::ops::Range;

use super::{Site, Step, Workload, one_group};
use crate::error::{Error, Result};
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params, U32_MAX};
use crate::registry::{Entry, Registered};
use crate::request::{Op, Request};
use crate::rng::Stream;
use crate::state::state;

/// Largest zone, in bytes.
const MOST_ZONE_BYTES: u64 = 1 << 44;

/// Smallest size, in bytes. Requests below a page write one page.
const LEAST_BYTES: u64 = 512;

/// Domain of the bytes that are written to a zone, or another file, before the next is drawn.
pub(super) const REQUEST_BYTES: Domain = Domain::Bytes(LEAST_BYTES, 64 << 20);

/// Values of `reset`, and whether a zone is trimmed before it is rewritten.
const RESETS: [(&str, bool); 2] = [("trim", true), ("none", false)];

const ZONE: Param = Param::required(
    "zone",
    Domain::Bytes(LEAST_BYTES, MOST_ZONE_BYTES),
    "bytes of a zone, rounded to whole pages; pages beyond the last whole zone are not used",
)
.extent(Extent::Bytes);
const RESET: Param = Param::new(
    "reset",
    "trim",
    Domain::Word(&["trim", "none"]),
    "trim: the whole zone is trimmed before it is rewritten; none: its pages are overwritten",
);
const BS: Param = Param::new(
    "bs",
    "512k",
    REQUEST_BYTES,
    "bytes written to a zone before another active zone is drawn, rounded to whole pages, at least \
     one",
)
.extent(Extent::EraseUnits);

/// Pages of a size in bytes, rounded.
pub(super) fn whole_pages(bytes: u64, page_bytes: u32) -> u64 {
    (bytes + u64::from(page_bytes) / 2) / u64::from(page_bytes)
}

/// Pages of a request of the parameter `bs`, at least one.
pub(super) fn request_pages(params: &Params, site: &Site) -> u32 {
    whole_pages(params.bytes(BS.name), site.page_bytes).max(1) as u32
}

/// Active zones and their order of rewriting.
///
/// A group is the unit that is chosen for rewriting: one zone, or `active` zones of `nowa`.
#[derive(Debug, Clone)]
struct Zones {
    pages: u32,
    zone_pages: u32,
    request_pages: u32,
    is_trimmed: bool,
    /// Number of zones of a group, which are consecutive and are rewritten together.
    together: u32,
    /// Groups that are written at the same time.
    active_groups: u32,
    /// Permutation of all groups; the first `active_groups` are being written.
    groups: Table<u32>,
    /// Pages written of each active zone, group after group.
    written: Table<u32>,
    /// Active zones that are not full. Zones of a full group stay absent until it is replaced.
    open: Vec<u32>,
    /// Active zone of the current request, and pages that the request still has to write.
    current: u32,
    left: u32,
    /// Pages to be trimmed before the next write.
    trim: Option<Range<u32>>,
    random: Stream,
}

state!(Zones {
    fixed pages, fixed zone_pages, fixed request_pages, fixed is_trimmed, fixed together,
    fixed active_groups, table groups, table written, value open, value current, value left,
    value trim, nested random,
} where is_sound);

impl Zones {
    fn is_sound(&self) -> bool {
        let mut seen = vec![false; self.groups.len()];
        let is_new = |seen: &mut bool| !std::mem::replace(seen, true);
        let mut is_open = vec![false; self.written.len()];
        let is_permutation =
            self.groups.iter().all(|&group| seen.get_mut(group as usize).is_some_and(is_new));
        let are_open = self.open.iter().all(|&slot| {
            is_open.get_mut(slot as usize).is_some_and(is_new)
                && self.written[slot as usize] < self.zone_pages
        });
        let is_inside = |trim: &Range<u32>| trim.start < trim.end && trim.end <= self.pages;
        is_permutation
            && are_open
            && !self.open.is_empty()
            && self.written.iter().all(|&pages| pages <= self.zone_pages)
            && (self.left == 0
                || is_open.get(self.current as usize).is_some_and(|&is_open| is_open)
                    && self.left <= self.zone_pages - self.written[self.current as usize])
            && self.trim.as_ref().is_none_or(is_inside)
    }

    fn new(params: &Params, site: &Site, together: u32, active_groups: u32) -> Result<Self> {
        let &Site { pages, page_bytes, ref context } = site;
        let zone_pages = whole_pages(params.bytes(ZONE.name), page_bytes);
        let name = params.entry().name;
        let group_pages = zone_pages.saturating_mul(u64::from(together));
        if zone_pages == 0 {
            return Err(Error::Spec(format!(
                "{name}: a zone of {} bytes is less than half a page of {page_bytes} bytes; give \
                 larger zones",
                params.bytes(ZONE.name)
            )));
        }
        let count = (u64::from(pages) / group_pages) as u32;
        if count <= active_groups {
            let zones = u64::from(pages) / zone_pages;
            let needed = (u64::from(active_groups) + 1).saturating_mul(u64::from(together));
            return Err(Error::Spec(format!(
                "{name}: {pages} pages hold {zones} zones of {zone_pages} pages, but active={} \
                 needs at least {needed}; give smaller zones or fewer active ones",
                params.text(ACTIVE)
            )));
        }
        // The two sizes fit in 32 bits, because the groups fit in the pages of the site.
        let (zone_pages, group_pages) = (zone_pages as u32, group_pages as u32);
        let mut groups = filled(0, count as usize)?;
        for (group, slot) in groups.iter_mut().enumerate() {
            *slot = group as u32;
        }
        context.child(0).random().shuffle(&mut groups);
        let active = active_groups * together;
        let used = count * group_pages;
        Ok(Zones {
            pages,
            zone_pages,
            request_pages: request_pages(params, site),
            is_trimmed: params.choice(RESET.name, &RESETS),
            together,
            active_groups,
            groups,
            written: filled(0, active as usize)?,
            open: (0..active).collect(),
            current: 0,
            left: 0,
            // The fill may have written the pages that belong to no zone.
            trim: (used < pages).then_some(used..pages),
            random: context.random(),
        })
    }

    /// Pages of the active zone `slot`.
    fn range(&self, slot: u32) -> Range<u32> {
        let group = self.groups[(slot / self.together) as usize];
        let first = (group * self.together + slot % self.together) * self.zone_pages;
        first..first + self.zone_pages
    }

    /// Draws the zone of the next request.
    fn draw(&mut self) {
        self.current = self.open[self.random.below(self.open.len() as u32) as usize];
        let written = self.written[self.current as usize];
        self.left = self.request_pages.min(self.zone_pages - written);
        if written == 0 && self.is_trimmed {
            self.trim = Some(self.range(self.current));
        }
    }

    /// Replaces the current zone's group if all of its zones are full.
    fn close(&mut self) {
        let group = self.current / self.together;
        let slots = group * self.together..(group + 1) * self.together;
        let is_full = |slot: u32| self.written[slot as usize] == self.zone_pages;
        if !slots.clone().all(is_full) {
            self.open.retain(|&slot| slot != self.current);
            return;
        }
        let others = self.groups.len() as u32 - self.active_groups;
        let next = self.active_groups + self.random.below(others);
        self.groups.swap(group as usize, next as usize);
        for slot in slots {
            self.written[slot as usize] = 0;
            if slot != self.current {
                self.open.push(slot);
            }
        }
    }
}

impl Workload for Zones {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.left == 0 && self.trim.is_none() {
                self.draw();
            }
            if self.trim.is_some() && filled > 0 {
                break;
            }
            if let Some(trim) = self.trim.take() {
                return Step::Request(Request::of_pages(Op::Trim, trim));
            }
            let count = (self.left as usize).min(buffer.len() - filled);
            let written = self.written[self.current as usize];
            let first = self.range(self.current).start + written;
            for (page, slot) in (first..).zip(&mut buffer[filled..filled + count]) {
                *slot = page;
            }
            filled += count;
            self.left -= count as u32;
            self.written[self.current as usize] = written + count as u32;
            if written + count as u32 == self.zone_pages {
                self.close();
            }
        }
        Step::Writes(filled)
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(one_group(self.pages()))
    }
}

const ACTIVE: &str = "active";
const ACTIVE_ZONES: Domain = Domain::Whole(1, U32_MAX);

/// Sequential writes inside zones; each full zone is replaced by a random one.
#[derive(Debug, Clone)]
pub struct ZonesSequential(Zones);

state!(ZonesSequential { nested 0 });

/// Groups of zones that are written together and rewritten together.
#[derive(Debug, Clone)]
pub struct Nowa(Zones);

state!(Nowa { nested 0 });

macro_rules! zones {
    ($($workload:ident),*) => {
        $(impl Workload for $workload {
            fn next(&mut self, buffer: &mut [u32]) -> Step {
                self.0.next(buffer)
            }

            fn pages(&self) -> u32 {
                self.0.pages()
            }

            fn groups(&self) -> Option<Vec<Group>> {
                self.0.groups()
            }
        })*
    };
}

zones!(ZonesSequential, Nowa);

impl Registered<Site> for ZonesSequential {
    const ENTRY: Entry = super::entry(
        "zones-sequential",
        "sequential writes inside zones, of which several are active, and full ones are replaced \
         at random",
    )
    .example("zones-sequential:zone=160k,active=4")
    .variants(&["zones-sequential:zone=60k,active=3,reset=none,bs=8k"])
    .params(&[
        ZONE,
        Param::new(ACTIVE, "1", ACTIVE_ZONES, "number of zones that are written at a time"),
        RESET,
        BS,
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        Ok(ZonesSequential(Zones::new(params, site, 1, params.integer(ACTIVE))?))
    }
}

impl Registered<Site> for Nowa {
    const ENTRY: Entry = super::entry(
        "nowa",
        "zones that are written together and rewritten together, so that erase units become \
         invalid as a whole",
    )
    .example("nowa:zone=80k,active=2")
    .variants(&["nowa:zone=64k,active=3,reset=none,bs=4k"])
    .params(&[
        ZONE,
        Param::new(
            ACTIVE,
            "1",
            ACTIVE_ZONES,
            "number of zones that are written at a time, all of which are filled before others",
        ),
        RESET,
        BS,
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        Ok(Nowa(Zones::new(params, site, params.integer(ACTIVE), 1)?))
    }
}
