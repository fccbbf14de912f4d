//! Life table of pages: the time that a page will stay valid, by its class and age.
//!
//! This is our design. A class contains pages with similar history. The host's writes show at which
//! ages pages of a class are overwritten, and a scan of all pages counts the pages of each age.
//! Their ratio is the hazard: the probability of an overwrite, per host page written. The survival
//! probabilities of all ages give the expected logarithm of the remaining lifetime.

use std::array::from_fn;
use std::hint::select_unpredictable;

use libm::{exp, exp2, log2, sqrt};

use super::span::{OCTAVE, Span};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::observe::Life;
use crate::state::state;

/// Number of age bins (half octaves).
/// The last bin contains all ages above [`OLDEST`] host writes per logical page. The first bin
/// contains all ages below the second one.
const AGES: usize = 40;
const OLDEST: u32 = 32;

/// Last octave of mean intervals, counted from 0.
/// Octave k covers 4N/2^k to 8N/2^k, for N logical pages. The first octave also covers longer
/// intervals, and the last one shorter ones.
const LAST_OCTAVE: i32 = 13;
const OCTAVES: usize = LAST_OCTAVE.unsigned_abs() as usize + 1;
const LONGEST: f64 = 8.0;

/// Number of octaves (factors of two) of a page's last interval over its mean interval.
/// Each octave of mean intervals has one class for pages that were rewritten once. It also has two
/// classes for each octave of the last interval over the mean. These two differ in the number of
/// intervals of their pages.
const LASTS: i32 = 8;
const PATTERNS: usize = 1 + 2 * LASTS.unsigned_abs() as usize;

/// Number of classes. Class 0 contains pages that were not rewritten since their first write.
pub const CLASSES: usize = 1 + OCTAVES * PATTERNS;

/// Weight of an octave's forecast in the forecast of each of its classes, as a number of
/// overwritten pages. The next constant is the weight of the mean interval in the forecast of an
/// octave.
const WEIGHT_OF_OCTAVE: f64 = 10.0;
const WEIGHT_OF_INTERVAL: f64 = 2.0;

/// Expected lifetime of pages of class 0, in multiples of the logical pages.
const LIFE_OF_NEW: f64 = 4.0;

/// Host writes per logical page after which a count has half of its weight.
const HALF_LIFE: f64 = 4.0;

/// Number of recomputations of the table per drive write (one host write per logical page).
const FORECASTS: u32 = 4;

/// Weighted count of pages below which a class keeps its old forecast.
const LEAST_COUNTED: f64 = 0.01;

/// Distance in age bins from which the remaining lifetime is taken from the age at death
/// alone.
const NEAR: usize = 9;

/// Number of a class of pages.
pub type Class = u16;

pub struct LifeTable {
    logical_pages: f64,
    bins: Bins,
    /// Counts of overwritten pages, and then of scanned pages, by class and age.
    deaths: Table<f64>,
    seen: Table<f64>,
    /// Expected logarithm of the remaining lifetime, in fractions of an octave.
    rest: Table<u16>,
    writes_between: u32,
    writes_left: u32,
}

state! {
    LifeTable {
        fixed logical_pages,
        fixed bins,
        table deaths,
        table seen,
        table rest,
        fixed writes_between,
        value writes_left,
    } where is_sound
}

impl LifeTable {
    /// Builds the table of a drive with `logical_pages`.
    pub fn new(logical_pages: u32) -> Result<Self> {
        let cells = CLASSES * AGES;
        let writes_between = (logical_pages / FORECASTS).max(1);
        let mut table = LifeTable {
            logical_pages: f64::from(logical_pages),
            bins: Bins::new(logical_pages),
            deaths: filled(0.0, cells)?,
            seen: filled(0.0, cells)?,
            rest: filled(0, cells)?,
            writes_between,
            writes_left: writes_between,
        };
        table.forecast(0.0);
        Ok(table)
    }

