//! The one error type.
//! Every message is a sentence that says what was wrong and what is valid.

use std::fmt::{self, Display, Formatter};

use crate::faults::{Failure, Fault};

/// Error of building or driving a drive, a policy or a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name of a policy, workload, parameter or word that nobody knows.
    #[error("{0}")]
    UnknownName(Box<UnknownName>),
    /// A value that its parameter cannot have.
    #[error("{0}")]
    OutOfDomain(Box<OutOfDomain>),
    /// A spec that cannot be read, or values that do not go together.
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
    /// The run was cancelled on request.
    #[error("the run was cancelled")]
    Cancelled,
}

/// A name that is not among the valid ones.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownName {
    /// Kind of thing that was asked for, as in "victim policy".
    pub what: String,
    /// Name that was given.
    pub name: String,
    /// Names that there are.
    pub valid: Vec<String>,
}

impl UnknownName {
    /// The valid name that is most like the one that was given, if one is.
    pub fn nearest(&self) -> Option<&str> {
        let scored =
            self.valid.iter().map(|known| (strsim::jaro_winkler(&self.name, known), known));
        let alike = scored.filter(|(score, _)| *score > 0.7);
        alike.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, known)| &**known)
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

/// A value outside the domain of what it was given for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfDomain {
    /// Entry of a registry whose parameter it is, if it is one.
    pub entry: Option<String>,
    /// Name of the parameter, as it was given.
    pub name: String,
    /// Value that was given.
    pub value: String,
    /// Values that are valid, in words.
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
    /// An unknown name: lists what is valid and the nearest match.
    pub fn unknown(what: &str, name: &str, valid: &[&str]) -> Self {
        let valid = valid.iter().map(|&known| known.to_owned()).collect();
        Error::UnknownName(Box::new(UnknownName {
            what: what.to_owned(),
            name: name.to_owned(),
            valid,
        }))
    }

    /// A value of a setting that is not in its domain, which the words after "it must be" say.
    pub(crate) fn outside(name: &str, value: impl Display, domain: impl Display) -> Self {
        Self::out_of_domain(None, name, value, domain)
    }

    /// A value that is not in its domain, of a parameter of an entry if one is named.
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
