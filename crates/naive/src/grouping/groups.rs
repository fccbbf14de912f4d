//! Groups of a drive and their order by temperature (paper 3, Listing 2 and §5.2).

use super::allocation::{Demand, spare_pages};
use super::arrivals::Arrivals;
use crate::setup::{Allocation, FEWEST_GROUPS, GroupRules};

/// Group of pages.
#[derive(Debug, Clone)]
struct Group {
    number: usize,
    /// Measured share of the host's writes (p in the paper).
    share: f64,
    interval_writes: u32,
    /// Number of intervals for which the group must still keep its position in the order.
    held: u32,
    /// For FDP: number of steps in write frequency above the coldest group.
    ///
    /// Each step multiplies the frequency by the assumed ratio.
    steps: u32,
    arrivals: Arrivals,
}

impl Group {
    fn new(number: usize, share: f64) -> Self {
        let arrivals = Arrivals::new(share);
        Group { number, share, interval_writes: 0, held: 0, steps: number as u32, arrivals }
    }
}

/// Change of the groups at the end of an interval, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Created { group: usize },
    Merged { from: usize, into: usize },
}

/// Open groups, in the order of temperature.
#[derive(Debug)]
pub(crate) struct Groups {
    rules: GroupRules,
    /// Smallest size of a group, in pages (F in the paper). A smaller group is merged.
    smallest_pages: u32,
    coldest_first: Vec<Group>,
    /// For each position in the order: number of consecutive intervals in which the group's hit
    /// rate was below Q times the next colder group's.
    similar_intervals: Vec<u32>,
}

impl Groups {
    /// Returns the initial groups of the rules, with equal shares of the writes.
    pub fn new(rules: GroupRules, smallest_pages: u32) -> Self {
        let count = rules.groups_at_first;
        let share = 1.0 / count as f64;
        Groups {
            rules,
            smallest_pages,
            coldest_first: (0..count).map(|number| Group::new(number, share)).collect(),
            similar_intervals: vec![0; count],
        }
    }

    /// Adds hotter groups without writes, up to `count` groups.
    pub fn grow(&mut self, count: usize) {
        for number in self.coldest_first.len()..count {
            self.coldest_first.push(Group::new(number, 0.0));
            self.similar_intervals.push(0);
        }
    }

    /// Sets the steps of each class above the coldest.
    pub fn assume(&mut self, steps: &[u32]) {
        for (group, &steps) in self.coldest_first.iter_mut().zip(steps) {
            group.steps = steps;
        }
    }

    /// Returns the numbers of the groups, the coldest first.
    pub fn order(&self) -> Vec<usize> {
        self.coldest_first.iter().map(|group| group.number).collect()
    }

    pub fn hotter(&self, number: usize) -> usize {
        self.coldest_first.get(self.place(number) + 1).map_or(number, |group| group.number)
    }

    pub fn colder(&self, number: usize) -> usize {
        let colder = self.place(number).checked_sub(1);
        colder.map_or(number, |place| self.coldest_first[place].number)
    }

    fn place(&self, number: usize) -> usize {
        self.order().into_iter().position(|other| other == number).expect("an open group")
    }

    fn group(&mut self, number: usize) -> &mut Group {
        let place = self.place(number);
        &mut self.coldest_first[place]
    }

    /// Counts a write of the host to a group.
    pub fn count_write(&mut self, number: usize) {
        self.group(number).interval_writes += 1;
    }

    /// Counts a page that collection moved to a group from another one.
    pub fn count_migration(&mut self, number: usize) {
        self.group(number).arrivals.count_migration();
    }

    /// Counts a collected block of a group.
    pub fn count_victim(&mut self, number: usize, valid_pages: u32) {
        self.group(number).arrivals.count_victim(valid_pages);
    }

    /// True if the allocation uses measurements of collection.
    pub fn follows_collection(&self) -> bool {
        self.rules.allocation == Allocation::Marginal
    }

    /// Updates the effective sizes; `sizes` and `owned_pages` are by number.
    pub fn follow(&mut self, sizes: &[u32], owned_pages: &[i64], pages_per_block: u32) {
        for group in &mut self.coldest_first {
            let pages = f64::from(sizes[group.number]);
            let spare = owned_pages[group.number] as f64 - pages;
            group.arrivals.follow(pages, spare, pages_per_block, self.rules.following);
        }
    }

