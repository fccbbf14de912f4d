//! LSM tree: memtables, sorted tables in levels, and levelled compaction, as in `RocksDB`.
//! (O'Neil et al. 1996; `RocksDB` wiki, "Leveled Compaction"; Dong et al., CIDR 2017.)
//!
//! An entry fills a page. Keys are simulated one by one, so overlaps of tables and the entries that
//! a compaction drops are exact for every distribution of keys. The address space has the
//! write-ahead log, then the pages for tables. A new table is written to a random free extent.

mod built;
mod compaction;
mod space;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use space::FreeSpace;

use super::activities::{Activities, Application};
use super::hot_cold::hot_and_cold;
use super::{Step, Workload, one_group};
use crate::flash::Table;
use crate::hints::Group;
use crate::request::Request;
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, state};

/// Memtables of log that are kept: the active one, and the one that is flushed.
const LOGGED_MEMTABLES: u32 = 2;

/// Sorted table, at extents of the pages for tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SortedTable {
    extents: Vec<Range<u32>>,
    first_key: u32,
    last_key: u32,
}

impl SortedTable {
    fn pages(&self) -> u32 {
        self.extents.iter().map(|extent| extent.end - extent.start).sum()
    }
}

/// Indices of an extent's pages in `key_of_page`.
fn indices(extent: &Range<u32>) -> Range<usize> {
    extent.start as usize..extent.end as usize
}

pub struct Lsm {
    pages: u32,
    page_bytes: u32,
    log_pages: u32,
    /// Pages of a full table, and of a memtable.
    table_pages: u32,
    keys: u32,
    /// Pages at which each level but the last is compacted; level 0 counts tables as full.
    limits: Vec<u32>,
    has_discard: bool,
    is_by_overlap: bool,
    is_aligned: bool,
    updates: Box<dyn Workload>,
    random: Stream,

    /// Keys written since the last flush, in the order of writing.
    memtable: Table<u32>,
    in_memory: usize,
    next_of_log: u32,
    /// Tables of each level: level 0 by age, the others by key.
    levels: Vec<Vec<SortedTable>>,
    /// Key on each page for tables.
    key_of_page: Table<u32>,
    free: FreeSpace,
    /// Last key that each level has compacted, for `pick=round-robin`.
    cursors: Vec<u32>,
    activities: Activities,
    /// Pages that the application wrote, and pages written to tables.
    application_pages: u64,
    written_pages: u64,
}

state! {
    Lsm {
        fixed pages, fixed page_bytes, fixed log_pages, fixed table_pages, fixed keys, fixed limits,
        fixed has_discard, fixed is_by_overlap, fixed is_aligned,
        nested updates, nested random,
        table memtable, value in_memory, value next_of_log, value levels, table key_of_page,
        value free, value cursors, value activities, value application_pages, value written_pages,
    } where is_sound
}

impl Lsm {
    fn is_sound(&self) -> bool {
        self.levels.len() == self.limits.len() + 1
            && self.is_space_sound()
            && self.levels[0].len() as u64 * u64::from(self.table_pages)
                <= u64::from(self.limits[0])
            && self.levels.iter().flatten().all(|table| {
                let keys: Vec<u32> = self.keys_of(table).collect();
                keys.first() == Some(&table.first_key)
                    && keys.last() == Some(&table.last_key)
                    && keys.is_sorted_by(|a, b| a < b)
            })
            && self.levels[1..]
                .iter()
                .all(|level| level.windows(2).all(|pair| pair[0].last_key < pair[1].first_key))
            && self.key_of_page.iter().chain(&self.memtable).all(|&key| key < self.keys)
            && self.in_memory <= self.memtable.len()
            && self.next_of_log < self.log_pages.max(1)
            && self.cursors.len() == self.levels.len()
            && self.activities.are_inside(self.pages)
            && self.application_pages < MOST_PLAUSIBLE
            && self.written_pages < MOST_PLAUSIBLE
    }

