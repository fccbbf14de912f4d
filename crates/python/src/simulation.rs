//! An untimed drive and its workload.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};
use writeamp_engine as engine;
use writeamp_engine::flash::{Cause, Counters, NONE, Recorder, Wear};
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::observe::{GroupChange, Life, Recording};
use writeamp_engine::timing::{Ssd, Timing};
use writeamp_engine::workloads::Schedule;
use writeamp_engine::{managers, observe};

use crate::counters::{COLUMNS, add_tag_columns, counters_dict};
use crate::drive::{Drive, EarlierHost, Load};
use crate::interruptible::interruptible;
use crate::raised::raised;

/// An untimed drive and its workload.
#[pyclass(frozen, module = "writeamp._engine")]
pub struct Simulation {
    inner: Mutex<Slot>,
    built_from: (Drive, Load, u64, usize),
}

impl Simulation {
    fn inner(&self) -> MutexGuard<'_, Slot> {
        // Another thread may run a Python policy, which waits for Python's lock. So the wait for
        // this run must not hold Python's lock.
        let locked = match self.inner.try_lock() {
            Ok(held) => Ok(held),
            Err(TryLockError::Poisoned(error)) => Err(error),
            Err(TryLockError::WouldBlock) => Python::attach(|py| self.inner.lock_py_attached(py)),
        };
        locked.expect("no thread panicked while it held this lock")
    }

    /// Runs long work without Python's lock.
    ///
    /// With an interpreted policy it keeps Python's lock, because the policy would otherwise take
    /// it for each page.
    fn long<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Slot) -> engine::Result<T> + Send,
    ) -> PyResult<T> {
        let done = if self.built_from.0.is_interpreted() {
            work(&mut self.inner())
        } else {
            py.detach(|| work(&mut self.inner()))
        };
        done.map_err(|error| raised(&error))
    }

    /// Takes the run out of this object, so that a timed device can use it.
    pub(crate) fn take(&self) -> engine::simulation::Simulation {
        self.inner().0.take().expect(TAKEN)
    }
}

/// Recorded events, each with its kind and values.
type Events = Vec<(&'static str, Vec<u32>)>;

/// For each choice of a victim: the name of the compared number, and the blocks with their
/// scores.
type Choices = Vec<(String, Vec<(u32, f64)>)>;

/// A run, or None after a timed device has taken it.
struct Slot(Option<engine::simulation::Simulation>);

const TAKEN: &str = "a timed device has taken this drive, so it cannot be used directly";

impl Deref for Slot {
    type Target = engine::simulation::Simulation;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref().expect(TAKEN)
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.as_mut().expect(TAKEN)
    }
}

fn build(
    (drive, load, seed, batch_pages): &(Drive, Load, u64, usize),
) -> engine::Result<engine::simulation::Simulation> {
    let setup = drive.setup(*seed, Wear::default());
    let built = if drive.observed {
        managers::build_observed(&drive.manager, setup, Box::new(Recorder::default()))?
    } else if drive.recorded {
        managers::build_observed(&drive.manager, setup, Box::new(Recording::default()))?
    } else {
        managers::build(&drive.manager, setup)?
    };
    engine::simulation::Simulation::new(built, load.build(*seed)?, *batch_pages)
}

#[pymethods]
impl Simulation {
    /// Creates a drive and its workload, with random streams from `seed`.
    #[new]
    #[pyo3(signature = (drive, load, *, seed, batch_pages))]
    fn new(
        py: Python<'_>,
        drive: &Drive,
        load: &Load,
        seed: u64,
        batch_pages: usize,
    ) -> PyResult<Self> {
        let built_from = (drive.clone(), load.clone(), seed, batch_pages);
        let parts = built_from.clone();
        let built = interruptible(py, move || build(&parts))?;
        let inner = Mutex::new(Slot(Some(built.map_err(|e| raised(&e))?)));
        Ok(Simulation { inner, built_from })
    }

