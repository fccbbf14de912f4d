//! Drives with their policies, and the workloads of their hosts.

use std::sync::{Mutex, MutexGuard};

use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use writeamp_engine::Result;
use writeamp_engine::flash::{Array, EraseUnit, Geometry, Shape, Wear};
use writeamp_engine::hints::UNTAGGED;
use writeamp_engine::managers::{CustomPolicies, Layout, OwnPages, Setup};
use writeamp_engine::request::{Op, Request};
use writeamp_engine::workloads::{
    self, Characteristics, Columns, Context, Site, Step, Trace, Workload, number_of,
};

use crate::columns::{column, column_or, counts as page_counts};
use crate::custom;
use crate::interruptible::interruptible;
use crate::raised::raised;

/// Shape of a drive.
///
/// Its erase unit is "block", "multi-plane" (one block of each plane of a die), or "superblock"
/// (one block of each plane of the drive); `superblock=True` is the same as "superblock".
#[pyclass(frozen, name = "Geometry", module = "writeamp._engine")]
#[derive(Clone, Copy)]
pub struct PyGeometry(Geometry);

impl PyGeometry {
    pub fn inner(&self) -> Geometry {
        self.0
    }
}

#[pymethods]
impl PyGeometry {
    #[new]
    #[pyo3(signature = (*, channels, chips_per_channel, dies_per_chip, planes_per_die,
                        blocks_per_plane, pages_per_block, page_bytes=Geometry::PAGE_BYTES,
                        superblock=false, erase_unit=None, stripe_pages=1))]
    fn new(
        channels: u32,
        chips_per_channel: u32,
        dies_per_chip: u32,
        planes_per_die: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        page_bytes: u32,
        superblock: bool,
        erase_unit: Option<&str>,
        stripe_pages: u32,
    ) -> PyResult<Self> {
        let default = if superblock { EraseUnit::Superblock } else { EraseUnit::Block };
        let erase_unit =
            erase_unit.map_or(Ok(default), EraseUnit::named).map_err(|e| raised(&e))?;
        Geometry::new(Shape {
            channels,
            chips_per_channel,
            dies_per_chip,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_bytes,
            erase_unit,
        })
        .and_then(|geometry| geometry.striped_by(stripe_pages))
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
        Array::bytes_needed(&self.0, logical_pages)
    }
}

/// Plan of a drive and its policies.
///
/// `victims=None` means the manager's default policy, and `wear_leveling=None` means no leveller.
/// With `tags`, flash operations are counted by the host's tags, of which there are so many. With
/// `counts_handles`, they are counted by the manager's placement handles instead.
/// `own_manager` and `own_victims` are sources of `writeamp.custom`; their names replace the specs.
/// With `own_pages`, the manager writes the logical pages that are true to a stream of their own.
#[pyclass(frozen, module = "writeamp._engine")]
#[derive(Clone)]
pub struct Drive {
    pub manager: String,
    /// True if flash operations are recorded, for a timed run.
    pub observed: bool,
    /// True if all events are recorded, for display.
    pub recorded: bool,
    is_interpreted: bool,
    setup: Setup,
}

#[pymethods]
impl Drive {
    #[new]
    #[pyo3(signature = (*, geometry, logical_pages, layout, manager, victims=None,
                        wear_leveling=None, observed=false, recorded=false, table_pages=0,
                        own_manager=None, own_victims=None, tags=None, own_pages=None,
                        counts_handles=false))]
    fn new(
        geometry: &PyGeometry,
        logical_pages: u32,
        layout: &str,
        manager: String,
        victims: Option<String>,
        wear_leveling: Option<String>,
        observed: bool,
        recorded: bool,
        table_pages: u32,
        own_manager: Option<Bound<'_, PyAny>>,
        own_victims: Option<Bound<'_, PyAny>>,
        tags: Option<u8>,
        own_pages: Option<Bound<'_, PyArray1<bool>>>,
        counts_handles: bool,
    ) -> PyResult<Self> {
        let is_compiled = |source: &Bound<'_, PyAny>| source.getattr("is_compiled")?.is_truthy();
        let is_interpreted =
            own_manager.as_ref().map(is_compiled).transpose()?.is_some_and(|compiled| !compiled);
        let custom = CustomPolicies {
            placement: own_manager.as_ref().map(custom::placement).transpose()?,
            victims: own_victims.as_ref().map(custom::victims).transpose()?,
            own_pages: own_pages.as_ref().map(own).transpose()?,
        };
        let setup = Setup {
            geometry: geometry.0,
            logical_pages,
            table_pages,
            layout: Layout::named(layout).map_err(|e| raised(&e))?,
            victims,
            wear_leveling,
            seed: 0,
            wear: Wear::default(),
            custom,
            tags,
            counts_handles,
        };
        Ok(Drive { manager, observed, recorded, is_interpreted, setup })
    }
}

