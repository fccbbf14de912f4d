//! The victim policies, each as a sentence about a list of candidates; one file each.
//!
//! Every policy on the engine's list has a twin here: its module is called by the name of the
//! policy, and its type like the engine's.

mod cost_benefit;
mod cost_hotness;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

use writeamp_engine::rng::Stream;

use crate::spec::{Spec, is_module_of};

/// Says which closed block is collected next.
pub(super) trait Rule: Send {
    fn read(spec: &Spec) -> Self
    where
        Self: Sized;

    /// The index of the victim in `candidates`, which is not empty.
    fn choose(&self, candidates: &[Candidate], random: &mut Stream) -> usize;
}

/// A closed block, as it stands when the choice is made.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Number of the block.
    pub number: u32,
    pub valid_pages: u32,
    pub invalid_pages: u32,
    /// Time of its close, in events.
    pub closed: u64,
    /// Time of its last change, in events. That is its close, or the last time one of its pages
    /// was invalid.
    pub changed: u64,
    /// Host pages written since it last changed.
    pub age: u64,
    /// Host pages written since it closed.
    pub age_from_close: u64,
    /// The sum of the writes of its valid pages.
    pub writes: u64,
    /// The sum of the host pages written since the last write of each of them.
    pub ages: u64,
}

macro_rules! twins {
    ({$spec:expr} $($module:ident::$twin:ident),+ $(,)?) => {
        $(if is_module_of(stringify!($module), $spec) {
            return Box::new($module::$twin::read($spec));
        })+
    };
}

/// The rule of the policy that `spec` names.
pub(super) fn rule(spec: &Spec) -> Box<dyn Rule> {
    writeamp_engine::victim_policies!(twins! { spec });
    panic!("there is no victim policy '{}'", spec.name)
}
