//! Bytes of the host, in memory or in a sparse file.
//!
//! They are mapped memory, so a store needs no system call, and stored bytes survive a kill of the
//! process. Bytes in a file have checksums in a second file.

#![allow(unsafe_code)]

pub mod sums;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::RwLock;

use crate::allocation_bitmap::AllocationBitmap;
use crate::error::{Error, Result};
use crate::files::mapping::Mapping;
use crate::files::space::Sparse;
use sums::Sums;

/// Size of a memory page, in bytes.
/// Space smaller than this cannot be given back, and is filled with zeros.
const MAPPED_BYTES: u64 = 4 << 10;
/// Data of at most this size, in bytes, are verified before the drive serves requests.
/// Reading them takes about a second.
pub const MOST_COMPARED_BYTES: usize = 1 << 30;
const NO_PANIC: &str = "no thread panicked while it held this lock";

/// Number of page locks.
/// There are more locks than concurrent requests, so that requests rarely wait for a lock of
/// another page.
const LOCKS: usize = 1 << 12;

/// Bytes of the host, in pages that are read and stored atomically.
pub struct Data {
    map: Mapping,
    page_bytes: usize,
    file: Option<Sparse>,
    sums: Option<Sums>,
    /// Page locks: exclusive to store to the mapped bytes of a page, shared to read them.
    locks: Box<[RwLock<()>]>,
    /// Lock that users of mapped bytes share.
    /// A thread that gives space back holds it exclusively.
    punching: RwLock<()>,
}

/// Data to be stored.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// This number of zeros.
    Zeros(u64),
}

impl Data {
    /// Zeroed bytes in memory, which take space when they are written.
    pub fn in_memory(length: u64, page_bytes: u32) -> io::Result<Self> {
        Ok(Data::new(Mapping::anonymous(length)?, page_bytes, None, None))
    }

    /// The first `length` bytes of a file, and the checksums of their pages.
    pub fn in_file(
        path: &Path,
        file: File,
        length: u64,
        page_bytes: u32,
        sums: Sums,
    ) -> io::Result<Self> {
        let map = Mapping::of(path, file.try_clone()?, 0..length)?;
        let file = Sparse::new(file, length)?;
        Ok(Data::new(map, page_bytes, Some(file), Some(sums)))
    }

    fn new(map: Mapping, page_bytes: u32, file: Option<Sparse>, sums: Option<Sums>) -> Self {
        let locks = (0..LOCKS).map(|_| RwLock::new(())).collect();
        let page_bytes = page_bytes as usize;
        Data { map, page_bytes, file, sums, locks, punching: RwLock::new(()) }
    }

