//! Error type of the crate.
//!
//! Every message is one sentence with the fault, its position in the file, and the valid values.

use std::fmt;
use std::io;
use std::path::Path;

/// Position in a file: a line, a byte, or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Unknown position.
    Whole,
    /// Number of the line, counted from 1.
    Line(u64),
    /// Offset of the byte, counted from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => write!(f, ":"),
            Place::Line(line) => write!(f, ":{line}:"),
            Place::Byte(byte) => write!(f, ", byte {byte}:"),
        }
    }
}

/// Error of reading or writing a capture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file has an unknown format, or is damaged.
    #[error("{}{place} {what}", file.as_deref().unwrap_or("the capture"))]
    Capture {
        /// Path of the file, if it has been set.
        file: Option<String>,
        /// Position in the file.
        place: Place,
        /// The fault and the valid values.
        what: String,
    },
    /// An invalid setting of the writer or the sampler, or an edge out of order.
    #[error("{0}")]
    Setting(String),
    /// The listener cancelled the reading.
    #[error("the reading was cancelled")]
    Cancelled,
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn whole(what: impl Into<String>) -> Self {
        Error::at(Place::Whole, what)
    }

    pub(crate) fn line(line: u64, what: impl Into<String>) -> Self {
        Error::at(Place::Line(line), what)
    }

    pub(crate) fn byte(byte: u64, what: impl Into<String>) -> Self {
        Error::at(Place::Byte(byte), what)
    }

    fn at(place: Place, what: impl Into<String>) -> Self {
        Error::Capture { file: None, place, what: what.into() }
    }

    /// Sets the path of the file if the error has none.
    pub(crate) fn of_file(self, path: &Path) -> Self {
        match self {
            Error::Capture { file: None, place, what } => {
                Error::Capture { file: Some(path.display().to_string()), place, what }
            }
            named => named,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::whole(format!("cannot read it: {error}"))
    }
}

/// Quotes text of a file for an error: on one line, truncated if it is long.
pub fn quoted(text: &[u8]) -> String {
    const SHOWN_CHARACTERS: usize = 40;
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim_end().chars().take(SHOWN_CHARACTERS).collect();
    format!("{shown:?}")
}
