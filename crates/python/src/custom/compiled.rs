//! A placement whose methods are compiled by Numba.
//!
//! The engine calls machine code instead of Python. `writeamp.custom.compiled` makes the
//! functions with these signatures. Each function receives a record with the placement's
//! attributes. If a function raises an exception, it returns [`FAILED`]. The call is then repeated
//! in interpreted Python, which raises the exception with a traceback.

#![allow(unsafe_code)]

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use writeamp_engine::Result;
use writeamp_engine::faults::{Answer, Failure, Hook};
use writeamp_engine::flash::prefetch_address;
use writeamp_engine::hints::RequiredHints;
use writeamp_engine::placements::{CustomStreams, PlacementCalls};
use writeamp_engine::placements::{HostPage, Victim};

use super::interpreted::{PyVictim, never_or, streams_of};
use super::{Heed, SavedObject, failure, whole, word};

/// Return value of a function that raised an exception.
const FAILED: i64 = i64::MIN;

/// A [`Victim`] in the layout of the compiled functions.
#[repr(C)]
struct VictimFields {
    stream: i64,
    opened: i64,
    now: i64,
}

impl VictimFields {
    fn of(victim: &Victim) -> Self {
        VictimFields {
            stream: victim.stream.cast_signed() as i64,
            opened: victim.opened.cast_signed(),
            now: victim.now.cast_signed(),
        }
    }
}

type OnWrite = unsafe extern "C" fn(state: *mut u8, page: i64, now: i64, hint: i64) -> i64;
type OnCollect = unsafe extern "C" fn(state: *mut u8, victim: *const VictimFields) -> i64;
type OnMigrate =
    unsafe extern "C" fn(state: *mut u8, page: i64, victim: *const VictimFields) -> i64;
type OnTrim = unsafe extern "C" fn(state: *mut u8, page: i64) -> i64;

pub struct Compiled {
    object: SavedObject,
    streams: CustomStreams,
    required_hints: RequiredHints,
    /// Address of the record, which stays valid as long as the instance in `object` lives.
    state: *mut u8,
    on_write: OnWrite,
    on_migrate: OnMigrate,
    on_collect: Option<OnCollect>,
    on_trim: Option<OnTrim>,
    /// Addresses of the tables with one number per page, and the bytes per number.
    tables: Vec<(*const u8, usize)>,
    heed: Heed,
}

// SAFETY: only the drive of this placement uses the record while it runs, and the functions do not
// depend on the thread.
unsafe impl Send for Compiled {}

/// Address of a compiled function, or 0 if the placement has no such method.
fn address(instance: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let functions = instance.getattr("functions")?;
    functions.call_method1("get", (name, 0))?.extract()
}

impl Compiled {
    pub fn new(
        object: SavedObject,
        instance: &Bound<'_, PyAny>,
        required_hints: RequiredHints,
    ) -> PyResult<Self> {
        let state: Bound<'_, PyArray1<u8>> = instance.getattr("memory")?.cast_into()?;
        let state = state.data();
        let tables: Vec<(usize, usize)> = instance.getattr("page_tables")?.extract()?;
        let (write, migrate) = (address(instance, "on_write")?, address(instance, "on_migrate")?);
        let (collect, trim) = (address(instance, "on_collect")?, address(instance, "on_trim")?);
        if write == 0 || migrate == 0 {
            return Err(PyRuntimeError::new_err(
                "the placement lacks on_write or on_migrate; it must have both methods",
            ));
        }
        // SAFETY: the addresses are of functions with these signatures, compiled by
        // `writeamp.custom.compiled`; the instance keeps them alive.
        let (on_write, on_migrate, on_collect, on_trim) = unsafe {
            (
                std::mem::transmute::<usize, OnWrite>(write),
                std::mem::transmute::<usize, OnMigrate>(migrate),
                std::mem::transmute::<usize, Option<OnCollect>>(collect),
                std::mem::transmute::<usize, Option<OnTrim>>(trim),
            )
        };
        Ok(Compiled {
            object,
            streams: streams_of(instance)?,
            required_hints,
            state,
            on_write,
            on_migrate,
            on_collect,
            on_trim,
            tables: tables
                .into_iter()
                .map(|(offset, stride)| (state.cast_const().wrapping_add(offset), stride))
                .collect(),
            heed: Heed::default(),
        })
    }

