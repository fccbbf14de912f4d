//! Registries: entries and their declarations.

use std::ops::Bound::{self as Edge, Excluded, Included, Unbounded};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::catalogue;
use writeamp_engine::leveling::{self, WEAR_LEVELERS};
use writeamp_engine::managers::{self, Declared, Layout, MANAGERS, Needs};
use writeamp_engine::params::{Domain, Param};
use writeamp_engine::registry::{Entry, Pairs, Registry};

use crate::raised::raised;

/// Lists the registered entries of one kind, one dictionary each.
///
/// Block managers and wear levellers also have the declaration of their example.
#[pyfunction]
pub fn entries<'py>(py: Python<'py>, kind: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let registry = catalogue::named(kind).map_err(|e| raised(&e))?;
    registry.entries.iter().map(|entry| entry_dict(py, registry, entry)).collect()
}

/// Name of the registry with an entry of that name.
#[pyfunction]
pub fn kind_of(name: &str) -> PyResult<&'static str> {
    catalogue::of(name).map(|registry| registry.name).map_err(|e| raised(&e))
}

/// Returns the declaration of the manager that a spec names.
///
/// If `layout` is given, raises an error unless the manager supports that layout with the victim
/// policy.
#[pyfunction]
#[pyo3(signature = (manager, *, victims=None, layout=None))]
pub fn declared<'py>(
    py: Python<'py>,
    manager: &str,
    victims: Option<&str>,
    layout: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let declared = match layout {
        None => managers::declared(manager),
        Some(layout) => {
            Layout::named(layout).and_then(|layout| managers::serves(manager, victims, layout))
        }
    };
    declared_dict(py, &declared.map_err(|e| raised(&e))?)
}

/// Default victim policy of a manager.
#[pyfunction]
pub fn default_victims(manager: &str) -> PyResult<String> {
    managers::default_victims(manager).map_err(|e| raised(&e))
}

/// Lists the pairs of block manager and victim policy that `writeamp twin fit` may try.
///
/// Each tuple has specs of block managers, specs of victim policies, and a flag that is true for
/// usual candidates.
///
/// Every manager of a tuple is combined with every victim policy.
#[pyfunction]
pub fn candidates() -> Vec<(&'static [&'static str], &'static [&'static str], bool)> {
    let tuple = |pairs: &Pairs| (pairs.managers, pairs.victims, pairs.are_usual);
    catalogue::candidates().map(tuple).collect()
}

fn entry_dict<'py>(
    py: Python<'py>,
    registry: &Registry,
    entry: &Entry,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = if *registry == MANAGERS {
        let declared = managers::declared(entry.example).map_err(|e| raised(&e))?;
        declared_dict(py, &declared)?
    } else {
        PyDict::new(py)
    };
    if *registry == WEAR_LEVELERS {
        let declared = leveling::declared(entry.example).map_err(|e| raised(&e))?;
        dict.set_item("reserve_blocks", declared.reserve_blocks)?;
        dict.set_item("moves_pages", declared.moves_pages)?;
    }
    let own = entry.params.iter().map(|param| param_dict(py, param, false));
    let params = own.chain(entry.common.iter().map(|param| param_dict(py, param, true)));
    dict.set_item("name", entry.name)?;
    dict.set_item("summary", entry.summary)?;
    dict.set_item("example", entry.example)?;
    dict.set_item("small", entry.small)?;
    dict.set_item("variants", entry.variants)?;
    dict.set_item("params", params.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

fn param_dict<'py>(
    py: Python<'py>,
    param: &Param,
    is_common: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", param.name)?;
    dict.set_item("aliases", param.aliases)?;
    dict.set_item("default", param.default.unwrap_or_default())?;
    dict.set_item("help", param.help)?;
    dict.set_item("domain", param.domain.to_string())?;
    dict.set_item("values", domain_dict(py, &param.domain)?)?;
    dict.set_item("common", is_common)?;
    dict.set_item("later", param.is_later)?;
    Ok(dict)
}

/// Returns the dictionary of a domain.
///
/// Its `kind` is `whole`, `number`, `word`, `bytes`, `spec`, `list` or `either`.
fn domain_dict<'py>(py: Python<'py>, domain: &Domain) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    match domain {
        Domain::Whole(least, most) => {
            dict.set_item("kind", "whole")?;
            dict.set_item("least", least)?;
            dict.set_item("most", most)?;
        }
        Domain::Number(least, most) => {
            dict.set_item("kind", "number")?;
            for (name, included, bound) in
                [("least", "includes_least", least), ("most", "includes_most", most)]
            {
                let (value, is_included) = bound_of(*bound);
                dict.set_item(name, value)?;
                dict.set_item(included, is_included)?;
            }
        }
        Domain::Word(words) => {
            dict.set_item("kind", "word")?;
            dict.set_item("words", *words)?;
        }
        Domain::Bytes(least, most) => {
            dict.set_item("kind", "bytes")?;
            dict.set_item("least", least)?;
            dict.set_item("most", most)?;
        }
        Domain::Spec(specs) => {
            dict.set_item("kind", "spec")?;
            dict.set_item("registry", specs().name())?;
        }
        Domain::List(of) => {
            dict.set_item("kind", "list")?;
            dict.set_item("of", domain_dict(py, of)?)?;
        }
        Domain::Either(left, right) => {
            dict.set_item("kind", "either")?;
            dict.set_item("of", [domain_dict(py, left)?, domain_dict(py, right)?])?;
        }
    }
    Ok(dict)
}

/// Bound of an interval (None if it has none), and whether the interval includes it.
fn bound_of(bound: Edge<f64>) -> (Option<f64>, bool) {
    match bound {
        Included(value) => (Some(value), true),
        Excluded(value) => (Some(value), false),
        Unbounded => (None, false),
    }
}

fn declared_dict<'py>(py: Python<'py>, declared: &Declared) -> PyResult<Bound<'py, PyDict>> {
    let Needs { fewest_streams, most_streams, reserve_blocks } = declared.needs;
    let needs = PyDict::new(py);
    needs.set_item("fewest_streams", fewest_streams)?;
    needs.set_item("most_streams", most_streams)?;
    needs.set_item("reserve_blocks", reserve_blocks)?;
    let dict = PyDict::new(py);
    let layouts: Vec<&str> = declared.layouts().iter().map(|layout| layout.name()).collect();
    dict.set_item("layouts", layouts)?;
    dict.set_item("victims", declared.victims())?;
    dict.set_item("default_victims", &declared.default_victims)?;
    dict.set_item("required_hints", declared.required_hints.name())?;
    dict.set_item("handles", declared.handles)?;
    dict.set_item("reclaim_unit_bytes", declared.reclaim_unit_bytes)?;
    dict.set_item("needs", needs)?;
    dict.set_item("is_placement", declared.is_placement)?;
    Ok(dict)
}
