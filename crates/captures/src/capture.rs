//! Captures of any format: named channels and their changes over time.

use crate::error::{Error, Result};

/// The most channels of a capture: many times what analysers have, and little memory.
pub const MOST_CHANNELS: usize = 4096;

/// Level of a channel: low, high or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Logic 0.
    Low,
    /// Logic 1.
    High,
    /// VCD's x and z: the analyser did not know.
    Unknown,
}

impl Level {
    /// The level of a bit.
    #[inline]
    pub fn of(high: bool) -> Self {
        if high { Level::High } else { Level::Low }
    }
}

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Value Change Dump, IEEE 1364.
    Vcd,
    /// A session of sigrok, version 2: a zip file of samples.
    SigrokSession,
    /// sigrok's CSV: a line for each sample.
    SigrokCsv,
    /// Saleae Logic 2's CSV: a line for each change.
    SaleaeCsv,
    /// Saleae Logic 2's binary export, version 0: a file for each channel.
    SaleaeBinary,
}

impl Format {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Vcd => "vcd",
            Format::SigrokSession => "sigrok-session",
            Format::SigrokCsv => "sigrok-csv",
            Format::SaleaeCsv => "saleae-csv",
            Format::SaleaeBinary => "saleae-binary",
        }
    }
}

/// Header of a capture: its format, its channels and its resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The format that was found.
    pub format: Format,
    /// Names of the channels, by which changes count them from 0.
    pub channels: Vec<String>,
    /// The sampling period, or the unit of time where only that is known; in picoseconds, and
    /// `None` where the file says neither.
    pub resolution_ps: Option<u64>,
}

impl Header {
    pub(crate) fn new(
        format: Format,
        channels: Vec<String>,
        resolution_ps: Option<u64>,
    ) -> Result<Self> {
        match channels.len() {
            0 => Err(Error::whole("it has no channel; at least one is needed")),
            found @ 1..=MOST_CHANNELS => {
                debug_assert_eq!(found, channels.len());
                Ok(Header { format, channels, resolution_ps })
            }
            found => Err(Error::whole(format!(
                "it has {found} channels; at most {MOST_CHANNELS} are read"
            ))),
        }
    }
}

/// Summary of a capture that has been read: its span, and whether it was cut short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    /// The first moment of the capture.
    pub start_ps: u64,
    /// The last.
    pub end_ps: u64,
    /// The last line or record was not whole, and was left out.
    pub cut_tail: bool,
    /// Times that were no whole picoseconds, and were cut to them.
    pub rounded_times: u64,
}

/// Receiver of the events of a capture while it is read.
pub trait Listener {
    /// Takes the channels, before any change.
    fn start(&mut self, header: &Header) -> Result<()>;

    /// Sets a channel to a level from a time on. The first change of a channel is what it began
    /// with. Times of one channel never fall; those of several may, because some formats have a
    /// file for each.
    fn change(&mut self, time_ps: u64, channel: usize, level: Level);

    /// Reports the bytes of the file that have been read; an error ends the reading.
    fn progress(&mut self, bytes: u64) -> Result<()>;
}
