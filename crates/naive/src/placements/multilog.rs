//! Multilog: a log for each class of update frequency.

use std::collections::HashMap;

use writeamp_engine::rng::Stream;

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct MultiLog {
    logical_pages: u64,
    pages_per_block: usize,
    written_at: HashMap<u32, u64>,
    log_of: HashMap<u32, usize>,
    /// Writes to the pages of each log. All are halved when their sum reaches 2 drive writes.
    writes: Vec<u64>,
    lowest: usize,
    random: Stream,
}

impl MultiLog {
    fn pages(&self, log: usize) -> usize {
        self.log_of.values().filter(|&&other| other == log).count()
    }
}

impl Scheme for MultiLog {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let logs = spec.get("logs");
        MultiLog {
            logical_pages: u64::from(setup.logical_pages),
            pages_per_block: setup.pages_per_block as usize,
            written_at: HashMap::new(),
            log_of: HashMap::new(),
            writes: vec![0; logs],
            lowest: 0,
            random: Stream::new(setup.seed, "placement"),
        }
    }

    fn migration_stream(&self) -> usize {
        self.writes.len()
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let log = *self.log_of.entry(logical).or_insert(0);
        let previous_write = self.written_at.insert(logical, now);
        self.writes[log] += 1;
        if self.writes.iter().sum::<u64>() >= 2 * self.logical_pages {
            self.writes.iter_mut().for_each(|writes| *writes /= 2);
        }
        let Some(previous_write) = previous_write.filter(|_| log > 0) else { return log };
        let interval = now - previous_write;
        let all_writes: u64 = self.writes.iter().sum();
        let half_the_mean = match self.writes[log] {
            0 => u64::from(u32::MAX),
            writes => self.pages(log) as u64 * all_writes / (2 * writes),
        };
        let half_the_mean = half_the_mean.min(u64::from(u32::MAX));
        if interval < half_the_mean
            && u64::from(self.random.below(half_the_mean as u32)) >= interval
        {
            self.log_of.insert(logical, log - 1);
        }
        self.log_of[&logical]
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.log_of.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        let log = self.log_of[&logical];
        let may_grow = self.lowest + 1 < self.writes.len();
        if log == self.lowest && may_grow && self.pages(log) >= self.pages_per_block {
            self.lowest += 1;
        }
        self.log_of.insert(logical, self.lowest.min(log + 1));
        self.log_of[&logical]
    }
}
