//! Files of a drive: the data, their checksums, a snapshot of the flash, and journals since.
//!
//! - `FILE`: the data, followed by their seal.
//! - `FILE.sums`: checksums of the pages.
//! - `FILE.flash`: snapshot of the flash before the first row of the journal whose number it holds.
//!   A timed drive has only the snapshot of the time when it was turned on, because operations are
//!   in progress until it is turned off.
//! - `FILE.journal-N`: the requests since the snapshot.
//!
//! All of them have the identity of their drive. A request stores its data, appends its row, and is
//! then answered: a kill loses no answered request. A flush makes data durable, then rows, then
//! marks them as durable: a loss of power loses no flushed request.

#![allow(unsafe_code)]

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::names::{Files, remove};
use super::seal::{Ending, Seal};
use super::segment::{FILE_BYTES, Head, Segment, is_journal};
use super::snapshot::{restore, snapshot};
use crate::allocation_bitmap::AllocationBitmap;
use crate::config::Config;
use crate::data::Data;
use crate::data::sums::{self, Sums};
use crate::error::{Error, Result};
use crate::files::label::Identity;
use crate::files::mapping::Mapping;
use crate::files::private;
use crate::flash::Flash;

/// Longest time in ns that a journal may contain, 146 years.
/// The sum of two of them does not overflow.
const LONGEST_RUN_NS: u64 = 1 << 62;

/// An opened drive in files.
pub struct Opened {
    /// The flash after all journaled requests.
    pub flash: Flash,
    /// The data.
    pub data: Data,
    /// Pages that hold data.
    pub allocated: Arc<AllocationBitmap>,
    /// End of the journal, where new requests are appended.
    pub end: JournalEnd,
}

/// End of a drive's journal, where new requests are appended.
pub struct JournalEnd {
    /// The files.
    pub files: Files,
    /// Seal: the record behind the data on the state of the drive.
    pub seal: Arc<Seal>,
    /// The current journal.
    pub segment: Segment,
    /// Position of the next row in the current journal.
    pub head: Head,
    /// Time that the replay of the journals took.
    pub replay: Duration,
}

/// Result of replaying the journals, which changes nothing on the disk.
struct Replayed {
    segment: Segment,
    rows: usize,
    /// Sequence number after the last durable row of any journal.
    durable: u64,
    /// Paths of journals without durable rows, which are deleted: rows before theirs were lost.
    strays: Vec<PathBuf>,
    took: Duration,
}

/// Opens the drive of a configuration with a backing file, and creates it if it is new.
pub fn open(config: &Config, path: &Path) -> Result<Opened> {
    let files = Files::of(path);
    let (file, seal) = files.open_data(config.size_bytes)?;
    let state = if seal.is_none() { initial_state(config)? } else { None };
    let flash = Flash::new(config, state.as_deref())?;
    match seal {
        None => files.begin(config, flash, file),
        Some(seal) => files.go_on(config, flash, file, seal),
    }
}

/// Packed state with which a new drive starts, or None.
pub fn initial_state(config: &Config) -> Result<Option<Vec<u8>>> {
    let Some(path) = &config.state else { return Ok(None) };
    fs::read(path).map(Some).map_err(|error| Error::io(path, "read it", &error))
}

