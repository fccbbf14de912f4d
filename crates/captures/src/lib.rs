//! Captures of Ready/Busy pins, as logic analysers write them.
//!
//! [`read`] finds the format by a file's content and tells a [`Listener`] of every change of every
//! channel, in memory that does not grow with the file. [`Folding`] is the listener that keeps the
//! durations of the low pulses. [`VcdWriter`] writes a capture, and [`Sampler`] turns exact edges
//! into those that an analyser of a finite rate would have recorded.

mod capture;
mod error;
mod folding;
mod formats;
mod histogram;
mod pulses;
mod saleae_binary;
mod saleae_csv;
mod sampling;
mod seconds;
mod sigrok_csv;
mod sigrok_session;
mod source;
mod timeline;
mod vcd_header;
mod vcd_reader;
mod vcd_writer;

pub use capture::{Ending, Format, Header, Level, Listener, MOST_CHANNELS};
pub use error::{Error, Result};
pub use folding::{Channel, Folding};
pub use formats::read;
pub use histogram::{Bin, Durations};
pub use pulses::{BRIDGED_BELOW_PS, Tally};
pub use sampling::{Edge, Sampler, Sampling};
pub use timeline::{BUCKETS, Timeline};
pub use vcd_writer::VcdWriter;
