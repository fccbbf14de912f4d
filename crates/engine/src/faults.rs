//! Faults of policies that are written in other languages.
//! A fault says where the policy was asked, and why it did not answer.
//!
//! Nothing that such a policy answers is believed: what is no stream, or no candidate, is a [`Fault`].

use std::fmt;
use std::sync::Arc;

/// A question that a policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// [`crate::placements::PlacementCalls::host_stream`].
    Write,
    /// [`crate::placements::PlacementCalls::on_victim`].
    Victim,
    /// [`crate::placements::PlacementCalls::migration_streams`].
    Migrate,
    /// [`crate::placements::PlacementCalls::forget`].
    Trim,
    /// [`crate::victims::VictimCalls::choose`].
    Choose,
}

/// The answer of a policy, or why there is none.
pub type Answer<T> = std::result::Result<T, Failure>;

/// The reason why a policy does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The predicate of a sentence on it: what it did instead.
    pub what: String,
    /// The page that it was asked of, where only it knows that.
    pub page: Option<u32>,
    /// The error where the policy is written.
    pub cause: Option<Cause>,
}

/// An error of another language; equal to itself only.
#[derive(Debug, Clone)]
pub struct Cause(pub Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cause {}

/// A policy that ended a run, and where the run was then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the policy.
    pub policy: String,
    /// Question at which it failed, in its own words.
    pub hook: &'static str,
    /// Host pages written before.
    pub host_pages: u64,
    /// The page that it was asked of, if of one.
    pub page: Option<u32>,
    /// Description of the fault, as the predicate of a sentence.
    pub what: String,
    /// The error where the policy is written.
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
    /// A failure without an error of another language.
    pub fn of(what: String) -> Self {
        Failure { what, page: None, cause: None }
    }
}
