//! Drift: a hot set that moves over the address space, so that every page is hot at times.
//! The knowledge of a policy about pages becomes outdated gradually, whereas a swap of the workload
//! `groups` makes it wrong at once.

use super::hot_cold::{HOT_FRACTION, HOT_WRITE_FRACTION, hot_and_cold, hot_set};
use super::{Schedule, Site, Step, Workload};
use crate::error::Result;
use crate::hints::Group;
use crate::params::{Domain, Extent, Param, Params, U32_MAX};
use crate::registry::{Entry, Registered};
use crate::rng::{Stream, threshold};
use crate::state::state;

/// Drift workload. The hot pages are a window that wraps from the last page to the first.
#[derive(Debug, Clone)]
pub struct Drift {
    pages: u32,
    hot_pages: u32,
    hot_write_share: f64,
    hot_threshold: u64,
    first_hot_page: u32,
    turn: Turn,
    random: Stream,
}

state! {
    Drift {
        fixed pages,
        fixed hot_pages,
        fixed hot_write_share,
        fixed hot_threshold,
        value first_hot_page,
        nested turn,
        nested random,
    } where is_sound
}

/// One turn of the window over all pages, which consists of `steps` moves.
#[derive(Debug, Clone)]
struct Turn {
    period: u64,
    steps: u32,
    /// Moves of the window since the turn began. The next field counts the writes since then.
    step: u32,
    written: u64,
}

state!(Turn { fixed period, fixed steps, value step, value written } where is_sound);

impl Turn {
    fn is_sound(&self) -> bool {
        self.step < self.steps && self.written <= self.until(self.step + 1)
    }

    /// Number of writes of the turn before move number `step`.
    /// Moves are as evenly spaced as integers allow.
    fn until(&self, step: u32) -> u64 {
        (u128::from(self.period) * u128::from(step) / u128::from(self.steps)) as u64
    }

    fn left(&self) -> u64 {
        self.until(self.step + 1) - self.written
    }

    fn advance(&mut self) {
        self.step += 1;
        if self.step == self.steps {
            (self.step, self.written) = (0, 0);
        }
    }
}

impl Drift {
    fn is_sound(&self) -> bool {
        self.first_hot_page < self.pages
    }

    /// Page at `distance` after the window's first page.
    fn page(&self, distance: u32) -> u32 {
        let until_end = self.pages - self.first_hot_page;
        if distance < until_end { self.first_hot_page + distance } else { distance - until_end }
    }
}

impl Workload for Drift {
    fn next(&mut self, buffer: &mut [u32]) -> Step {
        if self.turn.left() == 0 {
            self.turn.advance();
            let moved = u64::from(self.pages) * u64::from(self.turn.step);
            self.first_hot_page = (moved / u64::from(self.turn.steps)) as u32;
        }
        let count = buffer.len().min(usize::try_from(self.turn.left()).unwrap_or(usize::MAX));
        for page in &mut buffer[..count] {
            let distance = if self.random.chance(self.hot_threshold) {
                self.random.below(self.hot_pages)
            } else {
                self.hot_pages + self.random.below(self.pages - self.hot_pages)
            };
            *page = self.page(distance);
        }
        self.turn.written += count as u64;
        Step::Writes(count)
    }

    fn pages(&self) -> u32 {
        self.pages
    }

    fn schedule(&self) -> Schedule {
        Schedule { last_change: 0.0, cycle: self.turn.period as f64 }
    }

    fn groups(&self) -> Option<Vec<Group>> {
        Some(hot_and_cold(self.pages, self.hot_pages, self.hot_write_share))
    }

    fn find_groups(&self, pages: &[u32], group_of: &mut [u8]) {
        for (group, &page) in group_of.iter_mut().zip(pages) {
            let distance = if page < self.first_hot_page {
                page + (self.pages - self.first_hot_page)
            } else {
                page - self.first_hot_page
            };
            *group = u8::from(distance >= self.hot_pages);
        }
    }
}

impl Registered<Site> for Drift {
    const ENTRY: Entry = super::entry(
        "drift",
        "share r of the writes goes to the hot pages, a window of share f of all pages that moves \
         over the drive",
    )
    .example("drift:f=0.1,r=0.9,period=1e5,steps=500")
    .params(&[
        HOT_FRACTION,
        HOT_WRITE_FRACTION,
        Param::required(
            "period",
            Domain::Whole(1, u64::MAX),
            "number of writes in which the window moves once over all pages",
        )
        .extent(Extent::Writes),
        Param::new(
            "steps",
            "1000",
            Domain::Whole(1, U32_MAX),
            "number of moves of the window in that time, at most one per page and per write",
        ),
    ]);

    fn build(params: &Params, &Site { pages, ref context, .. }: &Site) -> Result<Self> {
        let (hot_pages, hot_write_share) = hot_set(params, pages)?;
        let (period, steps): (u64, u32) = (params.integer("period"), params.integer("steps"));
        let most = period.min(u64::from(pages));
        if u64::from(steps) > most {
            return Err(params.outside("steps", params.text("steps"), Domain::Whole(1, most)));
        }
        Ok(Drift {
            pages,
            hot_pages,
            hot_write_share,
            hot_threshold: threshold(hot_write_share),
            first_hot_page: 0,
            turn: Turn { period, steps, step: 0, written: 0 },
            random: context.random(),
        })
    }
}
