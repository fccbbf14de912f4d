//! Block managers: where each page goes, and when collection runs.
//!
//! Most published schemes are a placement ([`mod@crate::placements`]) on the [`generic`] manager. A
//! manager whose collection rule is special implements [`Manager`] itself, in a file here and a line
//! in `managers!`. What each can do is [`Declared`]; what cannot be is refused from that, in
//! [`check`], before anything is built.

mod build_with;
mod core;
mod declared;
mod generic;
mod hcwf;
mod served;
mod setup;
pub mod wolf;

use std::ops::Range;

pub use build_with::build_with;
pub use declared::{Declared, Needs, Only};
pub use setup::{CustomPolicies, Setup};

use crate::error::{Error, Result};
use crate::flash::{Array, Geometry, HostCounters, Observer, Pools, Silent, Tap};
use crate::hints::{Hears, Hints};
use crate::observe::Report;
use crate::params::Params;
use crate::registry::{Entry, Registry, dispatch, entries};
use crate::request::{Op, Request};
use crate::state::{Identity, State};
use crate::victims::{self, Boxed, Compiling, VICTIMS, Visitor};

/// Layout of streams and collection over the LUNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One pool of blocks, one write frontier a stream, drive-wide collection.
    Flat,
    /// A frontier a stream and LUN, pages striped over the LUNs that have room; a collection when
    /// none has, of a victim anywhere.
    Striped,
    /// Striped, but each LUN collects for itself as it runs out (paper 3, §3).
    StripedPerLun,
    /// Each logical page belongs to LUN `page mod luns`, which collects for itself: static
    /// allocation by channel, then chip, then die (`MQSim`'s CWDP).
    Static,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 4] =
        [Layout::Flat, Layout::Striped, Layout::StripedPerLun, Layout::Static];

    /// The layouts in which no collection spans LUNs, and a page may go to any.
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
            Layout::Static => "static",
        }
    }

    fn pools(self) -> Pools {
        match self {
            Layout::Flat => Pools::Drive,
            Layout::Striped | Layout::StripedPerLun | Layout::Static => Pools::PerLun,
        }
    }

    /// Parts of a drive of that shape that collect for themselves.
    fn domains(self, geometry: &Geometry) -> u32 {
        match self {
            Layout::Flat | Layout::Striped => 1,
            Layout::StripedPerLun | Layout::Static => geometry.luns(),
        }
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

    /// Collects one victim on an idle LUN, whose host can wait no shorter for it.
    /// True if there was one worth it, that is with an invalid page, and the manager has a choice
    /// of when it collects. Under drive-wide collection the victim may lie elsewhere.
    fn collect_idle(&mut self, lun: usize) -> Result<bool>;

    /// Lets the next stripe of each stream begin on the LUN with the shortest of `queues`, one of
    /// each LUN, and of equals on the next in turn. A stripe that is begun stays where it is.
    /// Nothing comes of it where pages do not go round the LUNs.
    fn steer(&mut self, queues: &[u32]);

    /// Fills up the program unit of `unit_pages` that is begun in the open block `block`.
    /// Then it can be programmed. False if the manager has no pages to spare for that now, or ever.
    fn pad(&mut self, block: u32, unit_pages: u32) -> bool;

    /// Collects a closed block that its data must leave; false if it cannot now, or ever.
    fn collect_closed(&mut self, block: u32) -> Result<bool>;

    /// Kind of hint that the host must give with each write.
    fn hears(&self) -> Hears;

    /// Report of the manager on itself.
    fn report(&self) -> Report<'_>;

    /// The flash array, to look at.
    fn flash(&self) -> &Array;

    /// Counters of the host, for requests that cover pages in part.
    fn host_mut(&mut self) -> &mut HostCounters;

    /// The observer that the drive was built with, if there is one.
    fn observer_mut(&mut self) -> Option<&mut dyn Observer>;

    /// Takes down what the drive was built from: its state is restored into no other.
    fn identify(&mut self, identity: Identity);

    /// See [`Array::assert_invariants`].
    fn assert_invariants(&self);
}

