//! LSM tree: memtables, sorted tables in levels, and levelled compaction, as in `RocksDB`.
//! (O'Neil et al. 1996; `RocksDB` wiki, "Leveled Compaction"; Dong et al., CIDR 2017.)
//!
//! An entry fills a page. Keys are simulated one by one, so overlaps of tables and the entries that
//! a compaction drops are exact for every distribution of keys. The address space has the
//! write-ahead log, then places of one table each. A new table is written to a random free place.

mod built;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::activities::{Activities, Application};
use super::hot_cold::hot_and_cold;
use super::{Step, Workload, one_group};
use crate::flash::Table;
use crate::hints::Group;
use crate::rng::Stream;
use crate::state::{MOST_PLAUSIBLE, state};

/// Memtables of log that are kept: the active one, and the one that is flushed.
const LOGGED_MEMTABLES: u32 = 2;

/// Sorted table at a place of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SortedTable {
    place: u32,
    pages: u32,
}

pub struct Lsm {
    pages: u32,
    page_bytes: u32,
    log_pages: u32,
    /// Pages of a full table, of a place, and of a memtable.
    table_pages: u32,
    keys: u32,
    /// Most tables of each level but the last. Level 0 is compacted when it has that many.
    limits: Vec<u32>,
    has_discard: bool,
    is_by_overlap: bool,
    updates: Box<dyn Workload>,
    random: Stream,

    /// Keys written since the last flush, in the order of writing.
    memtable: Table<u32>,
    in_memory: usize,
    next_of_log: u32,
    /// Tables of each level: level 0 by age, the others by key.
    levels: Vec<Vec<SortedTable>>,
    /// Key on each page of the places.
    key_of_page: Table<u32>,
    free: Vec<u32>,
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
        fixed has_discard, fixed is_by_overlap,
        nested updates, nested random,
        table memtable, value in_memory, value next_of_log, value levels, table key_of_page,
        value free, value cursors, value activities, value application_pages, value written_pages,
    } where is_sound
}

impl Lsm {
    fn is_sound(&self) -> bool {
        let mut is_used = vec![false; self.key_of_page.len() / self.table_pages as usize];
        let mut is_new = |place: u32| {
            is_used.get_mut(place as usize).is_some_and(|used| !std::mem::replace(used, true))
        };
        let tables = || self.levels.iter().flatten();
        let are_places = tables()
            .all(|table| (1..=self.table_pages).contains(&table.pages) && is_new(table.place))
            && self.free.iter().all(|&place| is_new(place))
            && is_used.iter().all(|&used| used);
        are_places
            && self.levels.len() == self.limits.len() + 1
            && self.levels[0].len() <= self.limits[0] as usize
            && tables().all(|table| self.keys_of(*table).is_sorted_by(|a, b| a < b))
            && self.levels[1..].iter().all(|level| {
                level.windows(2).all(|pair| self.last_key(pair[0]) < self.first_key(pair[1]))
            })
            && self.key_of_page.iter().chain(&self.memtable).all(|&key| key < self.keys)
            && self.in_memory <= self.memtable.len()
            && self.next_of_log < self.log_pages.max(1)
            && self.cursors.len() == self.levels.len()
            && self.activities.are_inside(self.pages)
            && self.application_pages < MOST_PLAUSIBLE
            && self.written_pages < MOST_PLAUSIBLE
    }

    /// Indices of a table's pages in `key_of_page`.
    fn pages_of(&self, table: SortedTable) -> Range<usize> {
        let first = table.place as usize * self.table_pages as usize;
        first..first + table.pages as usize
    }

    /// Logical pages of a table.
    fn range_of(&self, table: SortedTable) -> Range<u32> {
        let first = self.log_pages + table.place * self.table_pages;
        first..first + table.pages
    }

    fn keys_of(&self, table: SortedTable) -> &[u32] {
        &self.key_of_page[self.pages_of(table)]
    }

    fn first_key(&self, table: SortedTable) -> u32 {
        self.key_of_page[self.pages_of(table).start]
    }

    fn last_key(&self, table: SortedTable) -> u32 {
        self.key_of_page[self.pages_of(table).end - 1]
    }

