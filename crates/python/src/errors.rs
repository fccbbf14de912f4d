//! The exception of the package.

pyo3::import_exception!(writeamp.errors, WriteampError);
