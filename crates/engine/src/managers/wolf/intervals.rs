//! The group of a page by the interval at which the host writes it, measured page by page.
//!
//! Ours, not paper 3's, whose filters (§5.6) see no more than that a page belongs one group up or
//! down. The groups stand a fixed ratio apart, and what is measured of them decides their space.

use crate::error::Result;
use crate::flash::{filled, prefetch};
use crate::placements::LastWrites;
use crate::state::{elements, state};

/// Logarithms to base 2 are kept in so many parts.
const OCTAVE: i32 = 256;

/// Pages written less often than once in so many times the logical pages are in the coldest group.
const REACH: f64 = 4.0;

/// An interval so many times longer or shorter than usual halves the weight of the past.
const SURPRISE: i32 = 2 * OCTAVE;

/// A page at rest for so many times its usual interval has cooled down; it is taken for one that is
/// written at twice its age.
const PATIENCE: i32 = 3 * OCTAVE;

/// A page moves to a group only if it belongs there by so much. Pages that change groups cost
/// more than pages that are slightly misplaced.
const HYSTERESIS: i32 = OCTAVE / 2;

/// A moving average of the logarithm of a page's intervals, which chance scatters over several
/// octaves. The n-th interval has a weight of 1/n, down to an eighth.
#[derive(Debug, Clone, Copy)]
struct Usual(u16);

elements!(Usual { 0: u16 });

impl Usual {
    const UNKNOWN: Usual = Usual(0);
    const COUNT_BITS: u32 = 3;
    const MOST: u16 = (1 << Self::COUNT_BITS) - 1;

    fn count(self) -> u16 {
        self.0 & Self::MOST
    }

    /// The logarithm, if there was an interval.
    fn level(self) -> Option<i32> {
        (self.count() > 0).then_some(i32::from(self.0 >> Self::COUNT_BITS))
    }

    fn after(self, found: i32) -> Usual {
        let Some(level) = self.level() else { return Usual::new(found, 1) };
        let off = found - level;
        let count = if off.abs() > SURPRISE { self.count() / 2 } else { self.count() };
        Usual::new(level + off / i32::from(count + 1), (count + 1).min(Self::MOST))
    }

    /// Logarithms of 32-bit ages fit 13 bits.
    fn new(level: i32, count: u16) -> Usual {
        Usual((level as u16) << Self::COUNT_BITS | count)
    }
}

/// What is known of every page, in 6 bytes.
pub struct Intervals {
    last_writes: LastWrites,
    usual: Vec<Usual>,
    groups: i32,
    /// The logarithm of the longest interval outside the coldest group.
    longest: i32,
    /// That of the ratio between groups.
    step: i32,
}

state!(Intervals { part last_writes, table usual, fixed groups, fixed longest, fixed step });

impl Intervals {
    /// For `groups`, of which 0 is the coldest and each is written `ratio` times as often as the
    /// one before.
    pub fn new(ratio: f64, groups: usize, logical_pages: u32) -> Result<Self> {
        let parts = |value: f64| (libm::log2(value) * f64::from(OCTAVE)).round() as i32;
        Ok(Intervals {
            last_writes: LastWrites::new(logical_pages)?,
            usual: filled(Usual::UNKNOWN, logical_pages as usize)?,
            groups: (groups as u32).cast_signed(),
            longest: parts(REACH * f64::from(logical_pages)),
            step: parts(ratio).max(1),
        })
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        self.last_writes.bytes() + size_of_val(&self.usual[..]) as u64
    }

    /// The group of a page that the host writes, and that `group` holds, after `now` pages written.
    #[inline(always)]
    pub fn group_of_write(&mut self, page: u32, group: Option<usize>, now: u64) -> usize {
        let Some(interval) = self.last_writes.replace(page, now) else { return 0 };
        let usual = &mut self.usual[page as usize];
        *usual = usual.after(log2(interval));
        let level = usual.level().expect("an interval");
        group.map_or(self.at(level), |group| self.near(level, group))
    }

    /// The group of a page of `group` that collection moves: a page at rest may cool down.
    #[inline(always)]
    pub fn group_of_migration(&self, page: u32, group: usize, now: u64) -> usize {
        let Some(age) = self.last_writes.age(page, now) else { return group };
        let rest = log2(age);
        let usual = self.usual[page as usize].level();
        if usual.is_some_and(|usual| rest <= usual + PATIENCE) {
            return group;
        }
        self.near(rest + OCTAVE, group).min(group)
    }

    /// The data of a page is gone: what is known of it says nothing of what will be there.
    pub fn forget(&mut self, page: u32) {
        self.last_writes.forget(page);
        self.usual[page as usize] = Usual::UNKNOWN;
    }

    /// Fetches what a write of `page` will touch.
    #[inline(always)]
    pub fn prefetch(&self, page: u32) {
        self.last_writes.prefetch(page);
        prefetch(&self.usual, page as usize);
    }

    /// The group of pages with such an interval.
    fn at(&self, level: i32) -> usize {
        let above = self.longest - level;
        if above < 0 { 0 } else { (above / self.step + 1).min(self.groups - 1) as usize }
    }

