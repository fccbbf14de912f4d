//! Bytes of the host, in memory or in a sparse file: mapped, so that a store is no system call, and
//! what was stored is there after the process was killed.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};

use memmap2::{MmapOptions, MmapRaw};

/// Holes of the file are filled in extents of so many bytes, so that it does not come to lie in
/// single pages all over the disk.
const EXTENT_BYTES: u64 = 64 << 10;
/// What the machine maps by; smaller holes are written as zeros.
const MAPPED_BYTES: u64 = 4 << 10;
static ZEROS: [u8; EXTENT_BYTES as usize] = [0; EXTENT_BYTES as usize];

/// Bytes of the host.
pub struct Data {
    map: MmapRaw,
    file: Option<Backing>,
    /// Held by writers for reading, so that no space is given back between being asked for and used.
    punching: RwLock<()>,
}

struct Backing {
    file: File,
    /// One bit an extent: set if all of it is known to have space.
    reserved: Vec<AtomicU64>,
    /// Held while holes are filled, which must not be done twice.
    filling: Mutex<()>,
    /// True on a file system that gives space to what is read through a mapping (tmpfs).
    reads_take_space: bool,
}

impl Data {
    /// Bytes in memory, all 0, which take space as they are written.
    pub fn in_memory(length: u64) -> io::Result<Self> {
        let map = MmapOptions::new().len(mapped(length)?).no_reserve_swap().map_anon()?;
        Ok(Data { map: MmapRaw::from(map), file: None, punching: RwLock::default() })
    }

    /// Bytes of a file that is `length` long.
    pub fn in_file(file: File, length: u64) -> io::Result<Self> {
        let map = MmapOptions::new().len(mapped(length)?).map_raw(&file)?;
        let words = length.div_ceil(EXTENT_BYTES).div_ceil(64);
        let reserved = (0..words).map(|_| AtomicU64::new(0)).collect();
        let reads_take_space = is_tmpfs(&file)?;
        let file = Some(Backing { file, reserved, filling: Mutex::default(), reads_take_space });
        Ok(Data { map, file, punching: RwLock::default() })
    }

    /// Copies bytes out. Those of a request under way may be old or new.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        if let Some(backing) = &self.file
            && backing.reads_take_space
            && !extents(&(offset..offset + to.len() as u64))
                .all(|extent| backing.is_reserved(extent))
        {
            return backing.file.read_exact_at(to, offset);
        }
        let from = self.at(offset, to.len());
        // SAFETY: `at` has checked the range. Other threads may be storing there: each byte is then
        // the old or the new one, as of any drive, and no reference to mapped memory exists.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) }
        Ok(())
    }

    /// Stores bytes, once there is space for all of them. Without, none is stored.
    pub fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let _kept = self.punching.read().expect("no writer panicked");
        self.reserve(offset..offset + from.len() as u64)?;
        self.store(offset, from);
        Ok(())
    }

    /// Makes bytes 0, and gives their space back where that can be.
    pub fn discard(&self, range: Range<u64>) -> io::Result<()> {
        let first = range.start.next_multiple_of(MAPPED_BYTES).min(range.end);
        let end = (range.end / MAPPED_BYTES * MAPPED_BYTES).max(first);
        self.write_zeros(range.start..first)?;
        self.write_zeros(end..range.end)?;
        if first == end {
            return Ok(());
        }
        match self.punch(first..end) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                self.write_zeros(first..end)
            }
            done => done,
        }
    }

    /// Makes bytes 0, and keeps space for them.
    pub fn write_zeros(&self, range: Range<u64>) -> io::Result<()> {
        for first in range.clone().step_by(ZEROS.len()) {
            let length = (range.end - first).min(ZEROS.len() as u64);
            self.write(first, &ZEROS[..length as usize])?;
        }
        Ok(())
    }

    /// Makes what was stored so far survive a loss of power.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |backing| backing.file.sync_data())
    }

    fn punch(&self, range: Range<u64>) -> io::Result<()> {
        let _alone = self.punching.write().expect("no writer panicked");
        let length = range.end - range.start;
        if let Some(backing) = &self.file {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            allocate(&backing.file, mode, &range)?;
            for extent in extents(&range) {
                let bit = 1 << (extent % 64);
                backing.reserved[(extent / 64) as usize].fetch_and(!bit, Ordering::AcqRel);
            }
            return Ok(());
        }
        let from = self.at(range.start, length as usize);
        // SAFETY: the range is ours, and of whole pages; an anonymous mapping then reads as zeros.
        match unsafe { libc::madvise(from.cast(), length as usize, libc::MADV_DONTNEED) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Makes sure that a store finds space: without it, the machine would kill the process.
    fn reserve(&self, range: Range<u64>) -> io::Result<()> {
        let Some(backing) = &self.file else { return Ok(()) };
        for extent in extents(&range).filter(|extent| !backing.is_reserved(*extent)) {
            let end = ((extent + 1) * EXTENT_BYTES).min(self.map.len() as u64);
            backing.fill_holes(extent, extent * EXTENT_BYTES..end)?;
        }
        Ok(())
    }

    fn store(&self, offset: u64, from: &[u8]) {
        let to = self.at(offset, from.len());
        // SAFETY: as for `read`; there is space behind the range.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) }
    }

    fn at(&self, offset: u64, length: usize) -> *mut u8 {
        let end = offset.checked_add(length as u64);
        assert!(end.is_some_and(|end| end <= self.map.len() as u64), "bytes of the drive");
        self.map.as_mut_ptr().wrapping_add(offset as usize)
    }
}

impl Backing {
    fn is_reserved(&self, extent: u64) -> bool {
        self.reserved[(extent / 64) as usize].load(Ordering::Acquire) >> (extent % 64) & 1 == 1
    }

    /// Writes zeros where an extent has no space. Space that is asked for without data (`fallocate`)
    /// would be turned into data page by page, which takes a hundred times as long.
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
    // SAFETY: a system call that fills in a structure of numbers.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    match unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) } {
        0 => Ok(found.f_type == libc::TMPFS_MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

fn extents(range: &Range<u64>) -> Range<u64> {
    range.start / EXTENT_BYTES..range.end.div_ceil(EXTENT_BYTES)
}

fn mapped(length: u64) -> io::Result<usize> {
    usize::try_from(length).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

/// `fallocate`, which asks for space, or gives it back.
pub(crate) fn allocate(file: &File, mode: libc::c_int, range: &Range<u64>) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Data; 2] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        [Data::in_memory(1 << 20).unwrap(), Data::in_file(file, 1 << 20).unwrap()]
    }

    #[test]
    fn zeros_lie_exactly_where_they_were_asked_for() {
        for data in both() {
            data.write(0, &vec![7; 1 << 20]).unwrap();
            data.discard(4095..12289).unwrap();
            let mut found = vec![1; 1 << 20];
            data.read(0, &mut found).unwrap();
            for (at, byte) in found.iter().enumerate() {
                assert_eq!(*byte, if (4095..12289).contains(&at) { 0 } else { 7 }, "{at}");
            }
        }
    }

    #[test]
    fn what_was_given_back_can_be_written_again() {
        for data in both() {
            data.write(0, &[7; 8192]).unwrap();
            data.discard(0..8192).unwrap();
            data.write(4096, &[9; 4096]).unwrap();
            let mut found = [1; 8192];
            data.read(0, &mut found).unwrap();
            assert!(found[..4096].iter().all(|byte| *byte == 0));
            assert!(found[4096..].iter().all(|byte| *byte == 9));
        }
    }
}
