//! Victim policy given by an instance, or by the spec of a registered one.

use super::{Compiling, VICTIMS, VictimPolicy, Visitor, with_policy};
use crate::error::Result;
use crate::flash::Geometry;

/// Victim policy for [`crate::managers::build_with`]: an instance or a spec.
pub trait IntoVictims {
    /// Name with parameters.
    /// For an instance, it is the name of the type. A saved state is restored only under the same
    /// name.
    fn name(&self) -> Result<String>;

    /// Builds the policy for a drive of this geometry and passes it to `visitor`.
    fn visited_by<W: Visitor>(self, visitor: W, geometry: &Geometry) -> Result<W::Output>;
}

impl<V: VictimPolicy> IntoVictims for V {
    fn name(&self) -> Result<String> {
        Ok(std::any::type_name::<V>().to_owned())
    }

    fn visited_by<W: Visitor>(self, visitor: W, _geometry: &Geometry) -> Result<W::Output> {
        visitor.visit(self)
    }
}

impl IntoVictims for &str {
    fn name(&self) -> Result<String> {
        Ok(VICTIMS.read(self)?.canonical())
    }

    fn visited_by<W: Visitor>(self, visitor: W, geometry: &Geometry) -> Result<W::Output> {
        with_policy(self, geometry, Compiling(visitor))
    }
}
