//! The registries, and the grammar of the specs that name their entries.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::spec::{self, Entry, Spec, split};
use writeamp_engine::{Error, Result, detectors, leveling, managers, victims, workloads};

use crate::raised;

/// One registry of the engine.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// What an entry is called in errors.
    what: &'static str,
    entries: &'static [Entry],
    /// The registry that names the specs within its specs.
    nests: Option<&'static str>,
}

const KINDS: [Kind; 5] = [
    Kind { name: "wear_levelers", what: "wear leveller", entries: leveling::ENTRIES, nests: None },
    Kind { name: "victims", what: "victim policy", entries: victims::ENTRIES, nests: None },
    Kind { name: "detectors", what: "detector", entries: detectors::ENTRIES, nests: None },
    Kind {
        name: "managers",
        what: "block manager",
        entries: managers::ENTRIES,
        nests: Some("detectors"),
    },
    Kind {
        name: "workloads",
        what: "workload",
        entries: workloads::ENTRIES,
        nests: Some("workloads"),
    },
];

fn kind(name: &str) -> Result<Kind> {
    let found = KINDS.into_iter().find(|kind| kind.name == name);
    found.ok_or_else(|| Error::unknown("registry", name, &KINDS.map(|kind| kind.name)))
}

/// A spec whose every parameter has its value, written in one form whatever the spelling.
struct Filled {
    name: &'static str,
    /// In the order of their declaration: name, value, and whether the spec gives it.
    params: Vec<(&'static str, String, bool)>,
}

impl Filled {
    fn of(kind: Kind, text: &str) -> Result<Self> {
        let spec = Spec::parse(kind.what, text)?;
        let (entry, params) = spec.resolve(kind.what, kind.entries)?;
        let filled = entry.params.iter().map(|param| {
            let value = canonical_value(kind, &params.text(param.name)?)?;
            Ok((param.name, value, params.is_given(param.name)))
        });
        Ok(Filled { name: entry.name, params: filled.collect::<Result<_>>()? })
    }

    /// The spec with every parameter, in parentheses.
    fn nested(&self) -> String {
        if self.params.is_empty() {
            return self.name.to_owned();
        }
        let params: Vec<String> =
            self.params.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
        format!("{}({})", self.name, params.join(","))
    }

    /// The spec with the parameters that it gives.
    fn text(&self) -> String {
        let given = self.params.iter().filter(|(_, _, given)| *given);
        let params: Vec<String> = given.map(|(name, value, _)| format!("{name}={value}")).collect();
        if params.is_empty() {
            return self.name.to_owned();
        }
        format!("{}:{}", self.name, params.join(","))
    }
}

/// A value in one form: numbers as short as they can be written exactly, nested specs filled.
fn canonical_value(kind: Kind, text: &str) -> Result<String> {
    let Some(items) = split(text, '/') else { return Ok(text.to_owned()) };
    let items: Result<Vec<String>> =
        items.into_iter().map(|item| canonical_item(kind, item.trim())).collect();
    Ok(items?.join("/"))
}

fn canonical_item(outer: Kind, item: &str) -> Result<String> {
    if let Ok(whole) = item.parse::<u64>() {
        return Ok(whole.to_string());
    }
    // "inf" and "nan" are words here.
    if item.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && let Some(number) = item.parse::<f64>().ok().filter(|number| number.is_finite())
    {
        return Ok(number.to_string());
    }
    let Some(inner) = outer.nests else { return Ok(item.to_owned()) };
    let inner = kind(inner)?;
    let name = item.split([':', '(']).next().unwrap_or_default().trim();
    if name != item || inner.entries.iter().any(|entry| entry.name == name) {
        return Ok(Filled::of(inner, item)?.nested());
    }
    Ok(item.to_owned())
}

/// Reads a spec: `name`; `params`, every parameter with its value as text, nested specs and numbers
/// in one form; `given`, the names of those that the text gives; and `text`, the spec in one form.
#[pyfunction]
#[pyo3(name = "parse")]
pub fn parse<'py>(py: Python<'py>, kind_name: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let filled = kind(kind_name).and_then(|kind| Filled::of(kind, text)).map_err(|e| raised(&e))?;
    let params = PyDict::new(py);
    for (name, value, _) in &filled.params {
        params.set_item(name, value)?;
    }
    let given: Vec<&str> =
        filled.params.iter().filter(|(.., given)| *given).map(|(name, ..)| *name).collect();
    let dict = PyDict::new(py);
    dict.set_item("name", filled.name)?;
    dict.set_item("params", params)?;
    dict.set_item("given", given)?;
    dict.set_item("text", filled.text())?;
    Ok(dict)
}

/// Splits a list of specs of one kind at the commas between them.
#[pyfunction]
pub fn split_specs(kind_name: &str, text: &str) -> PyResult<Vec<String>> {
    kind(kind_name).and_then(|kind| spec::split_specs(kind.what, text)).map_err(|e| raised(&e))
}

/// The registered entries of one kind, a dictionary each.
#[pyfunction]
pub fn entries<'py>(py: Python<'py>, kind_name: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let registry = kind(kind_name).map_err(|e| raised(&e))?;
    registry
        .entries
        .iter()
        .map(|entry| {
            let params = entry
                .params
                .iter()
                .map(|param| {
                    let dict = PyDict::new(py);
                    dict.set_item("name", param.name)?;
                    dict.set_item("default", param.default)?;
                    dict.set_item("help", param.help)?;
                    Ok(dict)
                })
                .collect::<PyResult<Vec<_>>>()?;
            let dict = PyDict::new(py);
            dict.set_item("name", entry.name)?;
            dict.set_item("summary", entry.summary)?;
            dict.set_item("example", entry.example)?;
            dict.set_item("params", params)?;
            Ok(dict)
        })
        .collect()
}
