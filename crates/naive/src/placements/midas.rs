//! `MiDAS`: a chain of groups by age, as in `docs/midas-algorithm.md`.

mod hot;
mod model;

use std::collections::{BTreeMap, HashMap};

use super::{Collected, Hint, Scheme, Setup, Spec};
use hot::{Hot, HotRule};
use model::{Model, Sizing};

pub struct Midas {
    setup: Setup,
    groups: usize,
    domains: usize,
    /// Number N of logical pages.
    logical_pages: u64,
    epoch_pages: u64,
    check_pages: u64,
    margin: f64,
    tolerance: f64,
    /// Host pages written, including the current page.
    clock: u64,
    written_at: HashMap<u32, u64>,
    /// Number of rewrite intervals in the epoch, by their four leading bits.
    intervals: BTreeMap<u64, u64>,
    hot: Hot,
    /// Largest number of blocks per domain of each group that has a limit, HOT first.
    bounded: Vec<usize>,
    has_classes: bool,
    /// Group of each closed block.
    group_of: HashMap<u32, usize>,
    /// Time at which each closed block closed.
    closed_at: HashMap<u32, u64>,
    /// Blocks of each (domain, group) that the victim policy must not choose, the oldest first.
    held: BTreeMap<(usize, usize), Vec<u32>>,
    /// Blocks that the victim policy may choose from now on, each with its domain.
    released: Vec<(usize, u32)>,
    /// For each domain: `clock` of the last host page that waited for space, and its victims.
    /// The second number counts the victims chosen for that page so far.
    awaited: BTreeMap<usize, (u64, u32)>,
    /// Group of the last victim.
    victim_group: usize,
    /// Counts of the victims of this epoch.
    epoch: VictimStats,
    /// Counts of the victims of the period in which predictions are checked.
    period: VictimStats,
    epoch_ends: u64,
    /// Groups that need a victim before the first period begins.
    uncollected: Vec<usize>,
    /// End of the period in which predictions are checked, once the period has begun.
    period_ends: Option<u64>,
    /// Predicted valid share of victims, by group.
    predicted: Vec<f64>,
}

/// Number of victims of each group, and number of pages migrated from these victims.
#[derive(Default)]
struct VictimStats {
    victims: BTreeMap<usize, u64>,
    pages: BTreeMap<usize, u64>,
}

impl VictimStats {
    fn valid_share(&self, group: usize, pages_per_block: u32) -> Option<f64> {
        let victims = *self.victims.get(&group)?;
        let pages = self.pages.get(&group).copied().unwrap_or(0);
        Some(pages as f64 / (victims * u64::from(pages_per_block)) as f64)
    }
}

impl Midas {
    fn is_learning(&self) -> bool {
        // Learning begins with host page 2N + 1.
        self.clock > 2 * self.logical_pages
    }

    /// Returns the last group. If it is divided into classes, returns the first class.
    fn last(&self) -> usize {
        if self.bounded.is_empty() { 1 } else { self.bounded.len() }
    }

    fn last_class(&self) -> usize {
        let classes = if self.has_classes { 4 } else { 1 };
        let most = self.groups - self.last();
        self.last() + classes.min(most) - 1
    }

    fn end_epoch(&mut self) {
        let is_first = self.clock == 2 * self.logical_pages;
        if is_first {
            self.hot.learn_from(self.clock);
        } else {
            self.uncollected.clear();
            self.period_ends = None;
            let valid_share = self.epoch.valid_share(0, self.setup.pages_per_block);
            let hot = self.hot.used(self.epoch_pages, valid_share.unwrap_or(0.0));
            let held_pages = self.written_at.len() as u32;
            let model = Model::new(&self.intervals, &self.setup, held_pages, self.groups);
            let migrated: u64 = self.epoch.pages.values().sum();
            let measured = 1.0 + migrated as f64 / self.epoch_pages as f64;
            if let Some(sizing) = model.search(hot)
                && sizing.expected < self.margin * measured
            {
                self.adopt(sizing);
            }
        }
        self.hot.begin_epoch();
        self.epoch = VictimStats::default();
        self.intervals.clear();
        self.epoch_ends = self.clock + self.epoch_pages;
    }

