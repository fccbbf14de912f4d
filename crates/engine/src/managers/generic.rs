//! The manager that composes a placement with a victim policy.
//!
//! A collection takes a victim's valid pages into the controller's buffer, erases it, and writes
//! the pages to the frontiers that the placement names, on the victim's own LUN; the erased block
//! is the first to be opened, unless wear is levelled or the block retires. So a drive needs no
//! block in reserve for collection as long as relocated pages go to one stream (paper 4,
//! §2.1–2.2), and one more for each further stream. The host writes to a pool only while that
//! reserve is complete.

use super::core::{Core, Exchange, PAGE_LOOKAHEAD};
use super::{BlockManager, Layout, Manager, Setup};
use crate::error::{Error, Result};
use crate::flash::{Cause, Flash, Observer, filled};
use crate::hints::{Hints, NEVER};
use crate::spec::{Param, Params};
use crate::victims::{self, VictimPolicy, Visitor};

/// Which stream each page goes to; a stream has a write frontier of its own (on each LUN).
pub trait Placement: Send + Sized + 'static {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const PARAMS: &'static [Param];
    const EXAMPLE: &'static str;
    /// The victim policy that its authors pair it with, unless another is asked for.
    const VICTIMS: &'static str = "greedy";
    /// True if it looks at what the host says of its pages ([`Placement::hears`]).
    const HEARS_HOST: bool = false;
    /// True if it looks at the [`Victim`] from which a page comes.
    const KNOWS_VICTIMS: bool = false;
    /// True if it has victims of its own ([`Placement::victim`]); asks for `KNOWS_VICTIMS`.
    const CHOOSES_VICTIMS: bool = false;

    fn build(params: &Params, sizes: &Sizes) -> Result<Self>;

    fn streams(&self) -> Streams;

    /// What the host must tell.
    fn hears(&self) -> Hears {
        Hears::Nothing
    }

    /// The stream of a page that the host writes.
    fn host_stream(&mut self, page: HostPage) -> usize;

    /// A victim has been chosen; its valid pages come next.
    fn on_victim(&mut self, _victim: &Victim) {}

    /// The stream of a page that collection moves.
    fn relocation_stream(&mut self, logical: u32, victim: &Victim) -> usize;

    /// A victim that the scheme insists on, in a collection domain; `None` leaves it to the policy.
    /// `gained_nothing` says that the last victim had no outdated page.
    fn victim(&mut self, _domain: usize, _gained_nothing: bool) -> Option<u32> {
        None
    }

    /// `block`, opened for `stream`, closes; true holds it back from the policy.
    fn on_close(&mut self, _block: u32, _stream: usize, _domain: usize) -> bool {
        false
    }

    /// `block` has been chosen by anyone.
    fn on_collect(&mut self, _block: u32) {}

    /// The data of `young` lies in `worn` now, which closed in its place.
    fn on_exchange(&mut self, _young: u32, _worn: u32) {}

    /// Bytes of the tables that the scheme keeps beside the map.
    fn bytes(&self) -> u64 {
        0
    }

    /// Fetches what [`Self::host_stream`] will touch.
    #[inline(always)]
    fn prefetch(&self, _logical: u32) {}
}

/// What a placement is built for.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub logical_pages: u32,
    pub blocks: u32,
    pub pages_per_block: u32,
    /// Parts of the drive that collect for themselves.
    pub domains: u32,
    pub seed: u64,
}

/// How many streams there are: `all` of them, of which `relocation` may get relocated pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    pub all: usize,
    pub relocation: usize,
}

/// What a placement must hear from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hears {
    Nothing,
    /// The group of each page.
    Groups,
    /// When each page will be outdated.
    Deaths,
}

/// A page that the host writes, as a placement sees it.
#[derive(Debug, Clone, Copy)]
pub struct HostPage {
    pub logical: u32,
    /// Host pages written before it.
    pub now: u64,
    /// Its group, if the placement hears groups.
    pub group: u8,
    /// The clock at which it will be outdated, if the placement hears that.
    pub death: u64,
}

/// A block that is collected, as a placement sees it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Victim {
    /// The stream that the block was opened for.
    pub stream: usize,
    /// The clock when it was opened.
    pub opened: u64,
    pub now: u64,
}

