//! A victim policy written in Python.

use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use writeamp_engine::Result;
use writeamp_engine::faults::{Answer, Hook};
use writeamp_engine::victims::{Candidates, VictimCalls};

use super::{Heed, SavedObject, failure, whole, word};

/// The closed blocks to choose from, oldest first, as copied arrays of equal length.
#[pyclass(frozen, get_all, name = "Candidates", module = "writeamp._engine")]
pub struct PyCandidates {
    block: Py<PyArray1<i64>>,
    invalid_pages: Py<PyArray1<i64>>,
    closed_at: Py<PyArray1<i64>>,
    changed_at: Py<PyArray1<i64>>,
    length: usize,
}

#[pymethods]
impl PyCandidates {
    #[new]
    #[pyo3(signature = (*, block, invalid_pages, closed_at, changed_at))]
    fn new(
        block: Bound<'_, PyArray1<i64>>,
        invalid_pages: Bound<'_, PyArray1<i64>>,
        closed_at: Bound<'_, PyArray1<i64>>,
        changed_at: Bound<'_, PyArray1<i64>>,
    ) -> Self {
        let length = block.len();
        PyCandidates {
            block: block.unbind(),
            invalid_pages: invalid_pages.unbind(),
            closed_at: closed_at.unbind(),
            changed_at: changed_at.unbind(),
            length,
        }
    }

    fn __len__(&self) -> usize {
        self.length
    }
}

/// Bound method `choose` of an instance.
pub struct Chooser {
    object: SavedObject,
    choose: Py<PyAny>,
    heed: Heed,
}

impl Chooser {
    pub fn new(object: SavedObject, instance: &Bound<'_, PyAny>) -> PyResult<Self> {
        let choose = instance.getattr("choose")?.unbind();
        Ok(Chooser { object, choose, heed: Heed::default() })
    }
}

fn of_numbers(py: Python<'_>, numbers: &[u32]) -> Py<PyArray1<i64>> {
    PyArray1::from_iter(py, numbers.iter().map(|&number| i64::from(number))).unbind()
}

fn of_times(py: Python<'_>, times: &[u64]) -> Py<PyArray1<i64>> {
    PyArray1::from_iter(py, times.iter().map(|&time| time.cast_signed())).unbind()
}

impl VictimCalls for Chooser {
    fn choose(&mut self, candidates: &Candidates) -> Answer<i64> {
        Python::attach(|py| {
            self.heed.now_and_then(py)?;
            let shown = PyCandidates {
                block: of_numbers(py, candidates.blocks),
                invalid_pages: of_numbers(py, candidates.invalid_pages),
                closed_at: of_times(py, candidates.closed_at),
                changed_at: of_times(py, candidates.changed_at),
                length: candidates.blocks.len(),
            };
            let answer = self.choose.bind(py).call1((shown, candidates.now));
            whole(&answer.map_err(|error| failure(py, error))?)
        })
    }

    fn word(&self, hook: Hook) -> &'static str {
        word(hook)
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.object.save()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        self.object.restore(bytes)
    }
}