impl dyn BlockManager {
    /// Serves a whole request. `hints` are those of the pages that it writes.
    pub fn serve(&mut self, request: &Request, hints: Option<Hints>) -> Result<()> {
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
}

/// Taps that managers are compiled for, with victim policies in loops or behind a pointer.
/// If nobody listens, each victim policy that hears of pages has a loop of its own; else any of
/// them stands behind a pointer.
pub trait Compiled: Tap {
    /// Builds the policy that `text` names and hands it to `visitor`.
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

impl Compiled for Box<dyn Observer> {
    fn with_policy<W: Visitor>(text: &str, setup: &Setup, visitor: W) -> Result<W::Output> {
        match setup.custom_victims()? {
            Some(policy) => visitor.visit(Boxed::<true>::of(policy)),
            None => visitor.visit(victims::boxed_policy(text, &setup.geometry)?),
        }
    }
}

/// A registered manager: what it says of itself, and how it is built.
pub trait Manager {
    /// Entry of the registry.
    const ENTRY: Entry;

    /// Declares what it can do with such parameters, and what it needs.
    /// An error if they do not go together.
    fn declared(params: &Params) -> Result<Declared>;

    /// Builds it under a victim policy. The combination and the size of the drive are checked.
    fn build<T: Compiled>(
        params: &Params,
        victims: &str,
        setup: Setup,
        tap: T,
    ) -> Result<Box<dyn BlockManager>>;
}

/// Hands the placements and the managers with a collection of their own to a macro.
/// The macro is one of the registry.
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
pub static MANAGERS: Registry = Registry {
    name: "managers",
    noun: "block manager",
    plural: "block managers",
    entries: crate::placements!(managers! { entries! { Manager } }),
};

fn declared_by(params: &Params) -> Result<Declared> {
    crate::placements!(managers! {
        dispatch! { Manager, params, Found => <Found as Manager>::declared(params) }
    })
}

/// Declaration of the manager that `text` names.
pub fn declared(text: &str) -> Result<Declared> {
    declared_by(&MANAGERS.read(text)?)
}

/// Declaration of the manager that `text` names, if it serves a layout and a victim policy.
/// The policy is its own if none is given. An error is the sentence that says what is wrong.
pub fn serves(text: &str, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    check_served(&MANAGERS.read(text)?, victims, layout)
}

/// Refuses what the manager does not serve; `victims` is the victim policy that is asked for.
fn check_served(params: &Params, victims: Option<&str>, layout: Layout) -> Result<Declared> {
    let declared = check_shaped(params, victims.is_some())?;
    let victims = VICTIMS.read(victims.unwrap_or(&declared.default_victims))?;
    declared.check_served(params.entry().name, victims.entry().name, layout)?;
    Ok(declared)
}

/// Declaration of a manager; refuses a victim policy beside a parameter that shapes its own.
fn check_shaped(params: &Params, are_victims_asked: bool) -> Result<Declared> {
    let declared = declared_by(params)?;
    if let Some(shapes) = declared.shapes_victims
        && are_victims_asked
        && params.is_given(shapes)
    {
        let name = params.entry().name;
        let own = declared.default_victims.split(':').next().unwrap_or_default();
        return Err(Error::Spec(format!(
            "{name} takes its victims by {own} with its {shapes}, or by a victim policy that is \
             asked for; give one of the two"
        )));
    }
    Ok(declared)
}

/// Declaration of the manager that `text` names, if it can be built so.
/// An error is the sentence that says what is wrong. Nothing is built.
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
    declared.check_room(name, setup)?;
    Ok(declared)
}

/// Builds the manager that `text` names.
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
    let mut drive = build_compiled(text, setup, tap)?;
    drive.identify(identity);
    Ok(drive)
}

fn build_compiled<T: Compiled>(text: &str, setup: Setup, tap: T) -> Result<Box<dyn BlockManager>> {
    if let Some(source) = setup.custom.placement.clone() {
        let victims = setup.victims_of(&generic::custom_declared(&*source));
        return generic::build_custom(&*source, &victims, setup, tap);
    }
    let params = MANAGERS.read(text)?;
    let declared = check_params(&params, &setup)?;
    let victims = setup.victims_of(&declared);
    crate::placements!(managers! { dispatch! {
        Manager, params, Found => <Found as Manager>::build(&params, &victims, setup, tap)
    } })
}

/// The victim policy that the manager named by `text` uses if none is asked for.
pub fn default_victims(text: &str) -> Result<String> {
    Ok(declared(text)?.default_victims)
}

#[cfg(test)]
mod tests;