/// What is remembered of each block, for placements that know victims.
#[derive(Debug, Clone, Copy, Default)]
struct Opened {
    at: u64,
    stream: u8,
}

struct Generic<P, V, O: Observer> {
    core: Core<V, O>,
    placement: P,
    /// For each block, or empty.
    opened: Vec<Opened>,
    /// The pool that each stream writes its next page to.
    next_pool: Vec<usize>,
    layout: Layout,
    lifted: Vec<u32>,
}

impl<P: Placement, V: VictimPolicy, O: Observer> Generic<P, V, O> {
    fn write_flat(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            let stream = self.host_stream(pages, at, hints);
            if self.core.frontiers[stream].is_full() {
                self.make_room(stream)?;
            }
            self.program(logical, stream);
        }
        Ok(())
    }

    fn write_striped(&mut self, pages: &[u32], hints: &Hints) -> Result<()> {
        for (at, &logical) in pages.iter().enumerate() {
            let stream = self.host_stream(pages, at, hints);
            let pool = self.pool_with_room(stream)?;
            self.program(logical, self.core.frontier(stream, pool));
        }
        Ok(())
    }

    #[inline(always)]
    fn host_stream(&mut self, pages: &[u32], at: usize, hints: &Hints) -> usize {
        self.core.prefetch(pages, at);
        if let Some(&logical) = pages.get(at + PAGE_LOOKAHEAD) {
            self.placement.prefetch(logical);
        }
        let mut page =
            HostPage { logical: pages[at], now: self.core.now(), group: 0, death: NEVER };
        if P::HEARS_HOST {
            page.group = hints.group_of.get(at).copied().unwrap_or(0);
            page.death = hints.deaths.get(at).copied().unwrap_or(NEVER);
        }
        self.placement.host_stream(page)
    }

    #[inline(always)]
    fn program(&mut self, logical: u32, frontier: usize) {
        self.core.program(logical, frontier);
        if self.core.frontiers[frontier].is_full() {
            self.close(frontier);
        }
    }

    #[inline(always)]
    fn close(&mut self, frontier: usize) {
        if P::CHOOSES_VICTIMS {
            let block = self.core.flash.block_behind(&self.core.frontiers[frontier]);
            let stream = usize::from(self.opened[block as usize].stream);
            let domain = self.core.domain_of(block);
            let is_held = self.placement.on_close(block, stream, domain);
            self.core.hold(block, is_held);
        }
        self.core.close(frontier);
    }

    /// Gives `stream` a frontier with room, on the only pool. Ends with the reserve complete, which
    /// the next collection may need: the host can fill up frontiers of relocated pages meanwhile.
    #[cold]
    fn make_room(&mut self, stream: usize) -> Result<()> {
        while !self.core.can_open(0) {
            self.collect(0)?;
            if !self.core.frontiers[stream].is_full() && self.core.reserve_is_complete(0) {
                return Ok(());
            }
        }
        if self.core.frontiers[stream].is_full() {
            self.open(stream, stream, 0);
        }
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
        while self.core.frontiers[frontier].is_full() || !self.core.reserve_is_complete(pool) {
            if self.core.can_open(pool) {
                self.open(stream, frontier, pool);
            } else if self.layout == Layout::StripedPerLun && self.core.has_outdated(pool) {
                self.collect(pool)?;
            } else {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn open(&mut self, stream: usize, frontier: usize, pool: usize) {
        let block = self.core.open(frontier, pool);
        if P::KNOWS_VICTIMS {
            self.opened[block as usize] = Opened { at: self.core.now(), stream: stream as u8 };
        }
    }

    fn choose_victim(&mut self, domain: usize) -> Result<u32> {
        if !P::CHOOSES_VICTIMS {
            return self.core.choose_victim(domain);
        }
        let own = self.placement.victim(domain, self.core.gained_nothing());
        let block = match self.core.choose_victim_by(|_, _| own) {
            Some(block) => {
                self.core.count_gain(block);
                block
            }
            None => self.core.choose_victim(domain)?,
        };
        self.placement.on_collect(block);
        Ok(block)
    }

    fn collect(&mut self, domain: usize) -> Result<()> {
        let block = self.choose_victim(domain)?;
        let pool = self.core.flash.pool_of(block);
        let mut victim = Victim { now: self.core.now(), ..Victim::default() };
        if P::KNOWS_VICTIMS {
            let opened = self.opened[block as usize];
            victim = Victim { stream: usize::from(opened.stream), opened: opened.at, ..victim };
        }
        self.placement.on_victim(&victim);
        let mut lifted = std::mem::take(&mut self.lifted);
        let exchange = self.core.lift(block, &mut lifted);
        if P::KNOWS_VICTIMS
            && let Some(Exchange { young, worn }) = exchange
        {
            self.opened[worn as usize] = self.opened[young as usize];
            if P::CHOOSES_VICTIMS {
                self.placement.on_exchange(young, worn);
            }
        }
        for &logical in &lifted {
            let stream = self.placement.relocation_stream(logical, &victim);
            let frontier = self.core.frontier(stream, pool);
            if self.core.frontiers[frontier].is_full() {
                self.open(stream, frontier, pool);
            }
            let core = &mut self.core;
            core.flash.place(logical, &mut core.frontiers[frontier], Cause::Gc);
            if core.frontiers[frontier].is_full() {
                self.close(frontier);
            }
        }
        self.core.flash.count(Cause::Gc, lifted.len() as u64);
        self.lifted = lifted;
        Ok(())
    }
}

/// The hints that a placement hears; an error if it cannot do without them and they are missing.
fn heard<'a, P: Placement>(placement: &P, hints: Option<Hints<'a>>) -> Result<Hints<'a>> {
    let hints = hints.unwrap_or_default();
    let missing = match placement.hears() {
        Hears::Groups if hints.groups.is_empty() => "the group of each page",
        Hears::Deaths if hints.deaths.is_empty() => "when each page will be written next",
        _ => return Ok(hints),
    };
    Err(Error::Spec(format!(
        "{} must be told {missing}, and this workload cannot tell; the parameters of {0} and the \
         workloads that can are in docs/placements.md",
        <P as Placement>::NAME
    )))
}

