//! Victim policies: which closed block is collected next. One file each.
//!
//! To add one, write its file and add its line to `victims!` below; the command line, the
//! documentation and the conformance tests find it there.

mod bag;
mod boxed;
mod buckets;
mod census;
mod cost_benefit;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

pub use bag::Bag;
pub use boxed::{Boxed, boxed_policy};
pub use census::Census;

use crate::error::{Error, Result};
use crate::flash::Geometry;
use crate::rng::Stream;
use crate::spec::{Entry, Param, Params, Spec, entries};
use crate::state::State;

/// Chooses victims among the closed blocks of one collection domain: the drive, or one LUN.
///
/// The drive tells the policy what happens to blocks; times are counted in host page writes.
pub trait VictimPolicy: Clone + Send + State + 'static {
    /// `block` filled up with `invalid_pages` invalid already, and is a candidate from now on.
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64);

    /// A page of `block`, which may still be open, was invalid; `invalid_pages` are now.
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64);

    /// Chooses a candidate and forgets it; `None` if there is none. `invalid_pages` is that of
    /// every block of the drive.
    fn choose(&mut self, invalid_pages: &[u32], now: u64, random: &mut Stream) -> Option<u32>;

    /// Forgets `block`, a candidate with `invalid_pages` that is collected without being chosen.
    fn forget(&mut self, block: u32, invalid_pages: u32);

    /// Counts every candidate, to check a policy that was restored.
    fn check(&self, census: &mut Census) -> Result<()>;

    /// Fetches what [`Self::on_invalidate`] will touch.
    #[inline(always)]
    fn prefetch(&self, _block: u32) {}
}

/// What a registered policy says of itself, and how it is built.
pub trait Registered: VictimPolicy + Sized {
    const NAME: &'static str;
    const SUMMARY: &'static str;
    const PARAMS: &'static [Param];
    const EXAMPLE: &'static str;

    fn build(params: &Params, geometry: &Geometry) -> Result<Self>;
}

/// A continuation that is generic over the policy, so that the hot loop is compiled for each.
pub trait Visitor {
    type Output;

    fn visit<V: VictimPolicy>(self, policy: V) -> Result<Self::Output>;
}

macro_rules! victims {
    ($($policy:ty),+ $(,)?) => {
        /// Every registered policy.
        pub const ENTRIES: &[Entry] = entries!(Registered: $($policy),+);

        /// Builds the policy that `text` names and hands it to `visitor`.
        pub fn with_policy<W: Visitor>(text: &str, geometry: &Geometry, visitor: W) -> Result<W::Output> {
            let spec = Spec::parse("victim policy", text)?;
            let (entry, params) = spec.resolve("victim policy", ENTRIES)?;
            $(if entry.name == <$policy>::NAME {
                return visitor.visit(<$policy>::build(&params, geometry)?);
            })+
            Err(Error::unknown("victim policy", &spec.name, &[]))
        }
    };
}

victims! {
    greedy::Greedy,
    fifo::Fifo,
    random::Random,
    d_choices::DChoices,
    windowed_greedy::WindowedGreedy,
    cost_benefit::CostBenefit,
}
