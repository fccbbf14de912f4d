//! The manager that composes a placement with a victim policy.
//!
//! A collection takes a victim's valid pages into the controller's buffer, erases it, and writes
//! the pages to the frontiers that the placement names, on the victim's own LUN; the erased block
//! is the first to be opened, unless wear is levelled or the block retires. So a drive needs no
//! block in reserve for collection as long as relocated pages go to one stream (paper 4,
//! §2.1–2.2), and one more for each further stream.

use super::core::Core;
use super::{BlockManager, Layout, Manager, Setup};
use crate::error::Result;
use crate::flash::{Cause, Flash, Observer};
use crate::hints::Hints;
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
    core: Core<V, O>,
    placement: P,
    /// The pool that each stream writes its next page to.
    next_pool: Vec<usize>,
    layout: Layout,
    lifted: Vec<u32>,
}

/// Free blocks that a pool keeps back: a victim's pages may fill every relocation stream's
/// frontier, and the erased victim replaces only one of them.
const fn reserve_blocks<P: Placement>() -> u32 {
    P::RELOCATION_STREAMS as u32 - 1
}

impl<P: Placement, V: VictimPolicy, O: Observer> Generic<P, V, O> {
    fn write_flat(&mut self, pages: &[u32]) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            self.core.prefetch(pages, at);
            let stream = self.placement.host_stream(logical);
            if self.core.frontiers[stream].is_full() {
                self.make_room(stream)?;
            }
            self.program(logical, stream);
        }
        Ok(())
    }

    fn write_striped(&mut self, pages: &[u32]) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            self.core.prefetch(pages, at);
            let stream = self.placement.host_stream(logical);
            let pool = self.pool_with_room(stream)?;
            self.program(logical, self.core.frontier(stream, pool));
        }
        Ok(())
    }

    #[inline(always)]
    fn program(&mut self, logical: u32, frontier: usize) {
        self.core.program(logical, frontier);
        if self.core.frontiers[frontier].is_full() {
            self.core.close(frontier);
        }
    }

    /// Gives `stream` a frontier with room, on the only pool.
    #[cold]
    fn make_room(&mut self, stream: usize) -> Result<()> {
        while !self.core.can_open(0) {
            self.collect(0)?;
            if !self.core.frontiers[stream].is_full() {
                return Ok(());
            }
        }
        self.core.open(stream, 0);
        Ok(())
    }

    /// The pool that takes the next page of `stream`: the next in turn that has room.
    fn pool_with_room(&mut self, stream: usize) -> Result<usize> {
        let pools = self.core.flash.pools();
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
        let frontier = self.core.frontier(stream, pool);
        while self.core.frontiers[frontier].is_full() {
            if self.core.can_open(pool) {
                self.core.open(frontier, pool);
            } else if self.layout == Layout::StripedPerLun && self.core.has_outdated(pool) {
                self.collect(pool)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn collect(&mut self, domain: usize) -> Result<()> {
        let victim = self.core.choose_victim(domain)?;
        let pool = self.core.flash.pool_of(victim);
        let mut lifted = std::mem::take(&mut self.lifted);
        self.core.lift(victim, &mut lifted);
        for &logical in &lifted {
            let frontier = self.core.frontier(self.placement.relocation_stream(logical), pool);
            let core = &mut self.core;
            if core.frontiers[frontier].is_full() {
                core.open(frontier, pool);
            }
            core.flash.place(logical, &mut core.frontiers[frontier], Cause::Gc);
            if core.frontiers[frontier].is_full() {
                core.close(frontier);
            }
        }
        self.core.flash.count(Cause::Gc, lifted.len() as u64);
        self.lifted = lifted;
        Ok(())
    }
}

impl<P: Placement, V: VictimPolicy, O: Observer + Send> BlockManager<O> for Generic<P, V, O> {
    fn write(&mut self, pages: &[u32], _hints: Option<Hints>) -> Result<()> {
        self.core.flash.check_range(pages)?;
        match self.layout {
            Layout::Flat => self.write_flat(pages)?,
            Layout::Striped | Layout::StripedPerLun => self.write_striped(pages)?,
        }
        self.core.flash.count(Cause::Host, pages.len() as u64);
        Ok(())
    }

    fn trim(&mut self, pages: &[u32]) -> Result<()> {
        self.core.trim(pages)
    }

    fn flash(&self) -> &Flash<O> {
        &self.core.flash
    }

    fn flash_mut(&mut self) -> &mut Flash<O> {
        &mut self.core.flash
    }

    fn assert_invariants(&self) {
        self.core.flash.assert_invariants(&self.core.frontiers);
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
        let (victims, geometry) = (setup.victims::<P>(params)?, setup.geometry);
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
        let layout = setup.layout;
        let lifted = Vec::with_capacity(setup.geometry.pages_per_block() as usize);
        let name = <P as Placement>::NAME;
        let core = Core::new(name, policy, setup, P::STREAMS as u32, reserve_blocks::<P>())?;
        Ok(Box::new(Generic { core, placement, next_pool: vec![0; P::STREAMS], layout, lifted }))
    }
}
