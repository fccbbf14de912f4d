//! What is run: a drive with its policies, and what its host does.

use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use writeamp_engine::Result;
use writeamp_engine::flash::{EraseUnit, Flash, Geometry, Shape, Silent, Wear};
use writeamp_engine::managers::{Layout, Setup};
use writeamp_engine::workloads::{self, Context, Trace, TraceOp, Workload};

use crate::raised;

/// The shape of a drive; `superblock` makes the erase unit span all planes.
#[pyclass(frozen, name = "Geometry", module = "writeamp._engine")]
#[derive(Clone, Copy)]
pub struct PyGeometry(Geometry);

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

/// A drive yet to be built, and the policies that it works by. `victims` is the manager's own if
/// `None`, and `wear_leveling` no leveller.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct Drive {
    pub manager: String,
    setup: Setup<Silent>,
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (*, geometry, logical_pages, layout, manager, victims=None,
                        wear_leveling=None))]
    fn new(
        geometry: &PyGeometry,
        logical_pages: u32,
        layout: &str,
        manager: String,
        victims: Option<String>,
        wear_leveling: Option<String>,
    ) -> PyResult<Self> {
        let setup = Setup {
            geometry: geometry.0,
            logical_pages,
            layout: Layout::named(layout).map_err(|e| raised(&e))?,
            victims,
            wear_leveling,
            seed: 0,
            wear: Wear::default(),
            observer: Silent,
        };
        Ok(Drive { manager, setup })
    }
}

impl Drive {
    pub fn setup(&self, seed: u64, wear: Wear) -> Setup<Silent> {
        Setup { seed, wear, ..self.setup.clone() }
    }
}

/// What the host of a drive does.
#[pyclass(frozen, module = "writeamp._engine")]
#[derive(Clone)]
pub struct Load(Kind);

#[derive(Clone)]
enum Kind {
    Spec { text: String, pages: u32 },
    Trace(Trace),
}

#[pymethods]
impl Load {
    /// The workload that a spec names, over `pages` logical pages.
    #[staticmethod]
    fn spec(text: String, pages: u32) -> Self {
        Load(Kind::Spec { text, pages })
    }

    /// A trace: request i writes (op 0) or trims (op 1) `counts[i]` pages from `first_pages[i]`;
    /// the whole is replayed `passes` times.
    #[staticmethod]
    #[pyo3(signature = (*, ops, first_pages, counts, passes))]
    fn trace(
        ops: PyReadonlyArray1<'_, u8>,
        first_pages: PyReadonlyArray1<'_, u32>,
        counts: PyReadonlyArray1<'_, u32>,
        passes: u64,
    ) -> PyResult<Self> {
        let ops = ops
            .as_array()
            .iter()
            .map(|op| if *op == 0 { TraceOp::Write } else { TraceOp::Trim })
            .collect();
        Trace::new(ops, first_pages.to_vec()?, counts.to_vec()?, passes)
            .map(|trace| Load(Kind::Trace(trace)))
            .map_err(|e| raised(&e))
    }
}

impl Load {
    /// The load anew, with its randomness decided by `seed`.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Workload>> {
        match &self.0 {
            Kind::Spec { text, pages } => workloads::build(text, *pages, Context::root(seed)),
            Kind::Trace(trace) => Ok(Box::new(trace.clone())),
        }
    }
}
