//! Sources of `writeamp.custom`: Python objects that each make a policy for a drive.

use std::fmt;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::Result;
use writeamp_engine::flash::Geometry;
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::placements::Sizes;
use writeamp_engine::placements::{PlacementCalls, PlacementSource};
use writeamp_engine::victims::{VictimCalls, VictimSource};

use super::compiled::Compiled;
use super::interpreted::Interpreted;
use super::victims::Chooser;
use super::{SavedObject, facts, unusable};

/// Returns the placement source of a Python source.
pub fn placement(source: &Bound<'_, PyAny>) -> PyResult<Arc<dyn PlacementSource>> {
    let required_hints: String = source.getattr("required_hints")?.extract()?;
    let all = [RequiredHints::Nothing, RequiredHints::Groups, RequiredHints::InvalidationTimes];
    let required_hints = all
        .into_iter()
        .find(|hints| hints.name() == required_hints)
        .unwrap_or(RequiredHints::Nothing);
    let victims = source.getattr("victims")?.extract()?;
    Ok(Arc::new(Source { made: Made::of(source)?, victims, required_hints }))
}

/// Returns the victim source of a Python source.
pub fn victims(source: &Bound<'_, PyAny>) -> PyResult<Arc<dyn VictimSource>> {
    Ok(Arc::new(Made::of(source)?))
}

/// A source and its name.
struct Made {
    name: String,
    source: Py<PyAny>,
}

impl Made {
    fn of(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Made { name: source.getattr("name")?.extract()?, source: source.clone().unbind() })
    }

    /// Makes the policy for a drive with these properties.
    fn make<T>(
        &self,
        drive: &[(&str, u64)],
        of: impl Fn(SavedObject, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| {
            let make = |drive: Bound<'_, PyDict>| {
                let instance = self.source.bind(py).call_method("build", (), Some(&drive))?;
                let object =
                    SavedObject { name: self.name.clone(), instance: instance.clone().unbind() };
                of(object, &instance)
            };
            let policy = facts(py, drive).and_then(make);
            policy.map_err(|error| unusable(py, &self.name, "__init__", error))
        })
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[derive(Debug)]
struct Source {
    made: Made,
    victims: String,
    required_hints: RequiredHints,
}

impl PlacementSource for Source {
    fn name(&self) -> &str {
        &self.made.name
    }

    fn victims(&self) -> &str {
        &self.victims
    }

    fn required_hints(&self) -> RequiredHints {
        self.required_hints
    }

    fn build(&self, sizes: &Sizes) -> Result<Box<dyn PlacementCalls>> {
        let drive = [
            ("logical_pages", sizes.logical_pages.into()),
            ("blocks", sizes.blocks.into()),
            ("pages_per_block", sizes.pages_per_block.into()),
            ("seed", sizes.seed),
        ];
        let required_hints = self.required_hints;
        self.made.make(&drive, |object, instance| {
            if instance.getattr("functions")?.is_none() {
                let calls = Interpreted::new(object, instance, required_hints)?;
                return Ok(Box::new(calls) as Box<dyn PlacementCalls>);
            }
            Ok(Box::new(Compiled::new(object, instance, required_hints)?)
                as Box<dyn PlacementCalls>)
        })
    }
}

impl VictimSource for Made {
    fn name(&self) -> &str {
        &self.name
    }

    fn build(
        &self,
        geometry: &Geometry,
        logical_pages: u32,
        seed: u64,
    ) -> Result<Box<dyn VictimCalls>> {
        let drive = [
            ("logical_pages", logical_pages.into()),
            ("blocks", geometry.blocks().into()),
            ("pages_per_block", geometry.pages_per_block().into()),
            ("seed", seed),
        ];
        self.make(&drive, |object, instance| {
            Ok(Box::new(Chooser::new(object, instance)?) as Box<dyn VictimCalls>)
        })
    }
}