    /// Tables of a sorted level whose key range contains keys from `first` to `last`.
    fn overlap(&self, level: usize, first: u32, last: u32) -> Range<usize> {
        let tables = &self.levels[level];
        let start = tables.partition_point(|&table| self.last_key(table) < first);
        start..start + tables[start..].partition_point(|&table| self.first_key(table) <= last)
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

    /// Level that most exceeds its limit, if any does.
    fn overfull(&self) -> Option<usize> {
        let score = |level: usize| self.levels[level].len() as f64 / f64::from(self.limits[level]);
        let is_overfull =
            |&level: &usize| if level == 0 { score(0) >= 1.0 } else { score(level) > 1.0 };
        (0..self.limits.len())
            .filter(is_overfull)
            .max_by(|&first, &second| score(first).total_cmp(&score(second)))
    }

    /// Index of the table that a sorted level compacts next.
    fn pick(&self, level: usize) -> usize {
        let tables = &self.levels[level];
        if !self.is_by_overlap {
            let next =
                tables.partition_point(|&table| self.first_key(table) <= self.cursors[level]);
            return next % tables.len();
        }
        let overlap_per_page = |table: SortedTable| {
            let below = self.overlap(level + 1, self.first_key(table), self.last_key(table));
            let pages: u32 = self.levels[level + 1][below].iter().map(|table| table.pages).sum();
            f64::from(pages) / f64::from(table.pages)
        };
        let ratios = tables.iter().map(|&table| overlap_per_page(table)).enumerate();
        ratios
            .min_by(|(_, first), (_, second)| first.total_cmp(second))
            .map_or(0, |(index, _)| index)
    }

    /// Merges tables of a level into the next: all of level 0, or one of another level.
    fn compact(&mut self, level: usize) {
        let upper: Vec<SortedTable> = if level == 0 {
            std::mem::take(&mut self.levels[0])
        } else {
            let index = self.pick(level);
            vec![self.levels[level].remove(index)]
        };
        let first = upper.iter().map(|&table| self.first_key(table)).min().unwrap_or(0);
        let last = upper.iter().map(|&table| self.last_key(table)).max().unwrap_or(0);
        self.cursors[level] = first;
        let below = self.overlap(level + 1, first, last);
        if level > 0 && below.is_empty() {
            // As in RocksDB, a table without overlap moves down without being written.
            self.levels[level + 1].splice(below, upper);
            return;
        }
        self.merge(upper, level + 1, below);
    }

    /// Merges `upper` with the tables `below` of a sorted level, which the result replaces.
    fn merge(&mut self, upper: Vec<SortedTable>, level: usize, below: Range<usize>) {
        let mut inputs = upper;
        inputs.extend(&self.levels[level][below.clone()]);
        let runs: Vec<&[u32]> = inputs.iter().map(|&table| self.keys_of(table)).collect();
        let mut keys = runs.concat();
        #[expect(
            clippy::stable_sort_primitive,
            reason = "only the stable sort merges sorted runs"
        )]
        keys.sort();
        keys.dedup();
        let outputs = self.replace(&inputs, &keys);
        self.levels[level].splice(below, outputs);
    }

    /// Writes sorted keys to new tables of equal size. The inputs are deleted afterwards.
    /// There are never more outputs than inputs, so places suffice if inputs are deleted before.
    fn replace(&mut self, inputs: &[SortedTable], keys: &[u32]) -> Vec<SortedTable> {
        let count = keys.len().div_ceil(self.table_pages as usize);
        let is_short = self.free.len() < count;
        if is_short {
            self.delete(inputs);
        }
        let bound = |index: usize| keys.len() * index / count;
        let tables = (0..count).map(|index| self.write(&keys[bound(index)..bound(index + 1)]));
        let outputs = tables.collect();
        if !is_short {
            self.delete(inputs);
        }
        outputs
    }

    fn write(&mut self, keys: &[u32]) -> SortedTable {
        let index = self.random.below(self.free.len() as u32) as usize;
        let table = SortedTable { place: self.free.swap_remove(index), pages: keys.len() as u32 };
        let pages = self.pages_of(table);
        self.key_of_page[pages].copy_from_slice(keys);
        self.activities.write(self.range_of(table));
        self.written_pages += u64::from(table.pages);
        table
    }

    fn delete(&mut self, tables: &[SortedTable]) {
        for &table in tables {
            self.free.push(table.place);
            if self.has_discard {
                self.activities.trim(self.range_of(table));
            }
        }
    }

    fn flush(&mut self) {
        if self.free.is_empty() {
            // Tables of the last level that are not full take places. `build` ensures that there
            // are enough places if they are.
            let last = self.levels.len() - 1;
            self.merge(Vec::new(), last, 0..self.levels[last].len());
        }
        let mut keys = self.memtable.to_vec();
        keys.sort_unstable();
        keys.dedup();
        let table = self.write(&keys);
        self.levels[0].push(table);
        self.in_memory = 0;
    }
}

impl Application for Lsm {
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
