//! Files readable by their owner only: they hold data or addresses of a host.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{Error, Result};

const OWNER_ONLY: u32 = 0o600;

/// Options to write a file with owner-only permissions.
pub fn written() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(OWNER_ONLY);
    options
}

/// True if a file exists and begins with `magic`, so that it may be replaced.
pub fn begins_with(path: &Path, magic: [u8; 8]) -> Result<bool> {
    let mut head = [0; 8];
    match File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) => Ok(head == magic),
        // The file is missing or shorter than the magic bytes, so it is not one that may be
        // replaced.
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::NotFound) => {
            Ok(false)
        }
        Err(error) => Err(Error::io(path, "read it", &error)),
    }
}
