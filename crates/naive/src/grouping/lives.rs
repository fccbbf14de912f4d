//! Forecasts of the remaining lives of pages: the life table of `docs/wolf-algorithm.md`.
//!
//! Every forecast computes all numbers again, in the order in which the docs write them.

use std::collections::BTreeMap;

use libm::{exp, exp2, log2, sqrt};

/// Levels per octave, which is a factor of 2.
/// A level is the logarithm of a life, as a whole number of these steps.
pub(super) const OCTAVE: i64 = 256;

const AGES: usize = 40;
const OCTAVES: i64 = 14;

/// Class of pages whose lives are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Pages that were written once.
    New,
    /// Pages that were written more than once.
    Again {
        /// Octave of the mean interval between writes.
        octave: i64,
        pattern: Pattern,
    },
}

/// Number of intervals between a page's writes: one, two or three, or more.
///
/// The value is log2 (last interval / mean interval), as a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pattern {
    One,
    TwoOrThree(i64),
    More(i64),
}

/// Returns the patterns, in the order in which their counts are summed.
fn patterns() -> impl Iterator<Item = Pattern> {
    let two_or_three = (-4..=3).map(Pattern::TwoOrThree);
    [Pattern::One].into_iter().chain(two_or_three).chain((-4..=3).map(Pattern::More))
}

/// Number of pages of each class at each age.
#[derive(Debug, Default)]
struct Counts(BTreeMap<(Class, usize), f64>);

impl Counts {
    fn count(&mut self, class: Class, age: usize) {
        *self.0.entry((class, age)).or_default() += 1.0;
    }

    fn of(&self, class: Class, age: usize) -> f64 {
        self.0.get(&(class, age)).copied().unwrap_or(0.0)
    }

    fn of_octave(&self, octave: i64, age: usize) -> f64 {
        patterns().map(|pattern| self.of(Class::Again { octave, pattern }, age)).sum()
    }

    fn of_class(&self, class: Class) -> f64 {
        (0..AGES).map(|age| self.of(class, age)).sum()
    }

    fn fade(&mut self) {
        self.0.values_mut().for_each(|count| *count *= exp2(-1.0 / 16.0));
    }
}

/// Life table: counts by class and age, and the forecasts from them.
pub(super) struct Lives {
    /// Number N of logical pages.
    logical_pages: u32,
    /// Number D of overwritten pages, by class and age.
    overwritten: Counts,
    /// Number E of written pages that the scan of the logical pages visited, by class and age.
    seen: Counts,
    /// Levels of the remaining life, by age.
    forecasts: BTreeMap<Class, Vec<i64>>,
    writes: u32,
}

impl Lives {
    pub fn new(logical_pages: u32) -> Self {
        let mut lives = Lives {
            logical_pages,
            overwritten: Counts::default(),
            seen: Counts::default(),
            forecasts: BTreeMap::new(),
            writes: 0,
        };
        lives.forecast_if(|_| true);
        lives
    }

    /// Returns the class of a page that the host wrote at these times.
    pub fn class_of(&self, written_at: &[u64]) -> Class {
        let intervals: Vec<u64> =
            written_at.windows(2).map(|pair| rounded(pair[1] - pair[0])).collect();
        let (Some(&first), Some(&last)) = (intervals.first(), intervals.last()) else {
            return Class::New;
        };
        let average =
            |mean: u64, (earlier, &interval): (i64, &u64)| {
                let n = (earlier + 1).min(16);
                rounded(mean.saturating_add_signed(
                    (interval.cast_signed() - mean.cast_signed()).div_euclid(n),
                ))
            };
        let mean = level_of((0..).zip(&intervals).skip(1).fold(first, average));
        // Here the logarithm is not interpolated linearly between powers of two.
        let longest = (log2(8.0 * f64::from(self.logical_pages)) * OCTAVE as f64) as i64;
        let last_over_mean = (level_of(last) - mean).div_euclid(OCTAVE).clamp(-4, 3);
        Class::Again {
            octave: (longest - mean).div_euclid(OCTAVE).clamp(0, OCTAVES - 1),
            pattern: match intervals.len() {
                1 => Pattern::One,
                2 | 3 => Pattern::TwoOrThree(last_over_mean),
                _ => Pattern::More(last_over_mean),
            },
        }
    }

    /// Counts a page of this age that the host overwrites.
    pub fn count_overwritten(&mut self, class: Class, age: u64) {
        self.overwritten.count(class, self.bin_of(age));
    }

    /// Counts a page of this age that the scan visits.
    pub fn count_seen(&mut self, class: Class, age: u64) {
        self.seen.count(class, self.bin_of(age));
    }

    /// Counts a write of the host. Every quarter of a drive write, updates the forecasts.
    ///
    /// The counts of all classes fade with each update.
    pub fn count_write(&mut self) {
        self.writes += 1;
        if self.writes.is_multiple_of((self.logical_pages / 4).max(1)) {
            let counted = |lives: &Self, class| {
                lives.overwritten.of_class(class) + lives.seen.of_class(class)
            };
            let classes: Vec<Class> = self
                .forecasts
                .keys()
                .copied()
                .filter(|&class| counted(self, class) >= 0.01)
                .collect();
            self.forecast_if(|class| classes.contains(&class));
            self.overwritten.fade();
            self.seen.fade();
        }
    }

    /// Returns the level of a page's remaining life.
    pub fn forecast(&self, class: Class, age: u64) -> i64 {
        self.forecasts[&class][self.bin_of(age)]
    }

