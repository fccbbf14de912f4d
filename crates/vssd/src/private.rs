//! Files for their owner alone: they hold what a host has stored, or where.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

const OWNER_ONLY: u32 = 0o600;

/// Options to make a file that is written, with that mode.
pub fn written() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(OWNER_ONLY);
    options
}
