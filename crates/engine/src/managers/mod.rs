//! Block managers: where each page goes, and when collection runs.
//!
//! Most published schemes are a placement ([`mod@crate::placements`]) on the [`generic`] manager. A
//! manager with its own rule for collection implements [`Manager`] itself, in a file here and a
//! line in `managers!`. [`Declared`] states what each manager supports; [`check`] uses it to reject
//! invalid combinations before building anything.

mod build_with;
mod core;
mod declared;
mod generic;
mod hcwf;
mod own_stream;
mod served;
mod setup;
mod two_region;
pub mod wolf;

use std::ops::Range;

pub use build_with::build_with;
pub use declared::{Declared, Needs, Only};
pub use own_stream::OwnPages;
pub use setup::{CustomPolicies, Setup};

use crate::error::{Error, Result};
use crate::flash::{Array, Geometry, HostCounters, Observed, Observer, Pools, Silent, Tags, Tap};
use crate::hints::{Hints, RequiredHints};
use crate::observe::Report;
use crate::params::Params;
use crate::registry::{Entry, Registry, dispatch, entries};
use crate::request::{Op, Request};
use crate::state::{Identity, State};
use crate::victims::{self, Boxed, Compiling, VICTIMS, Visitor};

/// Layout of streams and collection over the LUNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool of blocks, one write frontier per stream, drive-wide collection.
    Flat,
    /// One frontier per stream and LUN. Pages are striped over the LUNs with room; if none has
    /// room, a victim anywhere is collected.
    Striped,
    /// Pages are striped, but each LUN collects its own blocks when it has no room (paper 3, §3).
    StripedPerLun,
    /// Static: each logical page belongs to LUN `page mod luns`, which collects for itself.
    /// This is static allocation by channel, then chip, then die (`MQSim`'s CWDP).
    Static,
}

impl Layout {
    /// All layouts.
    pub const ALL: [Layout; 4] =
        [Layout::Flat, Layout::Striped, Layout::StripedPerLun, Layout::Static];

    /// Layouts in which pages may go to any LUN, and a collection stays within one LUN.
    pub const WITHIN_LUNS: [Layout; 2] = [Layout::Flat, Layout::StripedPerLun];

    /// Layout with this name.
    pub fn named(name: &str) -> Result<Self> {
        let layout = Layout::ALL.into_iter().find(|layout| layout.name() == name);
        layout.ok_or_else(|| Error::unknown("layout", name, &Layout::ALL.map(Layout::name)))
    }

    /// Name, as accepted by `--layout`.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Flat => "flat",
            Layout::Striped => "striped",
            Layout::StripedPerLun => "striped-per-lun",
            Layout::Static => "static",
        }
    }

    fn pools(self) -> Pools {
        match self {
            Layout::Flat => Pools::Drive,
            Layout::Striped | Layout::StripedPerLun | Layout::Static => Pools::PerLun,
        }
    }

    /// Number of collection domains: sets of blocks that collect on their own (the drive, or a
    /// LUN).
    fn domains(self, geometry: &Geometry) -> u32 {
        match self {
            Layout::Flat | Layout::Striped => 1,
            Layout::StripedPerLun | Layout::Static => geometry.luns(),
        }
    }
}

/// Drive that serves requests: a flash array with a block manager.
pub trait BlockManager: Send + State {
    /// Writes `pages` in order.
    /// After each call the counters are exact, even after an error. Splitting the same writes into
    /// other calls does not change the result. `hints` are the hints on these pages. Returns an
    /// error if the hints that [`Self::required_hints`] names are missing.
    fn write(&mut self, pages: &[u32], hints: Option<Hints>) -> Result<()>;

    /// Reads `pages`. Unmapped pages cost no flash operation.
    fn read(&mut self, pages: Range<u32>) -> Result<()>;

    /// Unmaps `pages` and forgets their history.
    fn trim(&mut self, pages: Range<u32>) -> Result<()>;

    /// Counts a flush of the host. Writes are never buffered here, so a flush has no other
    /// effect.
    fn flush(&mut self) -> Result<()>;

    /// Collects one victim on an idle LUN, before the host needs its space.
    /// Returns true if a victim with an invalid page was collected. Returns false if no such victim
    /// exists, or if the manager cannot choose when to collect. With drive-wide collection the
    /// victim may be on another LUN.
    fn collect_idle(&mut self, lun: usize) -> Result<bool>;

    /// Starts the next stripe of each stream on the LUN with the shortest of `queues`.
    /// `queues` has one length per LUN; of equally short queues, the next LUN in turn is used. A
    /// stripe that was started stays on its LUN. Does nothing if pages are not striped over the
    /// LUNs.
    fn steer(&mut self, queues: &[u32]);

