//! Error type of the crate: a sentence for people and a number for the protocol.

use std::fmt::Display;
use std::io;
use std::path::Path;

/// An error of the drive.
#[derive(Debug, Clone)]
pub struct Error {
    /// One sentence.
    pub sentence: String,
    /// The number of `errno.h` that a host is told.
    pub errno: i32,
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the error of a request that cannot be met.
    pub fn invalid(sentence: impl Into<String>) -> Self {
        Error { sentence: sentence.into(), errno: libc::EINVAL }
    }

    /// Returns the error of a fault inside, after which nothing can be promised.
    pub fn fault(sentence: impl Into<String>) -> Self {
        Error { sentence: sentence.into(), errno: libc::EIO }
    }

    /// Returns the error that a file does not hold what it should.
    pub fn damaged(path: &Path, why: impl Display) -> Self {
        Error { sentence: format!("{}: {why}", path.display()), errno: libc::EIO }
    }

    /// A file is whole and belongs elsewhere.
    pub fn of_another_drive(path: &Path) -> Self {
        Error::damaged(path, "this file is of another drive than the data")
    }

    /// The machine refused something about a file.
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
