//! A chain of groups by age.

use std::collections::{BTreeMap, HashMap};

use super::{Collected, Hint, Scheme, Setup, Spec};

pub struct Midas {
    setup: Setup,
    groups: usize,
    domains: usize,
    written_at: HashMap<u32, u64>,
    writes: u64,
    /// Updates by the lower end of the range of intervals that theirs is in, fading.
    updates: BTreeMap<u64, u64>,
    /// Most held blocks of each bounded group, for each domain.
    most_blocks: Vec<usize>,
    /// The held blocks of each (domain, group), the oldest first.
    held: BTreeMap<(usize, usize), Vec<u32>>,
}

impl Midas {
    fn size_groups(&mut self) {
        let ranges = ranges(&self.updates);
        let expect = |bounds: &[usize]| expected(&ranges, bounds, &self.setup);
        let mut bounds: Vec<usize> = Vec::new();
        while bounds.len() + 1 < self.groups {
            let further = bounds.last().copied().unwrap_or(0) + 1..ranges.len();
            let with = |bound| [&bounds[..], &[bound]].concat();
            let outcomes = further.map(|bound| (bound, expect(&with(bound))));
            let worthwhile = outcomes.filter(|(_, wa)| *wa < expect(&bounds) * 0.99);
            let best = worthwhile.min_by(|one, other| one.1.total_cmp(&other.1));
            let Some((bound, _)) = best else { break };
            bounds.push(bound);
        }
        let first = |group: usize| if group == 0 { 0 } else { bounds[group - 1] };
        let blocks = |group: usize| {
            let (from, to) = (&ranges[first(group)], &ranges[bounds[group]]);
            let pages = from.survive * (to.begins - from.begins);
            (pages / f64::from(self.setup.pages_per_block) / self.domains as f64) as usize + 1
        };
        self.most_blocks = (0..bounds.len()).map(blocks).collect();
        self.updates.values_mut().for_each(|count| *count /= 2);
    }
}

/// Four leading bits of an interval, the rest cleared.
fn lower_end(interval: u64) -> u64 {
    let mut unit = 1;
    while interval / unit >= 16 {
        unit *= 2;
    }
    interval / unit * unit
}

/// A range of update intervals.
struct Range {
    begins: f64,
    /// Share of the updates that have not come at this age.
    survive: f64,
    /// Valid pages among those younger.
    valid: f64,
}

fn ranges(updates: &BTreeMap<u64, u64>) -> Vec<Range> {
    let mut ends: Vec<u64> = (0..8).collect();
    ends.extend((0..29).flat_map(|power| (8..16).map(move |lead| lead << power)));
    let total = updates.values().sum::<u64>().max(1) as f64;
    let mut ranges: Vec<Range> = Vec::new();
    let mut valid = 0.0;
    for (at, end) in ends.iter().enumerate() {
        let younger: u64 = updates.range(..end).map(|(_, count)| count).sum();
        let (begins, survive) = (*end as f64, 1.0 - younger as f64 / total);
        ranges.push(Range { begins, survive, valid });
        if let Some(next) = ends.get(at + 1) {
            let here = updates.get(end).copied().unwrap_or(0) as f64;
            valid += (*next as f64 - begins) * (survive - here / total / 2.0);
        }
    }
    ranges
}

/// Write amplification with bounds between groups at the beginnings of some ranges.
fn expected(ranges: &[Range], bounds: &[usize], setup: &Setup) -> f64 {
    let mut migrated = 0.0;
    let mut room = f64::from(setup.blocks) * f64::from(setup.pages_per_block);
    let mut from = &ranges[0];
    let mut inflow = 1.0;
    for &bound in bounds {
        room -= inflow * (ranges[bound].begins - from.begins);
        from = &ranges[bound];
        inflow = from.survive;
        migrated += inflow;
    }
    let valid = (f64::from(setup.logical_pages) - from.valid).max(0.0);
    if room <= 0.0 || valid / room >= 1.0 {
        return f64::INFINITY;
    }
    let v = valid_share(valid / room);
    1.0 + migrated + inflow * v / (1.0 - v)
}

/// Menon's v where u = (v − 1)/ln v, to 30 bits.
fn valid_share(u: f64) -> f64 {
    (1..=30).fold(0.0, |v, bit| {
        let higher = v + 0.5f64.powi(bit);
        if (higher - 1.0) / libm::log(higher) < u { higher } else { v }
    })
}

impl Scheme for Midas {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        Midas {
            setup: setup.clone(),
            groups: spec.get("groups"),
            domains: setup.layout.domains(setup.luns) as usize,
            written_at: HashMap::new(),
            writes: 0,
            updates: BTreeMap::new(),
            most_blocks: Vec::new(),
            held: BTreeMap::new(),
        }
    }

    fn migration_stream(&self) -> usize {
        self.groups - 1
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        if let Some(before) = self.written_at.insert(logical, now) {
            *self.updates.entry(lower_end(now - before)).or_default() += 1;
        }
        self.writes += 1;
        if self.writes.is_multiple_of(u64::from(self.setup.logical_pages)) {
            self.size_groups();
        }
        0
    }

    fn forgets(&mut self, logical: u32) {
        self.written_at.remove(&logical);
    }

    fn migrated(&mut self, _logical: u32, victim: Collected) -> usize {
        let last = self.most_blocks.len().max(1);
        last.min(victim.stream + 1)
    }

    fn closes(&mut self, block: u32, stream: usize, domain: usize) -> bool {
        let is_bounded = stream < self.most_blocks.len();
        if is_bounded {
            self.held.entry((domain, stream)).or_default().push(block);
        }
        is_bounded
    }

    fn victim(&self, domain: usize, gained_nothing: bool, candidates: usize) -> Option<u32> {
        let here =
            || self.held.iter().filter(|((d, _), blocks)| *d == domain && !blocks.is_empty());
        let most = |group: usize| self.most_blocks.get(group).copied().unwrap_or(0);
        let too_large = here().find(|((_, group), blocks)| blocks.len() > most(*group));
        let first = here().next().filter(|_| gained_nothing || candidates == 0);
        too_large.or(first).map(|(_, blocks)| blocks[0])
    }

    fn releases(&mut self, block: u32) {
        self.held.values_mut().for_each(|blocks| blocks.retain(|&held| held != block));
    }

    fn exchanges(&mut self, young: u32, worn: u32) {
        for held in self.held.values_mut().flatten().filter(|held| **held == young) {
            *held = worn;
        }
    }
}
