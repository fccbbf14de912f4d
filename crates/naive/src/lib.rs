//! Slow, simple flash drive, the reference for tests of `writeamp-engine`.
//!
//! It stores as little as possible, and computes the rest on every call. The list of physical pages
//! is the only record of the data: the page of a logical page, or the number of invalid pages of a
//! block, is a search of that list.
//!
//! It shares two things with the engine. One is `writeamp_engine::rng::Stream`, so that both draw
//! the same random numbers. The other is the lists of policies: each policy must have a twin here.
//! A test checks that this crate uses no other code of the engine.

mod drive;
mod grouping;
mod placements;
mod setup;
mod spec;
mod tags;
pub mod timed;
mod units;
mod victims;

pub use drive::{Counters, EndOfLife, Erased, NaiveDrive};
pub use setup::{GroupRules, Hint, HostGroup, Layout, Leveling, Manager, Setup, Wear};
pub use spec::Spec;
pub use tags::{TagCounts, Transfers};
pub use units::UnitDrive;
pub use victims::Candidate;
