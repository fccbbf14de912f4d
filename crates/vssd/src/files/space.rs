//! Disk space of a sparse file, which is reserved before a store through a mapping.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Holes of a file are filled in extents of this size, in bytes, to limit fragmentation.
const EXTENT_BYTES: u64 = 64 << 10;
static ZEROS: [u8; EXTENT_BYTES as usize] = [0; EXTENT_BYTES as usize];

/// A sparse file of fixed length, and its reserved extents.
pub struct Sparse {
    pub file: File,
    length: u64,
    /// One bit per extent, set if the whole extent has disk space.
    reserved: Vec<AtomicU64>,
    /// Locked while holes are filled, so that no hole is filled twice.
    filling: Mutex<()>,
    /// True on a file system (tmpfs) where even reads through a mapping take space.
    pub reads_take_space: bool,
}

impl Sparse {
    /// Describes the first `length` bytes of a file.
    pub fn new(file: File, length: u64) -> io::Result<Self> {
        let words = length.div_ceil(EXTENT_BYTES).div_ceil(64);
        let reserved = (0..words).map(|_| AtomicU64::new(0)).collect();
        let reads_take_space = is_tmpfs(&file)?;
        Ok(Sparse { file, length, reserved, filling: Mutex::default(), reads_take_space })
    }

    /// Reserves space for a store. Without space, the store would raise SIGBUS.
    pub fn reserve(&self, bytes: &Range<u64>) -> io::Result<()> {
        for extent in extents(bytes).filter(|extent| !self.is_reserved(*extent)) {
            let end = ((extent + 1) * EXTENT_BYTES).min(self.length);
            self.fill_holes(extent, extent * EXTENT_BYTES..end)?;
        }
        Ok(())
    }

    /// True if all of the bytes have space.
    pub fn has_space(&self, bytes: &Range<u64>) -> bool {
        extents(bytes).all(|extent| self.is_reserved(extent))
    }

    /// Gives space back; the bytes then read as 0.
    pub fn punch(&self, bytes: &Range<u64>) -> io::Result<()> {
        allocate(&self.file, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE, bytes)?;
        for extent in extents(bytes) {
            let bit = 1 << (extent % 64);
            self.reserved[(extent / 64) as usize].fetch_and(!bit, Ordering::AcqRel);
        }
        Ok(())
    }

    fn is_reserved(&self, extent: u64) -> bool {
        self.reserved[(extent / 64) as usize].load(Ordering::Acquire) >> (extent % 64) & 1 == 1
    }

    /// Writes zeros to the holes of an extent, so that it has disk space.
    ///
    /// Space that `fallocate` reserves without data is converted page by page on each store, which
    /// takes a hundred times as long.
    fn fill_holes(&self, extent: u64, bytes: Range<u64>) -> io::Result<()> {
        let _alone = self.filling.lock().expect("no thread panicked while it held this lock");
        if self.is_reserved(extent) {
            return Ok(());
        }
        let mut at = bytes.start;
        while at < bytes.end {
            let hole = self.seek(at, libc::SEEK_HOLE)?.min(bytes.end);
            let data = match self.seek(hole, libc::SEEK_DATA) {
                // The error ENXIO means that no data follow this offset.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => bytes.end,
                start => start?.min(bytes.end),
            };
            self.file.write_all_at(&ZEROS[..(data - hole) as usize], hole)?;
            at = data;
        }
        self.reserved[(extent / 64) as usize].fetch_or(1 << (extent % 64), Ordering::AcqRel);
        Ok(())
    }

    fn seek(&self, at: u64, whence: libc::c_int) -> io::Result<u64> {
        // SAFETY: a system call on an open descriptor, whose offset is not used elsewhere.
        let offset = unsafe { libc::lseek(self.file.as_raw_fd(), at.cast_signed(), whence) };
        u64::try_from(offset).map_err(|_| io::Error::last_os_error())
    }
}

fn is_tmpfs(file: &File) -> io::Result<bool> {
    // SAFETY: a structure of integers, for which 0 is valid.
    let mut info: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a system call that fills the structure in.
    match unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut info) } {
        0 => Ok(info.f_type == libc::TMPFS_MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

fn extents(range: &Range<u64>) -> Range<u64> {
    range.start / EXTENT_BYTES..range.end.div_ceil(EXTENT_BYTES)
}

/// Calls `fallocate`, which reserves space or gives it back.
pub fn allocate(file: &File, mode: libc::c_int, range: &Range<u64>) -> io::Result<()> {
    let (offset, length) = (range.start.cast_signed(), (range.end - range.start).cast_signed());
    loop {
        // SAFETY: a system call on an open descriptor.
        if unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, length) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
