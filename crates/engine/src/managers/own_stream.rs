//! A stream of its own for some pages, beside the streams of a registered placement.
//!
//! All other pages are placed as without it, and the victim policy chooses among all blocks. If the
//! placement has one stream for host pages and migrated pages, the own stream is one, too. Otherwise
//! the migrated pages of the own stream have a second stream.

use std::sync::Arc;

use super::{Manager, Setup, declared};
use crate::error::{Error, Result};
use crate::flash::NONE;
use crate::hints::RequiredHints;
use crate::managers::MANAGERS;
use crate::params::Params;
use crate::placements::{
    Closed, HostPage, Placement, RegisteredPlacement, Restored, SelfDeclared, Sizes, Streams,
    Victim,
};
use crate::registry::{Registered, dispatch};
use crate::state::{Checksum, Reader, State, Writer};

/// For each logical page: true if it belongs to the own stream.
pub type OwnPages = Arc<[bool]>;

/// Lists all placements for the macro `$then`.
macro_rules! placements_only {
    ({$then:ident! $with:tt} $($module:ident::$placement:ident),+ $(,)?) => {
        $then! { $with $(crate::placements::$module::$placement,)+ }
    };
}

/// [`RegisteredPlacement`] as a trait object, without its constants.
trait Boxed: Send + State {
    fn host_stream(&mut self, page: HostPage) -> usize;
    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize;
    fn on_victim(&mut self, victim: &Victim);
    fn forget(&mut self, logical: u32);
    fn bytes(&self) -> u64;
    fn check(&self, drive: &Restored) -> Result<()>;
}

impl<P: RegisteredPlacement> Boxed for P {
    fn host_stream(&mut self, page: HostPage) -> usize {
        Placement::host_stream(self, page)
    }

    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        Placement::migration_stream(self, logical, victim)
    }

    fn on_victim(&mut self, victim: &Victim) {
        Placement::on_victim(self, victim);
    }

    fn forget(&mut self, logical: u32) {
        Placement::forget(self, logical);
    }

    fn bytes(&self) -> u64 {
        Placement::bytes(self)
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        Placement::check(self, drive)
    }
}

/// Placement with an own stream for some pages.
pub struct OwnStream {
    name: String,
    placement: Box<dyn Boxed>,
    pages: OwnPages,
    /// Streams of the placement; the own streams follow them.
    streams: Streams,
    required_hints: RequiredHints,
}

impl OwnStream {
    /// Builds the placement of spec `text` with an own stream for `pages`.
    /// Returns an error if no own stream can be beside the placement's streams.
    pub fn new(text: &str, pages: OwnPages, setup: &Setup) -> Result<Self> {
        check(text)?;
        let params = MANAGERS.read(text)?;
        let sizes = setup.sizes();
        crate::placements!(placements_only! { dispatch! {
            Registered<Sizes>, params, Found => OwnStream::of::<Found>(&params, pages, &sizes)
        } })
    }

    fn of<P: RegisteredPlacement>(params: &Params, pages: OwnPages, sizes: &Sizes) -> Result<Self> {
        let name = <P as Manager>::ENTRY.name;
        if P::USES_WRITE_HISTORY || P::CHOOSES_VICTIMS {
            let uses =
                if P::CHOOSES_VICTIMS { "chooses its own victims" } else { "groups all blocks" };
            return Err(unsupported(name, uses));
        }
        Ok(OwnStream {
            name: format!("{} with an own stream", params.canonical()),
            placement: Box::new(<P as Registered<Sizes>>::build(params, sizes)?),
            pages,
            streams: P::streams(params),
            required_hints: P::required_hints(params),
        })
    }

    /// True if host pages and migrated pages share the only stream of the placement.
    fn is_mixed(&self) -> bool {
        self.streams.all == 1
    }

    fn is_own(&self, logical: u32) -> bool {
        self.pages.get(logical as usize).is_some_and(|is_own| *is_own)
    }
}

/// Checks that the manager of spec `text` is a placement.
fn check(text: &str) -> Result<()> {
    if declared(text)?.is_placement {
        return Ok(());
    }
    Err(unsupported(MANAGERS.read(text)?.entry().name, "has its own rule of collection"))
}

/// Error for a manager beside which no own stream can be; `why` follows "because it".
pub fn unsupported(name: &str, why: &str) -> Error {
    Error::Spec(format!("{name} cannot have an own stream beside its streams, because it {why}"))
}

/// Text that identifies the pages of an own stream in a saved state.
pub fn identity(pages: &[bool]) -> String {
    let mut checksum = Checksum::default();
    checksum.add(pages.len(), pages.iter().map(|is_own| u8::from(*is_own)));
    format!("checksum {:08x}", checksum.value())
}

impl SelfDeclared for OwnStream {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn streams(&self) -> Streams {
        let Streams { all, migration } = self.streams;
        Streams { all: all + if self.is_mixed() { 1 } else { 2 }, migration: migration + 1 }
    }

    fn required_hints(&self) -> RequiredHints {
        self.required_hints
    }
}

impl Placement for OwnStream {
    const USES_HOST_HINTS: bool = true;
    const USES_PLACEMENT_HINTS: bool = true;
    const USES_VICTIM: bool = true;

    fn host_stream(&mut self, page: HostPage) -> usize {
        if self.is_own(page.logical) { self.streams.all } else { self.placement.host_stream(page) }
    }

    fn migration_stream(&mut self, logical: u32, victim: &Victim) -> usize {
        if !self.is_own(logical) {
            return self.placement.migration_stream(logical, victim);
        }
        self.streams.all + usize::from(!self.is_mixed())
    }

    fn on_victim(&mut self, victim: &Victim) {
        // A block of the own stream holds no page of the placement.
        if victim.stream < self.streams.all {
            self.placement.on_victim(victim);
        }
    }

    fn forget(&mut self, logical: u32) {
        if !self.is_own(logical) {
            self.placement.forget(logical);
        }
    }

    fn bytes(&self) -> u64 {
        // The host names the stream with each write, so the drive stores no table of the pages.
        self.placement.bytes()
    }

    fn check(&self, drive: &Restored) -> Result<()> {
        // The placement has placed neither the pages nor the blocks of the own stream.
        let others = |(logical, page)| if self.is_own(logical) { NONE } else { page };
        let map: Vec<u32> = (0..).zip(drive.map.iter().copied()).map(others).collect();
        let is_other = |closed: &&Closed| closed.stream < self.streams.all;
        let closed: Vec<Closed> = drive.closed.iter().filter(is_other).copied().collect();
        self.placement.check(&Restored { now: drive.now, map: &map, closed: &closed })
    }
}

impl State for OwnStream {
    fn save(&self, to: &mut Writer) {
        self.placement.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.placement.restore(from)
    }
}
