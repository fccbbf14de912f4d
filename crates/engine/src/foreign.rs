//! Policies that are written elsewhere: what the engine asks of them, and how a fault of theirs ends
//! a run.
//!
//! The engine knows no language but its own. Whoever binds another implements [`PlacementCalls`] or
//! [`VictimCalls`] for what is written there, and says in [`Foreign`] that a drive is to work by it.
//! Nothing that such a policy answers is believed: what is no stream, or no candidate, is a [`Fault`].

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::flash::Geometry;
use crate::hints::Hears;
use crate::placements::{HostPage, Sizes, Victim};

/// The policies of a drive that are written elsewhere; none by default.
#[derive(Debug, Clone, Default)]
pub struct Foreign {
    /// The placement, in the place of the block manager.
    pub placement: Option<Arc<dyn PlacementSource>>,
    /// The victim policy.
    pub victims: Option<Arc<dyn VictimSource>>,
}

/// A placement that drives can be built with, each with one of its own.
pub trait PlacementSource: fmt::Debug + Send + Sync {
    /// What it is called, with its parameters: a state is of no other.
    fn name(&self) -> &str;

    /// The spec of the victim policy that it works by, unless another is asked for.
    fn victims(&self) -> &str;

    /// What the host must tell it.
    fn hears(&self) -> Hears;

    /// Makes one for a drive.
    fn build(&self, sizes: &Sizes) -> Result<Box<dyn PlacementCalls>>;
}

/// A victim policy that drives can be built with, each with one of its own.
pub trait VictimSource: fmt::Debug + Send + Sync {
    /// What it is called, with its parameters: a state is of no other.
    fn name(&self) -> &str;

    /// Makes one for a drive.
    fn build(
        &self,
        geometry: &Geometry,
        logical_pages: u32,
        seed: u64,
    ) -> Result<Box<dyn VictimCalls>>;
}

/// The streams of a placement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignStreams {
    /// How many there are, numbered from 0.
    pub all: usize,
    /// Those that may get migrated pages.
    pub migration: Vec<usize>,
}

/// What a placement is asked while a drive runs.
pub trait PlacementCalls: Send {
    /// Its streams, which never change.
    fn streams(&self) -> ForeignStreams;

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

    /// What a hook is called where the placement is written.
    fn word(&self, hook: Hook) -> &'static str;

    /// Fetches what [`Self::host_stream`] will touch.
    fn prefetch(&self, _logical: u32) {}

    /// Bytes of its tables.
    fn bytes(&self) -> u64;

    /// All of it that changes as a drive is driven.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores what [`Self::save`] returned, into one that was built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}

/// What a victim policy is asked while a drive runs.
pub trait VictimCalls: Send {
    /// The place of the next victim among `candidates`.
    fn choose(&mut self, candidates: &Candidates) -> Answer<i64>;

    /// What a hook is called where the policy is written.
    fn word(&self, hook: Hook) -> &'static str;

    /// All of it that changes as a drive is driven.
    fn save(&self) -> Result<Vec<u8>>;

    /// Restores what [`Self::save`] returned, into one that was built in the same way.
    fn restore(&mut self, bytes: &[u8]) -> Result<()>;
}

/// The closed blocks of a part of the drive that collects for itself, in the order in which they
/// closed: a column for each property.
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

/// Where a policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// [`PlacementCalls::host_stream`].
    Write,
    /// [`PlacementCalls::on_victim`].
    Victim,
    /// [`PlacementCalls::migration_streams`].
    Migrate,
    /// [`PlacementCalls::forget`].
    Trim,
    /// [`VictimCalls::choose`].
    Choose,
}

/// What a policy answers, or why it does not.
pub type Answer<T> = std::result::Result<T, Failure>;

/// Why a policy does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it did instead, as the predicate of a sentence.
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
    /// What the policy is called.
    pub policy: String,
    /// Where it was asked, in its own words.
    pub hook: &'static str,
    /// Host pages written before.
    pub host_pages: u64,
    /// The page that it was asked of, if of one.
    pub page: Option<u32>,
    /// What it did, as the predicate of a sentence.
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

impl Fault {
    /// The error of a policy called so, which failed where it was asked of a page, or of none.
    pub(crate) fn error(
        policy: &str,
        hook: &'static str,
        (host_pages, page): (u64, Option<u32>),
        failure: Failure,
    ) -> Error {
        let Failure { what, page: own, cause } = failure;
        let page = page.or(own);
        Error::Foreign(Box::new(Fault {
            policy: policy.to_owned(),
            hook,
            host_pages,
            page,
            what,
            cause,
        }))
    }
}

impl Failure {
    /// A failure without an error of another language.
    pub fn of(what: String) -> Self {
        Failure { what, page: None, cause: None }
    }
}
