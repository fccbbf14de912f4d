//! Two regions of blocks: one for host writes, one for the pages that collection moves.
//!
//! The scheme is 2R (Kang et al., PVLDB 2020) as SSD-iq simulates it (Haas et al., PVLDB 2025).
//! Collection runs when no free block is left. It collects blocks until their invalid pages have
//! freed a whole block, and packs their valid pages into blocks of the second region. The last of
//! these blocks is usually not full. The host fills it after the free block, and it then belongs to
//! the region of host writes. The regions have no fixed sizes.

mod regions;

use super::core::Core;
use super::served::{Policy, by_fields};
use super::{BlockManager, Compiled, Declared, Layout, Manager, Needs, Only, Setup};
use crate::error::Result;
use crate::flash::Tap;
use crate::hints::{Hints, RequiredHints};
use crate::observe::Report;
use crate::params::{Domain, Param, Params};
use crate::registry::Entry;
use crate::state::{require, state};
use regions::{HOST, MOVED, Order, Regions};

const STREAMS: usize = 2;

struct TwoRegions<T: Tap> {
    name: &'static str,
    core: Core<Regions, T>,
    /// Valid pages of a victim, and of all victims of a collection in the order of writing.
    migrating: Vec<u32>,
    packed: Vec<u32>,
}

state! {
    TwoRegions<T: Tap> { fixed name, nested core, scratch migrating, scratch packed } where check
}

impl<T: Tap> TwoRegions<T> {
    /// Checks that the open blocks belong to the regions of their frontiers.
    fn check(&self) -> Result<()> {
        for (region, frontier) in self.core.frontiers.iter().enumerate() {
            let is_own = frontier.is_full() || {
                let block = self.core.flash.block_behind(frontier);
                self.core.candidates().region_of(block) == region
            };
            require(is_own, "the region of an open block")?;
        }
        Ok(())
    }

    /// Gives the host's frontier a block with room.
    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if !self.core.can_open(0) && !self.core.frontiers[MOVED].is_full() {
            self.core.frontiers.swap(HOST, MOVED);
            let block = self.core.flash.block_behind(&self.core.frontiers[HOST]);
            self.core.candidates_mut().assign(block, HOST);
            return Ok(());
        }
        self.core.candidates_mut().begin();
        while !self.core.can_open(0) {
            self.collect()?;
        }
        self.open(HOST);
        Ok(())
    }

    /// Collects victims until their invalid pages fill a block, and packs their valid pages.
    /// The pages of the last victim are written first. In greedy order, the block that the host
    /// fills later thus has pages of the emptiest victims.
    fn collect(&mut self) -> Result<()> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        let mut freed_pages = self.core.frontiers[MOVED].room_pages();
        while freed_pages < self.core.flash.geometry().pages_per_block() {
            let victim = self.core.choose_victim(0)?;
            freed_pages += self.core.flash.invalid_pages(victim);
            let exchange = self.core.erase_victim(victim, &mut self.migrating);
            packed.splice(0..0, self.migrating.drain(..));
            if let Some(exchange) = exchange {
                let region = self.core.candidates().region_of(exchange.young);
                self.core.candidates_mut().assign(exchange.worn, region);
                // The erased victim is closed again, so it may be the next victim. Its earlier
                // pages are therefore written first.
                break;
            }
        }
        let mut rest = &packed[..];
        while !rest.is_empty() {
            if self.core.frontiers[MOVED].is_full() {
                self.open(MOVED);
            }
            let room_pages = self.core.frontiers[MOVED].room_pages() as usize;
            let (run, after) = rest.split_at(rest.len().min(room_pages));
            self.core.migrate(run, MOVED);
            if self.core.frontiers[MOVED].is_full() {
                self.core.close(MOVED);
            }
            rest = after;
        }
        self.packed = packed;
        Ok(())
    }

    fn open(&mut self, region: usize) {
        let block = self.core.open(region, 0);
        self.core.candidates_mut().assign(block, region);
    }

    /// Writes the first pages to the host's frontier, which has room. Returns their number.
    fn program(&mut self, pages: &[u32]) -> usize {
        if T::IS_OPEN {
            self.core.program(pages[0], HOST);
            return 1;
        }
        self.core.program_run(pages, HOST)
    }
}

impl<T: Tap> Policy for TwoRegions<T> {
    by_fields!(Regions, T);

    fn write_pages(&mut self, pages: &[u32], _hints: &Hints) -> Result<()> {
        let mut rest = pages;
        while !rest.is_empty() {
            if self.core.frontiers[HOST].is_full() {
                self.make_room()?;
            }
            let count = self.program(rest);
            rest = &rest[count..];
            if self.core.frontiers[HOST].is_full() {
                self.core.close(HOST);
            }
        }
        Ok(())
    }

    fn required_hints(&self) -> RequiredHints {
        RequiredHints::Nothing
    }

    fn without_hints(&self) -> &'static str {
        ""
    }

    fn on_padded(&mut self) -> Option<fn(&mut Self, usize)> {
        Some(|drive, frontier| {
            drive.core.close(frontier);
        })
    }

    fn report(&self) -> Report<'_> {
        let blocks = u64::from(self.core.flash.geometry().blocks());
        Report { scheme_bytes: blocks, ..Report::default() }
    }
}

/// Two regions, of host writes and of moved pages (2R).
pub struct TwoRegion;

impl Manager for TwoRegion {
    const ENTRY: Entry = Entry::new(
        "two-region",
        "host writes and moved pages in two regions; the host fills the last block of a collection",
    )
    .params(&[Param::new(
        "below",
        "0.7",
        Domain::SHARE,
        "fifo: share of valid pages below which a block is collected; a scan that finds no such \
         block raises it by 0.05",
    )])
    .variants(&["two-region:below=0.4"]);

    fn declared(_params: &Params) -> Result<Declared> {
        Ok(Declared {
            layouts: Some(Only {
                these: &[Layout::Flat],
                because: "collects the drive as a whole",
            }),
            victims: Some(Only {
                these: &Order::NAMES,
                because: "keeps its own order of victims in the regions",
            }),
            ..Declared::of(Needs::streams(STREAMS as u32))
        })
    }

    fn build<T: Compiled>(
        params: &Params,
        victims: &str,
        setup: Setup,
        tap: T,
    ) -> Result<Box<dyn BlockManager>> {
        let by = Order::ALL.iter().find(|(policy, _)| *policy == victims);
        let (_, order) = *by.expect("the declaration allows only victim policies in Order::ALL");
        let (blocks, pages_per_block) = (setup.geometry.blocks(), setup.geometry.pages_per_block());
        let regions = Regions::new(order, params.number("below"), blocks, pages_per_block)?;
        let core = Core::new(regions, &setup, STREAMS as u32, 0, tap)?;
        let name = params.entry().name;
        Ok(Box::new(TwoRegions { name, core, migrating: Vec::new(), packed: Vec::new() }))
    }
}
