//! Devices in virtual time, and their host.

use std::sync::{Mutex, MutexGuard};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use writeamp_engine::Error;
use writeamp_engine::flash::{Cause, Counters};
use writeamp_engine::timing::{
    BlockDevice, Busy, Direction, Disk, DiskProfile, Edge, Limits, Member, Raid0, ReadFor, Row,
    Served, Ssd, TimedRun, Timing, Window,
};

use crate::counters::{COLUMNS, add_tag_columns, counters_dict};
use crate::drive::{Load, PyGeometry};
use crate::interruptible::{check_interrupt, interruptible};
use crate::raised::raised;
use crate::simulation::Simulation;

/// Most events that are processed in the calling thread.
/// A thread of their own would take longer, and Ctrl-C waits only briefly for them.
const SHORT_EVENTS: u64 = 1024;

/// A device in virtual time, or None after a run took it.
#[pyclass(frozen, name = "TimedDevice", module = "writeamp._engine")]
pub struct PyTimedDevice(Mutex<Option<Box<dyn BlockDevice>>>);

impl PyTimedDevice {
    fn of(device: Box<dyn BlockDevice>) -> Self {
        PyTimedDevice(Mutex::new(Some(device)))
    }

    fn take(&self) -> PyResult<Box<dyn BlockDevice>> {
        let taken = self.0.lock().expect("no thread panicked while it held this lock").take();
        taken.ok_or_else(|| {
            raised(&Error::Spec("a timed run has taken this device; create another device".into()))
        })
    }
}

#[pymethods]
impl PyTimedDevice {
    /// Creates a timed device from the flash drive of a simulation.
    ///
    /// The simulation must have been built with `observed`. `times` is the JSON of a profile's
    /// timing tables.
    #[staticmethod]
    #[pyo3(signature = (simulation, *, times, host_pages, seed, ready_busy=false))]
    fn flash(
        simulation: &Simulation,
        times: &str,
        host_pages: u32,
        seed: u64,
        ready_busy: bool,
    ) -> PyResult<Self> {
        let timing = Timing::from_json(times).map_err(|e| raised(&e))?;
        let drive = simulation.take().into_drive();
        let mut ssd = Ssd::new(drive, timing, host_pages, seed).map_err(|e| raised(&e))?;
        if ready_busy {
            ssd.record_edges();
        }
        Ok(Self::of(Box::new(ssd)))
    }

    /// Creates a hard disk. `times` is the JSON of a profile's timing tables.
    #[staticmethod]
    fn disk(times: &str) -> PyResult<Self> {
        let profile = DiskProfile::from_json(times).map_err(|e| raised(&e))?;
        Disk::new(&profile).map(|disk| Self::of(Box::new(disk))).map_err(|e| raised(&e))
    }

    /// Creates a RAID 0 array of devices, each with its number of dies.
    #[staticmethod]
    fn raid0(members: Vec<(PyRef<'_, PyTimedDevice>, u32)>, stripe_bytes: u64) -> PyResult<Self> {
        let taken = members
            .iter()
            .map(|(member, dies)| member.take().map(|device| Member { device, dies: *dies }));
        let members = taken.collect::<PyResult<Vec<_>>>()?;
        let array = Raid0::new(members, stripe_bytes).map_err(|e| raised(&e))?;
        Ok(Self::of(Box::new(array)))
    }

    /// Capacity that the host sees, in bytes.
    fn capacity_bytes(&self) -> PyResult<u64> {
        let guard = self.0.lock().expect("no thread panicked while it held this lock");
        let device = guard.as_ref();
        device.map(|device| device.capacity_bytes()).ok_or_else(|| {
            raised(&Error::Spec("a timed run has taken this device; create another device".into()))
        })
    }
}

/// Checks the timing tables of a profile for a drive of that shape, or of a disk if None.
#[pyfunction]
pub fn check_times(times: &str, geometry: Option<PyRef<'_, PyGeometry>>) -> PyResult<()> {
    let checked = match geometry {
        Some(shape) => Timing::from_json(times).and_then(|timing| timing.check(&shape.inner())),
        None => DiskProfile::from_json(times).and_then(|profile| profile.check()),
    };
    checked.map_err(|e| raised(&e))
}

/// Logical pages of a drive with `host_pages`, including a mapping table on flash.
#[pyfunction]
pub fn pages_with_table(times: &str, host_pages: u32, page_bytes: u32) -> PyResult<u32> {
    let timing = Timing::from_json(times).map_err(|e| raised(&e))?;
    Ok(Ssd::logical_pages(&timing, host_pages, page_bytes))
}

/// Number of pages of a mapping table with blocks of its own; else 0.
#[pyfunction]
pub fn pages_apart(times: &str, host_pages: u32, page_bytes: u32) -> PyResult<u32> {
    let timing = Timing::from_json(times).map_err(|e| raised(&e))?;
    Ok(Ssd::pages_apart(&timing, host_pages, page_bytes))
}

/// A device and its host.
#[pyclass(frozen, name = "TimedRun", module = "writeamp._engine")]
pub struct PyTimedRun(Mutex<TimedRun>);

impl PyTimedRun {
    /// Moves the Ready/Busy edges that were recorded since the last call to `edges`.
    pub fn take_edges_into(&self, edges: &mut Vec<Edge>) {
        self.run().take_edges(edges);
    }

