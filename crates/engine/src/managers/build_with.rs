//! Drives with block managers built from a Rust user's own policies.

use super::{BlockManager, CustomPolicies, Setup, generic};
use crate::error::{Error, Result};
use crate::flash::Silent;
use crate::placements::SelfDeclared;
use crate::victims::IntoVictims;

/// Builds the manager of a user's own placement.
///
/// The victim policy is also a user's own, or the one that a spec names. Both policies are compiled
/// into the manager, like the policies of the registry. This function checks that the drive has the
/// space that the placement needs. The placement itself must ensure that its streams are within the
/// declared number, and that its victims are closed blocks.
///
/// ```
/// use writeamp_engine::Result;
/// use writeamp_engine::flash::Geometry;
/// use writeamp_engine::managers::{self, Setup};
/// use writeamp_engine::placements::{HostPage, Placement, SelfDeclared, Streams, Victim};
/// use writeamp_engine::state::{Reader, State, Writer};
///
/// /// Odd pages apart from even ones.
/// struct Parity;
///
/// impl State for Parity {
///     fn save(&self, _to: &mut Writer) {}
///
///     fn restore(&mut self, _from: &mut Reader) -> Result<()> {
///         Ok(())
///     }
/// }
///
/// impl Placement for Parity {
///     fn host_stream(&mut self, page: HostPage) -> usize {
///         page.logical as usize % 2
///     }
///
///     fn migration_stream(&mut self, logical: u32, _victim: &Victim) -> usize {
///         logical as usize % 2
///     }
/// }
///
/// impl SelfDeclared for Parity {
///     fn streams(&self) -> Streams {
///         Streams { all: 2, migration: 2 }
///     }
/// }
///
/// let setup = Setup::new(Geometry::flat(64, 32)?);
/// let mut drive = managers::build_with(Parity, "greedy", setup)?;
/// drive.write(&[1, 2, 3], None)?;
/// assert_eq!(drive.flash().counters().host.written_pages, 3);
/// # Ok::<(), writeamp_engine::Error>(())
/// ```
pub fn build_with(
    placement: impl SelfDeclared,
    victims: impl IntoVictims,
    setup: Setup,
) -> Result<Box<dyn BlockManager>> {
    let CustomPolicies { placement: other, victims: others, own_pages } = &setup.custom;
    let is_custom = other.is_some() || others.is_some() || own_pages.is_some();
    if is_custom || setup.victims.is_some() {
        return Err(Error::Spec(
            "build_with takes its policies as arguments; do not set victims or custom in the setup"
                .into(),
        ));
    }
    let identity = setup.identity_of(placement.name(), victims.name()?)?;
    let geometry = setup.geometry;
    let manager = generic::self_declared(placement, setup, Silent)?;
    let mut drive = victims.visited_by(manager, &geometry)?;
    drive.identify(identity);
    Ok(drive)
}
