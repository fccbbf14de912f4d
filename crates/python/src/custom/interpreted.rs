//! A placement with interpreted Python methods.

use numpy::PyArray1;
use pyo3::prelude::*;
use writeamp_engine::Result;
use writeamp_engine::faults::{Answer, Failure, Hook};
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::placements::{CustomStreams, PlacementCalls};
use writeamp_engine::placements::{HostPage, Victim};

use super::{Heed, SavedObject, failure, whole, word};

/// A block that is collected.
///
/// Attributes: its `stream`, the clock when it was `opened`, and the clock `now`.
#[pyclass(frozen, get_all, name = "Victim", module = "writeamp._engine")]
pub struct PyVictim {
    stream: usize,
    opened: u64,
    now: u64,
}

#[pymethods]
impl PyVictim {
    #[new]
    #[pyo3(signature = (*, stream, opened, now))]
    fn new(stream: usize, opened: u64, now: u64) -> Self {
        PyVictim { stream, opened, now }
    }

    fn __repr__(&self) -> String {
        let PyVictim { stream, opened, now } = self;
        format!("Victim(stream={stream}, opened={opened}, now={now})")
    }
}

impl PyVictim {
    pub fn of(victim: &Victim) -> Self {
        PyVictim { stream: victim.stream, opened: victim.opened, now: victim.now }
    }
}

/// Bound methods of an instance.
pub struct Interpreted {
    object: SavedObject,
    streams: CustomStreams,
    required_hints: RequiredHints,
    on_write: Py<PyAny>,
    on_migrate: Py<PyAny>,
    on_migrate_all: Option<Py<PyAny>>,
    on_collect: Option<Py<PyAny>>,
    on_trim: Option<Py<PyAny>>,
    heed: Heed,
}

/// Numbers of streams that an instance declares.
pub fn streams_of(instance: &Bound<'_, PyAny>) -> PyResult<CustomStreams> {
    let all = instance.getattr("streams")?.extract()?;
    let migration = instance.getattr("migration_streams")?.extract()?;
    Ok(CustomStreams { all, migration })
}

impl Interpreted {
    pub fn new(
        object: SavedObject,
        instance: &Bound<'_, PyAny>,
        required_hints: RequiredHints,
    ) -> PyResult<Self> {
        let hook = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let method = instance.getattr("hooks")?.call_method1("get", (name,))?;
            Ok((!method.is_none()).then(|| method.unbind()))
        };
        let always = |name: &str| {
            hook(name).map(|method| method.expect("every placement has on_write and on_migrate"))
        };
        Ok(Interpreted {
            object,
            streams: streams_of(instance)?,
            required_hints,
            on_write: always("on_write")?,
            on_migrate: always("on_migrate")?,
            on_migrate_all: hook("on_migrate_all")?,
            on_collect: hook("on_collect")?,
            on_trim: hook("on_trim")?,
            heed: Heed::default(),
        })
    }

    /// Calls the method once for all valid pages of a victim.
    fn migrate_all(
        py: Python<'_>,
        on_migrate_all: &Py<PyAny>,
        pages: &[u32],
        victim: PyVictim,
        streams: &mut Vec<i64>,
    ) -> Answer<()> {
        let pages = PyArray1::from_iter(py, pages.iter().map(|&page| i64::from(page)));
        let answers = on_migrate_all.bind(py).call1((pages, victim));
        let answers = answers.and_then(|answers| answers.try_iter());
        for answer in answers.map_err(|error| failure(py, error))? {
            streams.push(whole(&answer.map_err(|error| failure(py, error))?)?);
        }
        Ok(())
    }
}

impl PlacementCalls for Interpreted {
    fn streams(&self) -> CustomStreams {
        self.streams.clone()
    }

    fn host_stream(&mut self, page: &HostPage) -> Answer<i64> {
        Python::attach(|py| {
            self.heed.now_and_then(py)?;
            let on_write = self.on_write.bind(py);
            let answer = match self.required_hints {
                RequiredHints::Nothing => on_write.call1((page.logical, page.now)),
                RequiredHints::Groups | RequiredHints::Handles => {
                    on_write.call1((page.logical, page.now, page.group))
                }
                RequiredHints::InvalidationTimes => {
                    on_write.call1((page.logical, page.now, never_or(page.invalidation_time)))
                }
            };
            whole(&answer.map_err(|error| failure(py, error))?)
        })
    }

    fn on_victim(&mut self, victim: &Victim) -> Answer<()> {
        let Some(on_collect) = &self.on_collect else { return Ok(()) };
        Python::attach(|py| {
            let result = on_collect.bind(py).call1((PyVictim::of(victim),));
            result.map(drop).map_err(|error| failure(py, error))
        })
    }

    fn migration_streams(
        &mut self,
        pages: &[u32],
        victim: &Victim,
        streams: &mut Vec<i64>,
    ) -> Answer<()> {
        Python::attach(|py| {
            self.heed.now_and_then(py)?;
            let victim = PyVictim::of(victim);
            if let Some(on_migrate_all) = &self.on_migrate_all {
                return Self::migrate_all(py, on_migrate_all, pages, victim, streams);
            }
            let victim = Bound::new(py, victim).map_err(|error| failure(py, error))?;
            let on_migrate = self.on_migrate.bind(py);
            for &page in pages {
                let answer = on_migrate.call1((page, &victim));
                let answer = answer.map_err(|error| failure(py, error)).and_then(|it| whole(&it));
                let of_page = |failure| Failure { page: Some(page), ..failure };
                streams.push(answer.map_err(of_page)?);
            }
            Ok(())
        })
    }

    fn forget(&mut self, logical: u32) -> Answer<()> {
        let Some(on_trim) = &self.on_trim else { return Ok(()) };
        Python::attach(|py| {
            self.heed.now_and_then(py)?;
            on_trim.bind(py).call1((logical,)).map(drop).map_err(|error| failure(py, error))
        })
    }

    fn word(&self, hook: Hook) -> &'static str {
        let all_at_once = hook == Hook::Migrate && self.on_migrate_all.is_some();
        if all_at_once { "on_migrate_all" } else { word(hook) }
    }

    fn bytes(&self) -> u64 {
        self.object.bytes()
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.object.save()
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        self.object.restore(bytes)
    }
}

/// Converts an invalidation time for Python: unknown times become `writeamp.NEVER`, the
/// greatest signed number.
pub fn never_or(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
