//! Choices of a victim policy: an instance of one, or the spec of a registered one.

use super::{Compiling, VICTIMS, VictimPolicy, Visitor, with_policy};
use crate::error::Result;
use crate::flash::Geometry;

/// A victim policy that [`crate::managers::build_with`] takes: an instance, or a spec.
pub trait IntoVictims {
    /// Its name, with its parameters: a state is of no other. That of an instance is its type's.
    fn name(&self) -> Result<String>;

    /// Hands the policy for a drive of that shape to `visitor`.
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
