//! `MiDAS`: a chain of groups by age (Oh et al., FAST 2024).
//!
//! The host writes hot pages to the first group, HOT, and others to the second. Pages that
//! survive a collection in one group go to the next. A sizing is a choice of the number and the
//! sizes of groups. After each epoch (a fixed number of writes), a model finds the sizing with the
//! least write amplification, from the distribution of update intervals. The sizing is adopted if
//! its predicted write amplification is below the measured one. If the victims of a group deviate
//! from the prediction, this group and all later groups are merged. docs/midas-algorithm.md
//! compares this with the authors' publication.

mod chain;
mod hot;
mod intervals;
mod measured;
mod model;

use super::LastWrites;
use super::{HostPage, Placement, RegisteredPlacement, Restored, Sizes, Streams, Victim};
use crate::error::Result;
use crate::flash::{Table, filled};
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs, Registered};
use crate::state::{MOST_PLAUSIBLE, require, state};
use chain::Chain;
use hot::{HotPages, HotSizing};
use intervals::Intervals;
use measured::Measured;
use model::{Model, Sizing};
use std::ops::Bound::{Excluded, Included};

/// Number of drive writes before learning begins: the initial fill and one more.
const DRIVE_WRITES_BEFORE: u64 = 2;
/// Share of an epoch that is written between two checks of the predictions.
const CHECK_SHARE: f64 = 0.3;
const NEVER: u64 = u64::MAX;

pub struct Midas {
    /// Host pages written, including the one being placed.
    clock: u64,
    last_writes: LastWrites,
    held_pages: u32,
    intervals: Intervals,
    hot: HotPages,
    chain: Chain,
    measured: Measured,
    /// True once learning of intervals and hot pages has begun.
    is_learning: bool,
    epoch_ends: u64,
    check_at: u64,
    /// Bit mask of the groups that had no collection since the last sizing.
    uncollected: u32,
    /// Predicted write amplification, or None after groups were merged.
    /// The next field has the predicted valid shares of the victims of the current groups.
    predicted_wa: Option<f64>,
    predicted_shares: Vec<f64>,
    /// Clock (host pages written) at which each block closed.
    closed_at: Table<u64>,
    /// Group of the victim whose pages are migrating.
    victim_group: usize,
    victim_closed: u64,
    rules: Rules,
    sizes: Sizes,
}

/// Rules that follow from the parameters.
#[derive(Debug, Clone, Copy)]
struct Rules {
    groups: usize,
    epoch_pages: u64,
    check_pages: u64,
    margin: f64,
    tolerance: f64,
}

state! {
    Midas {
        value clock,
        nested last_writes,
        value held_pages,
        nested intervals,
        nested hot,
        nested chain,
        nested measured,
        value is_learning,
        value epoch_ends,
        value check_at,
        value uncollected,
        value predicted_wa,
        value predicted_shares,
        table closed_at,
        scratch victim_group,
        scratch victim_closed,
        fixed rules,
        fixed sizes,
    } where is_sound
}

impl Midas {
    fn is_sound(&self) -> bool {
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        let due = |at: u64| at > self.clock && at < 2 * MOST_PLAUSIBLE;
        self.clock < MOST_PLAUSIBLE
            && self.held_pages <= self.sizes.logical_pages
            && due(self.epoch_ends)
            && (self.check_at == NEVER || due(self.check_at))
            && self.predicted_wa.is_none_or(|wa| (1.0..=f64::MAX).contains(&wa))
            && self.predicted_shares.iter().all(is_share)
            && self.closed_at.iter().all(|&at| at <= self.clock)
            && u64::from(self.uncollected) < 1 << self.rules.groups
            // Every group whose prediction is or will be checked must have one.
            && (self.chain.last() < self.predicted_shares.len()
                || (self.check_at == NEVER && self.uncollected == 0))
    }