    fn run(&self) -> MutexGuard<'_, TimedRun> {
        self.0.lock().expect("no thread panicked while it held this lock")
    }
}

#[pymethods]
impl PyTimedRun {
    /// Creates a run from time 0, which ends when a limit is reached and all requests completed.
    ///
    /// `window` is for the replay of a recorded drive. It has the start and end of the measurement
    /// in virtual time, and the number of unanswered requests at the end.
    #[new]
    #[pyo3(signature = (device, load, *, seed, page_bytes, time_scale=1.0, time_ns=None,
                        written_bytes=None, requests=None, warmup_permille=0, window=None))]
    fn new(
        device: &PyTimedDevice,
        load: &Load,
        seed: u64,
        page_bytes: u32,
        time_scale: f64,
        time_ns: Option<u64>,
        written_bytes: Option<u64>,
        requests: Option<u64>,
        warmup_permille: u64,
        window: Option<(u64, u64, u64)>,
    ) -> PyResult<Self> {
        let window =
            window.map(|(from_ns, until_ns, unanswered)| Window { from_ns, until_ns, unanswered });
        let limits = Limits { time_ns, written_bytes, requests, warmup_permille, window };
        let workload = load.build(seed).map_err(|e| raised(&e))?;
        TimedRun::new(device.take()?, workload, page_bytes, time_scale, limits)
            .map(|run| PyTimedRun(Mutex::new(run)))
            .map_err(|e| raised(&e))
    }

    /// Processes at most `events` events; returns true when the run has ended.
    fn advance(this: Py<Self>, py: Python<'_>, events: u64) -> PyResult<bool> {
        let is_done = if events <= SHORT_EVENTS {
            check_interrupt(py)?;
            py.detach(|| this.get().run().advance(events))
        } else {
            interruptible(py, move || this.get().run().advance(events))?
        };
        is_done.map_err(|e| raised(&e))
    }

    /// Starts another load on the same device, `idle_ns` after the end of the last one.
    ///
    /// Measurements restart; the clock, counters and operations of the device continue.
    #[pyo3(signature = (load, *, seed, idle_ns=0, time_ns=None, written_bytes=None, requests=None,
                        warmup_permille=0))]
    fn go_on(
        &self,
        load: &Load,
        seed: u64,
        idle_ns: u64,
        time_ns: Option<u64>,
        written_bytes: Option<u64>,
        requests: Option<u64>,
        warmup_permille: u64,
    ) -> PyResult<()> {
        let limits = Limits { time_ns, written_bytes, requests, warmup_permille, window: None };
        let workload = load.build(seed).map_err(|e| raised(&e))?;
        self.run().continue_with(workload, limits, idle_ns).map_err(|e| raised(&e))
    }

    #[getter]
    fn now_ns(&self) -> u64 {
        self.run().now_ns()
    }

    #[getter]
    fn written_bytes(&self) -> u64 {
        self.run().written_bytes()
    }

    #[getter]
    fn issued_requests(&self) -> u64 {
        self.run().issued_requests()
    }

    /// Counters since the run began; None if the device is not flash.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let run = self.run();
        let by_tag = run.device().tag_counters();
        let by_tag = by_tag.as_ref().map(|tags| (tags, &Cause::ALL[..]));
        run.counters().map(|counters| counters_dict(py, &counters, by_tag)).transpose()
    }

    /// Flash operations since the run began: "programs" and "reads".
    fn operations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let dict = PyDict::new(py);
        dict.set_item("programs", run.device().program_operations())?;
        dict.set_item("reads", run.device().read_operations())?;
        Ok(dict)
    }

    /// Erases of blocks of SLC caches since the run began, and the number of these blocks; None
    /// without an SLC cache.
    fn slc_wear(&self) -> Option<(u64, u64)> {
        self.run().device().slc_wear().map(|wear| (wear.erases, wear.blocks))
    }

    /// Read errors since the run began: "retries" and "uncorrectable" reads by purpose.
    ///
    /// None if the device does not model bit errors.
    fn read_errors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(errors) = self.run().device().read_errors() else { return Ok(None) };
        let dict = PyDict::new(py);
        for (name, counts) in [("retries", errors.retries), ("uncorrectable", errors.uncorrectable)]
        {
            let by_purpose = PyDict::new(py);
            for (purpose, count) in ReadFor::ALL.into_iter().zip(counts) {
                by_purpose.set_item(purpose.name(), count)?;
            }
            dict.set_item(name, by_purpose)?;
        }
        Ok(Some(dict))
    }

    /// Start and end of the measured interval, in ns.
    fn interval_ns(&self) -> (u64, u64) {
        self.run().measures().interval_ns()
    }

    /// Returns requests, bytes and latencies of a direction, "read" or "write".
    fn served<'py>(&self, py: Python<'py>, direction: &str) -> PyResult<Bound<'py, PyDict>> {
        let direction = if direction == "read" { Direction::Read } else { Direction::Write };
        let run = self.run();
        let served = run.measures().served(direction);
        let dict = PyDict::new(py);
        dict.set_item("requests", served.requests)?;
        dict.set_item("bytes", served.bytes)?;
        dict.set_item("mean_ns", served.mean_ns())?;
        for (name, share) in QUANTILES {
            dict.set_item(name, served.quantile_ns(share))?;
        }
        dict.set_item("max_ns", (served.requests > 0).then_some(served.range_ns.1))?;
        dict.set_item("histogram", histogram(py, served)?)?;
        Ok(dict)
    }

    /// Number of requests in the measured interval other than reads and writes.
    fn others(&self) -> u64 {
        self.run().measures().others
    }

    /// Returns the served requests over time, one column per property.
    ///
    /// `row_ns` is the length of a row.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let (rows, row_ns) = run.measures().rows();
        let dict = PyDict::new(py);
        let column = |value: fn(&Row) -> u64| PyArray1::from_iter(py, rows.iter().map(value));
        dict.set_item("row_ns", row_ns)?;
        dict.set_item("read_bytes", column(|row| row.read_bytes))?;
        dict.set_item("written_bytes", column(|row| row.written_bytes))?;
        dict.set_item("reads", column(|row| row.reads))?;
        dict.set_item("writes", column(|row| row.writes))?;
        dict.set_item("read_ns", column(|row| row.read_ns))?;
        dict.set_item("write_ns", column(|row| row.write_ns))?;
        Ok(dict)
    }

    /// Times and counters, sampled at nearly equal intervals of host pages, one column each.
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let run = self.run();
        let samples = run.measures().samples();
        let dict = PyDict::new(py);
        let column = |value: &dyn Fn(&Counters) -> u64| {
            PyArray1::from_iter(py, samples.iter().map(|(_, counters)| value(counters)))
        };
        dict.set_item("time_ns", PyArray1::from_iter(py, samples.iter().map(|(at, _)| *at)))?;
        for cause in Cause::ALL {
            dict.set_item(cause.name(), column(&|counters| counters.programs(cause)))?;
        }
        for (name, value) in COLUMNS {
            dict.set_item(name, column(&value))?;
        }
        let by_tag = run.device().tag_counters();
        let rows = run.measures().tag_samples().iter().map(Vec::as_slice);
        let by_tag = by_tag.as_ref().map(|tags| (tags, &Cause::ALL[..]));
        add_tag_columns(&dict, by_tag, rows)?;
        Ok(dict)
    }

    /// Parts of the device that can be busy, such as dies and channels.
    ///
    /// For each kind of part: its name, the number of parts, and their summed busy time so far, in
    /// ns.
    fn busy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let parts = self.run().busy();
        PyList::new(py, parts.iter().map(|&Busy { level, parts, busy_ns }| (level, parts, busy_ns)))
    }
}

/// Reported quantiles of latency.
const QUANTILES: [(&str, f64); 5] = [
    ("p50_ns", 0.5),
    ("p90_ns", 0.9),
    ("p99_ns", 0.99),
    ("p99_9_ns", 0.999),
    ("p99_99_ns", 0.9999),
];

/// Histogram of latencies: upper bounds of the bins in ns, and requests per bin.
fn histogram<'py>(py: Python<'py>, served: &Served) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let bins = || served.latencies.iter_recorded();
    let bounds = bins().map(|bin| bin.value_iterated_to());
    dict.set_item("upper_ns", PyArray1::from_iter(py, bounds))?;
    let counts = bins().map(|bin| bin.count_at_value());
    dict.set_item("requests", PyArray1::from_iter(py, counts))?;
    Ok(dict)
}
