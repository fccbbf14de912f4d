//! Block managers: where each page goes, and when collection runs.
//!
//! Most published schemes are a [`Placement`] on the [`generic`] manager: one small file and its
//! line in `managers!`. A manager whose collection rule is special implements [`Manager`] itself.

mod core;
mod generic;
mod hcwf;
mod served;
pub mod wolf;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::flash::{Array, Flash, Geometry, HostCounters, Observer, Pools, Silent, Tap, Wear};
use crate::hints::{Hears, Hints};
use crate::leveling;
use crate::observe::GroupChange;
use crate::placements;
use crate::request::{Op, Request};
use crate::rng::Stream;
use crate::spec::{Entry, Param, Params, Spec, entries};
use crate::state::{Identity, State, canonical};
use crate::victims::{self, Visitor};

/// How streams and collection are laid over the LUNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool of blocks, one write frontier a stream, drive-wide collection.
    Flat,
    /// A frontier a stream and LUN, pages striped over the LUNs that have room; a collection when
    /// none has, of a victim anywhere.
    Striped,
    /// The same, but each LUN collects for itself as it runs out (paper 3, §3).
    StripedPerLun,
}

impl Layout {
    fn pools(self) -> Pools {
        match self {
            Layout::Flat => Pools::Drive,
            Layout::Striped | Layout::StripedPerLun => Pools::PerLun,
        }
    }
}

/// What every manager is built from.
#[derive(Debug, Clone)]
pub struct Setup {
    pub geometry: Geometry,
    pub logical_pages: u32,
    pub layout: Layout,
    /// The spec of the victim policy, or `None` for the manager's own.
    pub victims: Option<String>,
    /// The spec of the wear leveller, if there is one.
    pub wear_leveling: Option<String>,
    pub seed: u64,
    pub wear: Wear,
}

impl Setup {
    /// Builds the flash array; refuses a drive too small for `open_streams` frontiers on each pool
    /// beside the one being written, and `reserve_blocks` kept free on each.
    fn flash<T: Tap>(
        &self,
        what: &str,
        open_streams: u32,
        reserve_blocks: u32,
        tap: T,
    ) -> Result<Flash<T>> {
        let Setup { geometry, logical_pages, layout, wear, .. } = *self;
        let usable_blocks = layout.pools().usable_blocks(&geometry, wear)?;
        let pools = layout.pools().count(&geometry);
        let frontiers = u64::from(pools) * u64::from(open_streams + 1);
        if u64::from(usable_blocks) <= frontiers {
            return Err(Error::Geometry(format!(
                "{what} keeps {frontiers} block(s) open and the drive has {usable_blocks} block(s)\
                 {}; it needs at least {}",
                if usable_blocks < geometry.blocks() { " that are not spare" } else { "" },
                frontiers + 1
            )));
        }
        // The worst case for collection: all invalid pages hide in open blocks, which no policy
        // may choose; one more must then lie in a closed block.
        let tied_up = u64::from(pools)
            * (u64::from(open_streams) + u64::from(reserve_blocks))
            * u64::from(geometry.pages_per_block());
        let usable_pages = u64::from(usable_blocks) * u64::from(geometry.pages_per_block());
        let spare = usable_pages.saturating_sub(u64::from(logical_pages));
        if spare <= tied_up && spare > 0 {
            return Err(Error::Geometry(format!(
                "the drive is too small for {what}: {spare} spare pages, but its open and reserved \
                 blocks can tie up {tied_up}; use a larger op, more blocks or fewer pages per block"
            )));
        }
        Flash::with_tap(geometry, logical_pages, layout.pools(), wear, tap)
    }

    /// The spec of the victim policy of a manager built with `params`.
    fn victims<M: Manager>(&self, params: &Params) -> Result<String> {
        self.victims.clone().map_or_else(|| M::default_victims(params), Ok)
    }

    fn random(&self, name: &str) -> Stream {
        Stream::new(self.seed, name)
    }

    /// Everything that decides what a drive is, under the manager that `text` names.
    fn identity(&self, text: &str) -> Result<Identity> {
        let Setup { geometry, logical_pages, layout, victims, wear_leveling, seed, wear } = self;
        let victims = victims.clone().map_or_else(|| default_victims(text), Ok)?;
        let leveler = |spec: &String| canonical("wear leveller", spec, leveling::ENTRIES);
        Ok(Identity::default()
            .with("block manager", canonical("block manager", text, ENTRIES)?)
            .with("victim policy", canonical("victim policy", &victims, victims::ENTRIES)?)
            .with("wear leveller", wear_leveling.as_ref().map_or(Ok("none".into()), leveler)?)
            .with("geometry", format!("{geometry:?}"))
            .with("number of logical pages", logical_pages.to_string())
            .with("layout", format!("{layout:?}"))
            .with("wear", format!("{wear:?}"))
            .with("seed", seed.to_string()))
    }
}

/// A drive that can be driven: a flash array under a policy.
pub trait BlockManager: Send + State {
    /// Writes `pages` in order. The counters are exact between calls, after an error too, and the
    /// outcome does not depend on how a run of writes is cut into calls. `hints` are those of these
    /// pages; without what [`Self::hears`] asks for, it is an error.
    fn write(&mut self, pages: &[u32], hints: Option<Hints>) -> Result<()>;

    /// Reads `pages`. Those that hold no data cost no flash operation.
    fn read(&mut self, pages: Range<u32>) -> Result<()>;

