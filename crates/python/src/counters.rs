//! Counters of a drive for Python.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::flash::{Cause, Counters, TagCounters};
use writeamp_engine::hints::{OF_DRIVE, UNTAGGED};

/// Returns the counters by name, and those by tag under the names of [`tag_columns`].
pub fn counters_dict<'py>(
    py: Python<'py>,
    counters: &Counters,
    by_tag: Option<(&TagCounters, &[Cause])>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for cause in Cause::ALL {
        dict.set_item(cause.name(), counters.programs(cause))?;
    }
    for (name, value) in COLUMNS {
        dict.set_item(name, value(counters))?;
    }
    if let Some((by_tag, causes)) = by_tag {
        for (name, count) in tag_columns(by_tag, causes).zip(by_tag.row(causes)) {
            dict.set_item(name, count)?;
        }
    }
    Ok(dict)
}

/// Adds a column for each counter by tag; `rows` has one [`TagCounters::row`] per sample.
pub fn add_tag_columns<'a>(
    dict: &Bound<'_, PyDict>,
    by_tag: Option<(&TagCounters, &[Cause])>,
    rows: impl Iterator<Item = &'a [u64]> + Clone,
) -> PyResult<()> {
    let Some((by_tag, causes)) = by_tag else { return Ok(()) };
    for (at, name) in tag_columns(by_tag, causes).enumerate() {
        let column = PyArray1::from_iter(dict.py(), rows.clone().map(|row| row[at]));
        dict.set_item(name, column)?;
    }
    Ok(())
}

/// Names of the counters of a row, such as "tag 0 gc": a tag's number, "untagged" or "drive".
fn tag_columns(by_tag: &TagCounters, causes: &[Cause]) -> impl Iterator<Item = String> {
    let programs = causes.iter().map(|cause| cause.name());
    let counters = ["host_pages", "host_bytes"].into_iter().chain(programs);
    let counters: Vec<&str> = counters.chain(["moved_in", "moved_out"]).collect();
    by_tag.tags().flat_map(move |tag| {
        let row = match tag {
            UNTAGGED => "untagged".to_owned(),
            OF_DRIVE => "drive".to_owned(),
            _ => tag.to_string(),
        };
        let names = counters.iter().map(|counter| format!("tag {row} {counter}"));
        names.collect::<Vec<_>>()
    })
}

/// Name of a counter, and the function that reads it.
pub type Column = (&'static str, fn(&Counters) -> u64);

/// Counters other than the programs by cause.
/// `host_pages` (host pages written) is the drive's clock.
pub const COLUMNS: [Column; 10] = [
    ("host_pages", |counters| counters.host.written_pages),
    ("host_bytes", |counters| counters.host.written_bytes),
    ("host_partial_pages", |counters| counters.host.partial_pages),
    ("host_read_pages", |counters| counters.host.read_pages),
    ("host_read_bytes", |counters| counters.host.read_bytes),
    ("host_trimmed_pages", |counters| counters.host.trimmed_pages),
    ("host_trimmed_bytes", |counters| counters.host.trimmed_bytes),
    ("host_flushes", |counters| counters.host.flushes),
    ("erases", |counters| counters.erases),
    ("trimmed_pages", |counters| counters.unmapped_pages),
];
