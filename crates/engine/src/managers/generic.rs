//! The manager that composes a placement with a victim policy.
//!
//! A collection takes a victim's valid pages into the controller's buffer, erases it, and writes
//! the pages to the frontiers that the placement names, on the victim's own LUN; the erased block
//! is the first to be opened. So a drive needs no block in reserve for collection as long as
//! relocated pages go to one stream (paper 4, §2.1–2.2), and one more for each further stream.

use super::{BlockManager, Layout, Manager, Setup};
use crate::error::{Error, Result};
use crate::flash::{BlockState, Cause, Flash, Frontier, Observer};
use crate::rng::Stream;
use crate::spec::{Param, Params};
use crate::victims::{self, VictimPolicy, Visitor};

/// Which stream each page goes to; a stream has a write frontier of its own (on each LUN).
pub trait Placement: Send + Sized + 'static {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const PARAMS: &'static [Param];
    const EXAMPLE: &'static str;
    /// Streams in all.
    const STREAMS: usize;
    /// Streams that relocated pages may go to.
    const RELOCATION_STREAMS: usize;

    fn build(params: &Params) -> Result<Self>;

    /// The stream of a page that the host writes.
    fn host_stream(&mut self, logical: u32) -> usize;

    /// The stream of a page that collection moves.
    fn relocation_stream(&mut self, logical: u32) -> usize;
}

struct Generic<P, V, O: Observer> {
    flash: Flash<O>,
    placement: P,
    /// One policy for each collection domain.
    victims: Vec<V>,
    /// Indexed by stream · pools + pool.
    frontiers: Vec<Frontier>,
    /// The pool that each stream writes its next page to.
    next_pool: Vec<usize>,
    layout: Layout,
    random: Stream,
    /// Host pages written: the clock of the victim policies.
    now: u64,
    lifted: Vec<u32>,
    /// Victims in a row that had no outdated page.
    gainless: u64,
}

/// Free blocks that a pool keeps back: a victim's pages may fill every relocation stream's
/// frontier, and the erased victim replaces only one of them.
const fn reserve_blocks<P: Placement>() -> u32 {
    P::RELOCATION_STREAMS as u32 - 1
}

/// How far ahead of a write the map entry, and then what it points to, are fetched. Far enough to
/// hide a memory access, near enough to stay in the first-level cache.
const MAP_LOOKAHEAD: usize = 24;
const PAGE_LOOKAHEAD: usize = 10;

