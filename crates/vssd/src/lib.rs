//! Virtual SSD: bytes that a host reads and writes, and a simulated flash drive beneath.
//!
//! Data lie in memory or in a file ([`data`]); the flash drive behind them ([`books`]) is the engine's,
//! driven one request at a time. With a file, both outlive the process, however it ends: requests go
//! to a journal ([`journal`]), and a snapshot of the flash now and then makes the journal short
//! ([`store`]). A seal behind the data ([`seal`]) and checksums of pages tell files of other drives, of
//! other moments and damaged ones. Whatever speaks a protocol to hosts (`crates/nbdkit`) calls [`Drive`].

#![warn(missing_docs)]

pub mod books;
mod bus_error;
pub mod cell;
pub mod clocked;
pub mod config;
pub mod control;
pub mod data;
mod drive;
mod edges;
mod error;
mod files;
mod flash;
mod held;
pub mod journal;
mod journaling;
mod label;
mod mapping;
mod private;
pub mod record;
mod report;
pub mod seal;
mod serialized;
mod space;
pub mod store;
mod sums;

pub use config::Config;
pub use drive::Drive;
pub use error::{Error, Result};
