//! LSM tree of a spec: its parameters, the sizes of its levels, and the loaded database.

use std::ops::Bound::Excluded;

use super::{LOGGED_MEMTABLES, Lsm};
use crate::error::{Error, Result};
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::workloads::activities::Activities;
use crate::workloads::{NESTED, Site, build, entry};

impl Lsm {
    /// Loads a database before the run, near its steady state: sorted levels are full.
    fn load(&mut self) {
        for level in 1..self.levels.len() {
            let keys: Vec<u32> = match self.limits.get(level) {
                None => (0..self.keys).collect(),
                Some(&limit) => self.keys_of_density_gradient(limit * self.table_pages),
            };
            let tables = keys.chunks(self.table_pages as usize).map(|keys| self.write(keys));
            self.levels[level] = tables.collect();
        }
        self.written_pages = 0;
        self.activities.clear();
        if !self.has_discard {
            return;
        }
        // The fill may have written pages that hold no data of a table.
        let end_of_place = |place: u32| self.log_pages + (place + 1) * self.table_pages;
        let ends = self.levels.iter().flatten();
        let ends = ends.map(|&table| self.range_of(table).end..end_of_place(table.place));
        let free = self.free.iter();
        let free = free.map(|&place| end_of_place(place) - self.table_pages..end_of_place(place));
        let beyond = self.log_pages + self.key_of_page.len() as u32..self.pages;
        let unused: Vec<_> = ends.chain(free).chain([beyond]).collect();
        unused.into_iter().for_each(|pages| self.activities.trim(pages));
    }

    /// At most `count` different keys, whose density falls evenly from the first key to 0.
    /// A level has this gradient in its steady state, if it compacts the first tables next.
    fn keys_of_density_gradient(&self, count: u32) -> Vec<u32> {
        let key_at = |index: u32| {
            let below = 1.0 - (f64::from(index) + 0.5) / f64::from(count);
            (f64::from(self.keys) * (1.0 - below.sqrt())) as u32
        };
        let mut keys: Vec<u32> = (0..count).map(key_at).collect();
        keys.dedup();
        keys
    }
}

/// Most tables of each level but the last, for a last level of `last_tables`.
/// As in `RocksDB` with dynamic level sizes, level 1 has at most as many tables as level 0.
fn limits(last_tables: u32, level0_tables: u32, multiplier: u32) -> Vec<u32> {
    let mut limits = Vec::new();
    let mut tables = f64::from(last_tables);
    while tables > f64::from(level0_tables) {
        tables /= f64::from(multiplier);
        limits.insert(0, tables.round().max(1.0) as u32);
    }
    limits.insert(0, level0_tables);
    limits
}

impl Registered<Site> for Lsm {
    const ENTRY: Entry = entry(
        "lsm",
        "an LSM tree with levelled compaction, as RocksDB: log, flushes, and merges of whole tables",
    )
    .example("lsm")
    .variants(&["lsm:table=2%,multiplier=4,used=60%,log=none,discard=off,pick=round-robin"])
    .params(&[
        Param::new(
            "table",
            "0.001",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "size of a table and of the memtable, as a share of all pages, rounded to whole pages",
        )
        .stated(),
        Param::new(
            "used",
            "0.8",
            Domain::Number(Excluded(0.0), Excluded(1.0)),
            "entries with different keys, as a share of the pages for tables",
        )
        .stated(),
        Param::new(
            "multiplier",
            "10",
            Domain::Whole(2, 1000),
            "ratio of the sizes of a level and the one above it",
        ),
        Param::new(
            "level0",
            "4",
            Domain::Whole(1, 1000),
            "number of tables in level 0 that starts its compaction; the most for level 1",
        ),
        Param::new("keys", "uniform", NESTED, "pattern of the updates over the keys"),
        Param::new(
            "log",
            "cyclic",
            Domain::Word(&["cyclic", "none"]),
            "cyclic: each update is also written to a log of two memtables; none: no log",
        ),
        Param::new(
            "discard",
            "on",
            Domain::Word(&["on", "off"]),
            "on: deleted tables are trimmed; off: their pages are only overwritten",
        ),
        Param::new(
            "pick",
            "overlap",
            Domain::Word(&["overlap", "round-robin"]),
            "table that a level compacts next: least overlap per page with the next level, or in \
             the order of keys",
        ),
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        let &Site { pages, page_bytes, ref context } = site;
        let table_pages = (params.number("table") * f64::from(pages)).round().max(1.0) as u32;
        let has_log = params.choice("log", &[("cyclic", true), ("none", false)]);
        let log_pages = if has_log { table_pages.saturating_mul(LOGGED_MEMTABLES) } else { 0 };
        let places = pages.saturating_sub(log_pages) / table_pages;
        let place_pages = places * table_pages;
        let keys = (params.number("used") * f64::from(place_pages)).round().max(1.0) as u32;
        let last_tables = keys.div_ceil(table_pages);
        let limits = limits(last_tables, params.integer("level0"), params.integer("multiplier"));
        let needed = u64::from(last_tables) + limits.iter().map(|&n| u64::from(n)).sum::<u64>();
        if needed > u64::from(places) {
            return Err(Error::Spec(format!(
                "lsm: {pages} pages hold {places} tables of {table_pages} pages, but used={} and \
                 the levels need {}; give a smaller table, used or level0",
                params.text("used"),
                needed,
            )));
        }
        let mut tree = Lsm {
            pages,
            page_bytes,
            log_pages,
            table_pages,
            keys,
            has_discard: params.choice("discard", &[("on", true), ("off", false)]),
            is_by_overlap: params.choice("pick", &[("overlap", true), ("round-robin", false)]),
            updates: build(params.text("keys"), keys, context.child(0))?,
            random: context.random(),
            memtable: filled(0, table_pages as usize)?,
            in_memory: 0,
            next_of_log: 0,
            cursors: vec![0; limits.len() + 1],
            levels: vec![Vec::new(); limits.len() + 1],
            key_of_page: filled(0, place_pages as usize)?,
            free: (0..places).collect(),
            limits,
            activities: Activities::default(),
            application_pages: 0,
            written_pages: 0,
        };
        tree.load();
        Ok(tree)
    }
}
