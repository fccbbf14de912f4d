//! Python bindings of the engine: conversion of arguments and results only.
#![allow(clippy::too_many_arguments)] // Python's keyword arguments are positional here
#![allow(clippy::needless_pass_by_value)] // as the binding macros hand them over

mod allocation;
mod capture_writer;
mod captures;
mod columns;
mod counters;
mod custom;
mod drive;
mod endurance;
mod errors;
mod interruptible;
mod meanfield;
mod raised;
mod registries;
mod simulation;
mod specs;
mod timed;

use pyo3::prelude::*;

/// The engine.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::allocation::divide;
    #[pymodule_export]
    use super::capture_writer::PyCaptureWriter;
    #[pymodule_export]
    use super::captures::read_capture;
    #[pymodule_export]
    use super::columns::{PageSet, kept};
    #[pymodule_export]
    use super::custom::{PyCandidates, PyVictim};
    #[pymodule_export]
    use super::drive::{Drive, EarlierHost, Load, PyGeometry};
    #[pymodule_export]
    use super::endurance::Endurance;
    #[pymodule_export]
    use super::meanfield::MeanField;
    #[pymodule_export]
    use super::registries::{candidates, declared, default_victims, entries, kind_of};
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::specs::{parse, scaled_policy, scaled_workload, split_parameters, split_specs};
    #[pymodule_export]
    use super::timed::{PyTimedDevice, PyTimedRun, check_times, pages_apart, pages_with_table};

    use pyo3::prelude::*;
    use writeamp_engine as engine;
    use writeamp_engine::flash::Cause;
    use writeamp_engine::processor::Lanes;

    use super::errors::WriteampError;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let causes: Vec<&str> = Cause::WITHOUT_TIME.iter().map(|cause| cause.name()).collect();
        module.add("CAUSES", causes)?;
        let all: Vec<&str> = Cause::ALL.iter().map(|cause| cause.name()).collect();
        module.add("TIMED_CAUSES", all)?;
        module.add("DEFAULT_BATCH_PAGES", engine::simulation::DEFAULT_BATCH_PAGES)?;
        module.add("MOST_TAGS", engine::hints::MOST_TAGS)?;
        module.add("UNTAGGED", engine::hints::UNTAGGED)?;
        module.add("MOST_EVENTS", engine::observe::MOST_CHANGES)?;
        module.add("SIMD", Lanes::limited().map_err(WriteampError::new_err)?.name())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
