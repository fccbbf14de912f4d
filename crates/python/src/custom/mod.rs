//! Policies written in Python (`writeamp.custom`), as the engine calls them.

mod compiled;
mod interpreted;
mod sources;
mod victims;

use std::sync::Arc;

use pyo3::exceptions::{PyBaseException, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::faults::{Answer, Cause, Failure, Fault, Hook};
use writeamp_engine::{Error, Result};

use crate::errors::WriteampError;

pub use interpreted::PyVictim;
pub use sources::{placement, victims};
pub use victims::PyCandidates;

/// Returns the Python name of a method that the engine calls (a hook).
fn word(hook: Hook) -> &'static str {
    match hook {
        Hook::Write => "on_write",
        Hook::Victim => "on_collect",
        Hook::Migrate => "on_migrate",
        Hook::Trim => "on_trim",
        Hook::Choose => "choose",
    }
}

/// The failure of a policy that raised an exception.
fn failure(py: Python<'_>, error: PyErr) -> Failure {
    let kind = error.get_type(py).qualname().map_or_else(|_| "an error".into(), |n| n.to_string());
    let message = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let colon = if message.is_empty() { "" } else { ": " };
    let what = format!("raised {kind}{colon}{message}");
    Failure { what, page: None, cause: Some(Cause(Arc::new(error))) }
}

/// Converts the value that a policy's method returned to a whole number.
/// Other values are a failure.
fn whole(answer: &Bound<'_, PyAny>) -> Answer<i64> {
    answer.extract().map_err(|_| {
        let shown = answer.repr().map(|text| text.to_string()).unwrap_or_default();
        let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = shown.chars().take(80).collect();
        Failure::of(format!("returned {shown}; it must be a whole number"))
    })
}

/// The error of a policy that could not be made, saved or restored.
fn unusable(py: Python<'_>, policy: &str, hook: &'static str, error: PyErr) -> Error {
    if error.is_instance_of::<WriteampError>(py) {
        return Error::Spec(error.value(py).to_string());
    }
    let Failure { what, page, cause } = failure(py, error);
    let policy = policy.to_owned();
    Error::CustomPolicy(Box::new(Fault { policy, hook, host_pages: 0, page, what, cause }))
}

/// Returns the Python exception of a fault, with its cause.
/// `KeyboardInterrupt` (Ctrl-C) is returned unchanged.
pub fn raised(fault: &Fault) -> PyErr {
    Python::attach(|py| {
        let cause = fault.cause.as_ref().and_then(|cause| cause.0.downcast_ref::<PyErr>());
        let cause = cause.map(|error| error.clone_ref(py));
        if let Some(error) = &cause
            && error.is_instance_of::<PyKeyboardInterrupt>(py)
        {
            return error.clone_ref(py);
        }
        let cause = cause.map(|error| error.into_value(py));
        policy_error(py, fault, cause).unwrap_or_else(|other| other)
    })
}

/// Returns the exception, to which the position of the run is added.
fn policy_error(
    py: Python<'_>,
    fault: &Fault,
    cause: Option<Py<PyBaseException>>,
) -> PyResult<PyErr> {
    let place = PyDict::new(py);
    place.set_item("policy", &fault.policy)?;
    place.set_item("hook", fault.hook)?;
    place.set_item("page", fault.page)?;
    place.set_item("host_pages", fault.host_pages)?;
    let make = py.import("writeamp.errors")?.getattr("policy_error")?;
    let error = make.call((fault.to_string(), cause), Some(&place))?;
    Ok(PyErr::from_value(error))
}

/// Number of calls of policy methods between two checks for Ctrl-C.
const HEED_EVERY: u32 = 4096;

/// Periodic check for Ctrl-C and for a request to stop.
#[derive(Default)]
struct Heed {
    calls: u32,
}

impl Heed {
    #[inline]
    fn now_and_then(&mut self, py: Python<'_>) -> Answer<()> {
        if self.is_due() { Self::look(py) } else { Ok(()) }
    }

    #[inline]
    fn is_due(&mut self) -> bool {
        self.calls = (self.calls + 1) % HEED_EVERY;
        self.calls == 0
    }

    fn look(py: Python<'_>) -> Answer<()> {
        crate::interruptible::check_interrupt(py).map_err(|error| failure(py, error))
    }
}

/// A Python object with methods that save and restore it.
struct SavedObject {
    name: String,
    instance: Py<PyAny>,
}

impl SavedObject {
    fn save(&self) -> Result<Vec<u8>> {
        Python::attach(|py| {
            let saved = self.instance.bind(py).call_method0("save").and_then(|it| it.extract());
            saved.map_err(|error| unusable(py, &self.name, "save", error))
        })
    }

    fn restore(&self, bytes: &[u8]) -> Result<()> {
        Python::attach(|py| {
            let restored = self.instance.bind(py).call_method1("restore", (bytes,));
            restored.map(drop).map_err(|error| unusable(py, &self.name, "restore", error))
        })
    }

    fn bytes(&self) -> u64 {
        Python::attach(|py| {
            let bytes = self.instance.bind(py).call_method0("bytes").and_then(|it| it.extract());
            bytes.unwrap_or_default() // no result depends on it
        })
    }
}

/// Keyword arguments as a dictionary.
fn facts<'py>(py: Python<'py>, facts: &[(&str, u64)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    facts.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
    Ok(dict)
}