    /// Ends an interval by Listing 2; returns the changes of groups.
    ///
    /// A new group gets the number `unused`; without one, no group is created.
    pub fn end_interval(&mut self, sizes: &[u32], unused: Option<usize>) -> Vec<Change> {
        self.measure();
        if self.rules.assumed_ratio.is_some() {
            return Vec::new();
        }
        if !self.rules.keeps_order {
            self.sort(sizes);
        }
        if !self.rules.adapts {
            return Vec::new();
        }
        let mut sizes = sizes.to_vec();
        self.count_similar(&sizes);
        let merged = self.merge(&sizes);
        if let Some(Change::Merged { from, into }) = merged {
            sizes[into] += sizes[from];
        }
        let created = unused.and_then(|number| self.create(number, &sizes));
        for group in &mut self.coldest_first {
            group.held = group.held.saturating_sub(1);
        }
        merged.into_iter().chain(created).collect()
    }

    /// Updates the shares of writes, by lines 2, 3 and 5; a is the weight of the last interval.
    fn measure(&mut self) {
        let all: u32 = self.coldest_first.iter().map(|group| group.interval_writes).sum();
        let all = f64::from(all.max(1));
        let a = self.rules.weight;
        for group in &mut self.coldest_first {
            let own = std::mem::take(&mut group.interval_writes);
            group.share += a * (f64::from(own) / all - group.share);
            group.arrivals.end_interval(own, all, a);
        }
    }

    /// Returns the hit rate p/s (writes over size) of the group at a position in the order.
    fn hit_rate(&self, place: usize, sizes: &[u32]) -> f64 {
        let group = &self.coldest_first[place];
        group.share / f64::from(sizes[group.number].max(1))
    }

    fn is_held(&self, place: usize) -> bool {
        self.coldest_first[place].held > 0
    }

    /// Swaps neighbours until the groups are in order, by line 7.
    ///
    /// New groups that must keep their position, and groups without pages, are not swapped. They
    /// are skipped, so the groups on both sides of them are neighbours of each other.
    fn sort(&mut self, sizes: &[u32]) {
        let stays =
            |place: usize| self.is_held(place) || sizes[self.coldest_first[place].number] == 0;
        let places: Vec<usize> =
            (0..self.coldest_first.len()).filter(|&place| !stays(place)).collect();
        let wrong = |groups: &Self| {
            let mut pairs = places.windows(2).map(|pair| (pair[0], pair[1]));
            pairs.find(|&(colder, hotter)| {
                groups.hit_rate(colder, sizes) > groups.hit_rate(hotter, sizes)
            })
        };
        while let Some((colder, hotter)) = wrong(self) {
            self.coldest_first.swap(colder, hotter);
        }
    }

    /// Counts the intervals in which neighbours have similar hit rates.
    fn count_similar(&mut self, sizes: &[u32]) {
        for hotter in 1..self.coldest_first.len() {
            let colder = hotter - 1;
            let are_free = !self.is_held(colder) && !self.is_held(hotter);
            let [low, high] = [colder, hotter].map(|place| self.hit_rate(place, sizes));
            let is_similar = are_free && high < self.rules.ratio * low;
            self.similar_intervals[hotter] =
                if is_similar { self.similar_intervals[hotter] + 1 } else { 0 };
        }
    }

    /// Merges a pair of groups, if more than the fewest groups are left.
    ///
    /// The coldest group that is too small merges into the neighbour with the nearest hit rate. If
    /// no group is too small, the coldest group with a hit rate close to its colder neighbour's for
    /// long enough merges into that neighbour.
    fn merge(&mut self, sizes: &[u32]) -> Option<Change> {
        let places = 0..self.coldest_first.len();
        if places.len() <= FEWEST_GROUPS {
            return None;
        }
        let is_small = |place: usize| {
            !self.is_held(place) && sizes[self.coldest_first[place].number] < self.smallest_pages
        };
        let mut small = places.clone().filter(|&place| is_small(place));
        let too_small = small.find_map(|place| Some((place, self.most_similar(place, sizes)?)));
        let too_similar = || {
            let mut hotter = places.skip(1);
            let hotter =
                hotter.find(|&place| self.similar_intervals[place] > self.rules.hold_intervals)?;
            Some((hotter, hotter - 1))
        };
        let (from, into) = too_small.or_else(too_similar)?;
        let [from, into] = [from, into].map(|place| self.coldest_first[place].number);
        self.close(from, into);
        Some(Change::Merged { from, into })
    }

