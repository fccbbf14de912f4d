//! Order of the groups (paper 3, §5.2): sorting by hit rate, creation and merging.

use super::groups::{Change, Groups, Statistics};

/// Fewest groups of a drive that creates and merges groups.
pub const FEWEST_GROUPS: usize = 2;

impl Groups {
    /// Sorts groups by hit rate.
    /// A group without pages, or created less than `hold_intervals` intervals ago, keeps its place.
    pub(super) fn sort(&mut self, pages: &[u32]) {
        let keeps = |group: usize| self.statistics[group].held > 0 || pages[group] == 0;
        let mut moving: Vec<usize> =
            self.order.iter().copied().filter(|&group| !keeps(group)).collect();
        moving.sort_by(|&a, &b| self.rate(a, pages).total_cmp(&self.rate(b, pages)));
        let mut sorted = moving.into_iter();
        let order = self.order.iter().map(|&group| {
            if keeps(group) {
                group
            } else {
                sorted.next().expect("each group that was taken out of the order is put back")
            }
        });
        self.order = order.collect();
    }

    /// Merges at most one pair of groups, and creates at most one group.
    /// Then counts one interval less until each new group may be moved or merged.
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
            self.statistics[group] = Statistics { held, ..Statistics::new(0.0) };
            changes.push(Change::Created { group });
        }
        for &group in &self.order {
            let held = &mut self.statistics[group].held;
            *held = held.saturating_sub(1);
        }
        changes
    }

    /// For each pair of neighbours, counts the consecutive intervals with similar write rates per
    /// page.
    fn watch_likeness(&mut self, pages: &[u32]) {
        for place in 1..self.order.len() {
            let [colder, hotter] = [self.order[place - 1], self.order[place]];
            let alike = !self.is_held(colder)
                && !self.is_held(hotter)
                && self.rate(hotter, pages) < self.rules.ratio * self.rate(colder, pages);
            self.alike[place] = if alike { self.alike[place] + 1 } else { 0 };
        }
    }

    /// Finds a pair of groups to merge.
    /// It is a group smaller than `smallest_pages` and its neighbour with the most similar hit
    /// rate, or else two neighbours that were similar for more than `hold_intervals` intervals. New
    /// groups are excluded.
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

    /// Finds the place of a new group: above the hottest, or between two very different
    /// neighbours.
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
        // No group is created next to the coldest one, because rarely written pages would fill it.
        (2..=last)
            .filter(|&hotter| !held(hotter) && !held(hotter - 1))
            .find(|&hotter| rate(hotter) > 2.0 * ratio * rate(hotter - 1))
    }

    fn is_held(&self, group: usize) -> bool {
        self.statistics[group].held > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocation::{Allocation, Exceptions};
    use super::super::groups::Rules;
    use super::super::measured::Pace;
    use super::*;

    const HOLD: u32 = 3;

    /// Builds groups whose measured write shares are exactly `shares`.
    /// The last interval has the weight 1.
    fn groups(count: usize) -> Groups {
        let rules = Rules {
            weight: 1.0,
            ratio: 2.0,
            hold_intervals: HOLD,
            smallest_pages: 10,
            adaptive: true,
            keeps_order: false,
            pace: Pace { pace: 0.02, memory: 0.98 },
            assumed_ratio: None,
            allocation: Allocation::ClosedForm,
            exceptions: Exceptions { coldest_ratio: 0.0, coldest_op: 0.0, floor: 0.0 },
        };
        Groups::new(rules, count, 6)
    }

    fn interval(
        groups: &mut Groups,
        writes: &[u32],
        pages: &[u32],
        unused: Option<usize>,
    ) -> Vec<Change> {
        for (group, &count) in writes.iter().enumerate() {
            (0..count).for_each(|_| groups.count_write(group));
        }
        groups.end_interval(pages, unused)
    }

    #[test]
    fn groups_are_sorted_by_hit_rate_and_one_without_pages_keeps_its_place() {
        let mut groups = groups(4);
        groups.rules.adaptive = false; // or it would be merged
        interval(&mut groups, &[60, 0, 30, 10], &[100, 0, 100, 100], None);
        assert_eq!(groups.order(), [3, 1, 2, 0]);
        // Group 2 has half the write share of group 0 on a tenth of its pages, so it is five times
        // as hot.
        interval(&mut groups, &[60, 0, 30, 10], &[1000, 0, 100, 100], None);
        assert_eq!(groups.order(), [0, 1, 3, 2]);
    }

    #[test]
    fn a_hotter_group_is_created_above_a_large_hot_one_and_held() {
        let mut groups = groups(2);
        let mut created = |pages: &[u32]| interval(&mut groups, &[10, 90], pages, Some(2));
        assert_eq!(created(&[100, 9]), []);
        assert_eq!(created(&[100, 100]), [Change::Created { group: 2 }]);
        // While the new group is held in its place, no further group is created.
        assert_eq!(interval(&mut groups, &[10, 80, 10], &[100, 100, 1], Some(3)), []);
        assert_eq!(groups.order(), [0, 1, 2]);
    }

    #[test]
    fn groups_less_hot_than_the_ratio_asks_for_have_no_hotter_one() {
        let mut groups = groups(2);
        assert_eq!(interval(&mut groups, &[40, 60], &[100, 100], Some(2)), []);
    }

    #[test]
    fn a_middle_group_comes_between_distant_groups_but_not_beside_the_coldest() {
        let mut groups = groups(3);
        let pages = [100, 100, 5]; // the hottest is too small for a hotter one, and held
        groups.statistics[2].held = 2;
        assert_eq!(interval(&mut groups, &[1, 80, 19], &pages, Some(3)), []);
        let pages = [100, 100, 100, 9];
        let mut groups = self::groups(4);
        groups.statistics[3].held = 5;
        let changes = interval(&mut groups, &[1, 10, 79, 10], &pages, Some(4));
        assert_eq!(changes, [Change::Created { group: 4 }]);
        assert_eq!(groups.order(), [0, 1, 4, 2, 3]);
    }

    #[test]
    fn neighbours_that_stay_alike_merge_and_their_shares_add_up() {
        let mut groups = groups(3);
        let pages = [100, 100, 100];
        for turn in 0..=HOLD {
            // The two groups exchange places in each interval, which must not matter.
            let writes = if turn % 2 == 0 { [10, 44, 46] } else { [10, 46, 44] };
            let changes = interval(&mut groups, &writes, &pages, None);
            assert_eq!(changes.is_empty(), turn < HOLD, "{turn}");
        }
        assert_eq!(groups.order().len(), 2);
        let share: f64 = groups.order().iter().map(|&g| groups.statistics[g].write_share).sum();
        assert!((share - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_small_group_merges_with_its_nearer_neighbour_and_a_held_one_exempts_only_itself() {
        let small = [100, 9, 100, 100];
        let mut free = groups(4);
        let merged = interval(&mut free, &[10, 2, 28, 60], &small, None);
        assert_eq!(merged, [Change::Merged { from: 1, into: 2 }]);
        let mut held = groups(4);
        held.statistics[2].held = 5;
        let merged = interval(&mut held, &[10, 2, 28, 60], &small, None);
        assert_eq!(merged, [Change::Merged { from: 1, into: 0 }]);
        assert_eq!(interval(&mut groups(2), &[50, 50], &[100, 9], None), [], "two are the fewest");
    }
}
