//! Which groups there are (paper 3, §5.2): sorting by hit rate, creation and merging.

use super::groups::{Change, Groups, NEW, Statistics};

/// A drive that adapts never has fewer groups.
pub const FEWEST_GROUPS: usize = 2;

impl Groups {
    /// Sorts by hit rate. A group that is held, or has no page to be hit, keeps its place.
    pub(super) fn sort(&mut self, pages: &[u32]) {
        let keeps = |group: usize| self.statistics[group].held > 0 || pages[group] == 0;
        let mut moving: Vec<usize> =
            self.order.iter().copied().filter(|&group| !keeps(group)).collect();
        moving.sort_by(|&a, &b| self.rate(a, pages).total_cmp(&self.rate(b, pages)));
        let mut sorted = moving.into_iter();
        let order = self.order.iter().map(|&group| {
            if keeps(group) { group } else { sorted.next().expect("as many as were taken out") }
        });
        self.order = order.collect();
    }

    /// Merges at most one pair and creates at most one group, then lets an interval of every
    /// hold pass.
    pub(super) fn adapt(&mut self, pages: &[u32], unused: Option<usize>) -> Vec<Change> {
        let mut pages = pages.to_vec();
        let mut changes = Vec::new();
        self.watch_likeness(&pages);
        if self.order.len() > FEWEST_GROUPS
            && let Some((from, into)) = self.pair_to_merge(&pages)
        {
            self.merge(from, into);
            pages[into] += std::mem::take(&mut pages[from]);
            changes.push(Change::Merged { from, into });
        }
        if let Some(group) = unused
            && let Some(place) = self.place_to_create(&pages)
        {
            let held = self.rules.hold_intervals;
            self.order.insert(place, group);
            self.alike.insert(place, 0);
            self.statistics[group] = Statistics { held, ..NEW };
            changes.push(Change::Created { group });
        }
        for &group in &self.order {
            let held = &mut self.statistics[group].held;
            *held = held.saturating_sub(1);
        }
        changes
    }

    /// Counts for how long neighbours have been written about as often as each other.
    fn watch_likeness(&mut self, pages: &[u32]) {
        for place in 1..self.order.len() {
            let [colder, hotter] = [self.order[place - 1], self.order[place]];
            let alike = !self.is_held(colder)
                && !self.is_held(hotter)
                && self.rate(hotter, pages) < self.rules.ratio * self.rate(colder, pages);
            self.alike[place] = if alike { self.alike[place] + 1 } else { 0 };
        }
    }

    /// A group that is too small and the neighbour nearest to it in hit rate; or else two neighbours
    /// that have resembled each other for long. A held group takes no part in it.
    fn pair_to_merge(&self, pages: &[u32]) -> Option<(usize, usize)> {
        let free = |place: &usize| !self.is_held(self.order[*place]);
        for place in (0..self.order.len()).filter(free) {
            let group = self.order[place];
            if pages[group] >= self.rules.smallest_pages {
                continue;
            }
            let rate = self.rate(group, pages);
            let apart = |other: usize| {
                let other = self.rate(other, pages);
                other.max(rate) / other.min(rate)
            };
            let neighbours = [place.wrapping_sub(1), place + 1];
            let nearest = neighbours
                .into_iter()
                .filter(|at| *at < self.order.len())
                .filter(free)
                .map(|at| self.order[at])
                .min_by(|&a, &b| apart(a).total_cmp(&apart(b)));
            if let Some(into) = nearest {
                return Some((group, into));
            }
        }
        let long_alike =
            (1..self.order.len()).find(|&place| self.alike[place] > self.rules.hold_intervals);
        long_alike.map(|place| (self.order[place], self.order[place - 1]))
    }

    fn merge(&mut self, from: usize, into: usize) {
        let place = self.place(from);
        self.order.remove(place);
        self.alike.remove(place);
        self.alike[0] = 0;
        self.statistics[into].write_share += self.statistics[from].write_share;
        self.statistics[from] = NEW;
    }

    /// Above the hottest group, or between two that are far apart.
    fn place_to_create(&self, pages: &[u32]) -> Option<usize> {
        let rate = |place: usize| self.rate(self.order[place], pages);
        let held = |place: usize| self.is_held(self.order[place]);
        let last = self.order.len() - 1;
        let ratio = self.rules.ratio;
        let hottest_pages = pages[self.order[last]];
        if !held(last)
            && hottest_pages >= self.rules.smallest_pages.max(1)
            && rate(last) >= ratio * rate(last - 1)
        {
            return Some(last + 1);
        }
        // Not beside the coldest group: pages that are hardly ever written would fill the middle.
        (2..=last)
            .filter(|&hotter| !held(hotter) && !held(hotter - 1))
            .find(|&hotter| rate(hotter) > 2.0 * ratio * rate(hotter - 1))
    }

    fn is_held(&self, group: usize) -> bool {
        self.statistics[group].held > 0
    }
}