impl<P: Placement, V: VictimPolicy, O: Observer> Generic<P, V, O> {
    fn write_flat(&mut self, pages: &[u32]) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            self.prefetch(pages, at);
            let stream = self.placement.host_stream(logical);
            if self.frontiers[stream].is_full() {
                self.make_room(stream)?;
            }
            self.program(logical, stream);
        }
        Ok(())
    }

    fn write_striped(&mut self, pages: &[u32]) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            self.prefetch(pages, at);
            let stream = self.placement.host_stream(logical);
            let pool = self.pool_with_room(stream)?;
            self.program(logical, stream * self.flash.pools() + pool);
        }
        Ok(())
    }

    #[inline(always)]
    fn prefetch(&self, pages: &[u32], at: usize) {
        if let Some(&logical) = pages.get(at + MAP_LOOKAHEAD) {
            self.flash.prefetch_map(logical);
        }
        if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD)
            && let Some(block) = self.flash.prefetch_outdated(logical)
        {
            self.victims[self.domain_of(block)].prefetch(block);
        }
    }

    #[inline(always)]
    fn program(&mut self, logical: u32, frontier: usize) {
        self.now += 1;
        if let Some(block) = self.flash.program(logical, &mut self.frontiers[frontier]) {
            self.on_outdate(block);
        }
        self.close_if_full(frontier);
    }

    #[inline(always)]
    fn on_outdate(&mut self, block: u32) {
        let domain = self.domain_of(block);
        self.victims[domain].on_outdate(
            block,
            self.flash.invalid_pages()[block as usize],
            self.now,
        );
    }

    #[inline(always)]
    fn close_if_full(&mut self, frontier: usize) {
        if self.frontiers[frontier].is_full() {
            let block = self.flash.close(&self.frontiers[frontier]);
            let domain = self.domain_of(block);
            self.victims[domain].on_close(
                block,
                self.flash.invalid_pages()[block as usize],
                self.now,
            );
        }
    }

    #[inline(always)]
    fn domain_of(&self, block: u32) -> usize {
        if self.victims.len() == 1 { 0 } else { self.flash.pool_of(block) }
    }

    /// Gives `stream` a frontier with room, on the only pool.
    #[cold]
    fn make_room(&mut self, stream: usize) -> Result<()> {
        while self.flash.free_blocks(0) <= reserve_blocks::<P>() {
            self.collect(0)?;
            if !self.frontiers[stream].is_full() {
                return Ok(());
            }
        }
        self.frontiers[stream] = self.flash.open(0);
        Ok(())
    }

    /// The pool that takes the next page of `stream`: the next in turn that has room.
    fn pool_with_room(&mut self, stream: usize) -> Result<usize> {
        let pools = self.flash.pools();
        loop {
            for step in 0..pools {
                let pool = (self.next_pool[stream] + step) % pools;
                if self.has_room(stream, pool)? {
                    self.next_pool[stream] = (pool + 1) % pools;
                    return Ok(pool);
                }
            }
            // Only drive-wide collection gets here: a LUN that collects for itself makes room as
            // long as any LUN has an outdated page, which the size of the drive guarantees.
            assert_eq!(self.layout, Layout::Striped, "no LUN has room or an outdated page");
            self.collect(0)?;
        }
    }

    fn has_room(&mut self, stream: usize, pool: usize) -> Result<bool> {
        let frontier = stream * self.flash.pools() + pool;
        while self.frontiers[frontier].is_full() {
            if self.flash.free_blocks(pool) > reserve_blocks::<P>() {
                self.frontiers[frontier] = self.flash.open(pool);
            } else if self.layout == Layout::StripedPerLun && self.has_outdated(pool) {
                self.collect(pool)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if collecting in `pool` can gain anything.
    fn has_outdated(&self, pool: usize) -> bool {
        self.flash.blocks_of(pool).any(|block| {
            self.flash.invalid_pages()[block as usize] > 0
                && self.flash.state(block) == BlockState::Closed
        })
    }

    fn collect(&mut self, domain: usize) -> Result<()> {
        let victim = self.victims[domain]
            .choose(self.flash.invalid_pages(), self.now, &mut self.random)
            .expect("a full drive has closed blocks");
        let pool = self.flash.pool_of(victim);
        let mut lifted = std::mem::take(&mut self.lifted);
        self.flash.lift(victim, &mut lifted, Cause::Gc);
        for &logical in &lifted {
            let stream = self.placement.relocation_stream(logical);
            let frontier = stream * self.flash.pools() + pool;
            if self.frontiers[frontier].is_full() {
                self.frontiers[frontier] = self.flash.open(pool);
            }
            self.flash.place(logical, &mut self.frontiers[frontier], Cause::Gc);
            self.close_if_full(frontier);
        }
        self.flash.count(Cause::Gc, lifted.len() as u64);
        let gained = lifted.len() < self.flash.geometry().pages_per_block() as usize;
        self.lifted = lifted;
        self.gainless = if gained { 0 } else { self.gainless + 1 };
        // Even where one block in the drive has an outdated page, a random choice misses it so
        // often with probability e^−50 only.
        if self.gainless > 50 * u64::from(self.flash.geometry().blocks()) {
            return Err(Error::NeverFrees { collections: self.gainless });
        }
        Ok(())
    }
}

impl<P: Placement, V: VictimPolicy, O: Observer + Send> BlockManager<O> for Generic<P, V, O> {
    fn write(&mut self, pages: &[u32]) -> Result<()> {
        self.flash.check_range(pages)?;
        match self.layout {
            Layout::Flat => self.write_flat(pages)?,
            Layout::Striped | Layout::StripedPerLun => self.write_striped(pages)?,
        }
        self.flash.count(Cause::Host, pages.len() as u64);
        Ok(())
    }

    fn trim(&mut self, pages: &[u32]) -> Result<()> {
        self.flash.check_range(pages)?;
        for &logical in pages {
            if let Some(block) = self.flash.trim(logical) {
                self.on_outdate(block);
            }
        }
        Ok(())
    }

    fn flash(&self) -> &Flash<O> {
        &self.flash
    }

    fn flash_mut(&mut self) -> &mut Flash<O> {
        &mut self.flash
    }

    fn assert_invariants(&self) {
        self.flash.assert_invariants(&self.frontiers);
    }
}

impl<P: Placement> Manager for P {
    const NAME: &'static str = P::NAME;
    const SUMMARY: &'static str = P::SUMMARY;
    const PARAMS: &'static [Param] = P::PARAMS;
    const EXAMPLE: &'static str = P::EXAMPLE;

    fn build<O: Observer + Send + 'static>(
        params: &Params,
        setup: Setup<O>,
    ) -> Result<Box<dyn BlockManager<O>>> {
        let placement = <P as Placement>::build(params)?;
        let (victims, geometry) = (setup.victims.clone(), setup.geometry);
        victims::with_policy(&victims, &geometry, Assemble { placement, setup })
    }
}

/// Puts a generic manager together once the victim policy is known.
struct Assemble<P, O> {
    placement: P,
    setup: Setup<O>,
}

impl<P: Placement, O: Observer + Send + 'static> Visitor for Assemble<P, O> {
    type Output = Box<dyn BlockManager<O>>;

    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output> {
        let Assemble { placement, setup } = self;
        let (layout, random) = (setup.layout, setup.random("victims"));
        let pages_per_block = setup.geometry.pages_per_block() as usize;
        let flash =
            setup.flash(<P as Placement>::NAME, P::STREAMS as u32 - 1, reserve_blocks::<P>())?;
        let domains = if layout == Layout::StripedPerLun { flash.pools() } else { 1 };
        Ok(Box::new(Generic {
            frontiers: vec![Frontier::default(); P::STREAMS * flash.pools()],
            next_pool: vec![0; P::STREAMS],
            victims: vec![policy; domains],
            layout,
            random,
            now: 0,
            gainless: 0,
            lifted: Vec::with_capacity(pages_per_block),
            placement,
            flash,
        }))
    }
}
