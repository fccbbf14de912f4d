//! Interface of placements that are written in other languages.

use std::fmt;

use super::{HostPage, Sizes, Victim};
use crate::error::Result;
use crate::faults::{Answer, Hook};
use crate::hints::RequiredHints;

/// Factory of a custom placement: builds one instance for each drive.
pub trait PlacementSource: fmt::Debug + Send + Sync {
    /// Name with parameters. A saved state is restored only under the same name.
    fn name(&self) -> &str;

    /// Spec of the default victim policy.
    fn victims(&self) -> &str;

    /// Kind of hint that the host must provide.
    fn required_hints(&self) -> RequiredHints;

    /// Builds the placement for a drive.
    fn build(&self, sizes: &Sizes) -> Result<Box<dyn PlacementCalls>>;
}

/// Streams of a placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomStreams {
    /// Number of streams, numbered from 0.
    pub all: usize,
    /// Streams that may receive migrated pages.
    pub migration: Vec<usize>,
}

/// Methods that are called while a drive runs.
pub trait PlacementCalls: Send {
    /// Streams, which never change.
    fn streams(&self) -> CustomStreams;

    /// Stream of a page that the host writes.
    fn host_stream(&mut self, page: &HostPage) -> Answer<i64>;

    /// Called when a victim is chosen.
    /// [`Self::migration_streams`] is then called for its valid pages.
    fn on_victim(&mut self, victim: &Victim) -> Answer<()>;

    /// Appends the stream of each valid page of a victim to `streams`, in the order of the pages.
    fn migration_streams(
        &mut self,
        pages: &[u32],
        victim: &Victim,
        streams: &mut Vec<i64>,
    ) -> Answer<()>;

    /// Called when the host trims a page that held data.
    fn forget(&mut self, logical: u32) -> Answer<()>;

    /// Name of a method in the placement's own language, for error messages.
    fn word(&self, hook: Hook) -> &'static str;

    /// Prefetches the data that [`Self::host_stream`] uses.
    fn prefetch(&self, _logical: u32) {}

    /// Memory of the tables, in bytes.
    fn bytes(&self) -> u64;

    /// Saves all data that changes during a run.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the bytes of [`Self::save`] into an instance built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}