impl Files {
    /// Locks and opens the file of the data and its seal.
    /// Returns None if the file contains no drive yet.
    fn open_data(&self, size_bytes: u64) -> Result<(File, Option<Seal>)> {
        let path = &self.data;
        let failed = |error| Error::io(path, "open it", &error);
        let is_flash_there = self.flash().exists();
        if is_flash_there && !path.exists() {
            let why = format!(
                "this file, with the data of the drive, is missing, but its flash in {} exists",
                self.flash().display()
            );
            return Err(Error::damaged(path, why));
        }
        let file = private::written().read(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        // SAFETY: a system call on an open descriptor.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let sentence = format!("{}: another server is using this drive", path.display());
            return Err(Error { sentence, errno: libc::EBUSY });
        }
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(Error::damaged(path, "a backing file must be a regular file"));
        }
        let seal = Seal::open(path, &file)?;
        if !is_flash_there {
            // An interrupted creation left no data.
            let is_unmade = if let Some(seal) = &seal {
                seal.ending()? == Ending::Unmade
            } else {
                let lengths = [size_bytes, Seal::file_bytes(size_bytes)];
                metadata.len() == 0 || (lengths.contains(&metadata.len()) && metadata.blocks() == 0)
            };
            if is_unmade {
                return Ok((file, None));
            }
            let why = format!(
                "this file has data but no flash behind it ({} is missing); give the name of a new \
                 file, or of a drive that `writeamp serve --backing` has made",
                self.flash().display()
            );
            return Err(Error::damaged(path, why));
        }
        match seal {
            Some(seal) if seal.size_bytes() == size_bytes => Ok((file, Some(seal))),
            None if metadata.len() == size_bytes => {
                let why = "this file has no seal (a record of the drive's state) after the data: it \
                           was truncated, or an earlier version of writeamp made it; make a new \
                           drive and copy the data to it";
                Err(Error::damaged(path, why))
            }
            _ => {
                let why = format!(
                    "a drive of {size_bytes} bytes has a file of {} bytes, with a seal (a record of \
                     its state) at the end, but this file has {}; it was truncated or damaged, or \
                     the drive was made with other options",
                    Seal::file_bytes(size_bytes),
                    metadata.len()
                );
                Err(Error::damaged(path, why))
            }
        }
    }

    fn begin(self, config: &Config, mut flash: Flash, file: File) -> Result<Opened> {
        let page_bytes = config.drive.geometry.page_bytes;
        let sums = self.sums();
        let is_foreign = fs::metadata(&sums).is_ok_and(|metadata| metadata.len() > 0);
        if is_foreign && !private::begins_with(&sums, sums::MAGIC)? {
            let why = "the checksums of the drive would replace this file, which is not a drive's; \
                       remove or rename it";
            return Err(Error::damaged(&sums, why));
        }
        self.remove_journals(u64::MAX)?;
        let seal = Seal::create(&self.data, &file, config.size_bytes, page_bytes)?;
        let (identity, number) = (seal.identity(), self.next_journal(0));
        let pages = config.size_bytes / u64::from(page_bytes);
        let sums = Sums::create(&sums, identity, pages, page_bytes)?;
        let segment = Segment::create(&self.journal(number), identity, number, 0)?;
        self.keep(&snapshot(&mut flash, identity, number), number)?;
        let data = self.map(file, config, sums)?;
        let allocated = flash.allocated(pages);
        let end = JournalEnd {
            seal: Arc::new(seal),
            segment,
            head: Head::after(0),
            replay: Duration::ZERO,
            files: self,
        };
        opened(flash, data, allocated, end)
    }

    /// Opens an existing drive. Changes no file before all files agree with each other.
    fn go_on(self, config: &Config, mut flash: Flash, file: File, seal: Seal) -> Result<Opened> {
        let (identity, ending) = (seal.identity(), seal.ending()?);
        let number = self.restore(&mut flash, identity)?;
        let Replayed { segment, rows, durable, strays, took } =
            self.replay(&mut flash, &seal, number)?;
        seal.check(ending, flash.requests().served, durable)?;
        let page_bytes = config.drive.geometry.page_bytes;
        let pages = config.size_bytes / u64::from(page_bytes);
        let sums = if ending == Ending::PowerLost {
            // After a loss of power, an unflushed page may be stored without its checksum, or a
            // checksum without its page. The checksums are therefore unknown.
            eprintln!(
                "writeamp: warning: {}: the machine stopped while this drive was in use, so its \
                 data are not compared with their checksums",
                self.data.display()
            );
            Sums::create(&self.sums(), identity, pages, page_bytes)?
        } else {
            Sums::open(&self.sums(), identity, pages, page_bytes)?
        };
        let data = self.map(file, config, sums)?;
        let allocated = flash.allocated(pages);
        let compared = data.compare_all(&allocated);
        data.check()?;
        compared.map_err(|error| Error::damaged(&self.data, error))?;
        for stray in strays {
            remove(&stray)?;
        }
        let was_used = rows > 0 || segment.number != number;
        if let (Flash::Timed(timed, _), true) = (&mut flash, was_used) {
            timed.restart()?;
        }
        let is_snapshot_due = segment.number != number || was_used && flash.is_timed();
        let mut end = JournalEnd {
            files: self,
            seal: Arc::new(seal),
            segment,
            head: Head::after(rows),
            replay: took,
        };
        if is_snapshot_due {
            // The last server did not finish its snapshot, or did not turn the timed drive off.
            end.begin_next(&mut flash)?;
        }
        opened(flash, data, allocated, end)
    }

    /// Restores the flash from its snapshot; returns the number of the journal that follows it.
    fn restore(&self, flash: &mut Flash, identity: Identity) -> Result<u64> {
        let path = self.flash();
        let map = Mapping::to_read(&path).map_err(|error| Error::io(&path, "read it", &error))?;
        // SAFETY: all of it is mapped; snapshots are replaced, never modified; this process has the
        // lock.
        let bytes = unsafe { std::slice::from_raw_parts(map.as_mut_ptr(), map.len()) };
        let restored = restore(flash, identity, bytes);
        map.check()?;
        restored.map_err(|error| Error::damaged(&path, error))
    }

    fn map(&self, file: File, config: &Config, sums: Sums) -> Result<Data> {
        let page_bytes = config.drive.geometry.page_bytes;
        Data::in_file(&self.data, file, config.size_bytes, page_bytes, sums)
            .map_err(|error| Error::io(&self.data, "map it into memory", &error))
    }

    /// Serves the requests of all journals from `number` on.
    fn replay(&self, flash: &mut Flash, seal: &Seal, number: u64) -> Result<Replayed> {
        let began = Instant::now();
        let numbers: Vec<_> =
            self.journals()?.into_iter().filter(|journal| *journal >= number).collect();
        if numbers.first() != Some(&number) {
            let path = self.journal(number);
            return Err(Error::damaged(&path, "the journal of this drive is missing"));
        }
        let mut last: Option<(Segment, usize)> = None;
        let (mut durable, mut strays) = (0, Vec::new());
        for number in numbers {
            let path = self.journal(number);
            if last.is_some() && is_foreign(&path)? {
                continue;
            }
            let segment = match Segment::open(&path, seal.identity(), number)? {
                Some(segment) if segment.first_sequence == flash.requests().served => segment,
                // This journal has no rows, or it follows rows that a power failure lost. In both
                // cases, no row in it was durable, so the journal is deleted later.
                segment if last.is_some() && segment.as_ref().is_none_or(Segment::is_volatile) => {
                    strays.push(path);
                    continue;
                }
                None => {
                    let why = "the beginning of this journal is missing: it was cut or damaged";
                    return Err(Error::damaged(&path, why));
                }
                _ => {
                    let why = "this journal does not begin where the flash snapshot or the previous \
                               journal ends; restore all files of the drive from one backup";
                    return Err(Error::damaged(&path, why));
                }
            };
            let records = segment.records()?;
            for record in &records {
                if !record.request.is_on(seal.size_bytes()) || record.at_ns > LONGEST_RUN_NS {
                    let why = format!(
                        "request {} of this journal is not on the drive, or its time is invalid; \
                         the journal is damaged",
                        record.sequence
                    );
                    return Err(Error::damaged(&path, why));
                }
                // A request that failed fails again with the same counters, so its error is
                // ignored.
                let _ = flash.replay(record);
            }
            durable = durable.max(segment.durable());
            // A later segment must not be durable without the previous one, so the previous one is
            // synchronised.
            if let Some((previous, _)) = last.replace((segment, records.len())) {
                previous.sync()?;
            }
        }
        let (segment, rows) = last.expect("a drive must have at least one journal");
        Ok(Replayed { segment, rows, durable, strays, took: began.elapsed() })
    }
}