    fn is_sound(&self) -> bool {
        let counts = self.deaths.iter().chain(&self.seen);
        counts.into_iter().all(|count| (0.0..1e18).contains(count))
            && (1..=self.writes_between).contains(&self.writes_left)
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.deaths[..]) + size_of_val(&self.seen[..]) + size_of_val(&self.rest[..]))
            as u64
    }

    /// Class of pages with `intervals` >= 1 intervals, a mean interval and a last interval.
    #[inline(always)]
    pub fn class_of(&self, intervals: u16, usual: Span, last: Span) -> Class {
        let whole = |level: i32| level.div_euclid(OCTAVE);
        // The compiler makes branches of `clamp`, which would often be mispredicted.
        let up_to = |most: i32, octaves: i32| {
            let octaves = select_unpredictable(octaves < 0, 0, octaves);
            select_unpredictable(octaves > most, most, octaves).cast_unsigned() as usize
        };
        let octave = up_to(LAST_OCTAVE, whole(self.bins.longest_level - usual.level()));
        let over_usual = whole(last.level() - usual.level()) + LASTS / 2;
        let over_usual = up_to(LASTS - 1, over_usual);
        let pattern = match intervals {
            1 => 0,
            2 | 3 => 1 + over_usual,
            _ => 1 + PATTERNS / 2 + over_usual,
        };
        (1 + octave * PATTERNS + pattern) as Class
    }

    /// Counts a page of a class that the host overwrites at age `age`.
    #[inline(always)]
    pub fn count_death(&mut self, class: Class, age: Span) {
        let cell = self.cell(class, age);
        self.deaths[cell] += 1.0;
    }

    /// Counts a page that the scan has reached, by its class and age.
    #[inline(always)]
    pub fn count_seen(&mut self, class: Class, age: Span) {
        let cell = self.cell(class, age);
        self.seen[cell] += 1.0;
    }

    /// Expected logarithm of the lifetime of a page that was just written.
    #[inline(always)]
    pub fn life(&self, class: Class) -> i32 {
        i32::from(self.rest[usize::from(class) * AGES])
    }

    /// Expected logarithm of the remaining lifetime of a page of age `age`.
    #[inline(always)]
    pub fn rest_of_life(&self, class: Class, age: Span) -> i32 {
        i32::from(self.rest[self.cell(class, age)])
    }

    /// Expected lifetimes by class, at ages for which enough pages were counted.
    pub fn lives(&self) -> impl Iterator<Item = Life> {
        let counted = |cell: usize| self.deaths[cell] + self.seen[cell] >= LEAST_COUNTED;
        (0..CLASSES * AGES).filter(move |&cell| counted(cell)).map(|cell| {
            let (class, age) = (cell / AGES, cell % AGES);
            let (octave, pattern) = ((class.max(1) - 1) / PATTERNS, (class.max(1) - 1) % PATTERNS);
            let (intervals, last) = match pattern as u32 {
                0 => (1, LASTS / 2),
                at if at <= LASTS.unsigned_abs() => (2, at.cast_signed() - 1),
                at => (4, at.cast_signed() - 1 - LASTS),
            };
            Life {
                usual_pages: if class == 0 { 0.0 } else { self.usual(octave) },
                intervals: if class == 0 { 0 } else { intervals },
                last_octaves: (last - LASTS / 2) as i8,
                age_pages: self.bins.middle[age],
                overwritten: self.deaths[cell],
                seen: self.seen[cell],
                rest_pages: exp2(f64::from(self.rest[cell]) / f64::from(OCTAVE)),
            }
        })
    }

    #[inline(always)]
    fn cell(&self, class: Class, age: Span) -> usize {
        usize::from(class) * AGES + self.bins.of(age)
    }

    /// Counts a host write. Returns true if the forecasts were recomputed.
    #[inline(always)]
    pub fn count_write(&mut self) -> bool {
        self.writes_left -= 1;
        let is_due = self.writes_left == 0;
        if is_due {
            self.writes_left = self.writes_between;
            self.forecast(LEAST_COUNTED);
            self.fade();
        }
        is_due
    }

    fn fade(&mut self) {
        let left = exp2(-1.0 / (HALF_LIFE * f64::from(FORECASTS)));
        self.deaths.iter_mut().chain(&mut self.seen).for_each(|count| *count *= left);
    }

    /// Recomputes the remaining lifetime of classes for which enough pages were counted.
    #[cold]
    fn forecast(&mut self, least_counted: f64) {
        let new: [f64; AGES] =
            from_fn(|age| 1.0 / self.bins.middle[age].max(LIFE_OF_NEW * self.logical_pages));
        self.forecast_class(0, &new, least_counted);
        for octave in 0..OCTAVES {
            let first = 1 + octave * PATTERNS;
            let expected = self.hazards_of_octave(octave, first);
            for class in first..first + PATTERNS {
                self.forecast_class(class, &expected, least_counted);
            }
        }
    }

    /// Centre of the range of mean intervals in an octave, in host page writes.
    fn usual(&self, octave: usize) -> f64 {
        LONGEST * self.logical_pages / exp2(octave as f64 + 0.5)
    }

    /// Hazard at each age over all classes of an octave.
    fn hazards_of_octave(&self, octave: usize, first: usize) -> [f64; AGES] {
        let usual = self.usual(octave);
        let sum = |counts: &[f64], age: usize| -> f64 {
            (first..first + PATTERNS).map(|class| counts[class * AGES + age]).sum()
        };
        from_fn(|age| {
            (WEIGHT_OF_INTERVAL + sum(&self.deaths, age))
                / (WEIGHT_OF_INTERVAL * usual.max(self.bins.middle[age])
                    + self.logical_pages * sum(&self.seen, age))
        })
    }

    fn forecast_class(&mut self, class: usize, expected: &[f64; AGES], least_counted: f64) {
        let row = class * AGES..(class + 1) * AGES;
        let (deaths, seen) = (&self.deaths[row.clone()], &self.seen[row.clone()]);
        if deaths.iter().sum::<f64>() + seen.iter().sum::<f64>() < least_counted {
            return;
        }
        // Each host write scans one page, so each page is scanned once in N writes, for N logical
        // pages.
        let hazards: [f64; AGES] = from_fn(|age| {
            (deaths[age] + WEIGHT_OF_OCTAVE)
                / (self.logical_pages * seen[age] + WEIGHT_OF_OCTAVE / expected[age])
        });
        let rest = self.bins.rests_of_life(&hazards);
        for (cell, log) in self.rest[row].iter_mut().zip(rest) {
            *cell = (log * f64::from(OCTAVE)).max(1.0) as u16;
        }
    }
}

