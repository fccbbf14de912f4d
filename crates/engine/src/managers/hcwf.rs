//! Hot and cold write frontiers, with or without swaps (paper 4, §2.2).
//!
//! A page is classified as hot or cold when the host writes it. A block is hot or cold as the
//! frontier (block being filled) that it was opened for. When a frontier is full and no free block
//! is left, a victim is collected. If the victim is of the frontier's kind, its valid pages are
//! copied back to it. Otherwise they go to the other frontier, and the erased victim becomes the
//! next frontier. Space thus moves between hot and cold data without a rule for it. Each LUN that
//! collects for itself has its own pair of frontiers (footnote 1 of the paper).

mod ahead;
mod state;

use super::core::{Core, Exchange, PAGE_LOOKAHEAD};
use super::served::{Policy, by_fields, shortest};
use super::{BlockManager, Compiled, Declared, Layout, Manager, Needs, Only, Setup};
use crate::detectors::{self, Detector};
use crate::error::Result;
use crate::flash::{Frontier, Table, Tap, filled};
use crate::hints::{Hints, RequiredHints, hot_groups};
use crate::observe::Report;
use crate::params::{Domain, Param, Params};
use crate::registry::{Entry, Pairs};
use crate::victims::{Bag, VictimPolicy, Visitor};

const HOT: usize = 0;
const COLD: usize = 1;
const STREAMS: usize = 2;

/// Drive with a hot and a cold frontier on each pool of blocks.
struct HotCold<V, T: Tap> {
    name: &'static str,
    core: Core<V, T>,
    /// Classifies pages as hot or cold. Without a detector, the hints of the host classify them.
    detector: Option<Box<dyn Detector>>,
    swap: Option<Swap>,
    /// Stream for which each block was last opened.
    label: Table<u8>,
    layout: Layout,
    /// Next pool to write to, for each stream.
    next_pool: [usize; STREAMS],
    /// Stream of each page of the current write call.
    streams: Vec<u8>,
    /// For each group that the host's hints name: true if the group is hot.
    hot_groups: Vec<bool>,
    /// Valid pages of a victim, and of the second victim of a swap.
    migrating: [Vec<u32>; 2],
}

/// Data for the swaps of HCWF(swap): the closed blocks of each kind, to draw second victims.
struct Swap {
    d: u32,
    /// Closed blocks of each stream and pool, indexed like the frontiers.
    closed: Vec<Bag>,
}

impl<V: VictimPolicy, T: Tap> HotCold<V, T> {
    fn find_streams(&mut self, pages: &[u32], hints: &Hints) {
        let stream = |hot| if hot { HOT as u8 } else { COLD as u8 };
        self.streams.clear();
        if let Some(detector) = &mut self.detector {
            self.streams.extend(pages.iter().map(|&page| stream(detector.is_hot(page))));
        } else {
            self.hot_groups.clear();
            self.hot_groups.extend(hot_groups(hints.groups));
            let hot = &self.hot_groups;
            self.streams.extend(hints.group_of.iter().map(|&group| stream(hot[group as usize])));
        }
    }

