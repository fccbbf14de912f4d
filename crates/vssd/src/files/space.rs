//! Space of a sparse file: what is stored through a mapping must find some.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Holes of a file are filled in extents of so many bytes, so that it does not come to lie in
/// single pages all over the disk.
const EXTENT_BYTES: u64 = 64 << 10;
static ZEROS: [u8; EXTENT_BYTES as usize] = [0; EXTENT_BYTES as usize];

/// A sparse file of known length, and which of it has space.
pub struct Sparse {
    pub file: File,
    length: u64,
    /// One bit an extent: set if all of it is known to have space.
    reserved: Vec<AtomicU64>,
    /// Held while holes are filled, which must not be done twice.
    filling: Mutex<()>,
    /// True on a file system that gives space to what is read through a mapping (tmpfs).
    pub reads_take_space: bool,
}

impl Sparse {
    /// The first `length` bytes of a file.
    pub fn new(file: File, length: u64) -> io::Result<Self> {
        let words = length.div_ceil(EXTENT_BYTES).div_ceil(64);
        let reserved = (0..words).map(|_| AtomicU64::new(0)).collect();
        let reads_take_space = is_tmpfs(&file)?;
        Ok(Sparse { file, length, reserved, filling: Mutex::default(), reads_take_space })
    }

    /// Makes sure that a store finds space: without it, the machine would kill the process.
    pub fn reserve(&self, bytes: &Range<u64>) -> io::Result<()> {
        for extent in extents(bytes).filter(|extent| !self.is_reserved(*extent)) {
            let end = ((extent + 1) * EXTENT_BYTES).min(self.length);
            self.fill_holes(extent, extent * EXTENT_BYTES..end)?;
        }
        Ok(())
    }

    /// True if all of the bytes are known to have space.
    pub fn has_space(&self, bytes: &Range<u64>) -> bool {
        extents(bytes).all(|extent| self.is_reserved(extent))
    }

    /// Gives space back; the bytes are 0 then.
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

    /// Writes zeros where an extent has no space.
    ///
    /// Space that is asked for without data (`fallocate`) would be turned into data page by page,
    /// which takes a hundred times as long.
    fn fill_holes(&self, extent: u64, bytes: Range<u64>) -> io::Result<()> {
        let _alone = self.filling.lock().expect("nobody panics while filling holes");
        if self.is_reserved(extent) {
            return Ok(());
        }
        let mut at = bytes.start;
        while at < bytes.end {
            let hole = self.seek(at, libc::SEEK_HOLE)?.min(bytes.end);
            let data = match self.seek(hole, libc::SEEK_DATA) {
                // Behind the last data there are none to be found.
                Err(error) if error.raw_os_error() == Some(libc::ENXIO) => bytes.end,
                found => found?.min(bytes.end),
            };
            self.file.write_all_at(&ZEROS[..(data - hole) as usize], hole)?;
            at = data;
        }
        self.reserved[(extent / 64) as usize].fetch_or(1 << (extent % 64), Ordering::AcqRel);
        Ok(())
    }

    fn seek(&self, at: u64, whence: libc::c_int) -> io::Result<u64> {
        // SAFETY: a system call on a descriptor that is open, whose offset nobody uses.
        let found = unsafe { libc::lseek(self.file.as_raw_fd(), at.cast_signed(), whence) };
        u64::try_from(found).map_err(|_| io::Error::last_os_error())
    }
}

fn is_tmpfs(file: &File) -> io::Result<bool> {
    // SAFETY: a structure of numbers, of which 0 is one.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a system call that fills the structure in.
    match unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) } {
        0 => Ok(found.f_type == libc::TMPFS_MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

fn extents(range: &Range<u64>) -> Range<u64> {
    range.start / EXTENT_BYTES..range.end.div_ceil(EXTENT_BYTES)
}

/// `fallocate`, which asks for space, or gives it back.
pub fn allocate(file: &File, mode: libc::c_int, range: &Range<u64>) -> io::Result<()> {
    let (offset, length) = (range.start.cast_signed(), (range.end - range.start).cast_signed());
    loop {
        // SAFETY: a system call on a descriptor that is open.
        if unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, length) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