    /// Copies bytes out. Each page is read between two writes, never in the middle of one.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let _kept = self.punching.read().expect(NO_PANIC);
        let mut rest = to;
        for chunk in self.chunks(offset..offset + rest.len() as u64) {
            let (to, behind) = rest.split_at_mut(chunk.length);
            rest = behind;
            let _shared = self.lock(chunk.page).read().expect(NO_PANIC);
            self.compare(chunk.page)?;
            self.load(chunk, to)?;
        }
        Ok(())
    }

    /// Stores bytes after reserving space for all of them and verifying partly overwritten pages.
    ///
    /// If either step fails, no byte is stored. If the mapping itself fails, some bytes may be
    /// stored.
    pub fn write(&self, offset: u64, from: Source<'_>) -> Result<()> {
        let _kept = self.punching.read().expect(NO_PANIC);
        self.check()?;
        let length = match from {
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Zeros(length) => length,
        };
        let range = offset..offset + length;
        self.reserve(&range)?;
        for chunk in self.chunks(range.clone()).filter(|chunk| chunk.length < self.page_bytes) {
            let _shared = self.lock(chunk.page).read().expect(NO_PANIC);
            self.compare(chunk.page)?;
        }
        for chunk in self.chunks(range) {
            let at = (chunk.offset - offset) as usize;
            let from = match from {
                Source::Bytes(bytes) => Source::Bytes(&bytes[at..at + chunk.length]),
                Source::Zeros(_) => Source::Zeros(chunk.length as u64),
            };
            self.store(chunk, from)?;
        }
        Ok(())
    }

    /// Reserves space for a page without data, and sets the bytes of the page to 0.
    pub fn begin(&self, page: u64) -> Result<()> {
        let page_bytes = self.page_bytes as u64;
        self.write(page * page_bytes, Source::Zeros(page_bytes))
    }

    /// Sets bytes to 0, and gives their space back where possible.
    pub fn discard(&self, range: Range<u64>) -> Result<()> {
        let _alone = self.punching.write().expect(NO_PANIC);
        self.check()?;
        if let Some(sums) = &self.sums {
            sums.forget(self.pages(&range))?;
        }
        let first = range.start.next_multiple_of(MAPPED_BYTES).min(range.end);
        let end = (range.end / MAPPED_BYTES * MAPPED_BYTES).max(first);
        self.clear(range.start..first)?;
        self.clear(end..range.end)?;
        if first == end {
            return Ok(());
        }
        match self.punch(first..end) {
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => self.clear(first..end),
            done => done.map_err(|error| self.failed("stored", &error)),
        }
    }

    /// Makes the stored bytes survive a loss of power.
    pub fn sync(&self) -> Result<()> {
        self.check()?;
        let synced = self.file.as_ref().map_or(Ok(()), |backing| sync_named(&backing.file));
        synced.map_err(|error| self.failed("synchronised", &error))
    }

    /// Makes the checksums survive a loss of power; [`Data::sync`] does not include them.
    pub fn sync_sums(&self) -> Result<()> {
        self.sums.as_ref().map_or(Ok(()), Sums::sync)
    }

    /// Verifies all pages with data if they have at most [`MOST_COMPARED_BYTES`].
    ///
    /// Only pages with a known checksum are verified. Pages of larger data are verified when they
    /// are first read or partly overwritten.
    pub fn compare_all(&self, allocated: &AllocationBitmap) -> Result<()> {
        let Some(sums) = &self.sums else { return Ok(()) };
        let pages = 0..(self.map.len() / self.page_bytes) as u64;
        let summed = pages.filter(|page| allocated.holds(*page) && sums.knows(*page));
        let most = MOST_COMPARED_BYTES / self.page_bytes;
        if summed.clone().take(most + 1).count() > most {
            return Ok(());
        }
        let mut bytes = vec![0; self.page_bytes];
        for page in summed {
            self.load_from_file(page * self.page_bytes as u64, &mut bytes)?;
            sums.compare(page, &bytes)?;
        }
        Ok(())
    }

    /// Fails if a page of the data or of their checksums could not be read or stored.
    ///
    /// From then on, writes fail and reads bypass the mapping.
    pub fn check(&self) -> Result<()> {
        self.map.check()?;
        self.sums.as_ref().map_or(Ok(()), Sums::check)
    }

    /// Verifies the checksum of a page unless that was done before.
    /// The caller has the page's lock.
    fn compare(&self, page: u64) -> Result<()> {
        let Some(sums) = &self.sums else { return Ok(()) };
        if sums.is_compared(page) && self.map.check().is_ok() {
            return Ok(());
        }
        let mut bytes = vec![0; self.page_bytes];
        let whole = Chunk { page, offset: page * self.page_bytes as u64, length: self.page_bytes };
        self.load(whole, &mut bytes)?;
        sums.compare(page, &bytes)
    }

    /// Reads a chunk of a page. The caller has the page's lock.
    fn load(&self, chunk: Chunk, to: &mut [u8]) -> Result<()> {
        if self.is_mapped(chunk.page) {
            to.copy_from_slice(self.mapped_bytes(chunk.offset, chunk.length));
            if self.map.check().is_ok() {
                return Ok(());
            }
        }
        self.load_from_file(chunk.offset, to)
    }

    fn load_from_file(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let Some(backing) = &self.file else { return Ok(()) };
        backing.file.read_exact_at(to, offset).map_err(|error| self.failed("read", &error))
    }

    /// Stores a chunk of a page, for which space is reserved.
    fn store(&self, chunk: Chunk, from: Source<'_>) -> Result<()> {
        let Chunk { page, offset, length } = chunk;
        // Most requests write whole pages: their checksum is computed before the lock is taken.
        let computed = match (&self.sums, from) {
            (Some(sums), Source::Bytes(bytes)) if length == self.page_bytes => {
                Some(sums.of(page, bytes))
            }
            _ => None,
        };
        let _alone = self.lock(page).write().expect(NO_PANIC);
        if let Some(sums) = &self.sums {
            sums.forget(page..page + 1)?;
        }
        let to = self.at(offset, length);
        // SAFETY: the range is mapped and has space, and this thread has the page's exclusive lock.
        unsafe {
            match from {
                Source::Bytes(bytes) => to.copy_from_nonoverlapping(bytes.as_ptr(), length),
                Source::Zeros(_) => to.write_bytes(0, length),
            }
        }
        if let Some(sums) = &self.sums {
            let first = page * self.page_bytes as u64;
            let of_page = || sums.of(page, self.mapped_bytes(first, self.page_bytes));
            let sum = computed.unwrap_or_else(of_page);
            self.map.check()?;
            sums.know(page, sum);
        }
        Ok(())
    }

    /// Sets bytes to 0. The caller has the exclusive lock of `punching`.
    fn clear(&self, range: Range<u64>) -> Result<()> {
        self.reserve(&range)?;
        let length = (range.end - range.start) as usize;
        // SAFETY: the range is mapped and has space, and this thread has `punching` exclusively.
        unsafe { self.at(range.start, length).write_bytes(0, length) };
        self.map.check()
    }

    fn punch(&self, range: Range<u64>) -> io::Result<()> {
        if let Some(backing) = &self.file {
            return backing.punch(&range);
        }
        let length = (range.end - range.start) as usize;
        let from = self.at(range.start, length);
        // SAFETY: the range lies in this mapping and has whole pages; they then read as zeros.
        match unsafe { libc::madvise(from.cast(), length, libc::MADV_DONTNEED) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn reserve(&self, range: &Range<u64>) -> Result<()> {
        let reserved = self.file.as_ref().map_or(Ok(()), |backing| backing.reserve(range));
        reserved.map_err(|error| self.failed("stored", &error))
    }

    /// True if the page can be read through the mapping.
    fn is_mapped(&self, page: u64) -> bool {
        let Some(backing) = &self.file else { return true };
        if self.map.check().is_err() {
            return false;
        }
        let first = page * self.page_bytes as u64;
        let bytes = first..first + self.page_bytes as u64;
        !backing.reads_take_space || backing.has_space(&bytes)
    }

    /// Mapped bytes of a page. The caller has the page's lock as long as it uses the bytes.
    fn mapped_bytes(&self, offset: u64, length: usize) -> &[u8] {
        // SAFETY: the range is mapped, and the page's lock excludes stores.
        unsafe { std::slice::from_raw_parts(self.at(offset, length), length) }
    }

    /// Returns the error of a system call, or the cause if the file was truncated.
    fn failed(&self, what: &str, error: &io::Error) -> Error {
        self.map.cut().unwrap_or_else(|| {
            let sentence = format!("the data cannot be {what}: {error}");
            Error { sentence, errno: error.raw_os_error().unwrap_or(libc::EIO) }
        })
    }

    fn lock(&self, page: u64) -> &RwLock<()> {
        &self.locks[page as usize % LOCKS]
    }

    /// Pages that a range touches.
    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        let page_bytes = self.page_bytes as u64;
        range.start / page_bytes..range.end.div_ceil(page_bytes)
    }

    /// Splits a range at page boundaries.
    fn chunks(&self, range: Range<u64>) -> impl Iterator<Item = Chunk> + use<> {
        let page_bytes = self.page_bytes as u64;
        self.pages(&range).map(move |page| {
            let offset = (page * page_bytes).max(range.start);
            let end = ((page + 1) * page_bytes).min(range.end);
            Chunk { page, offset, length: (end - offset) as usize }
        })
    }

    fn at(&self, offset: u64, length: usize) -> *mut u8 {
        let end = offset.checked_add(length as u64);
        assert!(end.is_some_and(|end| end <= self.map.len() as u64), "bytes of the drive");
        self.map.as_mut_ptr().wrapping_add(offset as usize)
    }
}