    fn adopt(&mut self, sizing: Sizing) {
        let last = sizing.most_blocks.len();
        self.predicted = sizing.valid_shares;
        self.uncollected = (1..=last).collect();
        self.has_classes = false;
        // Blocks that the victim policy may choose, and blocks of dissolved groups, belong to the
        // last group.
        let bounded_before = self.bounded.len();
        for group in self.group_of.values_mut() {
            if *group >= bounded_before || *group >= last {
                *group = last;
            }
        }
        self.bounded = sizing.most_blocks;
        for domain in 0..self.domains {
            for group in last..bounded_before {
                self.release(domain, group, 0);
            }
            for group in 0..last {
                self.release(domain, group, self.bounded[group]);
            }
        }
    }

    /// Releases the oldest held blocks of a group, so that at most `most` are held.
    fn release(&mut self, domain: usize, group: usize, most: usize) {
        let Some(blocks) = self.held.get_mut(&(domain, group)) else { return };
        let excess = blocks.len().saturating_sub(most);
        for block in blocks.drain(..excess) {
            // If the group is dissolved, the group of its blocks was changed already.
            if group < self.bounded.len() {
                self.group_of.insert(block, self.bounded.len());
            }
            self.released.push((domain, block));
        }
    }

    /// Merges all groups from `first` on into the last one, which gets classes.
    fn merge(&mut self, first: usize) {
        self.has_classes = true;
        let bounded_before = self.bounded.len();
        self.bounded.truncate(if first == 1 { 0 } else { first });
        for group in self.group_of.values_mut() {
            *group = (*group).min(first);
        }
        for domain in 0..self.domains {
            for group in self.bounded.len()..bounded_before {
                let blocks = self.held.remove(&(domain, group)).unwrap_or_default();
                self.released.extend(blocks.into_iter().map(|block| (domain, block)));
            }
        }
    }

    /// Checks the predictions of the period; merges groups from the first wrong one on.
    fn check(&mut self) {
        let end = if self.has_classes { self.last() } else { self.last() + 1 };
        let pages_per_block = self.setup.pages_per_block;
        for group in 1..end {
            let Some(valid_share) = self.period.valid_share(group, pages_per_block) else {
                continue;
            };
            if (valid_share - self.predicted[group]).abs() > self.tolerance {
                self.merge(group);
                break;
            }
        }
        self.begin_period();
    }

    fn begin_period(&mut self) {
        self.period = VictimStats::default();
        self.period_ends = Some(self.clock + self.check_pages);
    }

    fn count_interval(&mut self, logical: u32, now: u64) -> Option<u64> {
        let interval = now - self.written_at.get(&logical)?;
        *self.intervals.entry(leading_bits(interval)).or_default() += 1;
        Some(interval)
    }
}

/// Returns an interval with all but its four leading bits cleared.
fn leading_bits(interval: u64) -> u64 {
    let mut unit = 1;
    while interval / unit >= 16 {
        unit *= 2;
    }
    interval / unit * unit
}

