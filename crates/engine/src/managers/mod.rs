//! Block managers: where each page goes, and when collection runs.
//!
//! Most published schemes are a placement ([`crate::placements`]) on the [`generic`] manager. A
//! manager whose collection rule is special implements [`Manager`] itself, in a file here and a line
//! in `managers!`. What each can do is [`Declared`]; what cannot be is refused from that, in
//! [`check`], before anything is built.

mod core;
mod declared;
mod generic;
mod hcwf;
pub mod wolf;

pub use declared::{Declared, Needs, Only};

use crate::error::{Error, Result};
use crate::flash::{Flash, Geometry, Observer, Pools, Wear};
use crate::hints::Hints;
use crate::leveling;
use crate::params::Params;
use crate::registry::{Entry, Kind, dispatch, entries};
use crate::rng::Stream;

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
    /// Every layout.
    pub const ALL: [Layout; 3] = [Layout::Flat, Layout::Striped, Layout::StripedPerLun];

    /// The layouts in which no collection spans LUNs.
    pub const WITHIN_LUNS: [Layout; 2] = [Layout::Flat, Layout::StripedPerLun];

    /// The layout of that name.
    pub fn named(name: &str) -> Result<Self> {
        let found = Layout::ALL.into_iter().find(|layout| layout.name() == name);
        found.ok_or_else(|| Error::unknown("layout", name, &Layout::ALL.map(Layout::name)))
    }

    /// Its name, as `--layout` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Flat => "flat",
            Layout::Striped => "striped",
            Layout::StripedPerLun => "striped-per-lun",
        }
    }

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
    /// Builds the flash array.
    fn flash(self) -> Result<Flash<O>> {
        let Setup { geometry, logical_pages, layout, wear, observer, .. } = self;
        Flash::with_observer(geometry, logical_pages, layout.pools(), wear, observer)
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

/// A registered manager: what it says of itself, and how it is built.
pub trait Manager {
    const ENTRY: Entry;

    /// What it can do with such parameters, and what it needs; an error if they do not go together.
    fn declared(params: &Params) -> Result<Declared>;

    /// Builds it under a victim policy. The combination and the size of the drive are checked.
    fn build<O: Observer + Send + 'static>(
        params: &Params,
        victims: &str,
        setup: Setup<O>,
    ) -> Result<Box<dyn BlockManager<O>>>;
}

/// Hands the placements and the managers with a collection of their own to a macro of the registry.
macro_rules! managers {
    ({$then:ident! $with:tt} $($module:ident::$placement:ident),+ $(,)?) => {
        $then! { $with
            $(crate::placements::$module::$placement,)+
            hcwf::Hcwf,
            hcwf::HcwfSwap,
            wolf::Wolf,
            wolf::WolfInterval,
            wolf::FdpFrequency,
        }
    };
}

/// Every registered block manager.
pub const ENTRIES: &[Entry] = crate::placements!(managers! { entries! { Manager } });

fn declared_by(params: &Params) -> Result<Declared> {
    crate::placements!(managers! {
        dispatch! { Manager, params, Found => <Found as Manager>::declared(params) }
    })
}

/// What the manager that `text` names declares.
pub fn declared(text: &str) -> Result<Declared> {
    declared_by(&Kind::Managers.read(text)?)
}

/// What the manager that `text` names declares, if it serves a layout under a victim policy, its own
/// if none is given; else the sentence that says what is wrong.
pub fn serves(text: &str, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    check_served(&Kind::Managers.read(text)?, victims, layout)
}

fn check_served(params: &Params, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    let (declared, name) = (declared_by(params)?, params.entry().name);
    if let Some(shapes) = declared.shapes_victims
        && victims.is_some()
        && params.is_given(shapes)
    {
        let own = declared.default_victims.split(':').next().unwrap_or_default();
        return Err(Error::Spec(format!(
            "{name} takes its victims by {own} with its {shapes}, or by a victim policy that is \
             asked for; give one of the two"
        )));
    }
    declared.check_served(name, victims.unwrap_or(&declared.default_victims), layout)?;
    Ok(declared)
}

/// What the manager that `text` names declares, if it can be built so; else the sentence that says
/// what is wrong. Nothing is built.
pub fn check<O>(text: &str, setup: &Setup<O>) -> Result<Declared> {
    check_params(&Kind::Managers.read(text)?, setup)
}

fn check_params<O>(params: &Params, setup: &Setup<O>) -> Result<Declared> {
    let declared = check_served(params, setup.victims.as_deref(), setup.layout)?;
    let leveler_blocks = leveling::reserve_blocks(setup.wear_leveling.as_deref())?;
    let Setup { geometry, layout, wear, logical_pages, .. } = setup;
    let name = params.entry().name;
    declared.check_size(name, geometry, (*layout, *wear), *logical_pages, leveler_blocks)?;
    Ok(declared)
}

/// Builds the manager that `text` names.
pub fn build<O: Observer + Send + 'static>(
    text: &str,
    setup: Setup<O>,
) -> Result<Box<dyn BlockManager<O>>> {
    let params = Kind::Managers.read(text)?;
    let declared = check_params(&params, &setup)?;
    let victims = setup.victims.clone().unwrap_or(declared.default_victims);
    crate::placements!(managers! {
        dispatch! { Manager, params, Found => <Found as Manager>::build(&params, &victims, setup) }
    })
}

/// The victim policy that the manager named by `text` uses if none is asked for.
pub fn default_victims(text: &str) -> Result<String> {
    Ok(declared(text)?.default_victims)
}
