//! The engine for Python: this crate converts arguments and results, and does nothing else.
#![allow(clippy::too_many_arguments)] // Python's keyword arguments are positional here
#![allow(clippy::needless_pass_by_value)] // as the binding macros hand them over

use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use writeamp_engine as engine;
use writeamp_engine::flash::{Cause, Counters, EraseUnit, Flash, Geometry, Shape, Silent};
use writeamp_engine::managers::{self, Layout, Setup};
use writeamp_engine::observe;
use writeamp_engine::spec::Entry;
use writeamp_engine::workloads::{self, Context, TraceOp, Workload};
use writeamp_engine::{detectors, leveling, victims};

pyo3::import_exception!(writeamp.errors, WriteampError);

fn raised(error: &engine::Error) -> PyErr {
    WriteampError::new_err(error.to_string())
}

/// The shape of a drive; `superblock` makes the erase unit span all planes.
#[pyclass(frozen, name = "Geometry", module = "writeamp._engine")]
#[derive(Clone, Copy)]
struct PyGeometry(Geometry);

#[pymethods]
impl PyGeometry {
    #[new]
    #[pyo3(signature = (*, channels, chips_per_channel, dies_per_chip, planes_per_die,
                        blocks_per_plane, pages_per_block, superblock))]
    fn new(
        channels: u32,
        chips_per_channel: u32,
        dies_per_chip: u32,
        planes_per_die: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        superblock: bool,
    ) -> PyResult<Self> {
        let erase_unit = if superblock { EraseUnit::Superblock } else { EraseUnit::Block };
        Geometry::new(Shape {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            erase_unit,
        })
        .map(PyGeometry)
        .map_err(|e| raised(&e))
    }

    #[getter]
    fn blocks(&self) -> u32 {
        self.0.blocks()
    }

    #[getter]
    fn pages_per_block(&self) -> u32 {
        self.0.pages_per_block()
    }

    #[getter]
    fn physical_pages(&self) -> u32 {
        self.0.physical_pages()
    }

    #[getter]
    fn luns(&self) -> u32 {
        self.0.luns()
    }

    fn bytes_needed(&self, logical_pages: u32) -> u64 {
        Flash::<Silent>::bytes_needed(&self.0, logical_pages)
    }
}

/// A drive and the workload that drives it.
#[pyclass(frozen, module = "writeamp._engine")]
struct Simulation(Mutex<engine::simulation::Simulation<Silent>>);

impl Simulation {
    fn inner(&self) -> MutexGuard<'_, engine::simulation::Simulation<Silent>> {
        self.0.lock().expect("no run panicked")
    }
}

fn layout(name: &str) -> PyResult<Layout> {
    const LAYOUTS: [(&str, Layout); 3] = [
        ("flat", Layout::Flat),
        ("striped", Layout::Striped),
        ("striped-per-lun", Layout::StripedPerLun),
    ];
    LAYOUTS.iter().find(|(known, _)| *known == name).map(|(_, layout)| *layout).ok_or_else(|| {
        raised(&engine::Error::unknown("layout", name, &LAYOUTS.map(|(known, _)| known)))
    })
}

fn counters_dict<'py>(py: Python<'py>, counters: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for cause in Cause::ALL {
        dict.set_item(cause.name(), counters.programs(cause))?;
    }
    dict.set_item("erases", counters.erases)?;
    dict.set_item("trimmed_pages", counters.trimmed_pages)?;
    Ok(dict)
}