    fn write_each(&mut self, pages: &[u32]) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            self.core.prefetch(pages, at);
            let stream = usize::from(self.streams[at]);
            self.count_write(pages, at);
            let pool = self.pool_with_room(stream)?;
            let frontier = self.core.frontier(stream, pool);
            self.program(logical, frontier);
            if self.core.frontiers[frontier].is_full() {
                self.close(frontier);
                self.refill(pool)?;
            }
        }
        Ok(())
    }

    /// Records in the history that the host writes `pages[at]`, if the victim policy uses it.
    #[inline(always)]
    fn count_write(&mut self, pages: &[u32], at: usize) {
        if V::USES_WRITE_HISTORY {
            if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD) {
                self.core.prefetch_history(logical);
            }
            self.core.count_write(pages[at]);
        }
    }

    #[inline(always)]
    fn program(&mut self, logical: u32, frontier: usize) {
        let from = self.core.program(logical, frontier);
        if V::USES_WRITE_HISTORY {
            self.core.follow(logical, from, frontier);
        }
    }

    /// Pool for the next page of `stream`: the next pool in turn that has room.
    fn pool_with_room(&mut self, stream: usize) -> Result<usize> {
        let pools = self.core.flash.pools();
        for step in 0..pools {
            let pool = (self.next_pool[stream] + step) % pools;
            let frontier = self.core.frontier(stream, pool);
            if self.core.frontiers[frontier].is_full() {
                self.refill(pool)?;
            }
            if !self.core.frontiers[frontier].is_full() {
                self.next_pool[stream] = (pool + 1) % pools;
                return Ok(pool);
            }
        }
        unreachable!("the size of the drive was checked, so a LUN has room or an invalid page")
    }

    /// Gives each full frontier of `pool` a block with room.
    /// A full frontier stays full if its LUN has neither a free block nor an invalid page.
    fn refill(&mut self, pool: usize) -> Result<()> {
        let frontiers = [HOT, COLD].map(|stream| self.core.frontier(stream, pool));
        while let Some(stream) = (HOT..=COLD).find(|s| self.core.frontiers[frontiers[*s]].is_full())
        {
            if self.core.can_open(pool) {
                self.open(stream, pool);
            } else if self.layout == Layout::Flat || self.core.has_invalid(pool) {
                self.collect(stream, pool)?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// Collects a victim for the full frontier of `stream`.
    /// The erased victim becomes the new frontier. There is one exception, if no swap is possible:
    /// a victim of the other kind may have more valid pages than the other frontier has room for.
    /// Then the victim becomes the other frontier, and the frontier of `stream` stays full.
    #[cold]
    fn collect(&mut self, stream: usize, pool: usize) -> Result<()> {
        let [mut pages, mut second_pages] = std::mem::take(&mut self.migrating);
        let other = HOT + COLD - stream;
        let other_frontier = self.core.frontier(other, pool);
        let victim = self.core.choose_victim(if self.layout == Layout::Flat { 0 } else { pool })?;
        // The kind is read before the erase, because a wear leveller may change the kind of the
        // erased block.
        let kind = usize::from(self.label[victim as usize]);
        self.erase_victim(victim, &mut pages);
        if kind == stream {
            self.open(stream, pool);
            self.migrate(&pages, stream, pool);
        } else {
            let room_pages = self.core.frontiers[other_frontier].room_pages() as usize;
            let (fitting, rest) = pages.split_at(room_pages.min(pages.len()));
            self.migrate(fitting, other, pool);
            if rest.is_empty() {
                self.open(stream, pool);
            } else {
                if let Some(second) = self.second_victim(stream, pool) {
                    self.open(stream, pool);
                    self.erase_victim(second, &mut second_pages);
                    self.migrate(&second_pages, stream, pool);
                }
                self.open(other, pool);
                self.migrate(rest, other, pool);
            }
        }
        self.migrating = [pages, second_pages];
        Ok(())
    }

    /// Second victim of a swap: a block of the same kind as the full frontier.
    /// It is removed from the candidates. None without swaps, or if no such block is closed.
    fn second_victim(&mut self, stream: usize, pool: usize) -> Option<u32> {
        let swap = self.swap.as_ref()?;
        let closed = &swap.closed[self.core.frontier(stream, pool)];
        self.core.choose_second_victim(closed, swap.d)
    }

    /// Erases a victim.
    /// If a wear leveller moves pages onto it, it takes over the kind of their block.
    fn erase_victim(&mut self, victim: u32, pages: &mut Vec<u32>) {
        self.forget(victim);
        if let Some(Exchange { young, worn }) = self.core.erase_victim(victim, pages) {
            self.forget(young);
            self.label[worn as usize] = self.label[young as usize];
            self.remember(worn);
        }
    }

    fn remember(&mut self, closed: u32) {
        let bag = self.bag(closed);
        if let Some(swap) = &mut self.swap {
            swap.closed[bag].add(closed);
        }
    }

    fn forget(&mut self, closed: u32) {
        let bag = self.bag(closed);
        if let Some(swap) = &mut self.swap {
            swap.closed[bag].remove(closed);
        }
    }

    /// Index of the list of closed blocks with the same kind (hot or cold) and pool as a block.
    fn bag(&self, block: u32) -> usize {
        let stream = usize::from(self.label[block as usize]);
        self.core.frontier(stream, self.core.flash.pool_of(block))
    }

    /// Opens a block for `stream`.
    fn open(&mut self, stream: usize, pool: usize) {
        let frontier = self.core.frontier(stream, pool);
        let block = self.core.open(frontier, pool);
        self.label[block as usize] = stream as u8;
    }

    fn migrate(&mut self, pages: &[u32], stream: usize, pool: usize) {
        let frontier = self.core.frontier(stream, pool);
        self.core.migrate(pages, frontier);
        if !pages.is_empty() && self.core.frontiers[frontier].is_full() {
            self.close(frontier);
        }
    }

    fn close(&mut self, frontier: usize) {
        let block = self.core.close(frontier);
        self.remember(block);
    }

    /// Opens new blocks for frontiers that padding has filled, if the drive is a single pool.
    /// With a pool per LUN, a frontier gets a new block when the next page is written to it.
    fn refill_padded(&mut self) -> Result<()> {
        if self.layout == Layout::Flat && self.core.frontiers.iter().any(Frontier::is_full) {
            self.refill(0)?;
        }
        Ok(())
    }
}

impl<V: VictimPolicy, T: Tap> Policy for HotCold<V, T> {
    by_fields!(V, T);

    fn write_pages(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        self.find_streams(pages, hints);
        self.refill_padded()?;
        if self.layout == Layout::Flat && !V::USES_WRITE_HISTORY && !T::IS_OPEN {
            return self.write_ahead(pages);
        }
        self.write_each(pages)
    }

    fn steer(&mut self, queues: &[u32]) {
        if self.layout != Layout::Flat {
            self.next_pool = self.next_pool.map(|next| shortest(queues, next));
        }
    }

    fn required_hints(&self) -> RequiredHints {
        if self.detector.is_none() { RequiredHints::Groups } else { RequiredHints::Nothing }
    }

    fn without_hints(&self) -> &'static str {
        "set a detector, as in hcwf:detector=bloom"
    }

    fn forget(&mut self, logical: u32) {
        if let Some(detector) = &mut self.detector {
            detector.forget(logical);
        }
    }

    fn on_padded(&mut self) -> Option<fn(&mut Self, usize)> {
        Some(Self::close)
    }

    fn report(&self) -> Report<'_> {
        let bags = self.swap.iter().flat_map(|swap| &swap.closed).map(Bag::bytes).sum::<u64>();
        let detector = self.detector.as_ref().map_or(0, |detector| detector.bytes());
        Report { scheme_bytes: self.label.len() as u64 + bags + detector, ..Report::default() }
    }
}

