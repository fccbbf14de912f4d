//! Interface of victim policies that are written in other languages.

use std::fmt;

use crate::error::Result;
use crate::faults::{Answer, Hook};
use crate::flash::Geometry;

/// Factory of a custom victim policy: builds one instance for each drive.
pub trait VictimSource: fmt::Debug + Send + Sync {
    /// Name with parameters. A saved state is restored only under the same name.
    fn name(&self) -> &str;

    /// Builds the policy for a drive.
    fn build(
        &self,
        geometry: &Geometry,
        logical_pages: u32,
        seed: u64,
    ) -> Result<Box<dyn VictimCalls>>;
}

/// Methods that are called while a drive runs.
pub trait VictimCalls: Send {
    /// Chooses the next victim, and returns its index in `candidates`.
    fn choose(&mut self, candidates: &Candidates) -> Answer<i64>;

    /// Name of a method in the policy's own language, for error messages.
    fn word(&self, hook: Hook) -> &'static str;

    /// Saves all data that changes during a run.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores the bytes of [`Self::save`] into an instance built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}

/// Candidates of a collection domain: closed blocks in order of closing, in columns.
#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    /// Number of each candidate block.
    pub blocks: &'a [u32],
    /// Number of invalid pages of each block.
    pub invalid_pages: &'a [u32],
    /// Clock when each block closed.
    pub closed_at: &'a [u64],
    /// Clock when each block last changed: when it closed, or when one of its pages last became
    /// invalid after that.
    pub changed_at: &'a [u64],
    /// Current clock: host pages written.
    pub now: u64,
}