/// Copies the pages of an own stream, which drives share.
fn own(pages: &Bound<'_, PyArray1<bool>>) -> PyResult<OwnPages> {
    Ok(pages.try_readonly()?.as_slice()?.into())
}

impl Drive {
    /// True if an interpreted Python policy is called for each page.
    pub fn is_interpreted(&self) -> bool {
        self.is_interpreted
    }

    pub fn setup(&self, seed: u64, wear: Wear) -> Setup {
        Setup { seed, wear, ..self.setup.clone() }
    }
}

/// A host that uses a drive before the run begins.
///
/// Its random stream is independent of the run's workload with the same seed.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct EarlierHost(Mutex<Box<dyn Workload>>);

#[pymethods]
impl EarlierHost {
    #[new]
    #[pyo3(signature = (load, *, seed))]
    fn new(load: &Load, seed: u64) -> PyResult<Self> {
        let context = Context { seed, path: "precondition".into() };
        let host = load.build_in(context).map_err(|e| raised(&e))?;
        Ok(EarlierHost(Mutex::new(host)))
    }
}

impl EarlierHost {
    pub fn workload(&self) -> MutexGuard<'_, Box<dyn Workload>> {
        self.0.lock().expect("no thread panicked while it held this lock")
    }
}

/// Workload of a drive: the requests of its host.
#[pyclass(frozen, module = "writeamp._engine")]
#[derive(Clone)]
pub struct Load(Kind);

/// Columns of requests.
type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Requests<'py> =
    (Column<'py, u8>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>, Column<'py, u32>);

#[derive(Clone)]
enum Kind {
    Spec { text: String, pages: u32, page_bytes: u32, host_page_bytes: u32 },
    Trace(Box<Trace>),
}

#[pymethods]
impl Load {
    /// Creates the workload of a spec, over `pages` logical pages of `page_bytes`.
    ///
    /// With `host_page_bytes`, these pages are mapping units, and the workload writes smaller pages
    /// of that size, of which several are a unit.
    #[staticmethod]
    #[pyo3(signature = (text, pages, page_bytes=Geometry::PAGE_BYTES, host_page_bytes=None))]
    fn spec(text: String, pages: u32, page_bytes: u32, host_page_bytes: Option<u32>) -> Self {
        let host_page_bytes = host_page_bytes.unwrap_or(page_bytes);
        Load(Kind::Spec { text, pages, page_bytes, host_page_bytes })
    }

    /// True for a workload spec whose requests have arrival times; false for a trace.
    ///
    /// With arrival times, the run is timed.
    fn is_timed(&self) -> PyResult<bool> {
        Ok(self.characteristics()?.is_some_and(|requests| requests.is_timed()))
    }

    /// True if the workload writes.
    /// A run without timing advances by writes, so it needs a workload that writes.
    fn has_writes(&self) -> PyResult<bool> {
        Ok(self.characteristics()?.is_none_or(|requests| requests.write > 0.0))
    }

    /// True if each request of a workload spec covers whole pages of the drive; false if unknown.
    fn writes_whole_pages(&self) -> PyResult<bool> {
        match &self.0 {
            Kind::Spec { text, page_bytes, host_page_bytes, .. }
                if page_bytes == host_page_bytes =>
            {
                workloads::writes_whole_pages(text).map_err(|e| raised(&e))
            }
            _ => Ok(false),
        }
    }

    /// Number of page writes after which a workload spec ends.
    ///
    /// None if it does not end, and for a trace.
    fn writes_in_all(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        match &self.0 {
            Kind::Spec { text, pages, page_bytes, .. } => {
                let context = Context::root(1);
                let site = Site { pages: *pages, page_bytes: *page_bytes, context };
                py.detach(|| workloads::writes_in_all(text, &site)).map_err(|e| raised(&e))
            }
            Kind::Trace(_) => Ok(None),
        }
    }

    /// Bytes that the application has written after each number of page writes of the host.
    ///
    /// The numbers `ends` rise, and count from the start of a run with this seed. None without an
    /// application above the host's writes.
    #[pyo3(signature = (*, seed, ends))]
    fn application_bytes(
        &self,
        py: Python<'_>,
        seed: u64,
        ends: Vec<u64>,
    ) -> PyResult<Option<Vec<u64>>> {
        let load = self.clone();
        let counted = interruptible(py, move || load.counted(seed, &ends))?;
        counted.map_err(|e| raised(&e))
    }

