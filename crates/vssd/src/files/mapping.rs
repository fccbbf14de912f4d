//! Mapped memory, with or without a file.
//!
//! A page of a file that cannot be read or stored does not end the process ([`super::bus_error`]):
//! it sets an error of the mapping, which users check after each access.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memmap2::{MmapOptions, MmapRaw};

use super::bus_error::Watch;
use crate::error::{Error, Result};

/// Mapped memory.
#[derive(Debug)]
pub struct Mapping {
    /// The mapped file, or None for memory without a file.
    mapped: Option<Mapped>,
    map: MmapRaw,
    failure: OnceLock<Error>,
}

/// Mapped bytes of a file, watched for bus errors while they are mapped.
#[derive(Debug)]
struct Mapped {
    watch: Watch,
    path: PathBuf,
    file: File,
    bytes: Range<u64>,
}

impl Mapping {
    /// Maps zeroed memory without a file, which takes space when it is used.
    pub fn anonymous(length: u64) -> io::Result<Self> {
        let map = MmapOptions::new().len(in_memory(length)?).no_reserve_swap().map_anon()?;
        Ok(Mapping { mapped: None, map: map.into(), failure: OnceLock::new() })
    }

    /// Maps bytes of a file to read and write.
    pub fn of(path: &Path, file: File, bytes: Range<u64>) -> io::Result<Self> {
        let length = in_memory(bytes.end - bytes.start)?;
        let map = MmapOptions::new().offset(bytes.start).len(length).map_raw(&file)?;
        Self::watched(path, file, map, bytes)
    }

    /// Maps all bytes of a file to read.
    pub fn to_read(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let map = MmapOptions::new().populate().map_raw_read_only(&file)?;
        let bytes = 0..map.len() as u64;
        Self::watched(path, file, map, bytes)
    }

    fn watched(path: &Path, file: File, map: MmapRaw, bytes: Range<u64>) -> io::Result<Self> {
        let watch = Watch::of(map.as_ptr(), map.len())?;
        let mapped = Mapped { watch, path: path.to_owned(), file, bytes };
        Ok(Mapping { mapped: Some(mapped), map, failure: OnceLock::new() })
    }

    /// Bytes of the memory.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// The first byte.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.map.as_mut_ptr()
    }

    /// The file; panics without one.
    pub fn file(&self) -> &File {
        &self.mapped.as_ref().expect("the mapping must be of a file").file
    }

    /// Fails if a load or store met a page that the file could not provide.
    ///
    /// Such pages read as zeros, and stores to them do not reach the file.
    pub fn check(&self) -> Result<()> {
        let Some(mapped) = &self.mapped else { return Ok(()) };
        let Some(address) = mapped.watch.failed_at() else { return Ok(()) };
        let at = mapped.bytes.start + (address - self.map.as_ptr().addr()) as u64;
        Err(self.failure.get_or_init(|| mapped.why_failed(at)).clone())
    }

    /// Returns the error of a truncated file, or None.
    pub fn cut(&self) -> Option<Error> {
        self.mapped.as_ref().and_then(Mapped::cut)
    }
}

impl Mapped {
    fn cut(&self) -> Option<Error> {
        let length = self.file.metadata().ok()?.len();
        let why = format!("this file was cut to {length} bytes while the drive used it");
        (length < self.bytes.end).then(|| Error::damaged(&self.path, why))
    }

    /// Returns the error for the byte at which the mapping failed.
    fn why_failed(&self, at: u64) -> Error {
        if let Some(cut) = self.cut() {
            return cut;
        }
        // The signal has no cause. System calls that read and write the same byte return an error
        // with the cause.
        let byte = &mut [0];
        let tried =
            self.file.read_exact_at(byte, at).and_then(|()| self.file.write_all_at(byte, at));
        let (why, errno) = match tried {
            Err(error) => (format!(" ({error})"), error.raw_os_error().unwrap_or(libc::EIO)),
            Ok(()) => (String::new(), libc::EIO),
        };
        let why =
            format!("a page of this file cannot be read or stored{why}; start the drive again");
        Error { errno, ..Error::damaged(&self.path, why) }
    }
}

fn in_memory(length: u64) -> io::Result<usize> {
    usize::try_from(length).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}
