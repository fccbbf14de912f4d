//! Replicas of a drive that are driven until they are worn out.

use std::slice::from_ref;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::endurance::{Life, Study, Watch, lives as lives_of};
use writeamp_engine::flash::{Cause, Moment, Wear};

use crate::drive::{Drive, Load};
use crate::heard::heard_often;
use crate::raised;

/// Drives that differ only by their seed, the workload that drives them, and a watch.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct Endurance {
    study: Study,
    load: Load,
    watch: Watch,
}

#[pymethods]
impl Endurance {
    /// Replica i has `seed` + i. A trace should have passes for a whole life. `fill` has the first
    /// and the end of each run of pages that is written once before it.
    #[new]
    #[pyo3(signature = (drive, load, *, seed, batch_pages, w_max, spare_blocks_per_pool,
                        fill, replicas, threads))]
    fn new(
        drive: &Drive,
        load: &Load,
        seed: u64,
        batch_pages: usize,
        w_max: u32,
        spare_blocks_per_pool: u32,
        fill: Vec<(u32, u32)>,
        replicas: u32,
        threads: usize,
    ) -> Self {
        let setup = drive.setup(seed, Wear { limit: w_max, spare_blocks_per_pool });
        let manager = drive.manager.clone();
        let fill = fill.into_iter().map(|(first, end)| first..end).collect();
        let study = Study { manager, setup, fill, replicas, batch_pages, threads };
        Endurance { study, load: load.clone(), watch: Watch::default() }
    }

    /// Drives every replica to its end of life. From time to time `progress` is called with the
    /// most erases of any block, at most `w_max`, summed over the replicas. If that raises, or Ctrl-C
    /// comes, the replicas stop soon, and `ended` has those that came to their end.
    #[pyo3(signature = (progress=None))]
    fn run<'py>(
        this: Py<Self>,
        py: Python<'py>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let lives = this.clone_ref(py);
        let tell = |_: Python<'_>| match &progress {
            Some(progress) => progress.call1((this.get().watch.reached_erases(),)).map(drop),
            None => Ok(()),
        };
        let found = heard_often(
            py,
            move || {
                let Endurance { study, load, watch } = lives.get();
                lives_of(study, |seed| load.build(seed), watch)
            },
            tell,
        )
        .inspect_err(|_| this.get().watch.cancel())?
        .map_err(|e| raised(&e))?;
        tell(py)?;
        lives_dict(py, &found)
    }

    /// The lives that have come to their end so far, in the form of `run`.
    fn ended<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        lives_dict(py, &self.watch.ended())
    }
}

/// Tables with a row for each replica: `end` has one column, `first_to_reach` one for each number of
/// erases, and `erase_counts` one for each block; `replica` says which replica each row is of.
fn lives_dict<'py>(py: Python<'py>, lives: &[Life]) -> PyResult<Bound<'py, PyDict>> {
    let ends: Vec<&[Moment]> = lives.iter().map(|life| from_ref(&life.end.moment)).collect();
    let firsts: Vec<&[Moment]> = lives.iter().map(|life| &life.first_to_reach[..]).collect();
    let erase_counts: Vec<&[u32]> = lives.iter().map(|life| &life.end.erase_counts[..]).collect();
    let dict = PyDict::new(py);
    let replicas = lives.iter().map(|life| u64::from(life.replica));
    dict.set_item("replica", PyArray1::from_iter(py, replicas))?;
    dict.set_item("end", moments_dict(py, &ends)?)?;
    dict.set_item("first_to_reach", moments_dict(py, &firsts)?)?;
    dict.set_item("erase_counts", rows(py, &erase_counts, |&erases| u64::from(erases))?)?;
    Ok(dict)
}

/// A table for each count: `erases`, `skipped_pages`, `host_pages` (written, the fill included: the
/// clock), `host` (pages programmed for the host), and the pages migrated for each other cause.
fn moments_dict<'py>(py: Python<'py>, table: &[&[Moment]]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("erases", rows(py, table, |moment| moment.erases)?)?;
    dict.set_item("skipped_pages", rows(py, table, |moment| moment.skipped_pages)?)?;
    dict.set_item("host_pages", rows(py, table, |moment| moment.host_pages)?)?;
    for cause in Cause::WITHOUT_TIME {
        let host = cause == Cause::Host;
        let pages = |m: &Moment| if host { m.host_programs } else { m.migrated_pages(cause) };
        dict.set_item(cause.name(), rows(py, table, pages)?)?;
    }
    Ok(dict)
}

fn rows<'py, T>(
    py: Python<'py>,
    table: &[&[T]],
    value: impl Fn(&T) -> u64,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let columns = table.first().map_or(0, |row| row.len());
    PyArray1::from_iter(py, table.iter().flat_map(|row| row.iter()).map(value))
        .reshape([table.len(), columns])
}