impl JournalEnd {
    /// Begins a new journal, and takes a snapshot of the flash before it.
    ///
    /// Without disk space, an untimed drive continues with its previous files; a timed drive fails.
    fn begin_next(&mut self, flash: &mut Flash) -> Result<()> {
        self.segment.sync()?;
        let (identity, number) =
            (self.seal.identity(), self.files.next_journal(self.segment.number));
        let path = self.files.journal(number);
        let first = flash.requests().served;
        let next = match Segment::create(&path, identity, number, first) {
            Ok(next) => next,
            // A journal cannot record that a timed drive was turned on again, so the drive cannot
            // be used without a new snapshot.
            Err(error) if flash.is_timed() => return Err(error),
            Err(_) => return Ok(()),
        };
        if let Err(error) = self.files.keep(&snapshot(flash, identity, number), number) {
            if flash.is_timed() {
                return Err(error);
            }
            // The previous snapshot and all journals since it remain until there is space.
            eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
        }
        (self.segment, self.head, self.replay) = (next, Head::after(0), Duration::ZERO);
        Ok(())
    }
}

/// Marks the drive as in use and returns it.
fn opened(
    flash: Flash,
    data: Data,
    allocated: Arc<AllocationBitmap>,
    end: JournalEnd,
) -> Result<Opened> {
    end.segment.cut(end.head.rows() as usize)?;
    end.seal.begin(flash.requests().served)?;
    Ok(Opened { flash, data, allocated, end })
}

/// True if a file with the name of a journal has other content.
fn is_foreign(path: &Path) -> Result<bool> {
    let length = fs::metadata(path).map_err(|error| Error::io(path, "open it", &error))?.len();
    Ok(length > 0 && length != FILE_BYTES as u64 && !is_journal(path)?)
}
