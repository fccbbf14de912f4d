//! The slow, obvious flash drive that the tests hold `writeamp-engine` against.
//!
//! It keeps what it must and counts the rest anew on every question: the list of physical pages is
//! the only record of the data, so "where is this logical page" and "how many pages of this block
//! are invalid" are searches of that list. It shares nothing with the engine but
//! `writeamp_engine::rng::Stream`, so that both draw the same random numbers, and the lists of the
//! policies that there must be a twin of; a test holds it to that.

mod drive;
mod grouping;
mod placements;
mod setup;
mod spec;
pub mod timed;
mod victims;

pub use drive::{Counters, EndOfLife, Erased, NaiveDrive};
pub use setup::{GroupRules, Hint, HostGroup, Layout, Leveling, Manager, Setup, Wear};
pub use spec::Spec;
pub use victims::Candidate;
