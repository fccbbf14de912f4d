//! Block managers: where each page goes, and when collection runs.
//!
//! Most published schemes are a [`Placement`] on the [`generic`] manager: one small file and its
//! line in `managers!`. A manager whose collection rule is special implements [`Manager`] itself.

mod core;
mod generic;
mod hcwf;
pub mod wolf;

use crate::error::{Error, Result};
use crate::flash::{Flash, Geometry, Observer, Pools, Wear};
use crate::hints::Hints;
use crate::placements;
use crate::rng::Stream;
use crate::spec::{Entry, Param, Params, Spec, entries};

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
pub struct Setup<O> {
    pub geometry: Geometry,
    pub logical_pages: u32,
    pub layout: Layout,
    /// The spec of the victim policy, or `None` for the manager's own.
    pub victims: Option<String>,
    /// The spec of the wear leveller, if there is one.
    pub wear_leveling: Option<String>,
    pub seed: u64,
    pub wear: Wear,
    pub observer: O,
}

impl<O: Observer> Setup<O> {
    /// Builds the flash array; refuses a drive too small for `open_streams` frontiers on each pool
    /// beside the one being written, and `reserve_blocks` kept free on each.
    fn flash(self, what: &str, open_streams: u32, reserve_blocks: u32) -> Result<Flash<O>> {
        let Setup { geometry, logical_pages, layout, wear, observer, .. } = self;
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
        Flash::with_observer(geometry, logical_pages, layout.pools(), wear, observer)
    }

    /// The spec of the victim policy of a manager built with `params`.
    fn victims<M: Manager>(&self, params: &Params) -> Result<String> {
        self.victims.clone().map_or_else(|| M::default_victims(params), Ok)
    }

    fn random(&self, name: &str) -> Stream {
        Stream::new(self.seed, name)
    }
}

/// A drive that can be driven: a flash array under a policy.
pub trait BlockManager<O: Observer>: Send {
    /// Writes `pages` in order. The counters are exact between calls, and the outcome does not
    /// depend on how a run of writes is cut into calls. `hints` are those of these pages.
    fn write(&mut self, pages: &[u32], hints: Option<Hints>) -> Result<()>;

    /// True if `write` is an error without the groups of the hints.
    fn needs_hints(&self) -> bool {
        false
    }

    /// True if `write` is an error without [`Hints::invalidation_times`].
    fn needs_invalidation_times(&self) -> bool {
        false
    }

    /// Bytes of the tables that the manager's scheme keeps beside the map and the victim policy.
    fn scheme_bytes(&self) -> u64 {
        0
    }

    /// Unmaps `pages`.
    fn trim(&mut self, pages: &[u32]) -> Result<()>;

    fn flash(&self) -> &Flash<O>;

    fn flash_mut(&mut self) -> &mut Flash<O>;

    /// What became of the groups of pages that the manager keeps, as far as it remembers.
    fn events(&self) -> &[wolf::Event] {
        &[]
    }

    /// See [`Flash::assert_invariants`].
    fn assert_invariants(&self);
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

    fn build<O: Observer + Send + 'static>(
        params: &Params,
        setup: Setup<O>,
    ) -> Result<Box<dyn BlockManager<O>>>;
}

macro_rules! managers {
    ($($manager:ty),+ $(,)?) => {
        /// Every registered block manager.
        pub const ENTRIES: &[Entry] = entries!(Manager: $($manager),+);

        /// Builds the manager that `text` names.
        pub fn build<O: Observer + Send + 'static>(
            text: &str,
            setup: Setup<O>,
        ) -> Result<Box<dyn BlockManager<O>>> {
            let spec = Spec::parse("block manager", text)?;
            let (entry, params) = spec.resolve("block manager", ENTRIES)?;
            $(if entry.name == <$manager as Manager>::NAME {
                return <$manager as Manager>::build(&params, setup);
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