impl<P: Placement, V: VictimPolicy, O: Observer + Send> BlockManager<O> for Generic<P, V, O> {
    fn write(&mut self, pages: &[u32], hints: Option<Hints>) -> Result<()> {
        self.core.flash.check_range(pages)?;
        let hints =
            if pages.is_empty() { Hints::default() } else { heard(&self.placement, hints)? };
        match self.layout {
            Layout::Flat => self.write_flat(pages, &hints)?,
            Layout::Striped | Layout::StripedPerLun => self.write_striped(pages, &hints)?,
        }
        self.core.flash.count(Cause::Host, pages.len() as u64);
        Ok(())
    }

    fn needs_hints(&self) -> bool {
        self.placement.hears() == Hears::Groups
    }

    fn needs_deaths(&self) -> bool {
        self.placement.hears() == Hears::Deaths
    }

    fn scheme_bytes(&self) -> u64 {
        self.placement.bytes() + (self.opened.len() * size_of::<Opened>()) as u64
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

    fn default_victims(_params: &Params) -> Result<String> {
        Ok(P::VICTIMS.into())
    }

    fn build<O: Observer + Send + 'static>(
        params: &Params,
        setup: Setup<O>,
    ) -> Result<Box<dyn BlockManager<O>>> {
        let (victims, geometry) = (setup.victims::<P>(params)?, setup.geometry);
        let sizes = Sizes {
            logical_pages: setup.logical_pages,
            blocks: geometry.blocks(),
            pages_per_block: geometry.pages_per_block(),
            domains: if setup.layout == Layout::StripedPerLun { geometry.luns() } else { 1 },
            seed: setup.seed,
        };
        let placement = <P as Placement>::build(params, &sizes)?;
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
        let remembered = if P::KNOWS_VICTIMS { setup.geometry.blocks() as usize } else { 0 };
        let opened = filled(Opened::default(), remembered)?;
        // Free blocks that a pool keeps back: a victim's pages may fill every relocation stream's
        // frontier, and the erased victim replaces only one of them.
        let Streams { all, relocation } = placement.streams();
        let reserve_blocks = relocation as u32 - 1;
        let name = <P as Placement>::NAME;
        let core = Core::new(name, policy, setup, all as u32, reserve_blocks)?;
        Ok(Box::new(Generic { core, placement, opened, next_pool: vec![0; all], layout, lifted }))
    }
}
