//! Exceptions for errors of the engine.

use pyo3::prelude::*;
use writeamp_engine::Error;

use crate::custom;
use crate::errors::WriteampError;

/// The exception that an error of the engine is in Python.
pub fn raised(error: &Error) -> PyErr {
    match error {
        Error::CustomPolicy(fault) => custom::raised(fault),
        _ => WriteampError::new_err(error.to_string()),
    }
}