    /// The same, unless the interval hardly differs from those of `group`.
    fn near(&self, level: i32, group: usize) -> usize {
        let hotter = self.at(level + HYSTERESIS);
        if hotter > group { hotter } else { self.at(level - HYSTERESIS).min(group) }
    }
}

/// Linear between powers of two, and so up to 0.09 octaves too low; 1 and 0 count as the same.
#[inline(always)]
fn log2(value: u64) -> i32 {
    const FRACTION_BITS: u32 = OCTAVE.ilog2();
    let value = value.max(1);
    let whole = value.ilog2();
    let scaled = if whole > FRACTION_BITS {
        value >> (whole - FRACTION_BITS)
    } else {
        value << (FRACTION_BITS - whole)
    };
    (whole * OCTAVE.cast_unsigned() + scaled as u32).cast_signed() - OCTAVE
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 1000;

    /// Pages written less often than every 4,000 writes are in group 0, every 2,000 in group 1, …
    fn intervals() -> Intervals {
        Intervals::new(2.0, 6, PAGES).unwrap()
    }

    /// Page 7, and the group that holds it.
    struct Page {
        known: Intervals,
        group: usize,
        now: u64,
    }

    /// A page that was written at these intervals, in order.
    fn written_at(gaps: &[u64]) -> Page {
        let mut known = intervals();
        let group = known.group_of_write(7, None, 0);
        let mut page = Page { known, group, now: 0 };
        page.write_at(gaps);
        page
    }

    impl Page {
        fn write_at(&mut self, gaps: &[u64]) -> usize {
            for gap in gaps {
                self.now += gap;
                self.group = self.known.group_of_write(7, Some(self.group), self.now);
            }
            self.group
        }

        fn group_of_migration(&self, group: usize, age: u64) -> usize {
            self.known.group_of_migration(7, group, self.now + age)
        }
    }

    #[test]
    fn logarithms_are_right_to_a_tenth_of_an_octave() {
        for value in (1..100_000).chain([1 << 31, (1 << 32) - 1]) {
            let exact = libm::log2(value as f64);
            let found = f64::from(log2(value)) / f64::from(OCTAVE);
            assert!((exact - 0.1..=exact + 1e-12).contains(&found), "{value}: {found} for {exact}");
        }
        assert_eq!((log2(0), log2(1), log2(2), log2(3)), (0, 0, 256, 384));
    }

    #[test]
    fn a_page_is_in_the_group_of_its_interval() {
        for (gap, group) in [(9000, 0), (2500, 1), (1200, 2), (600, 3), (300, 4), (150, 5), (1, 5)]
        {
            assert_eq!(written_at(&[gap]).group, group, "{gap}");
        }
        assert_eq!(written_at(&[]).group, 0, "unknown pages are cold");
    }

    #[test]
    fn one_odd_interval_hardly_counts_and_several_do() {
        let mut page = written_at(&[700; 20]);
        assert_eq!(page.group, 3);
        assert_eq!(page.write_at(&[180]), 3);
        assert_eq!(page.write_at(&[40; 10]), 5);
        assert_eq!(page.write_at(&[9000; 12]), 0);
    }

    #[test]
    fn a_page_that_hardly_differs_from_its_group_stays() {
        let other_side = 2100;
        assert_eq!(written_at(&[3000, other_side]).group, 1);
        let mut page = written_at(&[1500; 9]);
        for _ in 0..30 {
            assert_eq!(page.write_at(&[other_side]), 2);
        }
        assert_eq!(page.write_at(&[3800; 30]), 1);
    }

    #[test]
    fn a_page_at_rest_cools_down_and_never_warms_up() {
        let page = written_at(&[150; 9]);
        assert_eq!(page.group, 5);
        assert_eq!(page.group_of_migration(5, 8 * 150), 5);
        assert_eq!(page.group_of_migration(5, 10 * 150), 2);
        assert_eq!(page.group_of_migration(5, 4000), 0);
        assert_eq!(page.group_of_migration(0, 10 * 150), 0);
        let fresh = written_at(&[]);
        assert_eq!(fresh.group_of_migration(0, 10), 0);
        assert_eq!(fresh.known.group_of_migration(8, 3, 10), 3, "of a page never written, nothing");
    }

    #[test]
    fn the_past_counts_for_less_after_a_surprise() {
        let usual = (0..20).fold(Usual::UNKNOWN, |usual, _| usual.after(1000));
        assert_eq!(usual.level(), Some(1000));
        assert_eq!(usual.after(1000 + 400).level(), Some(1050)); // an eighth
        assert_eq!(usual.after(1000 + 800).level(), Some(1200)); // a quarter
        assert_eq!(usual.after(1000 - 800).level(), Some(800));
        assert_eq!(Usual::UNKNOWN.level(), None);
        assert_eq!(Usual::UNKNOWN.after(0).level(), Some(0), "an interval of one write is known");
        assert_eq!(Usual::UNKNOWN.after(32 * OCTAVE - 1).level(), Some(32 * OCTAVE - 1));
    }
}