    #[cold]
    fn end_epoch(&mut self) {
        let Rules { groups, epoch_pages, margin, .. } = self.rules;
        let valid_share = self.measured.share_of_epoch(0, self.sizes.pages_per_block);
        let hot = self.hot.end_epoch(epoch_pages, valid_share.unwrap_or(0.0));
        if self.is_learning {
            self.stop_checks();
            let model = Model::new(self.intervals.counts(), &self.sizes, self.held_pages, groups);
            let measured = 1.0 + self.measured.pages_of_epoch() as f64 / epoch_pages as f64;
            let best = model.best(&hot);
            if let Some(sizing) =
                best.filter(|sizing| sizing.write_amplification < margin * measured)
            {
                self.adopt(sizing);
            }
        } else {
            self.is_learning = true;
            self.hot.begin(self.clock);
        }
        self.measured.begin_epoch();
        self.intervals.clear();
        self.epoch_ends = self.clock + epoch_pages;
    }

    fn adopt(&mut self, sizing: Sizing) {
        let Sizing { most_blocks, valid_shares, write_amplification } = sizing;
        self.uncollected = (1..=most_blocks.len()).map(|group| 1 << group).sum();
        self.chain.resize(most_blocks);
        self.predicted_wa = Some(write_amplification);
        self.predicted_shares = valid_shares;
    }

    fn stop_checks(&mut self) {
        self.check_at = NEVER;
        self.uncollected = 0;
    }

    /// If the victims of a group deviate from the prediction, merges this group and all later
    /// ones.
    #[cold]
    fn check_predictions(&mut self) {
        let block_pages = self.sizes.pages_per_block;
        let is_irregular = |group: &usize| {
            let measured_share = self.measured.share_of_period(*group, block_pages);
            let predicted = self.predicted_shares[*group];
            measured_share.is_some_and(|measured_share| {
                (measured_share - predicted).abs() > self.rules.tolerance
            })
        };
        let last = self.chain.last();
        if let Some(group) = (1..last + usize::from(!self.chain.has_classes())).find(is_irregular) {
            self.chain.merge_from(group);
            self.predicted_wa = None;
        }
        self.begin_period();
    }

    fn begin_period(&mut self) {
        self.measured.begin_period();
        self.check_at = self.clock + self.rules.check_pages;
    }
}

impl Registered<Sizes> for Midas {
    const ENTRY: Entry = Entry::new(
        "midas",
        "a chain of groups by page age, whose sizes follow from measured update intervals",
    )
    .example("midas:groups=4")
    .params(&[
        Param::new(
            "groups",
            "6",
            Domain::Whole(3, 32),
            "largest number of groups, including HOT, the group of hot pages",
        ),
        Param::new(
            "epoch",
            "4",
            Domain::Number(Excluded(0.0), Included(1000.0)),
            "drive writes between two choices of the group sizes",
        )
        .later(),
        Param::new(
            "margin",
            "1",
            Domain::Number(Excluded(0.0), Included(1000.0)),
            "new group sizes are adopted if their predicted WA is below this factor times the \
             measured WA",
        )
        .later(),
        Param::new(
            "tolerance",
            "0.1",
            Domain::SHARE,
            "groups merge if the valid share of a group's victims differs from its prediction by \
             more than this",
        )
        .later(),
        Param::new(
            "hot",
            "on",
            Domain::Word(&["on", "model", "off"]),
            "size of HOT: by the model, or by measured use if hot pages are detected poorly (on); \
             always by the model (model); no such group (off)",
        )
        .later(),
    ])
    .small("midas:groups=3,epoch=0.5")
    .variants(&["midas:groups=5,epoch=0.3", "midas:groups=4,epoch=0.5,hot=off,margin=3"])
    .candidates(&[Pairs::rare(&["midas"], &["greedy", "cost-benefit", "d-choices:d=4"])]);

