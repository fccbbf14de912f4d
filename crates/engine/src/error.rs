//! The one error type: every message is a sentence that says what was wrong and what is valid.

use crate::faults::{Failure, Fault};

/// What can go wrong when a drive, a policy or a workload is built or driven.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A name or parameter that no registry knows, or a value outside its domain.
    #[error("{0}")]
    Spec(String),
    /// A geometry that cannot be built.
    #[error("{0}")]
    Geometry(String),
    /// A host request outside the logical space.
    #[error(
        "logical page {page} is off the end of the drive, which has {logical_pages} logical pages (0 to {})",
        logical_pages - 1
    )]
    OffTheEnd {
        /// Page that was asked for.
        page: u32,
        /// Logical pages of the drive.
        logical_pages: u32,
    },
    /// A victim policy under which collection never frees a page.
    #[error(
        "collection freed no page in {collections} victims in a row; a victim policy must come to \
         a block with an invalid page sooner or later"
    )]
    NeverFrees {
        /// Collections in a row without a gain.
        collections: u64,
    },
    /// An allocation that the machine refused.
    #[error("the drive needs {bytes} bytes of memory, which this machine will not give")]
    OutOfMemory {
        /// Bytes that the drive needs.
        bytes: u64,
    },
    /// Bytes that are no state of the drive to be restored.
    #[error("{0}")]
    State(String),
    /// A custom policy failed.
    #[error("{0}")]
    CustomPolicy(Box<Fault>),
    /// Someone asked for it.
    #[error("the run was cancelled")]
    Cancelled,
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An unknown name: lists what is valid and the nearest match.
    pub fn unknown(what: &str, name: &str, valid: &[&str]) -> Self {
        let nearest = valid
            .iter()
            .map(|v| (strsim::jaro_winkler(name, v), v))
            .filter(|(score, _)| *score > 0.7)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let hint = nearest.map(|(_, v)| format!(" (did you mean '{v}'?)")).unwrap_or_default();
        let list = if valid.is_empty() { "none".to_owned() } else { valid.join(", ") };
        Error::Spec(format!("unknown {what} '{name}'{hint}; valid: {list}"))
    }

    /// The error of a policy called so, which failed where it was asked of a page, or of none.
    pub(crate) fn of_policy(
        policy: &str,
        hook: &'static str,
        (host_pages, page): (u64, Option<u32>),
        failure: Failure,
    ) -> Self {
        let Failure { what, page: own, cause } = failure;
        let page = page.or(own);
        Error::CustomPolicy(Box::new(Fault {
            policy: policy.to_owned(),
            hook,
            host_pages,
            page,
            what,
            cause,
        }))
    }
}
