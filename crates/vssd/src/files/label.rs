//! Label at the start of each file of a drive: kind of file, and identity of the drive.
//!
//! ```text
//! magic (8) · version (4) · 0 (4) · identity (16) · two numbers (8 each) · CRC-32 (4)
//! ```

#![allow(unsafe_code)]

use std::io;

use serde::{Deserialize, Serialize};

/// Bytes of a label.
pub const LABEL_BYTES: usize = 52;
const CHECKED_BYTES: usize = LABEL_BYTES - size_of::<u32>();
/// Version of the file formats. Files of version 1 had no identity.
const VERSION: u32 = 2;
const IDENTITY_AT: usize = 16;
const NUMBERS_AT: usize = 32;

/// Random bytes that identify the files of one drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity([u8; 16]);

/// A label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Drive to which the file belongs.
    pub identity: Identity,
    /// Two numbers, whose meaning depends on the kind of file.
    pub numbers: [u64; 2],
}

impl Identity {
    /// Draws the identity of a new drive.
    pub fn random() -> io::Result<Self> {
        random_bytes().map(Identity)
    }

    /// Initial value of the drive's checksums, which detects files of another drive.
    pub fn salt(&self) -> u32 {
        crc32fast::hash(&self.0)
    }
}

impl Label {
    /// Encodes the label.
    pub fn encode(&self, magic: [u8; 8]) -> [u8; LABEL_BYTES] {
        let mut bytes = [0; LABEL_BYTES];
        bytes[..8].copy_from_slice(&magic);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[IDENTITY_AT..NUMBERS_AT].copy_from_slice(&self.identity.0);
        bytes[NUMBERS_AT..NUMBERS_AT + 8].copy_from_slice(&self.numbers[0].to_le_bytes());
        bytes[NUMBERS_AT + 8..CHECKED_BYTES].copy_from_slice(&self.numbers[1].to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes a label; None if it is damaged, or of another kind or version.
    pub fn decode(bytes: &[u8; LABEL_BYTES], magic: [u8; 8]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let identity = bytes[IDENTITY_AT..NUMBERS_AT].try_into().expect("16 bytes");
        let numbers = [word(NUMBERS_AT), word(NUMBERS_AT + 8)];
        let label = Label { identity: Identity(identity), numbers };
        (label.encode(magic) == *bytes).then_some(label)
    }
}

fn random_bytes() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    // SAFETY: a system call that fills a buffer of that length; up to 256 bytes come in one call.
    match unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } {
        16 => Ok(bytes),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_as_it_was_written_and_not_with_any_bit_changed() {
        let label = Label { identity: Identity([7; 16]), numbers: [3, u64::MAX] };
        let bytes = label.encode(*b"WampTest");
        assert_eq!(Label::decode(&bytes, *b"WampTest"), Some(label));
        assert_eq!(Label::decode(&bytes, *b"WampElse"), None);
        for bit in 0..8 * LABEL_BYTES {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Label::decode(&changed, *b"WampTest"), None, "bit {bit}");
        }
    }

    #[test]
    fn two_drives_have_two_identities() {
        assert_ne!(Identity::random().unwrap(), Identity::random().unwrap());
    }
}
