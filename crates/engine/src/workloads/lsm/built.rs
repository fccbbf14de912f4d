//! LSM tree of a spec: its parameters, the sizes of its levels, and the loaded database.

use std::ops::Bound::Excluded;

use super::space::FreeSpace;
use super::{LOGGED_MEMTABLES, Lsm};
use crate::error::{Error, Result};
use crate::flash::filled;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::workloads::activities::{Activities, refuse_trim};
use crate::workloads::{NESTED, Site, build, entry};

impl Lsm {
    /// Loads a database before the run, near its steady state: sorted levels are full.
    fn load(&mut self) {
        // From below, because tables end where those of the next level do.
        for level in (1..self.levels.len()).rev() {
            let keys: Vec<u32> = match self.limits.get(level) {
                None => (0..self.keys).collect(),
                Some(&limit) => self.keys_of_density_gradient(limit),
            };
            self.levels[level] = self.write_tables(&keys, level);
        }
        self.written_pages = 0;
        self.activities.clear();
        if self.has_discard {
            // The fill may have written pages that hold no data of a table.
            let unused: Vec<_> = self.free.extents().collect();
            for extent in &unused {
                self.activities.trim(self.logical(extent));
            }
        }
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

/// Pages at which each level but the last is compacted, for a last level of `keys` pages.
/// As in `RocksDB` with dynamic level sizes, they follow from the last level, and none is below
/// those of level 0.
fn limits(keys: u32, level0_pages: u32, multiplier: u32) -> Vec<u32> {
    let mut limits = Vec::new();
    let mut pages = f64::from(keys);
    while pages > f64::from(level0_pages) {
        pages /= f64::from(multiplier);
        limits.insert(0, (pages.round() as u32).max(level0_pages));
    }
    limits.insert(0, level0_pages);
    limits
}

impl Registered<Site> for Lsm {
    const ENTRY: Entry = entry(
        "lsm",
        "an LSM tree with levelled compaction, as RocksDB: log, flushes, and merges of whole tables",
    )
    .example("lsm")
    .variants(&[
        "lsm:table=2%,multiplier=4,used=60%,log=none,discard=off,pick=round-robin,ends=full",
    ])
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
        Param::new(
            "ends",
            "aligned",
            Domain::Word(&["aligned", "full"]),
            "aligned: tables end where a table of the next level starts or ends; full: when they \
             are full",
        ),
    ])
    .alone();

    fn build(params: &Params, site: &Site) -> Result<Self> {
        refuse_trim(params)?;
        let &Site { pages, page_bytes, ref context } = site;
        let table_pages = (params.number("table") * f64::from(pages)).round().max(1.0) as u32;
        let has_log = params.choice("log", &[("cyclic", true), ("none", false)]);
        let log_pages = if has_log { table_pages.saturating_mul(LOGGED_MEMTABLES) } else { 0 };
        let places = pages.saturating_sub(log_pages);
        let keys = (params.number("used") * f64::from(places)).round().max(1.0) as u32;
        let level0_pages = params.integer::<u32>("level0").saturating_mul(table_pages);
        let limits = limits(keys, level0_pages, params.integer("multiplier"));
        let needed = u64::from(keys) + limits.iter().map(|&n| u64::from(n)).sum::<u64>();
        if needed > u64::from(places) {
            return Err(Error::Spec(format!(
                "lsm: {places} pages are for tables, but used={} and levels of tables of \
                 {table_pages} pages need {needed}; give a smaller table, used or level0",
                params.text("used"),
            )));
        }
        let mut free = FreeSpace::default();
        free.release(&(0..places));
        let mut tree = Lsm {
            pages,
            page_bytes,
            log_pages,
            table_pages,
            keys,
            has_discard: params.choice("discard", &[("on", true), ("off", false)]),
            is_by_overlap: params.choice("pick", &[("overlap", true), ("round-robin", false)]),
            is_aligned: params.choice("ends", &[("aligned", true), ("full", false)]),
            updates: build(params.text("keys"), keys, context.child(0))?,
            random: context.random(),
            memtable: filled(0, table_pages as usize)?,
            in_memory: 0,
            next_of_log: 0,
            cursors: vec![0; limits.len() + 1],
            levels: vec![Vec::new(); limits.len() + 1],
            key_of_page: filled(0, places as usize)?,
            free,
            limits,
            activities: Activities::default(),
            application_pages: 0,
            written_pages: 0,
        };
        tree.load();
        Ok(tree)
    }
}