    fn forecast_if(&mut self, is_due: impl Fn(Class) -> bool) {
        let n = f64::from(self.logical_pages);
        let bins = self.bins();
        let of_new = bins.iter().map(|bin| 1.0 / bin.middle().max(4.0 * n)).collect();
        let mut due = vec![(Class::New, of_new)];
        for octave in 0..OCTAVES {
            let expected: Vec<f64> =
                (0..AGES).map(|age| self.hazard_of_octave(octave, age, &bins[age])).collect();
            let classes = patterns().map(|pattern| Class::Again { octave, pattern });
            due.extend(classes.map(|class| (class, expected.clone())));
        }
        for (class, expected) in due.into_iter().filter(|&(class, _)| is_due(class)) {
            let hazard = |age: usize| {
                (self.overwritten.of(class, age) + 10.0)
                    / (n * self.seen.of(class, age) + 10.0 / expected[age])
            };
            let hazards: Vec<f64> = (0..AGES).map(hazard).collect();
            let forecasts = logs_of_remaining_life(&bins, &hazards).into_iter();
            let level = |log: f64| ((log * OCTAVE as f64) as i64).max(1);
            self.forecasts.insert(class, forecasts.map(level).collect());
        }
    }

    /// Returns the hazard h₀ (rate of overwrites) that the classes of one octave have in common.
    fn hazard_of_octave(&self, octave: i64, age: usize, bin: &Bin) -> f64 {
        let n = f64::from(self.logical_pages);
        let usual = 8.0 * n / exp2(octave as f64 + 0.5);
        (2.0 + self.overwritten.of_octave(octave, age))
            / (2.0 * usual.max(bin.middle()) + n * self.seen.of_octave(octave, age))
    }

    /// Returns the half octave of the youngest bin.
    ///
    /// The oldest bin contains the age 32·N, if the drive is large enough for all bins. On smaller
    /// drives, the youngest bin is the half octave 0.
    fn first_half(&self) -> usize {
        (half_octave(32 * u64::from(self.logical_pages)) + 1).saturating_sub(AGES)
    }

    fn bin_of(&self, age: u64) -> usize {
        half_octave(age).clamp(self.first_half(), self.first_half() + AGES - 1) - self.first_half()
    }

    fn bins(&self) -> Vec<Bin> {
        let begin = |half: usize| {
            let power = exp2((half / 2) as f64);
            if half.is_multiple_of(2) { power } else { 1.5 * power }
        };
        let halves = self.first_half()..self.first_half() + AGES;
        let mut bins: Vec<Bin> =
            halves.map(|half| Bin { from: begin(half), to: begin(half + 1) }).collect();
        bins[0].from = 0.0;
        bins
    }
}

/// Range of ages that are counted together.
struct Bin {
    from: f64,
    to: f64,
}

impl Bin {
    /// Returns the width w, in host pages written.
    fn width(&self) -> f64 {
        self.to - self.from
    }

    /// Returns the middle a, in host pages written.
    fn middle(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }
}

/// Returns the logarithms of pages' remaining lives, by age.
fn logs_of_remaining_life(bins: &[Bin], hazards: &[f64]) -> Vec<f64> {
    let survivors: Vec<f64> =
        bins.iter().zip(hazards).map(|(bin, h)| exp(-h * bin.width())).collect();
    let beyond = log2(bins[AGES - 1].to) + 1.0;
    // Mean logarithm (L in the docs) of the age at which pages that reach each bin are overwritten.
    let mut at_death = vec![beyond; AGES + 1];
    for (i, s) in survivors.iter().enumerate().rev() {
        at_death[i] = (1.0 - s) * log2(bins[i].middle()) + s * at_death[i + 1];
    }
    let rest = |i: usize| {
        let half = bins[i].width() / 2.0;
        let x = hazards[i] * bins[i].width() / 2.0;
        let cut_off = std::f64::consts::LOG2_E + log2(sqrt(1.0 + 0.1 * x + 0.43 * x * x));
        let mut alive = exp(-x);
        let mut log = (1.0 - alive) * (log2(half) - cut_off);
        for later in i + 1..(i + 9).min(AGES) {
            let survive = alive * survivors[later];
            log += (alive - survive) * log2(bins[later].middle() - bins[i].middle());
            alive = survive;
        }
        log + alive * at_death[(i + 9).min(AGES)]
    };
    [at_death[0]].into_iter().chain((1..AGES).map(rest)).collect()
}

/// Splits a span into a power of two, as its exponent, and the rest.
fn octave_and_rest(span: u64) -> (u32, u64) {
    let octave = span.max(1).ilog2();
    (octave, span.max(1) - (1 << octave))
}

/// Rounds a span down to 12 significant bits; 0 becomes 1.
fn rounded(span: u64) -> u64 {
    let (octave, rest) = octave_and_rest(span);
    let unit = 1 << octave.saturating_sub(11);
    (1 << octave) + rest / unit * unit
}

/// Returns the level of a span, interpolated linearly between powers of two.
fn level_of(span: u64) -> i64 {
    let (octave, rest) = octave_and_rest(span);
    i64::from(octave) * OCTAVE + ((rest.cast_signed() * OCTAVE) >> octave)
}

/// Returns the half octave of a span.
///
/// Half octaves begin at powers of two, and at 1.5 times these.
fn half_octave(span: u64) -> usize {
    let (octave, rest) = octave_and_rest(span);
    2 * octave as usize + usize::from(2 * rest >= 1 << octave)
}
