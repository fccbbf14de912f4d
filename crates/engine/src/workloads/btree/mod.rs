//! B-tree whose leaves are updated in place, with a buffer pool and a write-ahead log.
//! (`MySQL` manual, "Doublewrite Buffer", "`InnoDB` Checkpoints"; `PostgreSQL` manual,
//! `full_page_writes`; Qiao et al., FAST 2022.)
//!
//! An update changes a row of constant size on a leaf in the pool, so leaves are never split and
//! inner pages never change. The address space has the log, the doublewrite area, and the leaves.

mod built;

use std::ops::Range;

use super::activities::{Activities, Application};
use super::age_list::AgeList;
use super::{Step, Workload};
use crate::flash::Table;
use crate::hints::Group;
use crate::request::Request;
use crate::state::{MOST_PLAUSIBLE, state};

/// Number of updates drawn at once.
const CHUNK_UPDATES: usize = 256;

/// Protection of leaves against writes that a crash cuts off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// Leaves are written to the doublewrite area before they are written in place.
    Doublewrite,
    /// The log has an image of each leaf that is changed for the first time after a checkpoint.
    Images,
    None,
}

pub struct Btree {
    pages: u32,
    page_bytes: u32,
    log_pages: u32,
    area_pages: u32,
    leaf_pages: u32,
    leaves: u32,
    row_bytes: u32,
    pool_leaves: usize,
    /// Most leaves that are written together.
    batch_leaves: usize,
    /// Updates that are committed together.
    commit_updates: u32,
    protection: Protection,
    updates: Box<dyn Workload>,

    chunk: Table<u32>,
    ready: Range<usize>,
    /// Leaves in the pool by their last use, and changed leaves by their first change.
    by_use: AgeList,
    changed: AgeList,
    /// Position in the log of each leaf's first change since it was written, or, if the log has
    /// images, since a checkpoint.
    first_changes: Table<u64>,
    /// Bytes of the log until now, of which `log_written` are on the drive.
    log_end: u64,
    log_written: u64,
    checkpoint: u64,
    uncommitted_updates: u32,
    activities: Activities,
    updated_rows: u64,
    /// Pages written to the log, the doublewrite area and the leaves.
    written_pages: [u64; 3],
}

state! {
    Btree {
        fixed pages, fixed page_bytes, fixed log_pages, fixed area_pages, fixed leaf_pages,
        fixed leaves, fixed row_bytes, fixed pool_leaves, fixed batch_leaves, fixed commit_updates,
        fixed protection, nested updates, table chunk, value ready, nested by_use, nested changed,
        table first_changes, value log_end, value log_written, value checkpoint,
        value uncommitted_updates, value activities, value updated_rows, value written_pages,
    } where is_sound
}

impl Btree {
    fn is_sound(&self) -> bool {
        let log_bytes = self.log_bytes();
        self.chunk.get(self.ready.clone()).is_some()
            && self.chunk.iter().all(|&leaf| leaf < self.leaves)
            && self.by_use.len() <= self.pool_leaves
            && self.changed.iter().all(|leaf| self.by_use.contains(leaf))
            && self.first_changes.iter().all(|&position| position <= self.log_end)
            && self.log_written <= self.log_end
            && self.checkpoint <= self.log_end
            && self.log_end - self.log_written <= log_bytes
            && self.log_end - self.checkpoint < MOST_PLAUSIBLE
            && self.log_end < MOST_PLAUSIBLE
            && self.uncommitted_updates < self.commit_updates
            && self.activities.are_inside(self.pages)
            && self.updated_rows < MOST_PLAUSIBLE
            && self.written_pages.iter().all(|&pages| pages < MOST_PLAUSIBLE)
    }

    fn log_bytes(&self) -> u64 {
        u64::from(self.log_pages) * u64::from(self.page_bytes)
    }

    fn draw(&mut self) -> u32 {
        if self.ready.is_empty() {
            let Step::Writes(count) = self.updates.next(&mut self.chunk) else {
                unreachable!(
                    "synthetic workloads write pages without end, so the next step is a write"
                )
            };
            self.ready = 0..count;
        }
        self.chunk[self.ready.next().expect("updates were drawn, so one is ready")]
    }

    fn update(&mut self, leaf: u32) {
        if !self.by_use.contains(leaf) && self.by_use.len() >= self.pool_leaves {
            self.evict();
        }
        self.by_use.renew(leaf);
        self.make_room_in_log(leaf);
        let logged_bytes = self.logged_bytes(leaf);
        let is_first = match self.protection {
            Protection::Images => self.needs_image(leaf),
            _ => !self.changed.contains(leaf),
        };
        if is_first {
            self.first_changes[leaf as usize] = self.log_end;
        }
        if !self.changed.contains(leaf) {
            self.changed.renew(leaf);
        }
        self.log_end += logged_bytes;
        self.updated_rows += 1;
        self.uncommitted_updates += 1;
        if self.uncommitted_updates == self.commit_updates {
            self.write_log();
        }
    }

