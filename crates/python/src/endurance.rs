//! Runs of drives until they are worn out.

use std::slice::from_ref;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine::endurance::{Life, Study, Watch, life as life_of};
use writeamp_engine::flash::{Cause, Moment, Wear};

use crate::drive::{Drive, Load};
use crate::interruptible::interruptible_with;
use crate::raised::raised;

/// A drive and its workload, run to the end of life with different seeds.
///
/// Several threads may run replicas (drives with other seeds) at the same time.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct Endurance {
    study: Study,
    load: Load,
}

#[pymethods]
impl Endurance {
    /// Creates an endurance study, which runs drives until they are worn out.
    ///
    /// A trace needs enough passes for a whole life. `fill` has the first page and the end of each
    /// range that is written once before the life.
    #[new]
    #[pyo3(signature = (drive, load, *, batch_pages, w_max, spare_blocks_per_pool, fill))]
    fn new(
        drive: &Drive,
        load: &Load,
        batch_pages: usize,
        w_max: u32,
        spare_blocks_per_pool: u32,
        fill: Vec<(u32, u32)>,
    ) -> Self {
        let setup = drive.setup(0, Wear { limit: w_max, spare_blocks_per_pool });
        let manager = drive.manager.clone();
        let fill = fill.into_iter().map(|(first, end)| first..end).collect();
        Endurance { study: Study { manager, setup, fill, batch_pages }, load: load.clone() }
    }

    /// Runs the drive with a seed to its end of life.
    ///
    /// `progress` is called regularly with the greatest number of erases of a block, at most
    /// `w_max`. If it raises, or on Ctrl-C, the run stops soon.
    #[pyo3(signature = (seed, progress=None))]
    fn live<'py>(
        this: Py<Self>,
        py: Python<'py>,
        seed: u64,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let watch = Arc::new(Watch::default());
        let report = |_: Python<'_>| match &progress {
            Some(progress) => progress.call1((watch.reached_erases(),)).map(drop),
            None => Ok(()),
        };
        let observed = Arc::clone(&watch);
        let work = move || {
            let Endurance { study, load } = this.get();
            life_of(study, seed, |seed| load.build(seed), &observed)
        };
        let life = interruptible_with(py, work, report)
            .inspect_err(|_| watch.cancel())?
            .map_err(|e| raised(&e))?;
        life_dict(py, &life)
    }
}

/// Returns the dictionary of a life.
///
/// `end` has the counts at the end of life, and of the host's requests some pages later.
/// `first_to_reach` has the counts when the first block
/// reached each number of erases. `erase_counts` has the erases of each block at the end.
fn life_dict<'py>(py: Python<'py>, life: &Life) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let end = moments_dict(py, from_ref(&life.end.moment))?;
    let host = &life.host;
    for (name, count) in [
        ("written_pages", host.written_pages),
        ("written_bytes", host.written_bytes),
        ("partial_pages", host.partial_pages),
    ] {
        end.set_item(name, PyArray1::from_slice(py, &[count]))?;
    }
    dict.set_item("end", end)?;
    dict.set_item("first_to_reach", moments_dict(py, &life.first_to_reach)?)?;
    dict.set_item("erase_counts", column(py, &life.end.erase_counts, |&erases| erases.into()))?;
    Ok(dict)
}

/// Returns one column per count.
///
/// These are `erases`, `skipped_pages`, `host_pages` (written, the fill included: the clock),
/// `host` (pages programmed for the host), and the pages migrated for each other cause.
fn moments_dict<'py>(py: Python<'py>, moments: &[Moment]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("erases", column(py, moments, |moment| moment.erases))?;
    dict.set_item("skipped_pages", column(py, moments, |moment| moment.skipped_pages))?;
    dict.set_item("host_pages", column(py, moments, |moment| moment.host_pages))?;
    for cause in Cause::WITHOUT_TIME {
        let host = cause == Cause::Host;
        let pages = |m: &Moment| if host { m.host_programs } else { m.migrated_pages(cause) };
        dict.set_item(cause.name(), column(py, moments, pages))?;
    }
    Ok(dict)
}

fn column<'py, T>(
    py: Python<'py>,
    values: &[T],
    value: impl Fn(&T) -> u64,
) -> Bound<'py, PyArray1<u64>> {
    PyArray1::from_iter(py, values.iter().map(value))
}
