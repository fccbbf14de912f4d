//! Multi-log: one log (write frontier) per class of update frequency (Stoica & Ailamaki, VLDB
//! 2013).
//!
//! A page starts in the hottest log. Surviving a collection moves it one log down. A write
//! moves it one log up with probability 1 − 2v/e, where v is its update interval and e the mean
//! interval of its log. The mean is the number of pages of the log, over its share of the host's
//! writes. Earlier writes count less in that share with every drive write (one host write per
//! logical page). A new log opens below the lowest log once the lowest contains a block's worth of
//! pages.

use super::LastWrites;
use super::{HostPage, Placement, RegisteredPlacement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Table, filled, prefetch};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::rng::Stream;
use crate::state::{elements, require, state};

const NEW: u8 = u8::MAX;

pub struct MultiLog {
    last_writes: LastWrites,
    /// Log of each page; 0 is the hottest.
    log_of: Table<u8>,
    logs: Vec<Log>,
    /// Number of the lowest (coldest) log in use.
    lowest: usize,
    /// Host writes, with the same decay as the write counters of the logs.
    writes: u64,
    fades_at: u64,
    pages_per_block: u64,
    random: Stream,
}

#[derive(Debug, Clone, Copy, Default)]
struct Log {
    pages: u64,
    writes: u64,
}

elements!(Log { pages: u64, writes: u64 });

state! {
    MultiLog {
        nested last_writes,
        table log_of,
        table logs,
        value lowest,
        value writes,
        fixed fades_at,
        fixed pages_per_block,
        nested random,
    } where is_sound
}

impl MultiLog {
    /// Check of a restored state: the counters of each log must match the logs of the pages.
    fn is_sound(&self) -> bool {
        let mut pages = [0u64; NEW as usize + 1];
        self.log_of.iter().for_each(|&log| pages[usize::from(log)] += 1);
        pages[usize::from(NEW)] = 0;
        let (of_logs, of_others) = pages.split_at(self.logs.len());
        let writes = |sum: u64, log: &Log| sum.checked_add(log.writes);
        self.logs.iter().map(|log| log.pages).eq(of_logs.iter().copied())
            && of_others.iter().all(|&pages| pages == 0)
            && self.logs.iter().try_fold(0, writes) == Some(self.writes)
            && self.writes < self.fades_at
            && self.lowest < self.logs.len()
    }

    /// Half the mean update interval of the pages of a log, in host pages written.
    fn half_interval(&self, log: usize) -> u32 {
        let Log { pages, writes } = self.logs[log];
        let half = (pages * self.writes).checked_div(2 * writes).unwrap_or(u64::MAX);
        half.min(u64::from(u32::MAX)) as u32
    }

    fn count_write(&mut self, log: usize) {
        self.logs[log].writes += 1;
        self.writes += 1;
        if self.writes >= self.fades_at {
            self.logs.iter_mut().for_each(|log| log.writes /= 2);
            self.writes = self.logs.iter().map(|log| log.writes).sum();
        }
    }

    fn moves(&mut self, logical: u32, from: usize, to: usize) -> usize {
        self.logs[from].pages -= 1;
        self.logs[to].pages += 1;
        self.log_of[logical as usize] = to as u8;
        to
    }
}

impl Registered<Sizes> for MultiLog {
    const ENTRY: Entry =
        Entry::new("multilog", "one write frontier (log) for each class of update frequency")
            .example("multilog:logs=4")
            .params(&[Param::new("logs", "6", Domain::Whole(2, 64), "largest number of logs")])
            .small("multilog:logs=3")
            .candidates(&[
                Pairs::usual(&["multilog:logs=4"], &["greedy", "cost-benefit"]),
                Pairs::rare(&["multilog:logs=4"], &["d-choices:d=4"]),
            ]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        Ok(MultiLog {
            last_writes: LastWrites::new(sizes.logical_pages)?,
            log_of: filled(NEW, sizes.logical_pages as usize)?,
            logs: vec![Log::default(); params.integer("logs")],
            lowest: 0,
            writes: 0,
            fades_at: 2 * u64::from(sizes.logical_pages),
            pages_per_block: u64::from(sizes.pages_per_block),
            random: Stream::new(sizes.seed, "placement"),
        })
    }
}

impl Placement for MultiLog {
    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        let interval = self.last_writes.replace(page.logical, page.now);
        let log = self.log_of[page.logical as usize];
        let Some(interval) = interval.filter(|_| log != NEW) else {
            self.log_of[page.logical as usize] = 0;
            self.logs[0].pages += 1;
            self.count_write(0);
            return 0;
        };
        let log = usize::from(log);
        self.count_write(log);
        if log == 0 {
            return 0;
        }
        let half = self.half_interval(log);
        if interval < u64::from(half) && u64::from(self.random.below(half)) >= interval {
            self.moves(page.logical, log, log - 1)
        } else {
            log
        }
    }

    fn forget(&mut self, logical: u32) {
        self.last_writes.forget(logical);
        let log = std::mem::replace(&mut self.log_of[logical as usize], NEW);
        if log != NEW {
            self.logs[usize::from(log)].pages -= 1;
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
        let log = usize::from(self.log_of[logical as usize]);
        if log == self.lowest
            && log + 1 < self.logs.len()
            && self.logs[log].pages >= self.pages_per_block
        {
            self.lowest += 1;
        }
        if log < self.lowest { self.moves(logical, log, log + 1) } else { log }
    }

    fn bytes(&self) -> u64 {
        self.last_writes.bytes() + self.log_of.len() as u64
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        require(
            drive.holds_for_mapped_pages(|logical| self.log_of[logical] != NEW),
            "MultiLog.log_of",
        )
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
        prefetch(&self.log_of, logical as usize);
    }
}

impl RegisteredPlacement for MultiLog {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let logs = params.integer("logs");
        Streams { all: logs, migration: logs }
    }
}