    /// Saves the state of the run, to continue it in this process or another.
    fn save(this: Py<Self>, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let bytes = interruptible(py, move || engine::state::try_pack(&**this.get().inner()))?;
        let bytes = bytes.map_err(|error| raised(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// State of the drive without its host, with which a virtual drive can start.
    fn drive_state(this: Py<Self>, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let bytes = interruptible(py, move || engine::state::try_pack(this.get().inner().drive()))?;
        let bytes = bytes.map_err(|error| raised(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Restores the state of a run of the same drive, load and seed.
    ///
    /// If that fails, the run is unchanged.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let restored = py.detach(|| build(&self.built_from)?.restored(state));
        *self.inner() = Slot(Some(restored.map_err(|e| raised(&e))?));
        Ok(())
    }

    /// Writes logical pages `first` to `end` − 1 once, in order.
    fn fill(&self, py: Python<'_>, first: u32, end: u32) -> PyResult<()> {
        self.long(py, |run| run.fill(first, end))
    }

    /// Runs an earlier host until it has written `pages` more pages, or ends.
    ///
    /// Returns the number of pages that it has written in this call.
    fn precondition(&self, py: Python<'_>, host: &EarlierHost, pages: u64) -> PyResult<u64> {
        self.long(py, |run| run.precondition(&mut **host.workload(), pages))
    }

    /// Runs the collection of a long idle period, without virtual time.
    ///
    /// `times` is the JSON of a profile's timing tables.
    fn rest(&self, py: Python<'_>, times: &str) -> PyResult<()> {
        let timing = Timing::from_json(times).map_err(|e| raised(&e))?;
        self.long(py, |run| Ssd::rest(run.drive_mut(), &timing))
    }

    /// Starts a new series, sampled every `interval_pages` host pages.
    fn start_series(&self, interval_pages: u64) {
        self.inner().start_series(interval_pages);
    }

    /// Runs the host until it has written `pages` more pages, or its workload ends.
    ///
    /// Returns the number of pages that it has written in this call.
    fn run(&self, py: Python<'_>, pages: u64) -> PyResult<u64> {
        self.long(py, |run| run.run(pages))
    }

    /// Runs the requests before the next write, within the current pass over the trace.
    fn run_to_write(&self, py: Python<'_>) -> PyResult<()> {
        self.long(py, |run| run.run_to_write())
    }

    /// Panics if the drive's tables are inconsistent, which is a defect of the engine.
    fn assert_invariants(&self) {
        self.inner().drive().assert_invariants();
    }

    /// Cumulative counters since the drive was new.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner();
        let by_tag = inner.drive().flash().tag_counters();
        let by_tag = by_tag.as_ref().map(|tags| (tags, &Cause::WITHOUT_TIME[..]));
        counters_dict(py, inner.counters(), by_tag)
    }

    /// Samples of the time series, one column per counter.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner();
        let samples = inner.series().samples();
        let dict = PyDict::new(py);
        let column =
            |value: &dyn Fn(&Counters) -> u64| PyArray1::from_iter(py, samples.iter().map(value));
        for cause in Cause::ALL {
            dict.set_item(cause.name(), column(&|c| c.programs(cause)))?;
        }
        for (name, value) in COLUMNS {
            dict.set_item(name, column(&value))?;
        }
        let by_tag = inner.drive().flash().tag_counters();
        let rows = inner.series().tag_samples();
        let width = (rows.len() / samples.len()).max(1);
        let by_tag = by_tag.as_ref().map(|tags| (tags, &Cause::WITHOUT_TIME[..]));
        add_tag_columns(&dict, by_tag, rows.chunks_exact(width))?;
        Ok(dict)
    }

    /// Number of logical pages that hold data.
    fn mapped_pages(&self) -> u32 {
        self.inner().drive().flash().mapped_pages()
    }

    /// Recorded events and victim choices, or None if the drive is not recorded.
    ///
    /// An event has a kind and values, without unused ones. A choice has the measure of its policy,
    /// and the candidates with their scores, the chosen one first.
    fn recording(&self) -> Option<(Events, Choices)> {
        let mut inner = self.inner();
        let observer: &mut dyn Any = inner.drive_mut().observer_mut()?;
        let recording: &Recording = observer.downcast_ref()?;
        let used = |values: [u32; 3]| values.into_iter().filter(|value| *value != NONE).collect();
        let events = recording.events().iter().map(|e| (e.kind.name(), used(e.values))).collect();
        let choices = recording.choices().iter().map(|choice| {
            let scores = choice.scores.iter().map(|score| (score.block, score.score)).collect();
            (choice.measure.clone(), scores)
        });
        Some((events, choices.collect()))
    }

    /// Physical page of each logical page, or 2³²−1 without data.
    fn map<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.inner().drive().flash().map())
    }

    /// Erases of each block since the drive was new.
    fn erase_counts<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.inner().drive().flash().erase_counts())
    }

    /// Returns the page writes until the workload's last permanent change, and those of a cycle.
    ///
    /// The first number counts from the start of the workload to the last change that does not
    /// recur. The second number is the length of its longest cycle, or 0 if it has none.
    fn schedule(&self) -> (f64, f64) {
        let Schedule { last_change, cycle } = self.inner().schedule();
        (last_change, cycle)
    }

    /// Hints that the block manager needs and the workload gives, or None.
    fn hints(&self) -> Option<&'static str> {
        let required_hints = self.inner().hints();
        (required_hints != RequiredHints::Nothing).then(|| required_hints.name())
    }

    /// Bytes of the block manager's tables besides the map.
    fn scheme_bytes(&self) -> u64 {
        self.inner().drive().report().scheme_bytes
    }

    /// WA that the block manager predicts, or None without a model.
    fn predicted_wa(&self) -> Option<f64> {
        self.inner().drive().report().predicted_wa
    }

    /// Returns the lifetimes of pages that the manager has learnt, one column per property.
    ///
    /// The columns are empty if the manager does not learn.
    fn lives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lives = self.inner().drive().report().lives;
        let dict = PyDict::new(py);
        let column =
            |value: &dyn Fn(&Life) -> f64| PyArray1::from_iter(py, lives.iter().map(value));
        dict.set_item("usual_pages", column(&|life| life.usual_pages))?;
        dict.set_item("intervals", column(&|life| life.intervals.into()))?;
        dict.set_item("last_octaves", column(&|life| life.last_octaves.into()))?;
        dict.set_item("age_pages", column(&|life| life.age_pages))?;
        dict.set_item("overwritten", column(&|life| life.overwritten))?;
        dict.set_item("seen", column(&|life| life.seen))?;
        dict.set_item("rest_pages", column(&|life| life.rest_pages))?;
        Ok(dict)
    }

    /// Log of the changes of the manager's groups, one column per property.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner();
        let events = inner.drive().report().group_changes;
        let dict = PyDict::new(py);
        let column =
            |value: &dyn Fn(&GroupChange) -> u64| PyArray1::from_iter(py, events.iter().map(value));
        dict.set_item("host_pages", column(&|event| event.host_pages))?;
        dict.set_item("kind", events.iter().map(|e| e.kind.name()).collect::<Vec<_>>())?;
        dict.set_item("group", column(&|event| event.group.into()))?;
        dict.set_item("groups", column(&|event| event.groups.into()))?;
        dict.set_item("moved_blocks", column(&|event| event.kind.moved_blocks().into()))?;
        Ok(dict)
    }

    /// Number of closed blocks with each number of valid pages, from 0 on.
    fn valid_page_histogram<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, observe::valid_page_histogram(self.inner().drive().flash()))
    }
}
