//! Seal: a record behind the data in their file.
//! It states the drive's identity, the number of requests stored, and how the last server ended.
//!
//! ```text
//! label (its numbers: bytes of the data, bytes of a page)
//! … at 512, cells: state (8) · requests served (8) · requests that are durable (8)
//! ```
//!
//! Seal and journal each record a number of requests that the other must contain at least. A flush
//! makes the data and their served count durable, then the journal, and only then raises the
//! durable count in both.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::cell::Cell;
use crate::files::label::{Identity, LABEL_BYTES, Label};
use crate::files::mapping::Mapping;

const MAGIC: [u8; 8] = *b"WampData";
/// Bytes of a seal.
pub const SEAL_BYTES: u64 = 4096;
/// Offset in bytes of the state in the seal.
pub const STATE_AT: usize = 512;
const SERVED_AT: usize = STATE_AT + 8;
const DURABLE_AT: usize = SERVED_AT + 8;

const UNMADE: u64 = 0;
const CLOSED: u64 = 1;
/// State of a drive in use, or left in use by a killed server.
/// The lower 32 bits identify the boot of the machine.
const IN_USE: u64 = 1 << 32;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Cause of the end of the last server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The drive was never completely created.
    Unmade,
    /// Closed: everything was made durable.
    Closed,
    /// Server was killed, without a reboot since: all stored bytes are still there.
    Killed,
    /// Server ended on another machine or before a reboot: any subset of the unflushed bytes may
    /// be stored.
    PowerLost,
}

/// The seal of a drive in use.
#[derive(Debug)]
pub struct Seal {
    path: PathBuf,
    map: Mapping,
    label: Label,
}

impl Seal {
    /// Bytes of the file of data and seal, if the data have `size_bytes`.
    pub fn file_bytes(size_bytes: u64) -> u64 {
        size_bytes.next_multiple_of(SEAL_BYTES) + SEAL_BYTES
    }

    /// Creates the seal of a new drive in an empty file. It marks the drive as unfinished.
    pub fn create(path: &Path, file: &File, size_bytes: u64, page_bytes: u32) -> Result<Self> {
        let failed = |error: &_| Error::io(path, "seal it", error);
        let identity = Identity::random().map_err(|error| failed(&error))?;
        let label = Label { identity, numbers: [size_bytes, u64::from(page_bytes)] };
        let mut bytes = [0; SEAL_BYTES as usize];
        bytes[..LABEL_BYTES].copy_from_slice(&label.encode(MAGIC));
        let length = Self::file_bytes(size_bytes);
        let sealed = (|| {
            file.set_len(0)?;
            file.set_len(length)?;
            file.write_all_at(&bytes, length - SEAL_BYTES)?;
            file.sync_all()
        })();
        sealed.map_err(|error| failed(&error))?;
        Self::mapped(path, file, label, length).map_err(|error| failed(&error))
    }

    /// Opens the seal at the end of a file, or returns None.
    pub fn open(path: &Path, file: &File) -> Result<Option<Self>> {
        let failed = |error: &_| Error::io(path, "read its seal", error);
        let length = file.metadata().map_err(|error| failed(&error))?.len();
        if length < SEAL_BYTES || !length.is_multiple_of(SEAL_BYTES) {
            return Ok(None);
        }
        let mut bytes = [0; LABEL_BYTES];
        let read = file.read_exact_at(&mut bytes, length - SEAL_BYTES);
        read.map_err(|error| failed(&error))?;
        let Some(label) = Label::decode(&bytes, MAGIC) else { return Ok(None) };
        let size_bytes = label.numbers[0];
        if size_bytes > length || Self::file_bytes(size_bytes) != length {
            return Ok(None);
        }
        Self::mapped(path, file, label, length).map(Some).map_err(|error| failed(&error))
    }

    fn mapped(path: &Path, file: &File, label: Label, length: u64) -> io::Result<Self> {
        let map = Mapping::of(path, file.try_clone()?, length - SEAL_BYTES..length)?;
        Ok(Seal { path: path.to_owned(), map, label })
    }

    /// Identity of the drive.
    pub fn identity(&self) -> Identity {
        self.label.identity
    }

    /// Bytes of the data.
    pub fn size_bytes(&self) -> u64 {
        self.label.numbers[0]
    }

    /// Returns how the last server ended.
    pub fn ending(&self) -> Result<Ending> {
        Ok(match self.read(STATE_AT)? {
            UNMADE => Ending::Unmade,
            CLOSED => Ending::Closed,
            state if in_use_this_boot() == Some(state) => Ending::Killed,
            _ => Ending::PowerLost,
        })
    }

    /// Checks the seal against the numbers of journaled and of durable requests in the journal.
    pub fn check(&self, ending: Ending, journaled: u64, durable: u64) -> Result<()> {
        let (served, durable_here) = (self.read(SERVED_AT)?, self.read(DURABLE_AT)?);
        // After a kill, the last request may be in the journal only.
        let is_whole = match ending {
            Ending::Unmade | Ending::Closed => journaled == served,
            Ending::Killed => journaled == served || journaled == served + 1,
            Ending::PowerLost => served >= durable && journaled >= durable_here,
        };
        if is_whole {
            return Ok(());
        }
        let is_old = if served < journaled { "the data are" } else { "the flash or journal is" };
        Err(Error::damaged(
            &self.path,
            format!(
                "{is_old} an older copy: the data contain {served} requests, the flash and its journal \
                 {journaled}; restore all files of the drive from one backup"
            ),
        ))
    }

    /// Marks the drive as in use, after `served` requests, before it serves any.
    pub fn begin(&self, served: u64) -> Result<()> {
        self.set_served(served)?;
        // Without a boot id, a kill counts as a loss of power.
        self.cell(STATE_AT).set(in_use_this_boot().unwrap_or(IN_USE));
        self.sync()
    }

    /// Marks the drive as closed.
    pub fn close(&self) -> Result<()> {
        self.cell(STATE_AT).set(CLOSED);
        self.sync()
    }

    /// Sets the number of served requests, all of which are in the journal.
    pub fn set_served(&self, served: u64) -> Result<()> {
        self.cell(SERVED_AT).set(served);
        self.map.check()
    }

    /// Raises the number of requests that are durable in data and journal; never lowers it.
    pub fn set_durable(&self, served: u64) -> Result<()> {
        self.cell(DURABLE_AT).raise(served);
        self.map.check()
    }

    fn read(&self, at: usize) -> Result<u64> {
        let why = "the seal behind the data is damaged";
        let number = self.cell(at).get().ok_or_else(|| Error::damaged(&self.path, why));
        self.map.check().and(number)
    }

    fn cell(&self, at: usize) -> Cell<'_> {
        Cell::of(&self.map, at)
    }

    fn sync(&self) -> Result<()> {
        self.map.check()?;
        self.map.file().sync_data().map_err(|error| Error::io(&self.path, "synchronise it", &error))
    }
}

/// State of a drive that is in use during this boot of the machine.
/// None if the machine has no boot id.
fn in_use_this_boot() -> Option<u64> {
    let id = std::fs::read(BOOT_ID).ok()?;
    Some(IN_USE | u64::from(crc32fast::hash(&id)))
}