    /// Draws requests until `pages` pages are written, equal to those of a run with this seed.
    ///
    /// Returns columns for `trace`: ops, first pages, counts, head bytes and tail bytes.
    #[pyo3(signature = (*, seed, pages))]
    fn requests<'py>(&self, py: Python<'py>, seed: u64, pages: u64) -> PyResult<Requests<'py>> {
        let drawn = py.detach(|| self.drawn(seed, pages)).map_err(|e| raised(&e))?;
        let column = |value: fn(&Request) -> u32| PyArray1::from_iter(py, drawn.iter().map(value));
        Ok((
            PyArray1::from_iter(py, drawn.iter().map(|request| number_of(request.op))),
            column(|request| request.first_page),
            column(|request| request.pages),
            column(|request| request.head_bytes),
            column(|request| request.tail_bytes),
        ))
    }

    /// Makes the workload of a trace, replayed `passes` times.
    ///
    /// Request i writes (op 0), trims (1), reads (2) or flushes (3) `counts[i]` pages from
    /// `first_pages[i]` at `at_ns[i]`, except `head_bytes[i]` of the first page and `tail_bytes[i]`
    /// of the last. With `fua[i]` = 1 (force unit access), a write is durable when it is answered.
    /// Without `ops`, all requests write; without `counts`, all have one page. Read-only arrays of
    /// `kept()` are not copied. With `group_ends`, the host names a group with each write: group g
    /// has the pages from `group_ends[g - 1]` (0 for the first group) to `group_ends[g]` − 1.
    /// `tags[i]` is the tag of write i, or `UNTAGGED`.
    #[staticmethod]
    #[pyo3(signature = (*, first_pages, passes, ops=None, counts=None, at_ns=None, head_bytes=None,
                        tail_bytes=None, fua=None, page_bytes=Geometry::PAGE_BYTES, group_ends=None,
                        tags=None))]
    fn trace(
        first_pages: Bound<'_, PyArray1<u32>>,
        passes: u64,
        ops: Option<Bound<'_, PyArray1<u8>>>,
        counts: Option<Bound<'_, PyAny>>,
        at_ns: Option<Bound<'_, PyArray1<u64>>>,
        head_bytes: Option<Bound<'_, PyArray1<u32>>>,
        tail_bytes: Option<Bound<'_, PyArray1<u32>>>,
        fua: Option<Bound<'_, PyArray1<u8>>>,
        page_bytes: u32,
        group_ends: Option<Vec<u32>>,
        tags: Option<Bound<'_, PyArray1<u8>>>,
    ) -> PyResult<Self> {
        let columns = Columns {
            ops: column_or(ops.as_ref(), 0)?,
            first_pages: column(&first_pages)?,
            counts: page_counts(counts.as_ref())?,
            at_ns: column_or(at_ns.as_ref(), 0)?,
            head_bytes: column_or(head_bytes.as_ref(), 0)?,
            tail_bytes: column_or(tail_bytes.as_ref(), 0)?,
            fua: column_or(fua.as_ref(), 0)?,
            tags: column_or(tags.as_ref(), UNTAGGED)?,
            length: first_pages.len(),
        };
        let ends = group_ends.unwrap_or_default();
        Trace::of_groups(columns, page_bytes, passes, &ends)
            .map(|trace| Load(Kind::Trace(Box::new(trace))))
            .map_err(|e| raised(&e))
    }
}

impl Load {
    /// Returns the characteristics of a workload of byte requests, or None.
    fn characteristics(&self) -> PyResult<Option<Characteristics>> {
        match &self.0 {
            Kind::Spec { text, .. } => workloads::characteristics(text).map_err(|e| raised(&e)),
            Kind::Trace(_) => Ok(None),
        }
    }

    /// Returns the requests until `pages` pages are written or the workload ends.
    fn drawn(&self, seed: u64, pages: u64) -> Result<Vec<Request>> {
        let mut load = self.build(seed)?;
        let (mut drawn, mut written) = (Vec::new(), 0);
        while written < pages {
            let Some(request) = load.next_request() else { break };
            if request.op == Op::Write {
                written += u64::from(request.pages);
            }
            drawn.push(request);
        }
        Ok(drawn)
    }

    /// Returns the application's bytes when the host has written each of `ends` pages.
    fn counted(&self, seed: u64, ends: &[u64]) -> Result<Option<Vec<u64>>> {
        let mut load = self.build(seed)?;
        let (mut buffer, mut written) = ([0; 4096], 0);
        let count_at = |&end: &u64| {
            while written < end {
                let most = (end - written).min(buffer.len() as u64) as usize;
                match load.next(&mut buffer[..most]) {
                    Step::Writes(count) => written += count as u64,
                    Step::Request(_) => {}
                    Step::End => break,
                }
            }
            load.application_bytes()
        };
        Ok(ends.iter().map(count_at).collect())
    }

    /// Builds the workload with random streams from `seed`.
    pub fn build(&self, seed: u64) -> Result<Box<dyn Workload>> {
        self.build_in(Context::root(seed))
    }

    fn build_in(&self, context: Context) -> Result<Box<dyn Workload>> {
        match &self.0 {
            Kind::Spec { text, pages, page_bytes, host_page_bytes } => {
                let site = Site { pages: *pages, page_bytes: *page_bytes, context };
                workloads::build_in_units(text, &site, *host_page_bytes)
            }
            Kind::Trace(trace) => Ok(trace.clone()),
        }
    }
}
