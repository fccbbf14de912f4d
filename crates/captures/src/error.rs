//! Error type of the crate.
//!
//! Every message is a sentence that says what was wrong, where, and what is valid.

use std::fmt;
use std::io;
use std::path::Path;

/// Place in a file: a line, a byte, or none in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Place unknown.
    Whole,
    /// In a line, counted from 1.
    Line(u64),
    /// At a byte, counted from 0.
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
    /// The file is none that can be read, or is damaged.
    #[error("{}{place} {what}", file.as_deref().unwrap_or("the capture"))]
    Capture {
        /// The file, once it is known.
        file: Option<String>,
        /// Place in the file.
        place: Place,
        /// Sentence that says what is wrong, and what is valid.
        what: String,
    },
    /// A setting outside its domain, of the writer or the sampler, or an edge out of order.
    #[error("{0}")]
    Setting(String),
    /// The listener asked for it.
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

    /// Names the file of an error that names none yet.
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

/// Text of a file as an error quotes it: on one line, and cut where it would fill a page.
pub fn quoted(text: &[u8]) -> String {
    const SHOWN_CHARACTERS: usize = 40;
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim_end().chars().take(SHOWN_CHARACTERS).collect();
    format!("{shown:?}")
}