/// Bytes within one page.
#[derive(Clone, Copy)]
struct Chunk {
    page: u64,
    offset: u64,
    length: usize,
}

/// Synchronises a file. Returns an error if the file's name was removed or replaced.
///
/// The data of a file without a name disappear when this process ends.
fn sync_named(file: &File) -> io::Result<()> {
    if file.metadata()?.nlink() == 0 {
        return Err(io::Error::other("their file was removed or replaced"));
    }
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::label::Identity;

    const PAGE_BYTES: u32 = 4096;

    fn in_file(directory: &Path, identity: Identity) -> (File, Data) {
        let path = directory.join("sums");
        let sums = Sums::create(&path, identity, 256, PAGE_BYTES).unwrap();
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let data = file.try_clone().unwrap();
        (file, Data::in_file(&path, data, 1 << 20, PAGE_BYTES, sums).unwrap())
    }

    fn both() -> (tempfile::TempDir, [Data; 2]) {
        let directory = tempfile::tempdir().unwrap();
        let (_, in_file) = in_file(directory.path(), Identity::random().unwrap());
        (directory, [Data::in_memory(1 << 20, PAGE_BYTES).unwrap(), in_file])
    }

    #[test]
    fn zeros_lie_exactly_where_they_were_asked_for() {
        let (_directory, both) = both();
        for data in both {
            data.write(0, Source::Bytes(&vec![7; 1 << 20])).unwrap();
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
        let (_directory, both) = both();
        for data in both {
            data.write(0, Source::Bytes(&[7; 8192])).unwrap();
            data.discard(0..8192).unwrap();
            data.write(4096, Source::Bytes(&[9; 4096])).unwrap();
            let mut found = [1; 8192];
            data.read(0, &mut found).unwrap();
            assert!(found[..4096].iter().all(|byte| *byte == 0));
            assert!(found[4096..].iter().all(|byte| *byte == 9));
        }
    }

    #[test]
    fn a_page_that_changed_is_an_error_until_it_is_written_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (path, identity) = (directory.path().join("sums"), Identity::random().unwrap());
        let (file, data) = in_file(directory.path(), identity);
        data.write(0, Source::Bytes(&[7; 3 * PAGE_BYTES as usize])).unwrap();
        drop(data);
        file.write_all_at(&[8], 5000).unwrap();

        let sums = Sums::open(&path, identity, 256, PAGE_BYTES).unwrap();
        let data = Data::in_file(&path, file, 1 << 20, PAGE_BYTES, sums).unwrap();
        let page = &mut [0; PAGE_BYTES as usize];
        data.read(0, page).unwrap();
        let error = data.read(4096, page).unwrap_err();
        assert!(error.to_string().contains("page 1 differs from its checksum"), "{error}");
        // A write that would change a part of it changes nothing, of other pages neither.
        data.write(4000, Source::Bytes(&[9; 200])).unwrap_err();
        data.read(0, page).unwrap();
        assert_eq!(*page, [7; PAGE_BYTES as usize]);
        data.write(4096, Source::Bytes(&[9; PAGE_BYTES as usize])).unwrap();
        data.read(4096, page).unwrap();
        assert_eq!(*page, [9; PAGE_BYTES as usize]);
    }
}
