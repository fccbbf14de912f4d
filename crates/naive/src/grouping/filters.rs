//! Two Bloom filters for each group, which detect too hot or too cold pages (paper 3, §5.6).

use std::collections::HashSet;

use writeamp_engine::rng::Stream;

use super::groups::{Change, Groups};

/// Filters of all groups, by number.
pub(crate) struct Filters {
    false_positives: f64,
    demotion: f64,
    least_writes: u32,
    periods: Vec<Periods>,
    random: Stream,
}

/// Filters of the host's writes to a group, in the current and the previous period.
struct Periods {
    current: Filter,
    previous: Filter,
    writes_left: u32,
}

impl Filters {
    /// Returns empty filters; each period has at least `least_writes` writes.
    pub fn new(
        (false_positives, demotion): (f64, f64),
        least_writes: u32,
        groups: usize,
        random: Stream,
    ) -> Self {
        let periods = (0..groups).map(|_| Periods::new(least_writes, false_positives)).collect();
        Filters { false_positives, demotion, least_writes, periods, random }
    }

    /// Returns the group of a page of group `holder` that the host writes.
    ///
    /// It is the next hotter group if the page was written in both periods, and the coldest group
    /// if the page is new. `sizes` are the pages of each group before the write.
    pub fn group_of_write(
        &mut self,
        page: u32,
        holder: Option<usize>,
        groups: &Groups,
        sizes: &[u32],
    ) -> usize {
        let group = match holder {
            None => groups.order()[0],
            Some(holder) => {
                let of_holder = &self.periods[holder];
                let is_hot = of_holder.current.contains(page) && of_holder.previous.contains(page);
                if is_hot { groups.hotter(holder) } else { holder }
            }
        };
        let periods = &mut self.periods[group];
        if periods.writes_left == 0 {
            // The next period has as many writes as the group has pages.
            let writes = sizes[group].max(self.least_writes);
            let next = Periods::new(writes, self.false_positives);
            let current = std::mem::replace(periods, next).current;
            periods.previous = current;
        }
        periods.writes_left -= 1;
        periods.current.insert(page);
        group
    }

    /// Returns the group of a page of group `holder` that collection moves.
    ///
    /// If the page was written in neither period, it goes to the next colder group with probability
    /// `demotion`. Only then is a random number drawn.
    pub fn group_of_migration(&mut self, page: u32, holder: usize, groups: &Groups) -> usize {
        let of_holder = &self.periods[holder];
        if of_holder.current.contains(page) || of_holder.previous.contains(page) {
            return holder;
        }
        let drawn = u128::from(self.random.bits());
        let falls = drawn < (self.demotion * 2.0_f64.powi(64)) as u128;
        if falls { groups.colder(holder) } else { holder }
    }

    /// Empties the filters of a new group; a merge changes no filter.
    pub fn on_change(&mut self, change: Change) {
        if let Change::Created { group } = change {
            self.periods[group] = Periods::new(self.least_writes, self.false_positives);
        }
    }
}

impl Periods {
    fn new(writes: u32, false_positives: f64) -> Self {
        let fresh = || Filter::new(writes, false_positives);
        Periods { current: fresh(), previous: fresh(), writes_left: writes }
    }
}

/// A Bloom filter with the engine's size and hash.
///
/// Its false positives affect the groups of pages, so they must be the same as in the engine. Its k
/// hashes are derived from a single one (Kirsch & Mitzenmacher 2006), the finalizer of
/// `SplitMix64`.
struct Filter {
    bits: u64,
    hashes: u32,
    set: HashSet<u64>,
}

impl Filter {
    /// Returns a filter for n elements.
    ///
    /// Its m bits follow from p = (1 − e^(−k·n/m))^k, with k = −log2 p.
    fn new(elements: u32, false_positives: f64) -> Self {
        let hashes = (-libm::log2(false_positives)).round().max(1.0);
        let set_when_full = libm::pow(false_positives, 1.0 / hashes);
        let bits = -hashes * f64::from(elements) / libm::log(1.0 - set_when_full);
        Filter { bits: (bits.ceil() as u64).max(64), hashes: hashes as u32, set: HashSet::new() }
    }

    fn insert(&mut self, page: u32) {
        self.set.extend(self.places(page));
    }

    fn contains(&self, page: u32) -> bool {
        self.places(page).iter().all(|place| self.set.contains(place))
    }

    /// Returns the bits of a page in the filter.
    ///
    /// The i-th hash is the lower half plus i times the upper half made odd, modulo 2^32. Each hash
    /// is scaled from 2^32 to the number of bits.
    fn places(&self, page: u32) -> Vec<u64> {
        const HALF: u64 = 1 << 32;
        let hash = split_mix(u64::from(page));
        let (lower, step) = (hash % HALF, (hash / HALF) | 1);
        (0..u64::from(self.hashes)).map(|i| (lower + i * step) % HALF * self.bits / HALF).collect()
    }
}

/// Returns the first number of `SplitMix64` (Steele, Lea & Flood 2014) for a seed.
fn split_mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
