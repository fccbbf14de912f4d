//! ETI: hot and cold extents of the address space.

use super::{Collected, Hint, Scheme, Setup, Spec};

/// Range of pages, with a counter of its writes.
#[derive(Debug, Clone, Copy)]
struct Extent {
    first: u32,
    end: u32,
    count: u32,
}

/// Streams: hot, cold, migrated.
pub struct Eti {
    most_extents: usize,
    extents: Vec<Extent>,
    /// Current run of consecutive writes.
    run: Vec<u32>,
    /// Current run of consecutive trims.
    trimmed: Vec<u32>,
    requests: u32,
}

impl Eti {
    /// Counts a request for the pages from `first` to before `end`.
    ///
    /// It first splits extents at the ends of the request, if there may be more extents. Only
    /// extents that lie entirely within the request count it.
    fn count(&mut self, first: u32, end: u32) {
        for cut in [first, end] {
            let inside = self.extents.iter().position(|e| e.first < cut && cut < e.end);
            if let Some(at) = inside
                && self.extents.len() < self.most_extents
            {
                let whole = self.extents[at];
                let parts = [Extent { end: cut, ..whole }, Extent { first: cut, ..whole }];
                self.extents.splice(at..=at, parts);
            }
        }
        for extent in &mut self.extents {
            if first <= extent.first && extent.end <= end && extent.count < 15 {
                extent.count += 1;
            }
        }
        self.requests += 1;
        if self.requests.is_multiple_of(4096) {
            self.decay();
        }
    }

    /// Halves all counters, and merges neighbours with equal or low counters.
    fn decay(&mut self) {
        let mut merged: Vec<Extent> = Vec::new();
        for mut extent in self.extents.drain(..) {
            extent.count /= 2;
            match merged.last_mut() {
                Some(last)
                    if last.count == extent.count || (last.count < 4 && extent.count < 4) =>
                {
                    last.end = extent.end;
                }
                _ => merged.push(extent),
            }
        }
        self.extents = merged;
    }
}

impl Scheme for Eti {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let whole = Extent { first: 0, end: setup.logical_pages, count: 0 };
        Eti {
            most_extents: spec.get("extents"),
            extents: vec![whole],
            run: Vec::new(),
            trimmed: Vec::new(),
            requests: 0,
        }
    }

    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, logical: u32, _now: u64, _hint: Hint) -> usize {
        if let (Some(&first), Some(&last)) = (self.run.first(), self.run.last())
            && logical != last + 1
        {
            self.count(first, last + 1);
            self.run.clear();
        }
        self.run.push(logical);
        self.trimmed.clear();
        let own = self.extents.iter().find(|e| e.first <= logical && logical < e.end);
        usize::from(own.expect("each page of the drive must be in an extent").count < 4)
    }

    fn on_unmapped(&mut self, logical: u32) {
        if let (Some(&first), Some(&last)) = (self.run.first(), self.run.last()) {
            self.count(first, last + 1);
            self.run.clear();
        }
        if self.trimmed.last().is_some_and(|last| logical != last + 1) {
            self.trimmed.clear();
        }
        self.trimmed.push(logical);
        for extent in &mut self.extents {
            if (extent.first..extent.end).all(|page| self.trimmed.contains(&page)) {
                extent.count = 0;
            }
        }
    }

    fn migrated(&mut self, _logical: u32, _victim: Collected) -> usize {
        2
    }
}