    /// Pads the incomplete program unit of `unit_pages` pages in the open block `block`.
    /// The flash can then program the unit. Returns false if `block` is not open or is full, or if
    /// the manager has no spare pages for padding.
    fn pad(&mut self, block: u32, unit_pages: u32) -> bool;

    /// Collects a closed block whose data must move. Returns false if that is not possible now.
    fn collect_closed(&mut self, block: u32) -> Result<bool>;

    /// Kind of hint that the host must give with each write.
    fn required_hints(&self) -> RequiredHints;

    /// Report on the manager's internals.
    fn report(&self) -> Report<'_>;

    /// Flash array of the drive.
    fn flash(&self) -> &Array;

    /// Host counters, mutable, to subtract the bytes of pages that a request covers only in part.
    fn host_mut(&mut self) -> &mut HostCounters;

    /// Tags of the drive's data, if it counts by tag.
    fn tags_mut(&mut self) -> Option<&mut Tags>;

    /// Observer of flash operations that the drive was built with, if any.
    fn observer_mut(&mut self) -> Option<&mut dyn Observer>;

    /// Stores the identity of the drive. A saved state is restored only into a drive with the
    /// same identity.
    fn identify(&mut self, identity: Identity);

    /// Asserts the invariants; see [`Array::assert_invariants`].
    fn assert_invariants(&self);
}

