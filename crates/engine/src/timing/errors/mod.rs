//! Raw bit errors of reads: their rate by wear and retention, and their correction.

mod correction;
mod params;
mod rates;

pub use correction::Correction;
pub use params::Errors;
pub use rates::Rates;
use serde::{Deserialize, Serialize};

/// Reads that were tried again, or that no try corrected, by what they were for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadErrors {
    /// Further tries, by the index of [`ReadFor`].
    pub retries: [u64; 3],
    /// Reads that the last try did not correct, by the index of [`ReadFor`].
    pub uncorrectable: [u64; 3],
}

impl ReadErrors {
    /// Counts of both together.
    #[must_use]
    pub fn plus(mut self, other: &ReadErrors) -> Self {
        self.retries.iter_mut().zip(other.retries).for_each(|(own, its)| *own += its);
        self.uncorrectable.iter_mut().zip(other.uncorrectable).for_each(|(own, its)| *own += its);
        self
    }
}

/// Purpose of a read of flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFor {
    /// A request of the host, or the rest of a page that is written in part.
    Host,
    /// A page that is copied, whatever for.
    Copies,
    /// An entry of the mapping table.
    Mapping,
}

impl ReadFor {
    /// All purposes, in the order of their indices.
    pub const ALL: [ReadFor; 3] = [ReadFor::Host, ReadFor::Copies, ReadFor::Mapping];

    /// Name of it in results.
    pub fn name(self) -> &'static str {
        match self {
            ReadFor::Host => "host",
            ReadFor::Copies => "copies",
            ReadFor::Mapping => "mapping",
        }
    }
}
