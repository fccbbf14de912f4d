//! Captures of Ready/Busy pins by logic analysers.
//!
//! [`read`] detects the format of a file and calls a [`Listener`] for every change of a channel, in
//! constant memory. [`Folding`] is the listener that collects the durations of busy pulses.
//! [`VcdWriter`] writes a capture. [`Sampler`] converts exact edges into the edges that an analyser
//! with a finite sampling rate records.

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
