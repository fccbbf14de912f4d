//! Faults of policies that are written in other languages, such as Python.
//! A fault states which method of the policy was called, and why it failed.
//!
//! Every returned value is checked: an invalid stream or a block that is not a candidate is a
//! [`Fault`].

use std::fmt;
use std::sync::Arc;

/// Method of a custom policy, which an error message names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Method [`crate::placements::PlacementCalls::host_stream`] of a placement.
    Write,
    /// Method [`crate::placements::PlacementCalls::on_victim`] of a placement.
    Victim,
    /// Method [`crate::placements::PlacementCalls::migration_streams`] of a placement.
    Migrate,
    /// Method [`crate::placements::PlacementCalls::forget`] of a placement.
    Trim,
    /// Method [`crate::victims::VictimCalls::choose`] of a victim policy.
    Choose,
}

/// Value returned by a custom policy, or its failure.
pub type Answer<T> = std::result::Result<T, Failure>;

/// Failure of a custom policy's method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Description of the failure, as the predicate of a sentence about the policy.
    pub what: String,
    /// Page that the method was handling, if only the policy can name it.
    pub page: Option<u32>,
    /// Original error of the other language.
    pub cause: Option<Cause>,
}

/// Error of another language. It compares equal only to itself.
#[derive(Debug, Clone)]
pub struct Cause(pub Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cause {}

/// Failure of a policy that ended a run, with the position of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the policy that failed.
    pub policy: String,
    /// Method that failed, by its name in the other language.
    pub hook: &'static str,
    /// Host pages written before the failure.
    pub host_pages: u64,
    /// Page that the method was handling, if any.
    pub page: Option<u32>,
    /// Description of the fault, as the predicate of a sentence about the policy.
    pub what: String,
    /// Original error of the other language.
    pub cause: Option<Cause>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { policy, hook, host_pages, page, what, .. } = self;
        let page = page.map(|page| format!("page {page}, ")).unwrap_or_default();
        write!(f, "{hook} of {policy} {what} ({page}after {host_pages} host pages written)")
    }
}

impl Failure {
    /// Builds a failure without an original error.
    pub fn of(what: String) -> Self {
        Failure { what, page: None, cause: None }
    }
}