    fn build(params: &Params, sizes: &Sizes) -> Result<Self> {
        let groups = params.integer("groups");
        let epoch = params.number("epoch");
        let logical_pages = f64::from(sizes.logical_pages);
        let pages = |drive_writes: f64| (drive_writes * logical_pages).round().max(1.0) as u64;
        let hot =
            [("on", HotSizing::ByUse), ("model", HotSizing::ByModel), ("off", HotSizing::Off)];
        Ok(Midas {
            clock: 0,
            last_writes: LastWrites::new(sizes.logical_pages)?,
            held_pages: 0,
            intervals: Intervals::new(),
            hot: HotPages::new(params.choice("hot", &hot), sizes.logical_pages)?,
            chain: Chain::new(groups, sizes)?,
            measured: Measured::new(groups),
            is_learning: false,
            epoch_ends: DRIVE_WRITES_BEFORE * u64::from(sizes.logical_pages),
            check_at: NEVER,
            uncollected: 0,
            predicted_wa: None,
            predicted_shares: Vec::new(),
            closed_at: filled(0, sizes.blocks as usize)?,
            victim_group: 0,
            victim_closed: 0,
            rules: Rules {
                groups,
                epoch_pages: pages(epoch),
                check_pages: pages(CHECK_SHARE * epoch),
                margin: params.number("margin"),
                tolerance: params.number("tolerance"),
            },
            sizes: *sizes,
        })
    }
}

impl Placement for Midas {
    const USES_VICTIM: bool = true;
    const CHOOSES_VICTIMS: bool = true;

    #[inline(always)]
    fn host_stream(&mut self, page: HostPage) -> usize {
        self.clock = page.now + 1;
        match self.last_writes.replace(page.logical, page.now) {
            Some(interval) if self.is_learning => {
                self.intervals.add(interval);
                self.hot.on_rewrite(page.logical, interval);
            }
            Some(_) => {}
            None => self.held_pages += 1,
        }
        let is_hot = self.hot.place(page.logical);
        if self.clock >= self.epoch_ends {
            self.end_epoch();
        }
        if self.clock >= self.check_at {
            self.check_predictions();
        }
        usize::from(!is_hot)
    }

    /// Forgets a trimmed page.
    /// For the statistics of intervals, the life of its data ends now, like that of a rewritten
    /// page.
    fn forget(&mut self, logical: u32) {
        if let Some(interval) = self.last_writes.age(logical, self.clock) {
            if self.is_learning {
                self.intervals.add(interval);
            }
            self.held_pages -= 1;
        }
        self.last_writes.forget(logical);
    }

    #[inline(always)]
    fn on_victim(&mut self, victim: &Victim) {
        if self.victim_group == 0 {
            let written = u64::midpoint(victim.opened, self.victim_closed);
            self.hot.on_victim(victim.now - written, victim.now);
        }
    }

    #[inline(always)]
    fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
        self.measured.count_page(self.victim_group);
        self.hot.on_migrate(logical, self.victim_group);
        self.chain.next(self.victim_group)
    }

    fn on_close(&mut self, block: u32, stream: usize, domain: usize) -> bool {
        self.closed_at[block as usize] = self.clock;
        self.chain.on_close(block, stream, domain)
    }

    fn on_collect(&mut self, block: u32) {
        self.victim_closed = self.closed_at[block as usize];
        self.victim_group = self.chain.on_collect(block);
        self.measured.count_victim(self.victim_group);
        if self.uncollected != 0 {
            self.uncollected &= !(1 << self.victim_group);
            if self.uncollected == 0 {
                self.begin_period();
            }
        }
    }

    fn on_exchange(&mut self, young: u32, worn: u32) {
        self.closed_at[worn as usize] = self.closed_at[young as usize];
        self.chain.on_exchange(young, worn);
    }

    fn victim(&mut self, domain: usize, is_idle: bool) -> Option<u32> {
        if !is_idle && self.chain.await_victim(domain, self.clock) {
            self.predicted_wa = None;
        }
        self.chain.victim(domain)
    }

    fn take_released(&mut self) -> Vec<u32> {
        self.chain.take_released()
    }

    fn predicted_wa(&self) -> Option<f64> {
        self.predicted_wa
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        require(self.clock == drive.now, "Midas.clock")?;
        self.chain.check(drive)
    }

    fn bytes(&self) -> u64 {
        let of_blocks = 8 * self.closed_at.len() as u64;
        self.last_writes.bytes() + self.hot.bytes() + self.chain.bytes() + of_blocks
    }

    #[inline(always)]
    fn prefetch(&self, logical: u32) {
        self.last_writes.prefetch(logical);
        self.hot.prefetch(logical);
    }
}

impl RegisteredPlacement for Midas {
    fn streams(params: &Params) -> Streams {
        let groups: usize = params.integer("groups");
        Streams { all: groups, migration: groups - 1 }
    }
}
