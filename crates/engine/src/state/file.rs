//! File format of a saved state: header, length and checksum.
//!
//! ```text
//! magic (8) · version (4) · length of all (8) · state · CRC-32 of all before (4)
//! ```

use super::{Reader, State, Writer};
use crate::error::{Error, Result};

const MAGIC: [u8; 8] = *b"WriteAmp";

/// Version of the format.
/// A state belongs to one version of the engine. Increase it with any change of the saved data, or
/// of a drive's behaviour after a restore.
pub(super) const VERSION: u32 = 4;

const HEADER_BYTES: usize = MAGIC.len() + size_of::<u32>() + size_of::<u64>();
const CHECKSUM_BYTES: usize = size_of::<u32>();

/// Packs a state without custom policies into bytes for [`unpack`].
pub fn pack(state: &(impl State + ?Sized)) -> Vec<u8> {
    try_pack(state).expect("built-in policies can be saved")
}

/// Packs any state. Returns an error if a part cannot be saved, such as a custom policy.
pub fn try_pack(state: &(impl State + ?Sized)) -> Result<Vec<u8>> {
    let mut to = Writer { bytes: MAGIC.to_vec(), ..Writer::default() };
    to.table(&[VERSION]);
    to.table(&[0u64]);
    state.save(&mut to);
    if let Some(why) = to.refused {
        return Err(why);
    }
    let mut bytes = to.bytes;
    let length = (bytes.len() + CHECKSUM_BYTES) as u64;
    bytes[HEADER_BYTES - size_of::<u64>()..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Restores `state` from the bytes of [`pack`]. After an error, `state` is unusable.
pub fn unpack(state: &mut (impl State + ?Sized), bytes: &[u8]) -> Result<()> {
    unpack_intact(state, intact(bytes)?)
}

/// Restores `state` from the bytes between header and checksum, without checking either.
/// Used only by tests that construct invalid states.
pub fn unpack_intact(state: &mut (impl State + ?Sized), bytes: &[u8]) -> Result<()> {
    let mut from = Reader::new(bytes);
    state.restore(&mut from)?;
    from.finish()
}

/// Returns the bytes between header and checksum, after checking both.
pub fn intact(bytes: &[u8]) -> Result<&[u8]> {
    let refuse = |why: &str| Err(Error::State(why.to_owned()));
    if !bytes.starts_with(&MAGIC) {
        return refuse("this is not the saved state of a drive");
    }
    let mut header = Reader::new(&bytes[MAGIC.len()..]);
    let (mut version, mut length) = ([0u32], [0u64]);
    if header.table(&mut version, "").is_err() || header.table(&mut length, "").is_err() {
        return refuse("the state is truncated: its header is incomplete");
    }
    if version[0] != VERSION {
        return refuse(&format!(
            "the state has version {} of the format, and this engine reads version {VERSION} only",
            version[0]
        ));
    }
    if length[0] != bytes.len() as u64 || bytes.len() < HEADER_BYTES + CHECKSUM_BYTES {
        return refuse(&format!(
            "the state is truncated or has extra bytes: it should have {} bytes, but has {}",
            length[0],
            bytes.len()
        ));
    }
    let (checked, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    if crc32fast::hash(checked).to_le_bytes() != checksum {
        return refuse("the state is damaged: its checksum does not match");
    }
    Ok(&checked[HEADER_BYTES..])
}
