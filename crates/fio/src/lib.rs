//! Addresses that fio 3.33 draws, as its source and its logs of I/O show them.
//!
//! The crate models fio's random generators, distributions and maps of written blocks, and the
//! `sprandom` of fio 3.41. It reads no job and runs no I/O.

mod copy;
mod divisor;
mod job;
mod lfsr;
mod map;
mod places;
mod random;
mod same_block;
mod seeds;
mod skew;
mod sprandom;

pub use copy::Copy;
pub use divisor::common_divisor;
pub use job::{Direction, Generator, Io, Job, Mode, Seeding, Strides};
pub use places::Distribution;
pub use random::{Random, Taus88, Taus258};
pub use same_block::SameBlock;
pub use skew::{FIRST_RANKS, Kind, NUMBERS, Skew, parts_of_page};
pub use sprandom::Sprandom;