const D: Param = Param::new(
    "d",
    "10",
    Domain::CHOICES,
    "number of closed blocks drawn at random; the victim is the one with the most invalid pages",
);
const D_SWAP: Param = Param::new(
    "d_swap",
    "100",
    Domain::CHOICES,
    "d*: number of blocks drawn at random for the second victim, of the full frontier's kind",
);
const DETECTOR: Param = Param::new(
    "detector",
    "oracle",
    Domain::Either(&Domain::Word(&["oracle"]), &detectors::NESTED),
    "detector of hot pages; oracle takes them from the groups that the workload names",
);

/// HCWF: hot and cold write frontiers (Van Houdt 2014).
pub type Hcwf = Frontiers<false>;

/// HCWF(swap): HCWF that also exchanges a hot and a cold block when it collects (paper 4).
pub type HcwfSwap = Frontiers<true>;

/// HCWF manager, with or without swaps.
pub struct Frontiers<const SWAPS: bool>;

impl<const SWAPS: bool> Manager for Frontiers<SWAPS> {
    const ENTRY: Entry = if SWAPS {
        Entry::new(
            "hcwf-swap",
            "hcwf that also exchanges a hot and a cold block when a victim's pages do not fit in \
             the other frontier",
        )
        .example("hcwf-swap:d_swap=100")
        .params(&[D, D_SWAP, DETECTOR])
        .variants(&["hcwf-swap:d_swap=1"])
        .candidates(const { &[Pairs::rare(&["hcwf-swap"], &["d-choices:d=10"])] })
    } else {
        Entry::new("hcwf", "a hot and a cold write frontier; collected blocks move between them")
            .params(&[D, DETECTOR])
            .candidates(const { &[Pairs::rare(&["hcwf"], &["d-choices:d=10"])] })
    };

    fn declared(params: &Params) -> Result<Declared> {
        Ok(Declared {
            layouts: Some(Only {
                these: &Layout::WITHIN_LUNS,
                because: "writes to any LUN with room, and copies the pages of a victim to the \
                victim's LUN",
            }),
            default_victims: format!("d-choices:d={}", params.integer::<u32>("d")),
            shapes_victims: Some("d"),
            required_hints: if detector(params).is_none() {
                RequiredHints::Groups
            } else {
                RequiredHints::Nothing
            },
            ..Declared::of(Needs::streams(STREAMS as u32))
        })
    }

    fn build<T: Compiled>(
        params: &Params,
        victims: &str,
        setup: Setup,
        tap: T,
    ) -> Result<Box<dyn BlockManager>> {
        let name = params.entry().name;
        let detector = detector(params).map(|text| detectors::build(text, setup.logical_pages));
        let detector = detector.transpose()?;
        let d_swap = SWAPS.then(|| params.integer("d_swap"));
        let site = setup.clone();
        T::with_policy(victims, &site, Assemble { name, d_swap, detector, setup, tap })
    }
}

/// Spec of the detector, or None if the host provides hints.
fn detector(params: &Params) -> Option<&str> {
    Some(params.text("detector")).filter(|text| *text != "oracle")
}

/// Builds the manager once the victim policy is known.
struct Assemble<T> {
    name: &'static str,
    d_swap: Option<u32>,
    detector: Option<Box<dyn Detector>>,
    setup: Setup,
    tap: T,
}

impl<T: Tap> Visitor for Assemble<T> {
    type Output = Box<dyn BlockManager>;

    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output> {
        let Assemble { name, d_swap, detector, setup, tap } = self;
        let (layout, blocks) = (setup.layout, setup.geometry.blocks());
        let core = Core::new(policy, &setup, STREAMS as u32, 0, tap)?;
        let frontiers = core.frontiers.len();
        let bags = || (0..frontiers).map(|_| Bag::new(blocks)).collect::<Result<_>>();
        let swap = d_swap.map(|d| Ok(Swap { d, closed: bags()? })).transpose()?;
        let pools = core.flash.pools();
        let mut drive = HotCold {
            name,
            core,
            detector,
            swap,
            label: filled(0, blocks as usize)?,
            layout,
            next_pool: [0; STREAMS],
            streams: Vec::new(),
            hot_groups: Vec::new(),
            migrating: [Vec::new(), Vec::new()],
        };
        for pool in 0..pools {
            drive.refill(pool)?;
        }
        Ok(Box::new(drive))
    }
}