    /// Unmaps `pages`, and forgets what was learnt of them.
    fn trim(&mut self, pages: Range<u32>) -> Result<()>;

    /// Makes all writes so far endure. Nothing is held back, so it is only counted.
    fn flush(&mut self) -> Result<()>;

    /// Serves a whole request. `hints` are those of the pages that it writes.
    fn serve(&mut self, request: &Request, hints: Option<Hints>) -> Result<()> {
        let partial_bytes = request.partial_bytes();
        match request.op {
            Op::Write => {
                self.write(&request.range().collect::<Vec<_>>(), hints)?;
                self.host_mut().written_bytes -= partial_bytes;
            }
            Op::Read => {
                self.read(request.range())?;
                self.host_mut().read_bytes -= partial_bytes;
            }
            Op::Trim => {
                self.trim(request.range())?;
                self.host_mut().trimmed_bytes -= partial_bytes;
            }
            Op::Flush => self.flush()?,
        }
        Ok(())
    }

    /// Collects one victim on an idle LUN, whose host can wait no shorter for it: true if there was
    /// one worth it, that is with an invalid page, and the manager has a choice of when it collects.
    /// Under drive-wide collection the victim may lie elsewhere.
    fn collect_idle(&mut self, lun: usize) -> Result<bool>;

    /// What the host must tell with each write.
    fn hears(&self) -> Hears;

    /// Bytes of the tables that the manager's scheme keeps beside the map and the victim policy.
    fn scheme_bytes(&self) -> u64 {
        0
    }

    /// The flash array, to look at.
    fn flash(&self) -> &Array;

    /// What is counted of the host, for requests that cover pages in part.
    fn host_mut(&mut self) -> &mut HostCounters;

    /// The observer that the drive was built with, if there is one.
    fn observer_mut(&mut self) -> Option<&mut dyn Observer>;

    /// The log of the groups of pages that the manager keeps, as far as it remembers.
    fn group_changes(&self) -> &[GroupChange] {
        &[]
    }

    /// Takes down what the drive was built from: its state is restored into no other.
    fn identify(&mut self, identity: Identity);

    /// See [`Array::assert_invariants`].
    fn assert_invariants(&self);
}

/// Taps that managers are compiled for, and how: with each victim policy in a loop of its own if
/// nobody listens, else with any of them behind a pointer.
pub trait Compiled: Tap {
    /// Builds the policy that `text` names and hands it to `visitor`.
    fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output>;
}

impl Compiled for Silent {
    fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output> {
        victims::with_policy(text, geometry, visitor)
    }
}

impl Compiled for Box<dyn Observer> {
    fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output> {
        visitor.visit(victims::boxed_policy(text, geometry)?)
    }
}

/// What a registered manager says of itself, and how it is built.
pub trait Manager {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const PARAMS: &'static [Param];
    const EXAMPLE: &'static str;

    /// The victim policy if none is asked for.
    fn default_victims(_params: &Params) -> Result<String> {
        Ok("greedy".into())
    }

    fn build<T: Compiled>(params: &Params, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>>;
}

/// Builds the manager that `text` names.
pub fn build(text: &str, setup: Setup) -> Result<Box<dyn BlockManager>> {
    build_identified(text, setup, Silent)
}

/// Builds the manager that `text` names; `observer` hears of every operation of its flash.
pub fn build_observed(
    text: &str,
    setup: Setup,
    observer: Box<dyn Observer>,
) -> Result<Box<dyn BlockManager>> {
    build_identified(text, setup, observer)
}

fn build_identified<T: Compiled>(
    text: &str,
    setup: Setup,
    tap: T,
) -> Result<Box<dyn BlockManager>> {
    let identity = setup.identity(text)?;
    let mut drive = build_with(text, setup, tap)?;
    drive.identify(identity);
    Ok(drive)
}

macro_rules! managers {
    ($($manager:ty),+ $(,)?) => {
        /// Every registered block manager.
        pub const ENTRIES: &[Entry] = entries!(Manager: $($manager),+);

        fn build_with<T: Compiled>(text: &str, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
            let spec = Spec::parse("block manager", text)?;
            let (entry, params) = spec.resolve("block manager", ENTRIES)?;
            $(if entry.name == <$manager as Manager>::NAME {
                return <$manager as Manager>::build(&params, setup, tap);
            })+
            Err(Error::unknown("block manager", &spec.name, &[]))
        }

        /// The victim policy that the manager named by `text` uses if none is asked for.
        pub fn default_victims(text: &str) -> Result<String> {
            let spec = Spec::parse("block manager", text)?;
            let (entry, params) = spec.resolve("block manager", ENTRIES)?;
            $(if entry.name == <$manager as Manager>::NAME {
                return <$manager as Manager>::default_victims(&params);
            })+
            Err(Error::unknown("block manager", &spec.name, &[]))
        }
    };
}

managers! {
    placements::Single,
    placements::SepGc,
    hcwf::Hcwf,
    hcwf::HcwfSwap,
    placements::Dac,
    placements::Sfs,
    placements::MultiLog,
    placements::Eti,
    placements::Fadac,
    placements::Warcip,
    placements::SepBit,
    placements::Midas,
    placements::NvmeFdp,
    placements::Oracle,
    wolf::Wolf,
    wolf::WolfInterval,
    wolf::FdpFrequency,
}

#[cfg(test)]
mod tests;
