//! Error type of the crate: a sentence for the user and an errno for the protocol.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// An error of the drive.
#[derive(Debug, Clone)]
pub struct Error {
    /// Sentence on the error for the user.
    pub sentence: String,
    /// Value of `errno.h` that the host receives.
    pub errno: i32,
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the error of an invalid request or setting.
    pub fn invalid(sentence: impl Into<String>) -> Self {
        Error { sentence: sentence.into(), errno: libc::EINVAL }
    }

    /// Returns the error of an internal fault.
    pub fn fault(sentence: impl Into<String>) -> Self {
        Error { sentence: sentence.into(), errno: libc::EIO }
    }

    /// Returns the error of a damaged file.
    pub fn damaged(path: &Path, why: impl Display) -> Self {
        Error { sentence: format!("{}: {why}", path.display()), errno: libc::EIO }
    }

    /// Returns the error of an intact file that belongs to another drive.
    pub fn of_another_drive(path: &Path) -> Self {
        Error::damaged(path, "this file belongs to another drive than the data")
    }

    /// Returns the error of a failed file operation.
    pub fn io(path: &Path, what: &str, error: &io::Error) -> Self {
        let sentence = format!("{}: cannot {what}: {error}", path.display());
        Error { sentence, errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}

impl Display for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {}

impl From<writeamp_engine::Error> for Error {
    fn from(error: writeamp_engine::Error) -> Self {
        let errno = match error {
            writeamp_engine::Error::OutOfMemory { .. } => libc::ENOMEM,
            _ => libc::EIO,
        };
        Error { sentence: error.to_string(), errno }
    }
}
