//! Captures of any format: named channels and their changes over time.

use crate::error::{Error, Result};

/// Largest number of channels of a capture.
/// Analysers have far fewer, and the memory for these is small.
pub const MOST_CHANNELS: usize = 4096;

/// Level of a channel: low, high or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Logic 0.
    Low,
    /// Logic 1.
    High,
    /// Unknown: VCD's x and z.
    Unknown,
}

impl Level {
    /// Level of a binary digit: low for 0, high for 1.
    #[inline]
    pub fn of(high: bool) -> Self {
        if high { Level::High } else { Level::Low }
    }
}

/// File formats that the reader supports.
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
    /// Name of the format.
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
    /// Detected format.
    pub format: Format,
    /// Names of the channels; changes refer to them by index from 0.
    pub channels: Vec<String>,
    /// Sampling period in ps, or the file's unit of time if it states no sampling period.
    /// None if it states neither.
    pub resolution_ps: Option<u64>,
}

impl Header {
    pub(crate) fn new(
        format: Format,
        channels: Vec<String>,
        resolution_ps: Option<u64>,
    ) -> Result<Self> {
        match channels.len() {
            0 => Err(Error::whole("the capture has 0 channels; at least one is needed")),
            count @ 1..=MOST_CHANNELS => {
                debug_assert_eq!(count, channels.len());
                Ok(Header { format, channels, resolution_ps })
            }
            count => Err(Error::whole(format!(
                "the capture has {count} channels; it may have at most {MOST_CHANNELS}"
            ))),
        }
    }
}

/// Summary of a capture that has been read: its span, and whether it was cut short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ending {
    /// Start of the capture.
    pub start_ps: u64,
    /// End of the capture.
    pub end_ps: u64,
    /// True if the last line or record was incomplete, and was skipped.
    pub cut_tail: bool,
    /// Number of time stamps that were truncated to whole picoseconds.
    pub rounded_times: u64,
}

/// Receiver of the events of a capture while it is read.
pub trait Listener {
    /// Receives the header with the channels, before any change.
    fn start(&mut self, header: &Header) -> Result<()>;

    /// Sets a channel to a level from a time on.
    ///
    /// The first change of a channel is its initial level. Times do not decrease within a channel.
    /// Across channels they may, because some formats have one file for each channel.
    fn change(&mut self, time_ps: u64, channel: usize, level: Level);

    /// Receives the number of bytes read so far. If it returns an error, the reading ends.
    fn progress(&mut self, bytes: u64) -> Result<()>;
}
