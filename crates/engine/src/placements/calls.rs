//! Placements that are written in other languages, as the engine calls them.

use std::fmt;

use super::{HostPage, Sizes, Victim};
use crate::error::Result;
use crate::faults::{Answer, Hook};
use crate::hints::Hears;

/// A placement that drives can be built with, each with one of its own.
pub trait PlacementSource: fmt::Debug + Send + Sync {
    /// Name of the placement, with its parameters: a state is of no other.
    fn name(&self) -> &str;

    /// The spec of the victim policy that it works by, unless another is asked for.
    fn victims(&self) -> &str;

    /// Kind of hint that the host must give it.
    fn hears(&self) -> Hears;

    /// Makes one for a drive.
    fn build(&self, sizes: &Sizes) -> Result<Box<dyn PlacementCalls>>;
}

/// The streams of a placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomStreams {
    /// Number of streams, which are numbered from 0.
    pub all: usize,
    /// Streams that may get migrated pages.
    pub migration: Vec<usize>,
}

/// Questions that a placement is asked while a drive runs.
pub trait PlacementCalls: Send {
    /// Its streams, which never change.
    fn streams(&self) -> CustomStreams;

    /// The stream of a page that the host writes.
    fn host_stream(&mut self, page: &HostPage) -> Answer<i64>;

    /// A victim has been chosen; its valid pages come next.
    fn on_victim(&mut self, victim: &Victim) -> Answer<()>;

    /// Pushes the stream of each valid page of a victim.
    fn migration_streams(
        &mut self,
        pages: &[u32],
        victim: &Victim,
        streams: &mut Vec<i64>,
    ) -> Answer<()>;

    /// The host has trimmed a page that held data.
    fn forget(&mut self, logical: u32) -> Answer<()>;

    /// Name of a hook where the placement is written.
    fn word(&self, hook: Hook) -> &'static str;

    /// Fetches what [`Self::host_stream`] will touch.
    fn prefetch(&self, _logical: u32) {}

    /// Bytes of its tables.
    fn bytes(&self) -> u64;

    /// Saves all of it that changes as a drive is driven.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores what [`Self::save`] returned, into one that was built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}
