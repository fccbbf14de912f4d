//! Virtual SSD: bytes that a host reads and writes, and a simulated flash drive beneath.
//!
//! A server of a protocol (`crates/nbdkit`) calls [`Drive`]. The data are in memory or in a file
//! (`data`). The flash drive behind them (`flash`) is the engine's and takes one request at a time.
//! With a file, data and flash survive the end of the process (`kept`): requests go to a journal,
//! and snapshots of the flash keep the journal short.

#![warn(missing_docs)]

#[cfg(not(target_os = "linux"))]
compile_error!("the virtual SSD needs Linux; elsewhere, build the package writeamp-python alone");

mod allocation_bitmap;
pub mod config;
pub mod control;
mod data;
mod drive;
mod error;
mod files;
mod flash;
mod kept;
pub mod record;

pub use config::Config;
pub use drive::Drive;
pub use error::{Error, Result};

// These names are public only for tests of the files.
pub use files::cell;
pub use flash::timed;
pub use kept::{seal, segment};