    /// Removes a group, and adds its share and measurements to another one.
    pub fn close(&mut self, from: usize, into: usize) {
        let place = self.place(from);
        self.similar_intervals.remove(place);
        self.similar_intervals[0] = 0; // the coldest group has no colder neighbour
        let from = self.coldest_first.remove(place);
        let joined = self.group(into);
        joined.share += from.share;
        joined.arrivals.join(from.arrivals);
    }

    /// Inserts a group so that groups remain in the order of their numbers.
    pub fn open(&mut self, number: usize) {
        self.coldest_first.push(Group::new(number, 0.0));
        self.coldest_first.sort_by_key(|group| group.number);
        self.similar_intervals.push(0);
    }

    /// Returns the neighbour with the nearest hit rate, by ratio; of equals the colder.
    ///
    /// Neighbours that must keep their position are excluded.
    fn most_similar(&self, place: usize, sizes: &[u32]) -> Option<usize> {
        let own = self.hit_rate(place, sizes);
        let times = |other: usize| {
            let other = self.hit_rate(other, sizes);
            let (lesser, greater) = (own.min(other), own.max(other));
            if greater > lesser { greater / lesser } else { 1.0 } // also for two zeros
        };
        let colder = place.checked_sub(1).filter(|&colder| !self.is_held(colder));
        let hotter = Some(place + 1)
            .filter(|&hotter| hotter < self.coldest_first.len() && !self.is_held(hotter));
        match (colder, hotter) {
            (Some(colder), Some(hotter)) if times(hotter) < times(colder) => Some(hotter),
            (Some(colder), _) => Some(colder),
            (None, hotter) => hotter,
        }
    }

    /// Creates a group if the hit rates leave a gap for it.
    ///
    /// It is above the hottest group, if that has enough pages and its hit rate is at least Q times
    /// the next one's. If not, it is between the coldest two neighbours with a ratio above 2·Q. The
    /// coldest group is not one of these two: rarely written pages would fill the new group.
    fn create(&mut self, number: usize, sizes: &[u32]) -> Option<Change> {
        let rate = |place: usize| self.hit_rate(place, sizes);
        let q = self.rules.ratio;
        let hottest = self.coldest_first.len() - 1;
        let hottest_pages = sizes[self.coldest_first[hottest].number];
        let is_worth_more = !self.is_held(hottest)
            && hottest_pages > 0
            && hottest_pages >= self.smallest_pages
            && rate(hottest) >= q * rate(hottest - 1);
        let is_gap = |&hotter: &usize| {
            let are_free = !self.is_held(hotter) && !self.is_held(hotter - 1);
            are_free && rate(hotter) > 2.0 * q * rate(hotter - 1)
        };
        let place = if is_worth_more { hottest + 1 } else { (2..=hottest).find(is_gap)? };
        let held = self.rules.hold_intervals;
        self.coldest_first.insert(place, Group { held, ..Group::new(number, 0.0) });
        self.similar_intervals.insert(place, 0);
        Some(Change::Created { group: number })
    }

    /// Returns the flash pages that each group should have, by number; `op` are the spare pages.
    pub fn target_pages(&self, sizes: &[u32], op: f64) -> Vec<f64> {
        let follows = self.follows_collection();
        let size = |group: &Group| f64::from(sizes[group.number]);
        let weight = |group: &Group| match self.rules.assumed_ratio {
            Some(ratio) => (0..group.steps).fold(size(group), |weight, _| weight * ratio),
            None if follows => group.arrivals.share,
            None => group.share,
        };
        let all: f64 = self.coldest_first.iter().map(weight).sum();
        let demand = |group: &Group| Demand {
            pages: size(group) * if follows { group.arrivals.effective } else { 1.0 },
            writes: if all > 0.0 { weight(group) / all } else { 0.0 },
        };
        let demands: Vec<Demand> = self.coldest_first.iter().map(demand).collect();
        let spare = spare_pages(self.rules.allocation, self.rules.exceptions, &demands, op);
        let mut targets = vec![0.0; sizes.len()];
        for (group, spare) in self.coldest_first.iter().zip(spare) {
            targets[group.number] = size(group) + spare;
        }
        targets
    }
}