impl dyn BlockManager {
    /// Serves a whole request. `hints` are the hints on the pages that it writes.
    pub fn serve(&mut self, request: &Request, hints: Option<Hints>) -> Result<()> {
        let partial_bytes = request.partial_bytes();
        match request.op {
            Op::Write => {
                self.write(&request.range().collect::<Vec<_>>(), hints)?;
                self.host_mut().written_bytes -= partial_bytes;
                self.host_mut().partial_pages += request.partial_pages();
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
}

/// Connections to observers ([`Tap`]) for which managers are compiled.
/// Without an observer, the manager is compiled separately for each victim policy that is notified
/// of invalid pages. In all other cases it calls the policy through a pointer, which is slower.
pub trait Compiled: Tap {
    /// Builds the victim policy of spec `text` and passes it to `visitor`.
    fn with_policy<W: Visitor>(text: &str, setup: &Setup, visitor: W) -> Result<W::Output>;
}

impl Compiled for Silent {
    fn with_policy<W: Visitor>(text: &str, setup: &Setup, visitor: W) -> Result<W::Output> {
        match setup.custom_victims()? {
            Some(policy) => visitor.visit(Boxed::<true>::of(policy)),
            None => victims::with_policy(text, &setup.geometry, Compiling(visitor)),
        }
    }
}

impl Compiled for Observed {
    fn with_policy<W: Visitor>(text: &str, setup: &Setup, visitor: W) -> Result<W::Output> {
        match setup.custom_victims()? {
            Some(policy) => visitor.visit(Boxed::<true>::of(policy)),
            None => visitor.visit(victims::boxed_policy(text, &setup.geometry)?),
        }
    }
}

/// Registered manager: its declaration and its constructor.
pub trait Manager {
    /// Registry entry of the manager.
    const ENTRY: Entry;

    /// Declares the supported layouts and victim policies, and the needs, for these parameters.
    /// Returns an error if the parameters contradict each other.
    fn declared(params: &Params) -> Result<Declared>;

    /// Builds the manager with a victim policy. The combination and the drive's size were
    /// checked.
    fn build<T: Compiled>(
        params: &Params,
        victims: &str,
        setup: Setup,
        tap: T,
    ) -> Result<Box<dyn BlockManager>>;
}

/// Lists all placements, and all managers with their own rule for collection, for the macro
/// `$then` that builds a registry.
macro_rules! managers {
    ({$then:ident! $with:tt} $($module:ident::$placement:ident),+ $(,)?) => {
        $then! { $with
            $(crate::placements::$module::$placement,)+
            hcwf::Hcwf,
            hcwf::HcwfSwap,
            two_region::TwoRegion,
            wolf::Wolf,
            wolf::WolfInterval,
            wolf::FdpFrequency,
        }
    };
}

/// Every registered block manager.
pub static MANAGERS: Registry = Registry {
    name: "managers",
    noun: "block manager",
    plural: "block managers",
    entries: crate::placements!(managers! { entries! { Manager } }),
    absent: &[],
};

fn declared_by(params: &Params) -> Result<Declared> {
    crate::placements!(managers! {
        dispatch! { Manager, params, Found => <Found as Manager>::declared(params) }
    })
}

/// Declaration of the manager of spec `text`.
pub fn declared(text: &str) -> Result<Declared> {
    declared_by(&MANAGERS.read(text)?)
}

/// Declaration of the manager of spec `text`, if it supports a layout and a victim policy.
/// Without `victims`, the manager's default policy is used. The error names the layout or policy
/// that is not supported.
pub fn serves(text: &str, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    check_served(&MANAGERS.read(text)?, victims, layout)
}

/// Checks that the manager supports the layout and the requested victim policy.
fn check_served(params: &Params, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    let declared = check_shaped(params, victims.is_some())?;
    let victims = VICTIMS.read(victims.unwrap_or(&declared.default_victims))?;
    declared.check_served(params.entry().name, victims.entry().name, layout)?;
    Ok(declared)
}

/// Declaration of a manager.
/// A parameter that changes its default victim policy excludes other policies.
fn check_shaped(params: &Params, are_victims_asked: bool) -> Result<Declared> {
    let declared = declared_by(params)?;
    if let Some(shapes) = declared.shapes_victims
        && are_victims_asked
        && params.is_given(shapes)
    {
        let name = params.entry().name;
        let own = declared.default_victims.split(':').next().unwrap_or_default();
        return Err(Error::Spec(format!(
            "{name}: {shapes}= belongs to its own victim policy, {own}; give {shapes}= or another \
             victim policy, not both"
        )));
    }
    Ok(declared)
}

/// Declaration of the manager of spec `text`, if it can be built with `setup`.
/// The error states the reason. Nothing is built.
pub fn check(text: &str, setup: &Setup) -> Result<Declared> {
    check_params(&MANAGERS.read(text)?, setup)
}

fn check_params(params: &Params, setup: &Setup) -> Result<Declared> {
    let name = params.entry().name;
    let declared = match &setup.custom.victims {
        None => check_served(params, setup.victims.as_deref(), setup.layout)?,
        Some(source) => {
            let declared = check_shaped(params, true)?;
            declared.check_served(name, source.name(), setup.layout)?;
            declared
        }
    };
    declared.check_handles(name, setup)?;
    declared.check_room(name, setup)?;
    Ok(declared)
}

/// Builds the manager of spec `text`.
///
/// ```
/// use writeamp_engine::flash::Geometry;
/// use writeamp_engine::managers::{self, Setup};
///
/// let setup = Setup::new(Geometry::flat(64, 32)?).victims("greedy");
/// let mut drive = managers::build("sepgc", setup)?;
/// drive.write(&[1, 2, 3], None)?;
/// assert_eq!(drive.flash().counters().host.written_pages, 3);
/// # Ok::<(), writeamp_engine::Error>(())
/// ```
pub fn build(text: &str, setup: Setup) -> Result<Box<dyn BlockManager>> {
    build_identified(text, setup, Silent)
}

/// Builds the manager of spec `text`; `observer` is called for every flash operation.
pub fn build_observed(
    text: &str,
    setup: Setup,
    observer: Box<dyn Observer>,
) -> Result<Box<dyn BlockManager>> {
    build_identified(text, setup, Observed::new(observer))
}

fn build_identified<T: Compiled>(
    text: &str,
    setup: Setup,
    tap: T,
) -> Result<Box<dyn BlockManager>> {
    let identity = setup.identity(text)?;
    let mut drive = build_compiled(text, setup, tap)?;
    drive.identify(identity);
    Ok(drive)
}

fn build_compiled<T: Compiled>(text: &str, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
    if let Some(source) = setup.custom.placement.clone() {
        if setup.custom.own_pages.is_some() {
            return Err(own_stream::unsupported(source.name(), "is a user's own"));
        }
        let victims = setup.victims_of(&generic::custom_declared(&*source));
        return generic::build_custom(&*source, &victims, setup, tap);
    }
    let params = MANAGERS.read(text)?;
    let declared = check_params(&params, &setup)?;
    if let Some(pages) = setup.custom.own_pages.clone() {
        let victims = setup.victims_of(&declared);
        let site = setup.clone();
        let placement = own_stream::OwnStream::new(text, pages, &setup)?;
        return T::with_policy(&victims, &site, generic::self_declared(placement, setup, tap)?);
    }
    let victims = setup.victims_of(&declared);
    crate::placements!(managers! { dispatch! {
        Manager, params, Found => <Found as Manager>::build(&params, &victims, setup, tap)
    } })
}

/// Default victim policy of the manager of spec `text`.
pub fn default_victims(text: &str) -> Result<String> {
    Ok(declared(text)?.default_victims)
}

#[cfg(test)]
mod tests;
