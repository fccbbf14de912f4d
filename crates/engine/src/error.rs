//! Error type of the engine.
//! Each message is a sentence that states the invalid value and the valid ones.

use std::fmt::{self, Display, Formatter};

use crate::faults::{Failure, Fault};

/// Error of building or driving a drive, a policy or a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Unknown name of a policy, workload, parameter or option word.
    #[error("{0}")]
    UnknownName(Box<UnknownName>),
    /// Value outside the domain of its parameter.
    #[error("{0}")]
    OutOfDomain(Box<OutOfDomain>),
    /// Spec that cannot be parsed, or values that contradict each other.
    #[error("{0}")]
    Spec(String),
    /// A geometry that cannot be built.
    #[error("{0}")]
    Geometry(String),
    /// Host request beyond the logical space.
    #[error(
        "logical page {page} is off the end of the drive, which has {logical_pages} logical pages \
         (0 to {})",
        logical_pages - 1
    )]
    OffTheEnd {
        /// Number of the requested logical page.
        page: u32,
        /// Logical pages of the drive.
        logical_pages: u32,
    },
    /// Victim policy with which collection never frees a page.
    #[error(
        "collection freed no page with {collections} consecutive victims; the victim policy must \
         choose a block with an invalid page"
    )]
    NeverFrees {
        /// Consecutive collections that freed no page.
        collections: u64,
    },
    /// The memory of the drive could not be allocated.
    #[error(
        "the drive needs {bytes} bytes of memory, which this machine refused; use a smaller drive"
    )]
    OutOfMemory {
        /// Bytes of memory that the drive needs.
        bytes: u64,
    },
    /// Saved state that does not belong to this drive, or is damaged.
    #[error("{0}")]
    State(String),
    /// A custom policy failed.
    #[error("{0}")]
    CustomPolicy(Box<Fault>),
    /// The run was cancelled on request.
    #[error("the run was cancelled")]
    Cancelled,
}

/// A name that is not among the valid ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// Kind of the named thing, such as "victim policy".
    pub what: String,
    /// Unknown name, as given by the user.
    pub name: String,
    /// All valid names of this kind.
    pub valid: Vec<String>,
}

impl UnknownName {
    /// Valid name most similar to the unknown name, or None if none is similar.
    pub fn nearest(&self) -> Option<&str> {
        let scored = self
            .valid
            .iter()
            .map(|candidate| (strsim::jaro_winkler(&self.name, candidate), candidate));
        let similar = scored.filter(|(score, _)| *score > 0.7);
        similar.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, candidate)| &**candidate)
    }
}

impl Display for UnknownName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let UnknownName { what, name, valid } = self;
        write!(f, "unknown {what} '{name}'")?;
        if let Some(nearest) = self.nearest() {
            write!(f, " (did you mean '{nearest}'?)")?;
        }
        let list = if valid.is_empty() { "none".to_owned() } else { valid.join(", ") };
        write!(f, "; valid: {list}")
    }
}

/// Value outside the domain of its parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfDomain {
    /// Registry entry that has the parameter, or None if it is a general setting.
    pub entry: Option<String>,
    /// Name of the parameter, as the user spelled it.
    pub name: String,
    /// Invalid value of the parameter.
    pub value: String,
    /// Description of the valid values.
    pub domain: String,
}

impl Display for OutOfDomain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let OutOfDomain { entry, name, value, domain } = self;
        match entry {
            Some(entry) => write!(f, "{entry}: {name}={value} is not valid; {name} is {domain}"),
            None => write!(f, "{name} is {value}; it must be {domain}"),
        }
    }
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Builds the error for an unknown name, with the valid names and the nearest match.
    pub fn unknown(what: &str, name: &str, valid: &[&str]) -> Self {
        let valid = valid.iter().map(|&name| name.to_owned()).collect();
        Error::UnknownName(Box::new(UnknownName {
            what: what.to_owned(),
            name: name.to_owned(),
            valid,
        }))
    }

    /// Builds the error for a setting whose value is invalid.
    /// `domain` completes the sentence "it must be …".
    pub(crate) fn outside(name: &str, value: impl Display, domain: impl Display) -> Self {
        Self::out_of_domain(None, name, value, domain)
    }

    /// Builds the error for an invalid value, of a parameter of an entry if `entry` is given.
    pub(crate) fn out_of_domain(
        entry: Option<&str>,
        name: &str,
        value: impl Display,
        domain: impl Display,
    ) -> Self {
        Error::OutOfDomain(Box::new(OutOfDomain {
            entry: entry.map(str::to_owned),
            name: name.to_owned(),
            value: value.to_string(),
            domain: domain.to_string(),
        }))
    }

    /// Builds the error for a custom policy that failed.
    /// If it failed while handling a page, the error names that page.
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
