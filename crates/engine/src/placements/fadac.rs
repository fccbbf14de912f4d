//! `FADaC`: separates pages by writes minus migrations (Kremer & Brinkmann, SYSTOR 2019).
//!
//! The counter of a page is incremented by a write and decremented by a migration. The
//! counter is compared with a decaying average. Each write adds 1/n to the average and subtracts
//! 1/n of the average, for n logical pages. A page above the average is in class 1, above ten times
//! the average in class 2, and so on. The rules are those that Wang et al. (FAST 2022) used in
//! their published comparison.

use super::{HostPage, Placement, RegisteredPlacement, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Divider, Table, filled, prefetch};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::state;

/// One write in the fixed-point format of the average, whose unit is 2⁻³² writes.
const ONE: u64 = 1 << 32;
const RATIO: u64 = 10;

pub struct Fadac {
    classes: usize,
    counts: Table<u16>,
    average: u64,
    /// Division by the number of logical pages.
    /// None if there is a single page, because a [`Divider`] cannot divide by 1.
    by_pages: Option<Divider>,
}

state!(Fadac { fixed classes, table counts, value average, fixed by_pages } where is_sound);

impl Fadac {
    /// True if the average is at most one write, so that [`Self::by_pages`] can divide it.
    /// Each write adds 1/n to it and subtracts its n-th part, so it cannot rise above one. Rounding
    /// does not change this: both parts are rounded down, and the second one is at most the first.
    fn is_sound(&self) -> bool {
        self.average <= ONE
    }

    /// Divides a number of at most [`ONE`] by the number of logical pages, and rounds down.
    #[inline(always)]
    fn per_page(&self, number: u64) -> u64 {
        self.by_pages.map_or(number, |by_pages| by_pages.divide_wide(number))
    }

    #[inline(always)]
    fn class(&self, count: u16) -> usize {
        let count = u64::from(count) * ONE;
        let mut bound = self.average;
        let mut class = 0;
        // All bounds are compared, because a branch would often be mispredicted.
        for _ in 1..self.classes {
            class += usize::from(count > bound);
            bound *= RATIO;
        }
        class
    }
}

impl Registered<Sizes> for Fadac {
    const ENTRY: Entry = Entry::new(
        "fadac",
        "pages separated by their writes minus migrations, relative to a decaying average",
    )
    .example("fadac:classes=4")
    .params(&[Param::new("classes", "6", Domain::Whole(2, 6), "number of classes")])
    .small("fadac:classes=3")
    .candidates(&[Pairs::rare(&["fadac"], &["greedy", "cost-benefit", "d-choices:d=4"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        Ok(Fadac {
            classes: params.integer("classes"),
            counts: filled(0, sizes.logical_pages as usize)?,
            average: 0,
            by_pages: (sizes.logical_pages > 1).then(|| Divider::new(sizes.logical_pages)),
        })
    }
}

impl Placement for Fadac {
    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        self.average = self.average + self.per_page(ONE) - self.per_page(self.average);
        let count = &mut self.counts[page.logical as usize];
        *count = count.saturating_add(1);
        let count = *count;
        self.class(count)
    }

    fn forget(&mut self, logical: u32) {
        self.counts[logical as usize] = 0;
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
        let count = &mut self.counts[logical as usize];
        *count = count.saturating_sub(1);
        let count = *count;
        self.class(count)
    }

    fn bytes(&self) -> u64 {
        size_of_val(&self.counts[..]) as u64
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        prefetch(&self.counts, logical as usize);
    }
}

impl RegisteredPlacement for Fadac {
    const VICTIMS: &'static str = "cost-benefit";

    fn streams(params: &Params) -> Streams {
        let classes = params.integer("classes");
        Streams { all: classes, migration: classes }
    }
}