    /// Returns the failure with Python's exception.
    ///
    /// Python repeats the call on the same state of the placement to raise the exception.
    #[cold]
    fn explained<'py>(
        &self,
        py: Python<'py>,
        hook: Hook,
        arguments: impl IntoPyObject<'py>,
    ) -> Failure {
        let instance = self.object.instance.bind(py);
        match instance.call_method1("again", (word(hook), arguments)) {
            Err(error) => failure(py, error),
            Ok(answer) => whole(&answer).err().unwrap_or_else(|| {
                Failure::of(
                    "the compiled method failed, but the same call in Python did not".into(),
                )
            }),
        }
    }

    /// Regular check for Ctrl-C. It is needed because compiled code does not take Python's lock.
    fn heed(&mut self) -> Answer<()> {
        if self.heed.is_due() {
            return Python::attach(Heed::look);
        }
        Ok(())
    }
}

impl PlacementCalls for Compiled {
    fn streams(&self) -> CustomStreams {
        self.streams.clone()
    }

    #[inline]
    fn host_stream(&mut self, page: &HostPage) -> Answer<i64> {
        let hint = match self.required_hints {
            RequiredHints::Nothing => 0,
            RequiredHints::Groups | RequiredHints::Handles => i64::from(page.group),
            RequiredHints::InvalidationTimes => never_or(page.invalidation_time),
        };
        let (logical, now) = (i64::from(page.logical), page.now.cast_signed());
        // SAFETY: the function has this signature, and the record belongs to this placement.
        let stream = unsafe { (self.on_write)(self.state, logical, now, hint) };
        if stream == FAILED {
            return Err(Python::attach(|py| match self.required_hints {
                RequiredHints::Nothing => self.explained(py, Hook::Write, (logical, now)),
                _ => self.explained(py, Hook::Write, (logical, now, hint)),
            }));
        }
        Ok(stream)
    }

    fn on_victim(&mut self, victim: &Victim) -> Answer<()> {
        let Some(on_collect) = self.on_collect else { return Ok(()) };
        let fields = VictimFields::of(victim);
        // SAFETY: as in `host_stream`; the victim outlives the call.
        let done = unsafe { on_collect(self.state, &raw const fields) };
        if done == FAILED {
            let victim = PyVictim::of(victim);
            return Err(Python::attach(|py| self.explained(py, Hook::Victim, (victim,))));
        }
        Ok(())
    }

    fn migration_streams(
        &mut self,
        pages: &[u32],
        victim: &Victim,
        streams: &mut Vec<i64>,
    ) -> Answer<()> {
        self.heed()?;
        let fields = VictimFields::of(victim);
        streams.reserve(pages.len());
        for &page in pages {
            // SAFETY: as in `on_victim`.
            let stream =
                unsafe { (self.on_migrate)(self.state, i64::from(page), &raw const fields) };
            if stream == FAILED {
                let arguments = (page, PyVictim::of(victim));
                let failure = Python::attach(|py| self.explained(py, Hook::Migrate, arguments));
                return Err(Failure { page: Some(page), ..failure });
            }
            streams.push(stream);
        }
        Ok(())
    }

    fn forget(&mut self, logical: u32) -> Answer<()> {
        let Some(on_trim) = self.on_trim else { return Ok(()) };
        // SAFETY: as in `host_stream`.
        let done = unsafe { on_trim(self.state, i64::from(logical)) };
        if done == FAILED {
            return Err(Python::attach(|py| self.explained(py, Hook::Trim, (logical,))));
        }
        Ok(())
    }

    fn word(&self, hook: Hook) -> &'static str {
        word(hook)
    }

    #[inline]
    fn prefetch(&self, logical: u32) {
        for &(first, stride) in &self.tables {
            prefetch_address(first.wrapping_add(logical as usize * stride));
        }
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
