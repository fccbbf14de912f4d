//! Database: point updates with a write-ahead log, checkpoints, external sorts and index
//! rebuilds.
//!
//! Four regions are consecutive: the tables with all data of point updates, the log, an index that
//! is rebuilt as a whole, and space for temporary files. An update makes a page of the tables dirty
//! in memory, and appends to the log. Some dirty pages are evicted and written immediately. The
//! others are written in address order by the checkpoint that precedes the reuse of a full log.

use std::ops::Bound::{Included, Unbounded};

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::NESTED;
use super::shares::regions;
use super::{MOST_GROUPS, Site, Step, Workload, build};
use crate::error::{Error, Result};
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Registered};
use crate::rng::threshold;
use crate::state::{MOST_PLAUSIBLE, state};

/// Number of updates drawn at once (a chunk).
/// A batch of writes never spans two chunks, so that changes of groups are at exact positions.
const CHUNK_PAGES: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Updates,
    Checkpoint,
    Sort,
    Rebuild,
}

/// Event that happens at a given share of its opportunities, evenly spaced.
/// After n opportunities it has happened n · share times, rounded to a whole number.
#[derive(Debug, Clone)]
struct Regularly {
    share: f64,
    step: u64,
    position: u64,
}

state!(Regularly { fixed share, fixed step, value position });

impl Regularly {
    fn new(share: f64) -> Self {
        Regularly { share, step: threshold(share), position: 1 << 63 }
    }

    fn happens(&mut self) -> bool {
        let happens;
        (self.position, happens) = self.position.overflowing_add(self.step);
        happens
    }
}

/// Dirty pages of the tables: pages whose version in memory is newer than that on the drive.
#[derive(Debug)]
struct Dirty {
    /// One bit per page, set if the page is dirty.
    words: Table<u64>,
    /// First word with dirty pages during a checkpoint.
    first_word: usize,
}

state!(Dirty { table words, value first_word } where is_sound);

impl Dirty {
    fn is_sound(&self) -> bool {
        self.first_word <= self.words.len()
    }

    fn mark(&mut self, page: u32) {
        self.words[page as usize / 64] |= 1 << (page % 64);
    }

    fn clear(&mut self, page: u32) {
        self.words[page as usize / 64] &= !(1 << (page % 64));
    }

    fn take_first(&mut self) -> Option<u32> {
        let ahead = &self.words[self.first_word..];
        self.first_word += ahead.iter().take_while(|&&word| word == 0).count();
        let word = self.words.get_mut(self.first_word)?;
        let page = self.first_word as u32 * 64 + word.trailing_zeros();
        *word &= *word - 1;
        Some(page)
    }

    fn pages(&self) -> impl Iterator<Item = u32> {
        let words = (0u32..).zip(&self.words);
        words.flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 64 + bit)
        })
    }
}

pub struct Database {
    tables: Box<dyn Workload>,
    log: Range<u32>,
    index: Range<u32>,
    temp: Range<u32>,
    sort_every: u64,
    sort_passes: u64,
    rebuild_every: u64,

    phase: Phase,
    checkpoints: u64,
    /// Pages written so far by the current pass over the log, a sort or an index rebuild.
    written: u64,
    logs: Regularly,
    evictions: Regularly,
    chunk: [u32; CHUNK_PAGES],
    ready: Range<usize>,
    /// Evicted page whose write did not fit in the last batch, so it is the first of the next
    /// batch.
    evicted: Option<u32>,
    dirty: Dirty,
    /// Dirty pages of each group of the tables at the start of the checkpoint.
    dirty_pages: Vec<u32>,
}

state! {
    Database {
        nested tables,
        fixed log,
        fixed index,
        fixed temp,
        fixed sort_every,
        fixed sort_passes,
        fixed rebuild_every,
        value phase,
        value checkpoints,
        value written,
        nested logs,
        nested evictions,
        table chunk,
        value ready,
        value evicted,
        nested dirty,
        list dirty_pages,
    } where is_sound
}

