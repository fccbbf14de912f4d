//! Checksums of pages, in a file beside the data.
//!
//! They detect data that changed while no server ran.
//!
//! ```text
//! head (4096): label (its numbers: pages, bytes of a page)
//! CRC-32 of each page (4), or 0 if unknown
//! ```
//!
//! A store clears the checksum of its page first and sets the new one last, so that a killed server
//! leaves no wrong checksum. Flushes do not wait for this file: after a loss of power, a new one is
//! made.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use crate::allocation_bitmap::AllocationBitmap;
use crate::error::{Error, Result};
use crate::files::label::{Identity, LABEL_BYTES, Label};
use crate::files::mapping::Mapping;
use crate::files::private;
use crate::files::space::allocate;

/// First bytes of a checksum file.
pub const MAGIC: [u8; 8] = *b"WampSums";
const HEAD_BYTES: usize = 4096;
const SUM_BYTES: usize = size_of::<u32>();
const UNKNOWN: u32 = 0;

/// The checksums of a drive's pages.
#[derive(Debug)]
pub struct Sums {
    path: PathBuf,
    map: Mapping,
    salt: u32,
    pages: u64,
    /// Pages that were verified or written since the server started.
    compared: AllocationBitmap,
}

impl Sums {
    /// Creates a file of unknown checksums, replacing an existing one.
    pub fn create(path: &Path, identity: Identity, pages: u64, page_bytes: u32) -> Result<Self> {
        let made = (|| {
            let file = private::written().read(true).create(true).truncate(true).open(path)?;
            let label = Label { identity, numbers: [pages, u64::from(page_bytes)] };
            file.write_all_at(&label.encode(MAGIC), 0)?;
            file.set_len(file_bytes(pages))?;
            // Space is reserved now, because a store through the mapping without space raises
            // SIGBUS.
            allocate(&file, 0, &(0..file_bytes(pages)))?;
            file.sync_all()?;
            Self::mapped(path, file, identity, pages)
        })();
        made.map_err(|error| Error::io(path, "create it", &error))
    }

    /// Opens an existing file.
    pub fn open(path: &Path, identity: Identity, pages: u64, page_bytes: u32) -> Result<Self> {
        let failed = |error: &_| Error::io(path, "open the checksums of the data", error);
        let file = File::options().read(true).write(true).open(path);
        let file = file.map_err(|error| failed(&error))?;
        let length = file.metadata().map_err(|error| failed(&error))?.len();
        if length != file_bytes(pages) {
            let why = format!("it should have {} bytes and has {length}", file_bytes(pages));
            return Err(Error::damaged(path, why));
        }
        let mut head = [0; LABEL_BYTES];
        file.read_exact_at(&mut head, 0).map_err(|error| failed(&error))?;
        let Some(label) = Label::decode(&head, MAGIC) else {
            let why = "this is not a checksum file of a virtual drive, or it is damaged";
            return Err(Error::damaged(path, why));
        };
        if label.identity != identity {
            return Err(Error::of_another_drive(path));
        }
        if label.numbers != [pages, u64::from(page_bytes)] {
            return Err(Error::damaged(path, "its page size differs from that of the drive"));
        }
        Self::mapped(path, file, identity, pages).map_err(|error| failed(&error))
    }

    fn mapped(path: &Path, file: File, identity: Identity, pages: u64) -> io::Result<Self> {
        let map = Mapping::of(path, file, 0..file_bytes(pages))?;
        let compared = AllocationBitmap::new(pages, |_| false);
        Ok(Sums { path: path.to_owned(), map, salt: identity.salt(), pages, compared })
    }

    /// Checksum of a page's bytes, salted by the page number.
    pub fn of(&self, page: u64, bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.salt ^ page as u32);
        hasher.update(bytes);
        match hasher.finalize() {
            UNKNOWN => UNKNOWN.wrapping_sub(1),
            sum => sum,
        }
    }

    /// Clears the checksums of pages before these pages change.
    pub fn forget(&self, pages: Range<u64>) -> Result<()> {
        pages.for_each(|page| self.sum(page).store(UNKNOWN, Ordering::Relaxed));
        // The compiler must not move a store to the page before this line. If the process were
        // killed in between, a wrong checksum would remain.
        compiler_fence(Ordering::SeqCst);
        self.check()
    }

    /// Sets the checksum of a page after it was stored.
    pub fn know(&self, page: u64, sum: u32) {
        self.sum(page).store(sum, Ordering::Release);
        self.note_compared(page);
    }

    /// True if a checksum of the page is known.
    pub fn knows(&self, page: u64) -> bool {
        self.sum(page).load(Ordering::Acquire) != UNKNOWN
    }

    /// True if the page was verified or written since the server started.
    pub fn is_compared(&self, page: u64) -> bool {
        self.compared.holds(page)
    }

    /// Verifies a page; an unknown checksum is set from the page.
    pub fn compare(&self, page: u64, bytes: &[u8]) -> Result<()> {
        let (stored, actual) = (self.sum(page).load(Ordering::Acquire), self.of(page, bytes));
        if stored != UNKNOWN && stored != actual {
            return Err(Error::fault(format!(
                "page {page} differs from its checksum in {}: one of the two files was changed or \
                 damaged",
                self.path.display()
            )));
        }
        if stored == UNKNOWN {
            self.know(page, actual);
        }
        self.note_compared(page);
        Ok(())
    }

    /// Fails if a checksum could not be read or stored.
    pub fn check(&self) -> Result<()> {
        self.map.check()
    }

    /// Makes the checksums survive a loss of power.
    pub fn sync(&self) -> Result<()> {
        self.check()?;
        self.map.file().sync_data().map_err(|error| Error::io(&self.path, "synchronise it", &error))
    }

    fn note_compared(&self, page: u64) {
        if !self.compared.holds(page) {
            self.compared.set(page..page + 1, true);
        }
    }

    fn sum(&self, page: u64) -> &AtomicU32 {
        assert!(page < self.pages, "the page must be on the drive");
        let at = HEAD_BYTES + page as usize * SUM_BYTES;
        // SAFETY: within the mapping, aligned, and accessed as an atomic only.
        unsafe { AtomicU32::from_ptr(self.map.as_mut_ptr().add(at).cast()) }
    }
}

fn file_bytes(pages: u64) -> u64 {
    HEAD_BYTES as u64 + pages * SUM_BYTES as u64
}