/// Bins of page ages, in half octaves.
struct Bins {
    /// Index of the half octave of the first bin.
    first: usize,
    /// Logarithm of the longest interval of the first octave.
    longest_level: i32,
    /// Widths of the bins, in page writes; then their centres, and the logarithms of the centres.
    /// Pages in the first bin count as just written.
    width: [f64; AGES],
    middle: [f64; AGES],
    log_middle: [f64; AGES],
    /// Logarithm of the distance from the centre of each bin to its end.
    /// The next field has the logarithms of the distances to the centres of later bins.
    log_left: [f64; AGES],
    log_away: [[f64; NEAR]; AGES],
    /// Logarithm of the assumed age at death of pages that are older than the last bin.
    log_beyond: f64,
}

impl Bins {
    fn new(logical_pages: u32) -> Self {
        let oldest = Span::of(u64::from(OLDEST) * u64::from(logical_pages)).half_octave();
        let first = (oldest + 1).saturating_sub(AGES);
        let edge = |bin: usize| match (bin, first + bin) {
            (0, _) => 0.0,
            (_, half) => exp2((half / 2) as f64) * if half % 2 == 0 { 1.0 } else { 1.5 },
        };
        let width: [f64; AGES] = from_fn(|bin| edge(bin + 1) - edge(bin));
        let middle: [f64; AGES] = from_fn(|bin| f64::midpoint(edge(bin), edge(bin + 1)));
        let longest = LONGEST * f64::from(logical_pages);
        Bins {
            first,
            longest_level: (log2(longest) * f64::from(OCTAVE)) as i32,
            width,
            middle,
            log_middle: middle.map(log2),
            log_left: width.map(|width| log2(width / 2.0)),
            log_away: from_fn(|from| {
                from_fn(|bins| match middle.get(from + bins) {
                    Some(middle_there) if bins > 0 => log2(middle_there - middle[from]),
                    _ => 0.0,
                })
            }),
            log_beyond: log2(edge(AGES)) + 1.0,
        }
    }

    #[inline(always)]
    fn of(&self, age: Span) -> usize {
        age.half_octave().saturating_sub(self.first).min(AGES - 1)
    }

    /// Expected logarithm of the remaining lifetime, for each age bin.
    /// In the first bin the lifetime counts from the write, in other bins from the centre of the
    /// bin.
    fn rests_of_life(&self, hazards: &[f64; AGES]) -> [f64; AGES] {
        let survive: [f64; AGES] = from_fn(|bin| exp(-hazards[bin] * self.width[bin]));
        // For pages alive at the start of each bin: the expected logarithm of the age at death.
        let mut death = [self.log_beyond; AGES + 1];
        for bin in (0..AGES).rev() {
            death[bin] =
                (1.0 - survive[bin]) * self.log_middle[bin] + survive[bin] * death[bin + 1];
        }
        from_fn(|bin| {
            if bin == 0 {
                return death[0];
            }
            let expected_deaths = hazards[bin] * self.width[bin] / 2.0;
            let mut alive = exp(-expected_deaths);
            let mut rest = (1.0 - alive) * (self.log_left[bin] + log_of_part(expected_deaths));
            for away in 1..NEAR.min(AGES - bin) {
                let later = alive * survive[bin + away];
                rest += (alive - later) * self.log_away[bin][away];
                alive = later;
            }
            rest + alive * death[(bin + NEAR).min(AGES)]
        })
    }
}

/// Expected log2 of the fraction of a span that passes before a page dies in it.
/// The page dies within the span, in which `expected_deaths` are expected. The value is −1/ln 2 for
/// small x and −log2 x − 0.83 for large x, with an error below 0.1 in between.
fn log_of_part(expected_deaths: f64) -> f64 {
    let x = expected_deaths;
    -std::f64::consts::LOG2_E - log2(sqrt(1.0 + 0.1 * x + 0.43 * x * x))
}

#[cfg(test)]
mod tests;
