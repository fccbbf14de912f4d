//! Skew: the access frequencies of positions.

use writeamp_fio::common_divisor;

use super::accesses::{Accesses, SizeShare};
use crate::error::{Error, Result};
use crate::hints::Group;
use crate::state::state;
use crate::workloads::{MOST_GROUPS, Site, Step, Workload, build_for};

/// Pattern that chooses positions of reads and of writes, instead of pages to write.
/// Since both use the same pattern, data that is hot for writes is also hot for reads.
pub struct Skew {
    slots: Box<dyn Workload>,
    slot_bytes: u64,
}

state!(Skew { nested slots, fixed slot_bytes });

impl Skew {
    /// Builds the pattern of spec `access` over the positions of the given directions.
    /// Each direction has its accesses and its number of start positions.
    pub fn new(access: &str, directions: &[(Accesses, u32)], site: &Site) -> Result<Self> {
        let aligns = directions.iter().map(|(accesses, _)| accesses.align_bytes);
        let slot_bytes = aligns.fold(0, common_divisor);
        let slots = directions
            .iter()
            .map(|(accesses, starts)| u64::from(*starts) * (accesses.align_bytes / slot_bytes));
        let slots = u32::try_from(slots.max().unwrap_or(1)).map_err(|_| {
            Error::Spec(format!(
                "access={access} chooses among more positions of {slot_bytes} bytes than 32 bits \
                 can number; give a larger align"
            ))
        })?;
        let slot_site = Site { pages: slots, context: site.context.child(0), ..*site };
        Ok(Skew { slots: build_for(access, &slot_site)?, slot_bytes })
    }

    /// Position that contains the next slot, among `starts` multiples of `align_bytes`.
    /// If reads and writes differ in size, slots beyond the last position wrap to the first
    /// position.
    #[inline]
    pub fn start(&mut self, align_bytes: u64, starts: u32) -> u32 {
        let mut slot = [0];
        let Step::Writes(_) = self.slots.next(&mut slot) else {
            unreachable!("a pattern of pages writes without end, so the next step is a write")
        };
        (u64::from(slot[0]) * self.slot_bytes / align_bytes % u64::from(starts)) as u32
    }

    /// Groups of pages under requests of several sizes: those of the pattern of slots.
    /// A page belongs to the group of the slot with its first byte. Requests at the end of a group
    /// also write pages of the next ones.
    pub fn groups_of_zones(
        &self,
        sizes: &[SizeShare],
        offset_bytes: u64,
        site: &Site,
    ) -> Option<Vec<Group>> {
        let zones = self.slots.groups()?;
        let mut groups = vec![Group { pages: 0, write_share: 0.0 }; zones.len()];
        let page_bytes = u64::from(site.page_bytes);
        // The touched pages repeat after this number of slots. Requests at other slots than the
        // first and last of a zone touch no page of another one.
        let period = page_bytes / common_divisor(page_bytes, self.slot_bytes);
        let largest = sizes.iter().map(|(bytes, _)| *bytes).max()?;
        let near = (largest + page_bytes).div_ceil(self.slot_bytes);
        let (mut first_slot, mut first_page) = (0, 0);
        for (zone, Group { pages: slots, write_share }) in zones.into_iter().enumerate() {
            let (slots, end_slot) = (u64::from(slots), first_slot + u64::from(slots));
            let inner = slots.saturating_sub(2 * near + period);
            let edge = (slots - inner) / 2;
            for &(bytes, percent) in sizes {
                let weight = write_share / slots as f64 * f64::from(percent);
                let touched = |slot: u64| {
                    let start_bytes = offset_bytes + slot * self.slot_bytes;
                    start_bytes / page_bytes..(start_bytes + bytes).div_ceil(page_bytes)
                };
                let inside = first_slot + edge..first_slot + edge + inner;
                let of_period = inside.clone().take(period as usize).map(|slot| {
                    let pages = touched(slot);
                    pages.end - pages.start
                });
                let mean = of_period.sum::<u64>() as f64 / period as f64;
                groups[zone].write_share += weight * mean * inner as f64;
                for slot in (first_slot..inside.start).chain(inside.end..end_slot) {
                    for page in touched(slot) {
                        let mut group = [0];
                        let page = [page as u32];
                        self.find_zones(&page, offset_bytes, site.page_bytes, &mut group);
                        groups[usize::from(group[0])].write_share += weight;
                    }
                }
            }
            let end_bytes = offset_bytes + end_slot * self.slot_bytes;
            let is_last = zone + 1 == groups.len();
            let end_page = if is_last { site.pages } else { end_bytes.div_ceil(page_bytes) as u32 };
            groups[zone].pages = end_page - first_page;
            (first_slot, first_page) = (end_slot, end_page);
        }
        let all: f64 = groups.iter().map(|group| group.write_share).sum();
        for group in &mut groups {
            group.write_share /= all;
        }
        Some(groups)
    }