impl Scheme for Midas {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let logical_pages = u64::from(setup.logical_pages);
        let epoch = spec.get_or("epoch", 4.0);
        let pages = |drive_writes: f64| {
            let rounded = (drive_writes * logical_pages as f64).round() as u64;
            rounded.max(1)
        };
        let rule = match spec.get_or("hot", "on".to_string()).as_str() {
            "on" => HotRule::AsUsed,
            "model" => HotRule::Modelled,
            _ => HotRule::Off,
        };
        Midas {
            groups: spec.get("groups"),
            domains: setup.layout.domains(setup.luns) as usize,
            logical_pages,
            epoch_pages: pages(epoch),
            check_pages: pages(0.3 * epoch),
            margin: spec.get_or("margin", 1.0),
            tolerance: spec.get_or("tolerance", 0.1),
            clock: 0,
            written_at: HashMap::new(),
            intervals: BTreeMap::new(),
            hot: Hot::new(rule, logical_pages),
            bounded: Vec::new(),
            has_classes: true,
            group_of: HashMap::new(),
            closed_at: HashMap::new(),
            held: BTreeMap::new(),
            released: Vec::new(),
            awaited: BTreeMap::new(),
            victim_group: 0,
            epoch: VictimStats::default(),
            period: VictimStats::default(),
            epoch_ends: 2 * logical_pages,
            uncollected: Vec::new(),
            period_ends: None,
            predicted: Vec::new(),
            setup: setup.clone(),
        }
    }

    fn migration_stream(&self) -> usize {
        self.groups - 1
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        self.clock = now + 1;
        if self.is_learning()
            && let Some(interval) = self.count_interval(logical, now)
        {
            self.hot.rewritten(logical, interval);
        }
        self.written_at.insert(logical, now);
        let group = usize::from(!self.hot.is_hot_write(logical));
        if self.clock == self.epoch_ends {
            self.end_epoch();
        }
        if self.period_ends == Some(self.clock) {
            self.check();
        }
        group
    }

    fn on_unmapped(&mut self, logical: u32) {
        if self.clock >= 2 * self.logical_pages {
            self.count_interval(logical, self.clock);
        }
        self.written_at.remove(&logical);
    }

    fn collected(&mut self, victim: Collected) {
        let Collected { block, opened, now, .. } = victim;
        let group = self.group_of.remove(&block).expect("each closed block must have a group");
        let closed =
            self.closed_at.remove(&block).expect("each closed block must have a closing time");
        self.held.values_mut().for_each(|blocks| blocks.retain(|&held| held != block));
        self.victim_group = group;
        for stats in [&mut self.epoch, &mut self.period] {
            *stats.victims.entry(group).or_default() += 1;
        }
        if self.uncollected.contains(&group) {
            self.uncollected.retain(|&other| other != group);
            if self.uncollected.is_empty() {
                self.begin_period();
            }
        }
        if group == 0 {
            self.hot.collected(now - u64::midpoint(opened, closed), now);
        }
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        for stats in [&mut self.epoch, &mut self.period] {
            *stats.pages.entry(self.victim_group).or_default() += 1;
        }
        self.hot.migrated(logical, self.victim_group);
        self.last_class().min(self.victim_group + 1)
    }

    fn on_close(&mut self, block: u32, stream: usize, domain: usize) -> bool {
        let group = stream.min(self.last_class());
        self.group_of.insert(block, group);
        self.closed_at.insert(block, self.clock);
        let is_bounded = group < self.bounded.len();
        if is_bounded {
            self.held.entry((domain, group)).or_default().push(block);
        }
        is_bounded
    }

    fn victim(&mut self, domain: usize, is_idle: bool, candidates: usize) -> Option<u32> {
        if !is_idle {
            let awaited = self.awaited.entry(domain).or_default();
            let earlier_victims = if awaited.0 == self.clock { awaited.1 } else { 0 };
            *awaited = (self.clock, earlier_victims + 1);
            if (earlier_victims + 1) % 25 == 0 && !self.bounded.is_empty() {
                self.merge(self.bounded.len() - 1);
            }
        }
        let others = self.released.iter().filter(|(of, _)| *of == domain).count();
        let groups = || {
            (0..self.bounded.len())
                .filter_map(|group| Some((group, self.held.get(&(domain, group))?)))
        };
        let too_large = groups().find(|(group, blocks)| blocks.len() > self.bounded[*group]);
        let any = groups().find(|(_, blocks)| candidates + others == 0 && !blocks.is_empty());
        too_large.or(any).map(|(_, blocks)| blocks[0])
    }

    fn take_released(&mut self) -> Vec<u32> {
        self.released.drain(..).map(|(_, block)| block).collect()
    }

    fn on_leveled(&mut self, young: u32, worn: u32) {
        let group = self.group_of.remove(&young).expect("each closed block must have a group");
        let closed =
            self.closed_at.remove(&young).expect("each closed block must have a closing time");
        self.group_of.insert(worn, group);
        self.closed_at.insert(worn, closed);
        for held in self.held.values_mut().flatten().filter(|held| **held == young) {
            *held = worn;
        }
    }
}
