//! Counters of a drive for Python.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::flash::{Cause, Counters};

/// Returns the counters by name.
pub fn counters_dict<'py>(py: Python<'py>, counters: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for cause in Cause::ALL {
        dict.set_item(cause.name(), counters.programs(cause))?;
    }
    for (name, value) in COLUMNS {
        dict.set_item(name, value(counters))?;
    }
    Ok(dict)
}

/// Name of a counter, and the function that reads it.
pub type Column = (&'static str, fn(&Counters) -> u64);

/// Counters other than the programs by cause.
/// `host_pages` (host pages written) is the drive's clock.
pub const COLUMNS: [Column; 9] = [
    ("host_pages", |counters| counters.host.written_pages),
    ("host_bytes", |counters| counters.host.written_bytes),
    ("host_read_pages", |counters| counters.host.read_pages),
    ("host_read_bytes", |counters| counters.host.read_bytes),
    ("host_trimmed_pages", |counters| counters.host.trimmed_pages),
    ("host_trimmed_bytes", |counters| counters.host.trimmed_bytes),
    ("host_flushes", |counters| counters.host.flushes),
    ("erases", |counters| counters.erases),
    ("trimmed_pages", |counters| counters.unmapped_pages),
];