impl Database {
    fn is_sound(&self) -> bool {
        let length = |region: &Range<u32>| u64::from(region.end - region.start);
        let most_written = match self.phase {
            Phase::Updates => length(&self.log),
            Phase::Checkpoint => 0,
            Phase::Sort => length(&self.temp) * self.sort_passes,
            Phase::Rebuild => length(&self.index),
        };
        let of_tables = |page: u32| page < self.tables.pages();
        let groups = self.tables.groups().map_or(0, |groups| groups.len());
        self.written <= most_written
            && self.checkpoints < MOST_PLAUSIBLE
            && (self.phase != Phase::Checkpoint || self.dirty_pages.len() == groups)
            && self
                .chunk
                .get(self.ready.clone())
                .is_some_and(|ready| ready.iter().all(|&page| of_tables(page)))
            && self.evicted.is_none_or(of_tables)
            && self.dirty.pages().all(of_tables)
    }

    /// Draws updates until the buffer or the log is full, or the chunk of updates is used up.
    /// Returns the number of pages in `buffer`.
    fn update(&mut self, buffer: &mut [u32]) -> usize {
        if let Some(page) = self.evicted.take() {
            buffer[0] = page;
            return 1;
        }
        let log_pages = u64::from(self.log.end - self.log.start);
        let mut filled = 0;
        while filled < buffer.len() && self.written < log_pages {
            if self.ready.is_empty() {
                if filled > 0 {
                    break;
                }
                let Step::Writes(count) = self.tables.next(&mut self.chunk) else {
                    unreachable!(
                        "synthetic workloads write pages without end, so the next step is a write"
                    )
                };
                self.ready = 0..count;
            }
            let page = self.chunk[self.ready.next().expect("updates were drawn, so one is ready")];
            if self.logs.happens() {
                buffer[filled] = self.log.start + self.written as u32;
                filled += 1;
                self.written += 1;
            }
            if !self.evictions.happens() {
                self.dirty.mark(page);
                continue;
            }
            self.dirty.clear(page);
            if filled == buffer.len() {
                self.evicted = Some(page);
            } else {
                buffer[filled] = page;
                filled += 1;
            }
        }
        filled
    }

    fn checkpoint(&mut self, buffer: &mut [u32]) -> usize {
        let mut filled = 0;
        while filled < buffer.len()
            && let Some(page) = self.dirty.take_first()
        {
            buffer[filled] = page;
            filled += 1;
        }
        filled
    }

    /// Continues to write a region from start to end, `passes` times in all.
    /// Returns the number of pages in `buffer`.
    fn sweep(&mut self, region: Range<u32>, passes: u64, buffer: &mut [u32]) -> usize {
        let length = u64::from(region.end - region.start);
        let left = length * passes - self.written;
        let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        for (page, place) in buffer[..count].iter_mut().zip(self.written..) {
            *page = region.start + (place % length) as u32;
        }
        self.written += count as u64;
        count
    }

    fn begin_next_phase(&mut self) {
        let due = |every: u64| self.checkpoints.is_multiple_of(every);
        self.phase = match self.phase {
            Phase::Updates => Phase::Checkpoint,
            Phase::Checkpoint if due(self.sort_every) => Phase::Sort,
            Phase::Checkpoint | Phase::Sort if due(self.rebuild_every) => Phase::Rebuild,
            _ => Phase::Updates,
        };
        self.written = 0;
        if self.phase == Phase::Checkpoint {
            self.checkpoints += 1;
            self.dirty.first_word = 0;
            self.count_dirty_pages();
        }
    }

    fn count_dirty_pages(&mut self) {
        self.dirty_pages.clear();
        let Some(groups) = self.tables.groups() else { return };
        self.dirty_pages.resize(groups.len(), 0);
        for page in self.dirty.pages() {
            let mut group = 0;
            self.tables.find_groups(&[page], std::slice::from_mut(&mut group));
            self.dirty_pages[group as usize] += 1;
        }
    }

    /// Shares of this phase's writes to the log, the index and temporary files.
    fn shares_beside_tables(&self) -> [f64; 3] {
        match self.phase {
            Phase::Updates => {
                [self.logs.share / (self.logs.share + self.evictions.share), 0.0, 0.0]
            }
            Phase::Checkpoint => [0.0; 3],
            Phase::Rebuild => [0.0, 1.0, 0.0],
            Phase::Sort => [0.0, 0.0, 1.0],
        }
    }
}

