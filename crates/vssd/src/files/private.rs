//! Files for their owner alone: they hold what a host has stored, or where.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{Error, Result};

const OWNER_ONLY: u32 = 0o600;

/// Options to make a file that is written, with that mode.
pub fn written() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(OWNER_ONLY);
    options
}

/// True if a file is there and begins with these bytes: then it is ours to replace.
pub fn begins_with(path: &Path, magic: [u8; 8]) -> Result<bool> {
    let mut found = [0; 8];
    match File::open(path).and_then(|mut file| file.read_exact(&mut found)) {
        Ok(()) => Ok(found == magic),
        // It is shorter, or not there.
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::NotFound) => {
            Ok(false)
        }
        Err(error) => Err(Error::io(path, "read it", &error)),
    }
}
