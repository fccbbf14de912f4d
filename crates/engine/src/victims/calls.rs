//! Victim policies that are written in other languages, as the engine calls them.

use std::fmt;

use crate::error::Result;
use crate::faults::{Answer, Hook};
use crate::flash::Geometry;

/// A victim policy that drives can be built with, each with one of its own.
pub trait VictimSource: fmt::Debug + Send + Sync {
    /// Name of the policy, with its parameters: a state is of no other.
    fn name(&self) -> &str;

    /// Makes one for a drive.
    fn build(
        &self,
        geometry: &Geometry,
        logical_pages: u32,
        seed: u64,
    ) -> Result<Box<dyn VictimCalls>>;
}

/// Questions that a victim policy is asked while a drive runs.
pub trait VictimCalls: Send {
    /// The place of the next victim among `candidates`.
    fn choose(&mut self, candidates: &Candidates) -> Answer<i64>;

    /// Name of a hook where the policy is written.
    fn word(&self, hook: Hook) -> &'static str;

    /// Saves all of it that changes as a drive is driven.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores what [`Self::save`] returned, into one that was built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}

/// Candidates: closed blocks, in the order in which they closed, a column for each property.
/// They are those of a part of the drive that collects for itself.
#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    /// Number of each block.
    pub blocks: &'a [u32],
    /// Its invalid pages.
    pub invalid_pages: &'a [u32],
    /// The clock when it closed.
    pub closed_at: &'a [u64],
    /// The clock when it closed or last lost a page, whichever is later.
    pub changed_at: &'a [u64],
    /// The clock: host pages written.
    pub now: u64,
}
