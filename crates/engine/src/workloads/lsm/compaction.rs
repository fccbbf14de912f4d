//! Choice and merge of tables, and the ends of the merged ones, as in `RocksDB`.
//! (`RocksDB` wiki, "Leveled Compaction" and "Choose Level Compaction Files"; blog of 2022-10-31,
//! "Align compaction output file".)

use std::ops::Range;

use super::{Lsm, SortedTable};

/// Overlap of a table with the next level, in table sizes, that ends the table.
/// (`max_compaction_bytes` of `RocksDB`.)
const MOST_OVERLAPPED_TABLES: usize = 25;

impl Lsm {
    /// Tables of a sorted level whose key range contains keys from `first` to `last`.
    fn overlap(&self, level: usize, first: u32, last: u32) -> Range<usize> {
        let tables = &self.levels[level];
        let start = tables.partition_point(|table| table.last_key < first);
        start..start + tables[start..].partition_point(|table| table.first_key <= last)
    }

    /// Level that most exceeds its limit, if any does.
    pub(super) fn overfull(&self) -> Option<usize> {
        let score = |&level: &usize| {
            let tables = &self.levels[level];
            let pages = match level {
                0 => tables.len() as u64 * u64::from(self.table_pages),
                _ => tables.iter().map(|table| u64::from(table.pages())).sum(),
            };
            pages as f64 / f64::from(self.limits[level])
        };
        (0..self.limits.len())
            .filter(|level| score(level) >= 1.0)
            .max_by(|first, second| score(first).total_cmp(&score(second)))
    }

    /// Index of the table that a sorted level compacts next.
    fn pick(&self, level: usize) -> usize {
        let tables = &self.levels[level];
        if !self.is_by_overlap {
            let next = tables.partition_point(|table| table.first_key <= self.cursors[level]);
            return next % tables.len();
        }
        let overlap_per_page = |table: &SortedTable| {
            let below = self.overlap(level + 1, table.first_key, table.last_key);
            let pages: u32 = self.levels[level + 1][below].iter().map(SortedTable::pages).sum();
            f64::from(pages) / f64::from(table.pages())
        };
        let ratios = tables.iter().map(overlap_per_page).enumerate();
        ratios
            .min_by(|(_, first), (_, second)| first.total_cmp(second))
            .map_or(0, |(index, _)| index)
    }

    /// Merges tables of a level into the next: all of level 0, or one of another level.
    pub(super) fn compact(&mut self, level: usize) {
        let upper: Vec<SortedTable> = if level == 0 {
            std::mem::take(&mut self.levels[0])
        } else {
            let index = self.pick(level);
            vec![self.levels[level].remove(index)]
        };
        let first = upper.iter().map(|table| table.first_key).min().unwrap_or(0);
        let last = upper.iter().map(|table| table.last_key).max().unwrap_or(0);
        self.cursors[level] = first;
        let below = self.overlap(level + 1, first, last);
        if level > 0 && below.is_empty() {
            // As in RocksDB, a table without overlap moves down without being written.
            self.levels[level + 1].splice(below, upper);
            return;
        }
        let lower = self.levels[level + 1][below.clone()].iter().cloned();
        let inputs: Vec<SortedTable> = upper.into_iter().chain(lower).collect();
        let mut keys: Vec<u32> = inputs.iter().flat_map(|table| self.keys_of(table)).collect();
        #[expect(
            clippy::stable_sort_primitive,
            reason = "only the stable sort merges sorted runs"
        )]
        keys.sort();
        keys.dedup();
        let outputs = self.replace(&inputs, &keys, level + 1);
        self.levels[level + 1].splice(below, outputs);
    }

    /// Writes sorted keys to new tables of a level. The inputs are deleted afterwards.
    /// Outputs have no more pages than inputs, so space suffices if inputs are deleted before.
    fn replace(&mut self, inputs: &[SortedTable], keys: &[u32], level: usize) -> Vec<SortedTable> {
        let is_short = (self.free.pages() as usize) < keys.len();
        if is_short {
            self.delete(inputs);
        }
        let outputs = self.write_tables(keys, level);
        if !is_short {
            self.delete(inputs);
        }
        outputs
    }

    /// Writes sorted keys to new tables of a sorted level.
    pub(super) fn write_tables(&mut self, keys: &[u32], level: usize) -> Vec<SortedTable> {
        let mut start = 0;
        let mut tables = Vec::new();
        for end in self.ends(keys, level) {
            tables.push(self.write(&keys[start..end]));
            start = end;
        }
        tables
    }

    /// Ends of the tables that hold sorted keys in a level.
    ///
    /// A table of the last level ends when it is full. Other tables of `ends=aligned` end where a
    /// table of the next level starts or ends, so that their compactions overlap fewer tables.
    /// The least size for this grows from 50% to 90% of a table by 5% for each such place within
    /// the table, and the largest size is two tables.
    pub(super) fn ends(&self, keys: &[u32], level: usize) -> Vec<usize> {
        let next: &[SortedTable] = match (keys, self.levels.get(level + 1)) {
            ([first, .., last], Some(tables)) => &tables[self.overlap(level + 1, *first, *last)],
            _ => &[],
        };
        let full = self.table_pages as usize;
        let is_aligned = self.is_aligned && !next.is_empty();
        let most = if is_aligned { 2 * full } else { full };
        // Tables of the next level that start up to the last key, and that end before it.
        let (mut started, mut ended) = (0, 0);
        // First key of the table, tables of the next level that end before it, and places crossed.
        let (mut first, mut ended_before, mut crossed) = (0, 0, 0);
        let mut ends = Vec::new();
        for (index, &key) in keys.iter().enumerate() {
            let previous = (started, ended);
            started += next[started..].iter().take_while(|table| table.first_key <= key).count();
            ended += next[ended..].iter().take_while(|table| table.last_key < key).count();
            let crossed_now = started - previous.0 + ended - previous.1;
            if index == 0 {
                ended_before = ended;
                continue;
            }
            crossed += crossed_now;
            let pages = index - first;
            let overlap = |range: Range<usize>| -> usize {
                next[range].iter().map(|table| table.pages() as usize).sum()
            };
            let is_end = pages >= most
                || crossed_now > 0
                    && (overlap(ended_before..started) + pages > MOST_OVERLAPPED_TABLES * full
                        || is_aligned && {
                            let skips = if started == ended { 2 } else { 3 };
                            let skipped = overlap(previous.0..started);
                            (crossed_now >= skips && skipped > full / 8)
                                || pages * 100 >= full * (50 + (5 * crossed).min(40))
                        });
            if is_end {
                ends.push(index);
                (first, ended_before, crossed) = (index, ended, 0);
            }
        }
        ends.push(keys.len());
        ends
    }
}
