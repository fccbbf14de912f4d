//! Oracle: streams by the true remaining life of pages.

use std::collections::HashMap;

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Oracle {
    streams: usize,
    is_linear: bool,
    pages_per_block: u64,
    invalidation_times: HashMap<u32, Option<u64>>,
}

impl Oracle {
    /// Returns the stream of a page.
    ///
    /// Stream s takes pages with a remaining life below 2^s blocks of writes, or below s + 1 blocks
    /// if the spacing is linear. The last stream takes all others.
    fn stream(&self, logical: u32, now: u64) -> usize {
        let Some(invalidation_time) = self.invalidation_times[&logical] else {
            return self.streams - 1;
        };
        let lives_on = invalidation_time.saturating_sub(now);
        let blocks = |stream: usize| if self.is_linear { stream as u64 + 1 } else { 1 << stream };
        let fits = |stream: &usize| lives_on < self.pages_per_block * blocks(*stream);
        (0..self.streams).find(fits).unwrap_or(self.streams - 1)
    }
}

impl Scheme for Oracle {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        Oracle {
            streams: spec.get("streams"),
            is_linear: spec.word("spacing", "log") == "linear",
            pages_per_block: u64::from(setup.pages_per_block),
            invalidation_times: HashMap::new(),
        }
    }

    fn migration_stream(&self) -> usize {
        self.streams
    }

    fn host(&mut self, logical: u32, now: u64, hint: Hint) -> usize {
        self.invalidation_times.insert(logical, hint.invalidation_time);
        self.stream(logical, now)
    }

    fn on_unmapped(&mut self, logical: u32) {
        self.invalidation_times.insert(logical, None);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        self.stream(logical, victim.now)
    }
}