    /// Whether each page for tables is free, or belongs to one table.
    fn is_space_sound(&self) -> bool {
        if !self.free.is_sound() {
            return false;
        }
        let of_tables = self.levels.iter().flatten().flat_map(|table| table.extents.clone());
        let mut extents: Vec<Range<u32>> = of_tables.chain(self.free.extents()).collect();
        extents.sort_unstable_by_key(|extent| extent.start);
        let mut end = 0;
        extents.iter().all(|extent| {
            extent.start == std::mem::replace(&mut end, extent.end) && extent.start < extent.end
        }) && end as usize == self.key_of_page.len()
    }

    /// Logical pages of an extent.
    fn logical(&self, extent: &Range<u32>) -> Range<u32> {
        self.log_pages + extent.start..self.log_pages + extent.end
    }

    fn keys_of(&self, table: &SortedTable) -> impl Iterator<Item = u32> {
        table.extents.iter().flat_map(|extent| self.key_of_page[indices(extent)].iter().copied())
    }

    /// Appends updates to the memtable and the log. Returns the number of log pages in `buffer`.
    fn update(&mut self, buffer: &mut [u32]) -> usize {
        let end = self.memtable.len().min(self.in_memory + buffer.len());
        let Step::Writes(count) = self.updates.next(&mut self.memtable[self.in_memory..end]) else {
            unreachable!("synthetic workloads write pages without end, so the next step is a write")
        };
        self.in_memory += count;
        self.application_pages += count as u64;
        if self.log_pages == 0 {
            return 0;
        }
        for page in &mut buffer[..count] {
            *page = self.next_of_log;
            self.next_of_log = (self.next_of_log + 1) % self.log_pages;
        }
        count
    }

    fn write(&mut self, keys: &[u32]) -> SortedTable {
        let extents = self.free.take(keys.len() as u32, &mut self.random);
        let mut rest = keys;
        for extent in &extents {
            let (written, after) = rest.split_at(extent.len());
            self.key_of_page[indices(extent)].copy_from_slice(written);
            self.activities.write(self.logical(extent));
            rest = after;
        }
        self.written_pages += keys.len() as u64;
        SortedTable { extents, first_key: keys[0], last_key: keys[keys.len() - 1] }
    }

    fn delete(&mut self, tables: &[SortedTable]) {
        for extent in tables.iter().flat_map(|table| &table.extents) {
            self.free.release(extent);
            if self.has_discard {
                self.activities.trim(self.logical(extent));
            }
        }
    }

    fn flush(&mut self) {
        let mut keys = self.memtable.to_vec();
        keys.sort_unstable();
        keys.dedup();
        let table = self.write(&keys);
        self.levels[0].push(table);
        self.in_memory = 0;
    }
}

impl Application for Lsm {
    // Each update is written to the log when it happens.
    const PLANNED_PAGES: usize = 1;

    fn activities(&mut self) -> &mut Activities {
        &mut self.activities
    }

    /// Starts compactions, or else the flush of a full memtable, if they are due. Otherwise
    /// updates entries.
    fn plan(&mut self, buffer: &mut [u32]) -> usize {
        while self.activities.is_empty()
            && let Some(level) = self.overfull()
        {
            self.compact(level);
        }
        if !self.activities.is_empty() {
            return 0;
        }
        if self.in_memory == self.memtable.len() {
            self.flush();
            return 0;
        }
        self.update(buffer)
    }
}

impl Workload for Lsm {
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
        Some(self.application_pages * u64::from(self.page_bytes))
    }

    /// The log and the tables, with their shares of the writes until now.
    fn groups(&self) -> Option<Vec<Group>> {
        if self.log_pages == 0 {
            return Some(one_group(self.pages));
        }
        // Before the first flush, a table page is as frequent as a log page.
        let (logged, written) = (self.application_pages.max(1), self.written_pages.max(1));
        let log_share = logged as f64 / (logged + written) as f64;
        Some(hot_and_cold(self.pages, self.log_pages, log_share))
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, page) in group_of.iter_mut().zip(pages) {
            *group = u8::from(self.log_pages > 0 && *page >= self.log_pages);
        }
    }
}

#[cfg(test)]
mod tests;
