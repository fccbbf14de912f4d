//! Timing of operations: channels, chips, dies and planes, caches, and the host.
//! The block managers decide the flash operations; this module assigns their times.

mod checks;
mod device;
mod disk;
mod domains;
mod errors;
mod events;
mod extent;
mod hinted;
mod host;
mod late;
mod lru;
mod map_cache;
mod measures;
mod nand;
mod params;
mod raid0;
mod schedule;
mod server;
mod slab;
mod slc;
mod ssd;
mod tables;
mod window;
mod write_cache;

pub use device::{BlockDevice, Busy, Completion, Edge, IoRequest, Ran, SlcWear};
pub use disk::{Disk, DiskOrder, DiskProfile, DiskTimes};
pub use errors::{Errors, ReadErrors, ReadFor};
pub use host::{Limits, TimedRun};
pub use late::{Shift, TagShift};
pub use measures::{Direction, Measures, Row, Served};
pub use params::{
    Arbitration, Array, Bus, ByKind, Collection, Dispatch, Interface, MapCache, PlaneReads,
    Program, Refresh, SECTOR_BYTES, Scheduling, Timing, WriteCache, ns_of_us, transfer_ns,
};
pub use raid0::{Member, Raid0};
pub use slc::{Slc, WhenFull};
pub use ssd::Ssd;
pub use window::Window;

#[cfg(test)]
mod tests;