    /// Stores the group of each page of [`Self::groups_of_zones`].
    pub fn find_zones(
        &self,
        pages: &[u32],
        offset_bytes: u64,
        page_bytes: u32,
        group_of: &mut [u8],
    ) {
        let slot_of = |page: &u32| {
            let after = (u64::from(*page) * u64::from(page_bytes)).saturating_sub(offset_bytes);
            (after / self.slot_bytes).min(u64::from(self.slots.pages()) - 1) as u32
        };
        let slots: Vec<u32> = pages.iter().map(slot_of).collect();
        self.slots.find_groups(&slots, group_of);
    }

    /// Slots (positions of equal size) after an offset, if each access fills one slot of whole
    /// pages. The accesses may start at `starts` positions.
    pub fn filled_by(
        &self,
        (accesses, starts): (Accesses, u32),
        offset_bytes: u64,
        page_bytes: u64,
    ) -> Option<Slots<'_>> {
        let Accesses { size_bytes, align_bytes, random, .. } = accesses;
        let is_slot = self.slot_bytes == size_bytes && align_bytes == size_bytes;
        let is_all = self.slots.pages() == starts && random >= 1.0;
        let slot_pages = (size_bytes / page_bytes) as u32;
        let is_whole = [size_bytes, offset_bytes].iter().all(|b| b.is_multiple_of(page_bytes));
        (is_slot && is_whole && is_all).then_some(Slots {
            pattern: &*self.slots,
            first_page: (offset_bytes / page_bytes) as u32,
            slot_pages,
        })
    }
}

/// Slots of whole pages; each write fills one slot.
pub struct Slots<'a> {
    pattern: &'a dyn Workload,
    /// First page of the first slot.
    first_page: u32,
    slot_pages: u32,
}

impl Slots<'_> {
    /// Groups of the pattern, and one group for the pages outside all slots.
    pub fn groups(&self, pages: u32) -> Option<Vec<Group>> {
        let of_slots = self.pattern.groups()?.into_iter();
        let mut groups: Vec<Group> =
            of_slots.map(|group| Group { pages: group.pages * self.slot_pages, ..group }).collect();
        let rest_pages = pages - self.pattern.pages() * self.slot_pages;
        if rest_pages > 0 {
            groups.push(Group { pages: rest_pages, write_share: 0.0 });
        }
        (groups.len() <= MOST_GROUPS).then_some(groups)
    }

    pub fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        let rest = self.pattern.groups().map_or(0, |groups| groups.len());
        for (group, page) in group_of.iter_mut().zip(pages) {
            let slot = page.checked_sub(self.first_page).map(|page| page / self.slot_pages);
            match slot.filter(|slot| *slot < self.pattern.pages()) {
                Some(slot) => self.pattern.find_groups(&[slot], std::slice::from_mut(group)),
                None => *group = rest as u8,
            }
        }
    }
}
