//! Victim policies: which closed block is collected next. One file each.
//!
//! To add one, write its file and add its line to `victim_policies!` below; the command line, the
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
/// The drive tells the policy what happens to blocks; times are counted in host page writes.
pub trait VictimPolicy: Clone + Send + State + 'static {
    /// True if it hears of pages that become invalid ([`Self::on_invalidate`]).
    const HEARS_PAGES: bool = true;
    /// True if it may weigh candidates by when their pages were written ([`Self::weigh`]).
    const WEIGHS_HISTORY: bool = false;

    /// True if it does weigh them so; the drive then keeps a history.
    fn weighs_history(&self) -> bool {
        Self::WEIGHS_HISTORY
    }

    /// Adds `block` as a candidate: it filled up with `invalid_pages` invalid already.
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64);

    /// Hears that `block`, which may still be open, has lost a page: `invalid_pages` are now.
    /// Drives that are not watched say so only to policies that hear of pages.
    #[inline(always)]
    fn on_invalidate(&mut self, _block: u32, _invalid_pages: u32, _now: u64) {}

    /// Weighs the candidates by what the drive knows of their pages, just before it chooses one.
    fn weigh(&mut self, _history: &WriteHistory, _blocks: &Blocks, _now: u64) {}

    /// Chooses a candidate and forgets it; `None` if there is none, or it failed.
    /// `invalid_pages` is that of every block of the drive.
    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32>;

    /// Measure by which it chooses, in words; empty if it does not say.
    fn measure(&self) -> &'static str {
        ""
    }

    /// Scores of the candidates that it would choose among now, that of its choice first.
    /// The greatest wins. Asked only where somebody watches.
    fn scores(&self, _situation: &Situation) -> Vec<Score> {
        Vec::new()
    }

    /// Takes the failure of the last choice, if it failed.
    fn failure(&mut self) -> Option<Error> {
        None
    }

    /// Forgets `block`, a candidate with `invalid_pages` that is collected without being chosen.
    fn forget(&mut self, block: u32, invalid_pages: u32);

    /// Counts every candidate, to check a policy that was restored.
    fn check(&self, census: &mut Census) -> Result<()>;

    /// Fetches what [`Self::on_invalidate`] will touch.
    #[inline(always)]
    fn prefetch(&self, _block: u32) {}

    /// Fetches what [`Self::choose`] will touch.
    /// Returns the candidate that it would choose now, if that is cheap to say.
    #[inline(always)]
    fn prefetch_choice(&self) -> Option<u32> {
        None
    }
}

/// Situation in which a victim is about to be chosen.
pub struct Situation<'a> {
    /// The invalid pages of every block, and the order of their changes.
    pub blocks: &'a Blocks,
    /// Host pages written.
    pub now: u64,
    /// Copy of the stream that the choice draws from.
    pub random: Stream,
    /// Write history of the pages, if the drive keeps one.
    pub history: Option<&'a WriteHistory>,
}

/// Scores, the greatest first; equals stay in order.
pub fn ranked(mut scores: Vec<Score>) -> Vec<Score> {
    scores.sort_by(|one, other| other.score.total_cmp(&one.score));
    scores
}

/// Scores of queued blocks: the number of those behind each.
pub fn by_place<'a>(queue: impl ExactSizeIterator<Item = &'a u32>) -> Vec<Score> {
    let behind = (0..queue.len() as u32).rev().map(f64::from);
    queue.zip(behind).map(|(&block, score)| Score { block, score }).collect()
}

/// A continuation that is generic over the policy, so that the hot loop is compiled for each.
pub trait Visitor {
    /// Result of the continuation.
    type Output;

    /// Goes on with the policy.
    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output>;
}

/// Hands the list of victim policies to a macro, each as `module::Type`.
/// The naive drive has a twin of the same name in a module of the same name.
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

/// Every registered policy.
pub static VICTIMS: Registry = Registry {
    name: "victims",
    noun: "victim policy",
    plural: "victim policies",
    entries: crate::victim_policies!(entries! { Registered<Geometry> }),
};

/// Builds the policy that `text` names and hands it to `visitor`.
pub fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output> {
    let params = VICTIMS.read(text)?;
    crate::victim_policies!(dispatch! {
        Registered<Geometry>, params, Policy => visitor.visit(Policy::build(&params, geometry)?)
    })
}
