//! Victim policies: which closed block is collected next. One file each.
//!
//! To add one, write its file and add a line to `victim_policies!` below. The command line, the
//! documentation, the conformance tests and the naive drive find it there.

mod bag;
mod boxed;
mod buckets;
mod by_close;
mod calls;
mod census;
mod choice;
mod cost_benefit;
mod cost_hotness;
mod custom;
mod d_choices;
mod fifo;
mod greedy;
mod lines;
mod random;
mod windowed_greedy;

pub use bag::Bag;
pub use boxed::{Boxed, Compiling, boxed_policy};
pub use calls::{Candidates, VictimCalls, VictimSource};
pub use census::Census;
pub use choice::IntoVictims;
pub use custom::CustomVictims;

use crate::error::{Error, Result};
use crate::flash::{Blocks, Geometry, Score};
use crate::registry::{Registered, Registry, dispatch, entries};
use crate::rng::Stream;
use crate::state::State;
use crate::write_history::WriteHistory;

/// Chooses victims among the closed blocks of one collection domain: the drive, or one LUN.
///
/// The drive reports changes of blocks to the policy. Times are counted in host page writes.
pub trait VictimPolicy: Clone + Send + State + 'static {
    /// True if the policy tracks pages that become invalid ([`Self::on_invalidate`]).
    const TRACKS_PAGES: bool = true;
    /// True if the policy may use the write history of candidates ([`Self::weigh`]).
    const USES_WRITE_HISTORY: bool = false;

    /// True if this instance uses the write history of pages; only then does the drive record it.
    fn uses_write_history(&self) -> bool {
        Self::USES_WRITE_HISTORY
    }

    /// Adds the closing `block` as a candidate, with `invalid_pages` already invalid.
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64);

    /// Called when a page of `block` became invalid; the block, which may be open, now has
    /// `invalid_pages`. Drives without an observer call it only for policies that track pages.
    #[inline(always)]
    fn on_invalidate(&mut self, _block: u32, _invalid_pages: u32, _now: u64) {}

    /// Updates the candidates from the write history of their pages, just before a choice.
    fn weigh(&mut self, _history: &WriteHistory, _blocks: &Blocks, _now: u64) {}

    /// Chooses a candidate and removes it. Returns None without candidates, or after a failure.
    /// `blocks` has the invalid pages of all blocks of the drive.
    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32>;

    /// Name of the number that the policy compares between blocks, such as "invalid pages"; may
    /// be empty.
    fn measure(&self) -> &'static str {
        ""
    }

    /// Scores of the candidates that the policy would compare now.
    /// The score of its choice comes first, and is the highest. Called only for observers.
    fn scores(&self, _situation: &Situation) -> Vec<Score> {
        Vec::new()
    }

    /// Removes and returns the error of the last choice, if that choice failed.
    fn failure(&mut self) -> Option<Error> {
        None
    }

    /// Removes `block`, a candidate with `invalid_pages` that is collected without being chosen.
    fn forget(&mut self, block: u32, invalid_pages: u32);

    /// Counts every candidate in `census`, which checks that a restored policy has the right
    /// ones.
    fn check(&self, census: &mut Census) -> Result<()>;

    /// Prefetches the data that [`Self::on_invalidate`] changes.
    #[inline(always)]
    fn prefetch(&self, _block: u32) {}

    /// Prefetches the data that [`Self::choose`] uses.
    /// Returns the candidate that it would choose now, if that costs little.
    #[inline(always)]
    fn prefetch_choice(&self) -> Option<u32> {
        None
    }
}

/// State in which a victim is about to be chosen.
pub struct Situation<'a> {
    /// Block records, with invalid pages and the order of changes.
    pub blocks: &'a Blocks,
    /// Clock of the drive: host pages written.
    pub now: u64,
    /// Copy of the random stream that the choice uses.
    pub random: Stream,
    /// Write history of the pages, if the drive keeps one.
    pub history: Option<&'a WriteHistory>,
}

/// Sorts scores, the highest first. Equal scores keep their order.
pub fn ranked(mut scores: Vec<Score>) -> Vec<Score> {
    scores.sort_by(|left, right| right.score.total_cmp(&left.score));
    scores
}

/// Scores of queued blocks: for each block, the number of blocks that follow it in the queue.
pub fn by_place<'a>(queue: impl ExactSizeIterator<Item = &'a u32>) -> Vec<Score> {
    let behind = (0..queue.len() as u32).rev().map(f64::from);
    queue.zip(behind).map(|(&block, score)| Score { block, score }).collect()
}

/// Function that is called with a victim policy, and compiled separately for each policy
/// type.
pub trait Visitor {
    /// Type that the function returns.
    type Output;

    /// Calls the function with the policy.
    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output>;
}

/// Passes the list of all victim policies, each as `module::Type`, to another macro.
/// The naive drive (a simple second implementation for tests) has a type and a module of the same
/// names.
#[macro_export]
macro_rules! victim_policies {
    ($then:ident! $with:tt) => {
        $then! { $with
            greedy::Greedy,
            fifo::Fifo,
            random::Random,
            d_choices::DChoices,
            windowed_greedy::WindowedGreedy,
            cost_benefit::CostBenefit,
            cost_hotness::CostHotness,
        }
    };
}

/// All registered victim policies.
pub static VICTIMS: Registry = Registry {
    name: "victims",
    noun: "victim policy",
    plural: "victim policies",
    entries: crate::victim_policies!(entries! { Registered<Geometry> }),
    absent: &[],
};

/// Builds the policy of spec `text` and passes it to `visitor`.
pub fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output> {
    let params = VICTIMS.read(text)?;
    crate::victim_policies!(dispatch! {
        Registered<Geometry>, params, Policy => visitor.visit(Policy::build(&params, geometry)?)
    })
}
