//! Registries, and the grammar of specs.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::params::Params;
use writeamp_engine::workloads::WORKLOADS;
use writeamp_engine::{catalogue, spec};

use crate::raised::raised;

/// Parses a spec.
///
/// Returns its `name`; `params`, every parameter with its canonical value as text; `given`, the
/// names of the parameters in the text; and `text`, the canonical spec.
#[pyfunction]
#[pyo3(name = "parse")]
pub fn parse<'py>(py: Python<'py>, kind_name: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let read = catalogue::named(kind_name)
        .and_then(|registry| registry.read(text))
        .map_err(|e| raised(&e))?;
    let params = PyDict::new(py);
    for (name, value) in read.canonical_values() {
        params.set_item(name, value)?;
    }
    let names = read.canonical_values().map(|(name, _)| name);
    let explicit: Vec<&str> = names.filter(|name| read.is_given(name)).collect();
    let dict = PyDict::new(py);
    dict.set_item("name", read.entry().name)?;
    dict.set_item("params", params)?;
    dict.set_item("given", explicit)?;
    dict.set_item("text", text_of(&read))?;
    dict.set_item("stated", read.stated(text))?;
    Ok(dict)
}

/// Splits the parameters of an unregistered spec into texts.
///
/// Errors mention `name`.
#[pyfunction]
pub fn split_parameters(name: &str, params: &str) -> PyResult<BTreeMap<String, String>> {
    let short = name.rsplit(':').next().unwrap_or(name);
    let what = format!("parameters of {name} in");
    let read = spec::Spec::parse(&what, &format!("{short}{params}")).map_err(|e| raised(&e))?;
    Ok(read.parameters.into_iter().collect())
}

/// Canonical spec that keeps only the parameters that the text sets.
fn text_of(read: &Params) -> String {
    let explicit = read.canonical_values().filter(|(name, _)| read.is_given(name));
    let params: Vec<String> = explicit.map(|(name, value)| format!("{name}={value}")).collect();
    if params.is_empty() {
        return read.entry().name.to_owned();
    }
    format!("{}:{}", read.entry().name, params.join(","))
}

/// Scales the spec of a workload to a drive with `factor` times fewer pages.
///
/// Its erase units have `unit_factor` times fewer pages.
#[pyfunction]
#[pyo3(signature = (text, factor, unit_factor = 1.0))]
pub fn scaled_workload(text: &str, factor: f64, unit_factor: f64) -> PyResult<String> {
    let scaled = WORKLOADS.read(text).and_then(|read| read.scaled_with(factor, unit_factor));
    scaled.map_err(|e| raised(&e))
}

/// Scales the spec of a policy to a drive with `factor` times fewer pages.
///
/// Its erase units have `unit_factor` times fewer pages. Returns the spec, and a sentence for each
/// parameter that cannot be scaled.
#[pyfunction]
#[pyo3(signature = (kind_name, text, factor, unit_factor = 1.0))]
pub fn scaled_policy(
    kind_name: &str,
    text: &str,
    factor: f64,
    unit_factor: f64,
) -> PyResult<(String, Vec<String>)> {
    let read = catalogue::named(kind_name)
        .and_then(|registry| registry.read(text))
        .map_err(|e| raised(&e))?;
    let scaled = read.scaled_with(factor, unit_factor).map_err(|e| raised(&e))?;
    Ok((scaled, read.not_scaled(factor)))
}

/// Splits a list of specs of one kind at the commas between them.
#[pyfunction]
pub fn split_specs(kind_name: &str, text: &str) -> PyResult<Vec<String>> {
    catalogue::named(kind_name)
        .and_then(|registry| spec::split_specs(registry.noun, text))
        .map_err(|e| raised(&e))
}
