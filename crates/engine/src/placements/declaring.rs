//! Declarations of placements: by the parameters of a registered one, or by an instance.

use super::{Placement, Sizes, Streams};
use crate::hints::Hears;
use crate::params::Params;
use crate::registry::Registered;

/// A placement of the registry, which declares itself by its parameters before it is built.
pub trait RegisteredPlacement: Placement + Registered<Sizes> {
    /// The victim policy that its authors pair it with, unless another is asked for.
    const VICTIMS: &'static str = "greedy";

    /// Number of streams with such parameters.
    fn streams(params: &Params) -> Streams;

    /// The victim policy that goes with such parameters.
    fn victims(_params: &Params) -> &'static str {
        Self::VICTIMS
    }

    /// Hints that the host must give it.
    fn hears(_params: &Params) -> Hears {
        Hears::Nothing
    }
}

/// A placement that declares itself once it is made, and so needs no registry.
///
/// [`crate::managers::build_with`] builds drives with it.
pub trait SelfDeclared: Placement {
    /// Its name in errors, with its parameters: a state is of no other.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }

    /// Number of streams, which never changes: at least 1, at most 256.
    fn streams(&self) -> Streams;

    /// Hints that the host must give it; if any, asks for [`Placement::HEARS_HOST`].
    fn hears(&self) -> Hears {
        Hears::Nothing
    }
}