#[pymethods]
impl Simulation {
    /// A drive under the workload that a spec names.
    #[new]
    #[pyo3(signature = (*, geometry, logical_pages, layout, manager, victims=None,
                        wear_leveling=None, workload, workload_pages, seed, batch_pages))]
    fn new(
        geometry: &PyGeometry,
        logical_pages: u32,
        layout: &str,
        manager: &str,
        victims: Option<String>,
        wear_leveling: Option<String>,
        workload: &str,
        workload_pages: u32,
        seed: u64,
        batch_pages: usize,
    ) -> PyResult<Self> {
        let load = workloads::build(workload, workload_pages, Context::root(seed))
            .map_err(|e| raised(&e))?;
        Self::build(
            geometry,
            logical_pages,
            layout,
            manager,
            victims,
            wear_leveling,
            load,
            seed,
            batch_pages,
        )
    }

    /// A drive under a trace: request i writes (op 0) or trims (op 1) `counts[i]` pages from
    /// `first_pages[i]`; the whole is replayed `passes` times.
    #[staticmethod]
    #[pyo3(signature = (*, geometry, logical_pages, layout, manager, victims=None,
                        wear_leveling=None, ops, first_pages, counts, passes, seed, batch_pages))]
    fn of_trace(
        geometry: &PyGeometry,
        logical_pages: u32,
        layout: &str,
        manager: &str,
        victims: Option<String>,
        wear_leveling: Option<String>,
        ops: PyReadonlyArray1<'_, u8>,
        first_pages: PyReadonlyArray1<'_, u32>,
        counts: PyReadonlyArray1<'_, u32>,
        passes: u64,
        seed: u64,
        batch_pages: usize,
    ) -> PyResult<Self> {
        let ops = ops
            .as_array()
            .iter()
            .map(|op| if *op == 0 { TraceOp::Write } else { TraceOp::Trim })
            .collect();
        let load = workloads::Trace::new(ops, first_pages.to_vec()?, counts.to_vec()?, passes)
            .map_err(|e| raised(&e))?;
        let load = Box::new(load);
        Self::build(
            geometry,
            logical_pages,
            layout,
            manager,
            victims,
            wear_leveling,
            load,
            seed,
            batch_pages,
        )
    }

    /// Writes logical pages `first` to `end` − 1 once, in order.
    fn fill(&self, py: Python<'_>, first: u32, end: u32) -> PyResult<()> {
        py.detach(|| self.inner().fill(first, end)).map_err(|e| raised(&e))
    }

    /// Starts a new series, sampled every `interval_pages` host pages.
    fn start_series(&self, interval_pages: u64) {
        self.inner().start_series(interval_pages);
    }

    /// Lets the host write `pages` more pages; returns how many it did before the workload ended.
    fn run(&self, py: Python<'_>, pages: u64) -> PyResult<u64> {
        py.detach(|| self.inner().run(pages)).map_err(|e| raised(&e))
    }

    /// Cumulative counters since the drive was new.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        counters_dict(py, self.inner().counters())
    }

    /// The samples of the series, a column for each counter.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner();
        let samples = inner.series().samples();
        let dict = PyDict::new(py);
        let column =
            |value: &dyn Fn(&Counters) -> u64| PyArray1::from_iter(py, samples.iter().map(value));
        for cause in Cause::ALL {
            dict.set_item(cause.name(), column(&|c| c.programs(cause)))?;
        }
        dict.set_item("erases", column(&|c| c.erases))?;
        dict.set_item("trimmed_pages", column(&|c| c.trimmed_pages))?;
        Ok(dict)
    }

    /// Erases of each block since the drive was new.
    fn erase_counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.inner().drive().flash().erase_counts())
    }

    /// Bytes of the tables that the block manager's scheme keeps beside the map.
    fn scheme_bytes(&self) -> u64 {
        self.inner().drive().scheme_bytes()
    }

    /// Closed blocks by their number of valid pages.
    fn valid_page_histogram<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, observe::valid_page_histogram(self.inner().drive().flash()))
    }
}

impl Simulation {
    fn build(
        geometry: &PyGeometry,
        logical_pages: u32,
        layout_name: &str,
        manager: &str,
        victims: Option<String>,
        wear_leveling: Option<String>,
        load: Box<dyn Workload>,
        seed: u64,
        batch_pages: usize,
    ) -> PyResult<Self> {
        let setup = Setup {
            geometry: geometry.0,
            logical_pages,
            layout: layout(layout_name)?,
            victims,
            wear_leveling,
            seed,
            observer: Silent,
        };
        managers::build(manager, setup)
            .and_then(|drive| engine::simulation::Simulation::new(drive, load, batch_pages))
            .map(|simulation| Simulation(Mutex::new(simulation)))
            .map_err(|e| raised(&e))
    }
}

/// The victim policy of a manager if none is asked for.
#[pyfunction]
fn default_victims(manager: &str) -> PyResult<String> {
    managers::default_victims(manager).map_err(|e| raised(&e))
}

/// The registered entries of one kind, a dictionary each.
#[pyfunction]
fn entries<'py>(py: Python<'py>, kind: &str) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let registries: [(&str, &[Entry]); 5] = [
        ("wear_levelers", leveling::ENTRIES),
        ("victims", victims::ENTRIES),
        ("detectors", detectors::ENTRIES),
        ("managers", managers::ENTRIES),
        ("workloads", workloads::ENTRIES),
    ];
    let (_, entries) = registries.iter().find(|(name, _)| *name == kind).ok_or_else(|| {
        raised(&engine::Error::unknown("registry", kind, &registries.map(|(name, _)| name)))
    })?;
    entries
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

/// The engine.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::{PyGeometry, Simulation, default_victims, entries};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let causes: Vec<&str> = super::Cause::ALL.iter().map(|cause| cause.name()).collect();
        module.add("CAUSES", causes)?;
        module.add("DEFAULT_BATCH_PAGES", super::engine::simulation::DEFAULT_BATCH_PAGES)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