impl Workload for Database {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        loop {
            let count = match self.phase {
                Phase::Updates => self.update(buffer),
                Phase::Checkpoint => self.checkpoint(buffer),
                Phase::Sort => self.sweep(self.temp.clone(), self.sort_passes, buffer),
                Phase::Rebuild => self.sweep(self.index.clone(), 1, buffer),
            };
            if count > 0 {
                return Step::Writes(count);
            }
            self.begin_next_phase();
        }
    }

    fn pages(&self) -> u32 {
        self.temp.end
    }

    /// Groups of the tables, then the log, the index and temporary files, with the shares of the
    /// current phase.
    fn groups(&self) -> Option<Vec<Group>> {
        let mut groups = self.tables.groups()?;
        let beside = self.shares_beside_tables();
        let tables_share = 1.0 - beside.iter().sum::<f64>();
        let dirty: u32 = self.dirty_pages.iter().sum();
        for (index, group) in groups.iter_mut().enumerate() {
            group.write_share = match self.phase {
                Phase::Checkpoint => f64::from(self.dirty_pages[index]) / f64::from(dirty),
                _ => tables_share * group.write_share,
            };
        }
        for (region, write_share) in [&self.log, &self.index, &self.temp].into_iter().zip(beside) {
            groups.push(Group { pages: region.end - region.start, write_share });
        }
        (groups.len() <= MOST_GROUPS).then_some(groups)
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        let of_tables = self.tables.groups().map_or(0, |groups| groups.len());
        let ends = [self.log.end, self.index.end];
        for (group, &page) in group_of.iter_mut().zip(pages) {
            if page < self.log.start {
                self.tables.find_groups(&[page], std::slice::from_mut(group));
            } else {
                *group = (of_tables + ends.partition_point(|&end| end <= page)) as u8;
            }
        }
    }
}

impl Registered<Site> for Database {
    const ENTRY: Entry = super::entry(
        "database",
        "point updates and a log, checkpoints in order, external sorts, index rebuilds",
    )
    .example("database")
    .params(&[
        Param::new(
            "sizes",
            "0.7/0.05/0.1/0.15",
            Domain::List(&Domain::Number(Included(0.0), Unbounded)),
            "relative sizes of the tables, the log, the index and temporary files",
        ),
        Param::new(
            "updates",
            "hot-cold(f=0.2,r=0.8)",
            NESTED,
            "pattern of the point updates over the tables",
        ),
        Param::new(
            "log",
            "1",
            Domain::Number(Included(0.001), Included(1.0)),
            "log pages per update; a checkpoint comes when the log is full",
        ),
        Param::new(
            "evict",
            "0.2",
            Domain::SHARE,
            "share of the updates whose page is evicted from memory and written immediately",
        ),
        Param::new(
            "sort_every",
            "4",
            Domain::Whole(1, u64::MAX),
            "number of checkpoints from one external sort to the next",
        ),
        Param::new(
            "sort_passes",
            "2",
            Domain::Whole(1, 1000),
            "number of times that a sort writes the temporary files: once for its runs, then once \
             per merge",
        ),
        Param::new(
            "rebuild_every",
            "10",
            Domain::Whole(1, u64::MAX),
            "number of checkpoints from one rebuild of the index to the next",
        ),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let parsed = regions(params, "sizes", pages)?;
        let [tables, log, index, temp] = &parsed[..] else {
            return Err(Error::Spec(format!(
                "database: {} sizes; give four: tables, log, index and temporary files",
                parsed.len()
            )));
        };
        Ok(Database {
            tables: build(params.text("updates"), tables.end, context.child(0))?,
            log: log.clone(),
            index: index.clone(),
            temp: temp.clone(),
            sort_every: params.integer("sort_every"),
            sort_passes: params.integer("sort_passes"),
            rebuild_every: params.integer("rebuild_every"),
            phase: Phase::Updates,
            checkpoints: 0,
            written: 0,
            logs: Regularly::new(params.number("log")),
            evictions: Regularly::new(params.number("evict")),
            chunk: [0; CHUNK_PAGES],
            ready: 0..0,
            evicted: None,
            dirty: Dirty { words: filled(0, tables.end.div_ceil(64) as usize)?, first_word: 0 },
            dirty_pages: Vec::new(),
        })
    }
}
