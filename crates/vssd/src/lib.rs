//! Virtual SSD: bytes that a host reads and writes, and a simulated flash drive beneath.
//!
//! Whatever speaks a protocol to hosts (`crates/nbdkit`) calls [`Drive`]. Its data lie in memory or in a
//! file (`data`); the flash drive behind them (`flash`) is the engine's, driven one request at a time.
//! With a file, both outlive the process, however it ends (`kept`): requests go to a journal, and a
//! snapshot of the flash now and then makes the journal short.

#![warn(missing_docs)]

pub mod config;
pub mod control;
mod data;
mod drive;
mod error;
mod files;
mod flash;
mod held;
mod kept;
pub mod record;

pub use config::Config;
pub use drive::Drive;
pub use error::{Error, Result};

// What tests of the files look at.
pub use files::cell;
pub use flash::clocked;
pub use kept::{seal, segment};
