//! A page-mapped flash drive in memory, and the policies that decide its write amplification.
//!
//! The engine is deterministic and does no I/O: it reads no files and no clock. The only environment
//! variables that it reads limit its vector instructions ([`processor`]) and change no result. It
//! starts no threads. A run has one seed, and the same seed gives the same counters on every machine.
//!
//! A drive is built from a [`managers::Setup`] under a block manager, and a
//! [`simulation::Simulation`] drives it:
//!
//! ```
//! use writeamp_engine::flash::Geometry;
//! use writeamp_engine::managers::{self, Setup};
//! use writeamp_engine::simulation::{DEFAULT_BATCH_PAGES, Simulation};
//! use writeamp_engine::workloads::{self, Context};
//!
//! let setup = Setup::new(Geometry::flat(512, 64)?).op(0.15).victims("greedy");
//! let logical_pages = setup.logical_pages;
//! let drive = managers::build("sepgc", setup)?;
//! let workload = workloads::build("hot-cold:f=0.2,r=0.8", logical_pages, Context::root(1))?;
//! let mut run = Simulation::new(drive, workload, DEFAULT_BATCH_PAGES)?;
//! run.fill(0, logical_pages)?;
//! run.run(200_000)?;
//! let before = *run.counters();
//! run.run(100_000)?;
//! let written_pages = run.counters().host.written_pages - before.host.written_pages;
//! let wa = (run.counters().flash_pages() - before.flash_pages()) as f64 / written_pages as f64;
//! assert!((2.0..5.0).contains(&wa), "{wa}");
//! # Ok::<(), writeamp_engine::Error>(())
//! ```
//!
//! [`managers::build_with`] accepts your own placements and victim policies.
//!
//! The modules, from the bottom up:
//! - [`flash`]: mechanism. Pages, blocks, the logical→physical map, counters, invariants.
//! - [`victims`]: choice of the block to collect, one file per policy.
//! - [`leveling`]: which block takes the wear, one file per wear leveller.
//! - [`request`]: host requests.
//! - [`hints`], [`foresight`] and [`detectors`]: information from the host about its pages, and
//!   information that a drive obtains itself.
//! - [`page_set`]: the set of pages that a trace writes, and their order.
//! - [`write_history`]: how often and when pages were written, for policies that use it.
//! - [`mod@placements`]: where each page goes, one file per scheme.
//! - [`faults`]: failures of policies that are written in other languages.
//! - [`managers`]: when collection runs, and where its pages go.
//! - [`workloads`]: which pages the host writes, one file per generator.
//! - [`observe`]: time series, logs and recordings of a run.
//! - [`spec`], [`params`] and [`registry`]: entries that specs can name, and their parameters.
//! - [`catalogue`]: all registries.
//! - [`simulation`]: a workload that drives a drive.
//! - [`state`]: saved runs, which continue after a restore as if they had not been interrupted.
//! - [`endurance`]: drives that are driven until they are worn out.
//! - [`timing`]: the times of operations, and devices in virtual time.
//! - [`meanfield`]: the limit of many blocks, without a simulation.

#![warn(missing_docs)]

pub mod catalogue;
pub mod detectors;
pub mod endurance;
pub mod error;
pub mod faults;
pub mod flash;
pub mod foresight;
pub mod hints;
pub mod leveling;
mod links;
pub mod managers;
pub mod meanfield;
pub mod observe;
pub mod page_set;
pub mod params;
pub mod placements;
pub mod processor;
pub mod registry;
pub mod request;
pub mod rng;
pub mod simulation;
pub mod spec;
pub mod state;
pub mod timing;
pub mod victims;
pub mod workloads;
pub mod write_history;

pub use error::{Error, OutOfDomain, Result, UnknownName};
