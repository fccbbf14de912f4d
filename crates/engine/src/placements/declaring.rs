//! Declarations of placements: a registered placement declares its needs from its parameters,
//! and any other placement from an instance.

use super::{Placement, Sizes, Streams};
use crate::hints::RequiredHints;
use crate::params::Params;
use crate::registry::Registered;

/// Registered placement, which is declared by its parameters before it is built.
pub trait RegisteredPlacement: Placement + Registered<Sizes> {
    /// Default victim policy: the policy that the placement's authors use.
    const VICTIMS: &'static str = "greedy";

    /// Numbers of streams with these parameters.
    fn streams(params: &Params) -> Streams;

    /// Default victim policy with these parameters.
    fn victims(_params: &Params) -> &'static str {
        Self::VICTIMS
    }

    /// Kind of hint that the host must provide.
    fn required_hints(_params: &Params) -> RequiredHints {
        RequiredHints::Nothing
    }

    /// Number of placement handles; 0 if the placement has none.
    fn handles(_params: &Params) -> u8 {
        0
    }

    /// Bytes of a reclaim unit that the drive must have, or None if any size is possible.
    fn reclaim_unit_bytes(_params: &Params) -> Option<u64> {
        None
    }
}

/// Placement that declares itself once it is built, without a registry.
///
/// [`crate::managers::build_with`] builds drives with it.
pub trait SelfDeclared: Placement {
    /// Name in errors, with parameters. A saved state is restored only under the same name.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// Number of streams, from 1 to 256, which never changes.
    fn streams(&self) -> Streams;

    /// Kind of hint that the host must provide; requires [`Placement::USES_HOST_HINTS`].
    fn required_hints(&self) -> RequiredHints {
        RequiredHints::Nothing
    }
}
