//! Victim policies behind a pointer: for drives that are watched, where a policy that is compiled
//! into the loop would gain nothing.

use super::{Census, VictimPolicy, Visitor, with_policy};
use crate::error::{Error, Result};
use crate::flash::{Blocks, Geometry};
use crate::rng::Stream;
use crate::state::{State, state};
use crate::write_history::WriteHistory;

/// Builds the policy that `text` names.
pub fn boxed_policy(text: &str, geometry: &Geometry) -> Result<Boxed> {
    struct Boxing;

    impl Visitor for Boxing {
        type Output = Boxed;

        fn visit<V: VictimPolicy>(self, policy: V) -> Result<Boxed> {
            Ok(Boxed::of(policy))
        }
    }

    with_policy(text, geometry, Boxing)
}

impl Boxed {
    /// A policy that stands in no registry.
    pub fn of(policy: impl VictimPolicy) -> Self {
        Boxed(Box::new(policy))
    }
}

/// [`VictimPolicy`] without what a trait object cannot have.
pub trait BoxedPolicy: Send + State {
    fn weighs_history(&self) -> bool;
    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64);
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64);
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64);
    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32>;
    fn failure(&mut self) -> Option<Error>;
    fn forget(&mut self, block: u32, invalid_pages: u32);
    fn check(&self, census: &mut Census) -> Result<()>;
    fn clone_box(&self) -> Box<dyn BoxedPolicy>;
}

impl<V: VictimPolicy> BoxedPolicy for V {
    fn weighs_history(&self) -> bool {
        VictimPolicy::weighs_history(self)
    }

    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64) {
        VictimPolicy::weigh(self, history, blocks, now);
    }

    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64) {
        VictimPolicy::on_close(self, block, invalid_pages, now);
    }

    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64) {
        VictimPolicy::on_invalidate(self, block, invalid_pages, now);
    }

    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32> {
        VictimPolicy::choose(self, blocks, now, random)
    }

    fn failure(&mut self) -> Option<Error> {
        VictimPolicy::failure(self)
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        VictimPolicy::forget(self, block, invalid_pages);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        VictimPolicy::check(self, census)
    }

    fn clone_box(&self) -> Box<dyn BoxedPolicy> {
        Box::new(self.clone())
    }
}

/// A policy behind a pointer, as a policy. (The box itself must not become a [`BoxedPolicy`], so it
/// stands in a type of its own.)
pub struct Boxed(Box<dyn BoxedPolicy>);

state!(Boxed { part 0 });

impl Clone for Boxed {
    fn clone(&self) -> Self {
        Boxed(self.0.clone_box())
    }
}

impl VictimPolicy for Boxed {
    const WEIGHS_HISTORY: bool = true;

    fn weighs_history(&self) -> bool {
        self.0.weighs_history()
    }

    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64) {
        self.0.weigh(history, blocks, now);
    }

    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.0.on_close(block, invalid_pages, now);
    }

    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.0.on_invalidate(block, invalid_pages, now);
    }

    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32> {
        self.0.choose(blocks, now, random)
    }

    fn failure(&mut self) -> Option<Error> {
        self.0.failure()
    }

    fn forget(&mut self, block: u32, invalid_pages: u32) {
        self.0.forget(block, invalid_pages);
    }

    fn check(&self, census: &mut Census) -> Result<()> {
        self.0.check(census)
    }
}
