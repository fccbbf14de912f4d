//! Seal behind the data in their file: its drive, its moment, and the end of its last server.
//!
//! ```text
//! label (its numbers: bytes of the data, bytes of a page)
//! … at 512, cells: state (8) · requests served (8) · requests that are durable (8)
//! ```
//!
//! Data and journal tell of each other how far they must have come: a flush makes the data durable with
//! the requests served by then, then the journal, and only then raises what is durable in both.

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
/// Offset of its state.
pub const STATE_AT: usize = 512;
const SERVED_AT: usize = STATE_AT + 8;
const DURABLE_AT: usize = SERVED_AT + 8;

const UNMADE: u64 = 0;
const CLOSED: u64 = 1;
/// In use, or left so; the lower half then tells during which run of the machine.
const IN_USE: u64 = 1 << 32;
const RUN_OF_MACHINE: &str = "/proc/sys/kernel/random/boot_id";

/// Kind of end of the last server of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The drive was never made to its end.
    Unmade,
    /// All was made durable.
    Closed,
    /// It was killed, and the machine has run since: all that was stored is there.
    Killed,
    /// The machine stopped, or is another: what was not flushed may be there in any part.
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
    /// Bytes of a file with so many of data.
    pub fn file_bytes(size_bytes: u64) -> u64 {
        size_bytes.next_multiple_of(SEAL_BYTES) + SEAL_BYTES
    }

    /// Seals data of a new drive, not made yet, in a file that holds nothing.
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

    /// The seal at the end of a file; `None` if there is none.
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

    /// The drive that it seals.
    pub fn identity(&self) -> Identity {
        self.label.identity
    }

    /// Bytes of the data.
    pub fn size_bytes(&self) -> u64 {
        self.label.numbers[0]
    }

    /// Returns the kind of end of the last server.
    pub fn ending(&self) -> Result<Ending> {
        Ok(match self.read(STATE_AT)? {
            UNMADE => Ending::Unmade,
            CLOSED => Ending::Closed,
            state if run_of_machine() == Some(state) => Ending::Killed,
            _ => Ending::PowerLost,
        })
    }

    /// Checks that the data fit to journals with so many requests, of which so many are durable.
    pub fn check(&self, ending: Ending, journaled: u64, durable: u64) -> Result<()> {
        let (served, durable_here) = (self.read(SERVED_AT)?, self.read(DURABLE_AT)?);
        // The last request of a server that was killed may be in the journal alone.
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
                "{is_old} an older copy: the data are of {served} requests, and the journal holds \
                 {journaled}"
            ),
        ))
    }

    /// Notes that the drive is in use from here on, after so many requests, before it serves any.
    pub fn begin(&self, served: u64) -> Result<()> {
        self.set_served(served)?;
        // Without a number of its run, the machine is never known to have run on.
        self.cell(STATE_AT).set(run_of_machine().unwrap_or(IN_USE));
        self.sync()
    }

    /// Notes that all is durable; no request follows.
    pub fn close(&self) -> Result<()> {
        self.cell(STATE_AT).set(CLOSED);
        self.sync()
    }

    /// Notes a request: it is in the journal by then.
    pub fn set_served(&self, served: u64) -> Result<()> {
        self.cell(SERVED_AT).set(served);
        self.map.check()
    }

    /// Notes that so many requests are durable, in data and journal.
    pub fn set_durable(&self, served: u64) -> Result<()> {
        self.cell(DURABLE_AT).raise(served);
        self.map.check()
    }

    fn read(&self, at: usize) -> Result<u64> {
        let why = "the seal behind the data is damaged";
        let found = self.cell(at).get().ok_or_else(|| Error::damaged(&self.path, why));
        self.map.check().and(found)
    }

    fn cell(&self, at: usize) -> Cell<'_> {
        Cell::of(&self.map, at)
    }

    fn sync(&self) -> Result<()> {
        self.map.check()?;
        self.map.file().sync_data().map_err(|error| Error::io(&self.path, "synchronise it", &error))
    }
}

/// The state of a drive in use during this run of the machine; `None` where it has no number.
fn run_of_machine() -> Option<u64> {
    let id = std::fs::read(RUN_OF_MACHINE).ok()?;
    Some(IN_USE | u64::from(crc32fast::hash(&id)))
}
