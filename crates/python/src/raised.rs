//! Exceptions for errors of the engine.

use pyo3::prelude::*;
use writeamp_engine::Error;

use crate::custom;
use crate::errors::WriteampError;

/// Returns the Python exception of an engine error.
pub fn raised(error: &Error) -> PyErr {
    match error {
        Error::CustomPolicy(fault) => custom::raised(fault),
        _ => WriteampError::new_err(error.to_string()),
    }
}
