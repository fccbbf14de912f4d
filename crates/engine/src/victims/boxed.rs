//! Victim policies behind a pointer, where a separate compilation for each policy would not
//! be faster. This is the case on drives with an observer, and for policies that are not notified
//! of invalid pages or that use write histories.

use super::{Census, Situation, VictimPolicy, Visitor, with_policy};
use crate::error::{Error, Result};
use crate::flash::{Blocks, Geometry, Score};
use crate::rng::Stream;
use crate::state::{Reader, State, Writer};
use crate::write_history::WriteHistory;

/// Builds the policy of spec `text`.
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

/// Visitor that passes on a policy, either boxed or with its own type.
/// Loops are compiled separately only for policies that track pages and use no write history.
pub struct Compiling<W>(pub W);

impl<W: Visitor> Visitor for Compiling<W> {
    type Output = W::Output;

    fn visit<V: VictimPolicy>(self, policy: V) -> Result<W::Output> {
        if V::USES_WRITE_HISTORY {
            self.0.visit(Boxed::<true>::of(policy))
        } else if V::TRACKS_PAGES {
            self.0.visit(policy)
        } else {
            self.0.visit(Boxed::<false>::of(policy))
        }
    }
}

impl<const PAGES: bool> Boxed<PAGES> {
    /// Boxes a policy, which may be in the registry or not.
    pub fn of(policy: impl VictimPolicy) -> Self {
        Boxed(Box::new(policy))
    }
}

/// [`VictimPolicy`] as a trait object, without constants and generic methods.
pub trait BoxedPolicy: Send + State {
    fn uses_write_history(&self) -> bool;
    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64);
    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64);
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64);
    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32>;
    fn measure(&self) -> &'static str;
    fn scores(&self, situation: &Situation) -> Vec<Score>;
    fn failure(&mut self) -> Option<Error>;
    fn forget(&mut self, block: u32, invalid_pages: u32);
    fn check(&self, census: &mut Census) -> Result<()>;
    fn clone_box(&self) -> Box<dyn BoxedPolicy>;
}

impl<V: VictimPolicy> BoxedPolicy for V {
    fn uses_write_history(&self) -> bool {
        VictimPolicy::uses_write_history(self)
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

    fn measure(&self) -> &'static str {
        VictimPolicy::measure(self)
    }

    fn scores(&self, situation: &Situation) -> Vec<Score> {
        VictimPolicy::scores(self, situation)
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

/// Policy behind a pointer.
/// The box itself must not implement [`BoxedPolicy`], so it has a type of its own. If `PAGES` is
/// false, the policy tracks only blocks and is not called when a page becomes invalid.
pub struct Boxed<const PAGES: bool = true>(Box<dyn BoxedPolicy>);

impl<const PAGES: bool> State for Boxed<PAGES> {
    fn save(&self, to: &mut Writer) {
        self.0.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> Result<()> {
        self.0.restore(from)
    }
}

impl<const PAGES: bool> Clone for Boxed<PAGES> {
    fn clone(&self) -> Self {
        Boxed(self.0.clone_box())
    }
}

impl<const PAGES: bool> VictimPolicy for Boxed<PAGES> {
    const TRACKS_PAGES: bool = PAGES;
    const USES_WRITE_HISTORY: bool = PAGES;

    fn uses_write_history(&self) -> bool {
        self.0.uses_write_history()
    }

    fn weigh(&mut self, history: &WriteHistory, blocks: &Blocks, now: u64) {
        self.0.weigh(history, blocks, now);
    }

    fn on_close(&mut self, block: u32, invalid_pages: u32, now: u64) {
        self.0.on_close(block, invalid_pages, now);
    }

    #[inline(always)]
    fn on_invalidate(&mut self, block: u32, invalid_pages: u32, now: u64) {
        if PAGES {
            self.0.on_invalidate(block, invalid_pages, now);
        }
    }

    fn choose(&mut self, blocks: &Blocks, now: u64, random: &mut Stream) -> Option<u32> {
        self.0.choose(blocks, now, random)
    }

    fn measure(&self) -> &'static str {
        self.0.measure()
    }

    fn scores(&self, situation: &Situation) -> Vec<Score> {
        self.0.scores(situation)
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