    fn needs_image(&self, leaf: u32) -> bool {
        self.protection == Protection::Images && self.first_changes[leaf as usize] < self.checkpoint
    }

    /// Bytes that an update of a leaf adds to the log: the row, or an image of the leaf.
    fn logged_bytes(&self, leaf: u32) -> u64 {
        if self.needs_image(leaf) {
            u64::from(self.leaf_pages) * u64::from(self.page_bytes)
        } else {
            self.row_bytes.into()
        }
    }

    /// Removes the least recently used leaf from the pool.
    /// If it was changed, it is written before, with the next leaves to be evicted.
    fn evict(&mut self) {
        let oldest = self.by_use.oldest().expect("the pool is full");
        if self.changed.contains(oldest) {
            let next = self.by_use.iter().take(self.batch_leaves);
            let changed = next.filter(|&leaf| self.changed.contains(leaf)).collect();
            self.write_leaves(changed);
        }
        self.by_use.remove(oldest);
    }

    /// Writes leaves whose first change is in the oldest part of a full log.
    /// If the log has images, a checkpoint writes all changed leaves.
    fn make_room_in_log(&mut self, leaf: u32) {
        if self.protection == Protection::Images {
            if self.log_end + self.logged_bytes(leaf) > self.checkpoint + self.log_bytes() {
                let mut changed: Vec<u32> = self.changed.iter().collect();
                changed.sort_unstable();
                self.write_leaves(changed);
                self.checkpoint = self.log_end;
            }
            return;
        }
        let end = self.log_end + self.logged_bytes(leaf);
        while let Some(oldest) = self.changed.oldest()
            && self.first_changes[oldest as usize] + self.log_bytes() < end
        {
            let leaves = self.changed.iter().take(self.batch_leaves).collect();
            self.write_leaves(leaves);
        }
    }

    /// Writes leaves after the log of their changes, as their copies on the drive may be cut off.
    fn write_leaves(&mut self, leaves: Vec<u32>) {
        self.write_log();
        let pages = leaves.len() as u32 * self.leaf_pages;
        if self.protection == Protection::Doublewrite {
            self.activities.write(self.log_pages..self.log_pages + pages);
            self.written_pages[1] += u64::from(pages);
        }
        self.written_pages[2] += u64::from(pages);
        for leaf in leaves {
            let first = self.log_pages + self.area_pages + leaf * self.leaf_pages;
            self.activities.write(first..first + self.leaf_pages);
            self.changed.remove(leaf);
        }
    }

    /// Writes the new end of the log. Its first page may have been written before in part.
    fn write_log(&mut self) {
        self.uncommitted_updates = 0;
        let page_bytes = u64::from(self.page_bytes);
        let log_pages = u64::from(self.log_pages);
        if self.log_written == self.log_end {
            return;
        }
        let (mut first, end) = (self.log_written / page_bytes, self.log_end.div_ceil(page_bytes));
        self.written_pages[0] += end - first;
        while first < end {
            let place = first % log_pages;
            let count = (end - first).min(log_pages - place);
            self.activities.write(place as u32..(place + count) as u32);
            first += count;
        }
        self.log_written = self.log_end;
    }
}

impl Application for Btree {
    fn activities(&mut self) -> &mut Activities {
        &mut self.activities
    }

    fn plan(&mut self, _buffer: &mut [u32]) -> usize {
        let leaf = self.draw();
        self.update(leaf);
        0
    }
}

impl Workload for Btree {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        self.next_step(buffer)
    }

    fn next_request(&mut self) -> Option<Request> {
        Some(self.next_whole())
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn application_bytes(&self) -> Option<u64> {
        Some(self.updated_rows * u64::from(self.row_bytes))
    }

    /// The log, the doublewrite area if there is one, and the leaves, with their shares of the
    /// writes until now.
    fn groups(&self) -> Option<Vec<Group>> {
        let [log, area] = [self.log_pages, self.area_pages];
        let regions = [log, area, self.pages - log - area];
        let is_before = self.written_pages == [0; 3];
        let weights = if is_before { regions.map(u64::from) } else { self.written_pages };
        let sum = weights.iter().sum::<u64>() as f64;
        let groups = regions.into_iter().zip(weights).filter(|&(pages, _)| pages > 0);
        let group = |(pages, weight)| Group { pages, write_share: weight as f64 / sum };
        Some(groups.map(group).collect())
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        let log_end = self.log_pages;
        let area_end = log_end + self.area_pages;
        for (group, &page) in group_of.iter_mut().zip(pages) {
            let is_beyond_area = self.area_pages > 0 && page >= area_end;
            *group = u8::from(page >= log_end) + u8::from(is_beyond_area);
        }
    }
}

#[cfg(test)]
mod tests;
