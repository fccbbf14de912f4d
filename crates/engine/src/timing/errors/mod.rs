//! Bit errors of reads: their rate by wear and retention, and their correction.

mod correction;
mod params;
mod rates;

pub use correction::Correction;
pub use params::Errors;
pub use rates::Rates;
use serde::{Deserialize, Serialize};

/// Retries and uncorrectable reads, by purpose of the read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReadErrors {
    /// Retries, indexed by [`ReadFor`].
    pub retries: [u64; 3],
    /// Uncorrectable reads, indexed by [`ReadFor`].
    pub uncorrectable: [u64; 3],
}

impl ReadErrors {
    /// Sum of the counts for all purposes.
    #[must_use]
    pub fn plus(mut self, other: &ReadErrors) -> Self {
        self.retries.iter_mut().zip(other.retries).for_each(|(own, its)| *own += its);
        self.uncorrectable.iter_mut().zip(other.uncorrectable).for_each(|(own, its)| *own += its);
        self
    }
}

/// Purpose of a flash read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFor {
    /// Read for the host: requested data, or the rest of a page that the host writes only in
    /// part.
    Host,
    /// Read of a page that is copied, for any cause.
    Copies,
    /// Read of a page of the mapping table.
    Mapping,
}

impl ReadFor {
    /// All purposes, in order of their indices.
    pub const ALL: [ReadFor; 3] = [ReadFor::Host, ReadFor::Copies, ReadFor::Mapping];

    /// Name of the purpose in results.
    pub fn name(self) -> &'static str {
        match self {
            ReadFor::Host => "host",
            ReadFor::Copies => "copies",
            ReadFor::Mapping => "mapping",
        }
    }
}
