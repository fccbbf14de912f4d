//! Victim policies: each chooses from a list of candidates by its definition; one file each.
//!
//! Every policy on the engine's list has a twin here. Its module has the name of the policy, and
//! its type has the name of the engine's type.

mod cost_benefit;
mod cost_hotness;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

use writeamp_engine::rng::Stream;

use crate::spec::{Spec, is_module_of};

/// Victim policy: chooses the closed block to collect next.
pub(super) trait Rule: Send {
    fn read(spec: &Spec) -> Self
    where
        Self: Sized;

    /// Returns the index of the victim in `candidates`, which is not empty.
    fn choose(&self, candidates: &[Candidate], random: &mut Stream) -> usize;
}

/// Closed block, in its state when the victim is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Number of the block.
    pub number: u32,
    pub valid_pages: u32,
    pub invalid_pages: u32,
    /// Moment when the block closed, counted in changes of blocks (closes and invalidations).
    pub closed: u64,
    /// Moment of the block's last change, on the same count: its close, or the last invalidation
    /// of a page.
    pub changed: u64,
    /// Host pages written since it last changed.
    pub age: u64,
    /// Host pages written since it closed.
    pub age_from_close: u64,
    /// Sum of the writes of its valid pages.
    pub writes: u64,
    /// Sum of the ages of its valid pages: host pages written since the last write of each.
    pub ages: u64,
}

macro_rules! twins {
    ({$spec:expr} $($module:ident::$twin:ident),+ $(,)?) => {
        $(if is_module_of(stringify!($module), $spec) {
            return Box::new($module::$twin::read($spec));
        })+
    };
}

/// Returns the rule of the policy that `spec` names.
pub(super) fn rule(spec: &Spec) -> Box<dyn Rule> {
    writeamp_engine::victim_policies!(twins! { spec });
    panic!("unknown victim policy '{}'", spec.name)
}
