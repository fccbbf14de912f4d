//! Files of a drive: the data, their checksums, a snapshot of the flash, and journals since.
//!
//! `FILE` holds the data and behind them their seal, `FILE.sums` the checksums of their pages,
//! `FILE.flash` the flash as it was before the first row of the journal of the same number, and
//! `FILE.journal-N` the requests since. A timed drive has a snapshot of when it was turned on only, as
//! its requests are in the middle of their service until it is turned off. All of them bear the
//! identity of their drive. A request stores its data, then appends its row, then is answered: nothing
//! answered is lost when the process is killed. A flush makes data durable, then rows, and then notes
//! that they are: nothing flushed is lost with power.

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
use crate::config::Config;
use crate::data::Data;
use crate::data::sums::{self, Sums};
use crate::error::{Error, Result};
use crate::files::label::Identity;
use crate::files::mapping::Mapping;
use crate::files::private;
use crate::flash::Flash;
use crate::held::Held;

/// Longest time of a server, 146 years: sums of two do not overflow.
const LONGEST_RUN_NS: u64 = 1 << 62;

/// A drive in files, once it is open.
pub struct Opened {
    /// The flash, after all requests that were kept.
    pub flash: Flash,
    /// The data.
    pub data: Data,
    /// Pages that hold data.
    pub held: Arc<Held>,
    /// End of the journal, behind which requests go on.
    pub end: JournalEnd,
}

/// End of the journal of a drive, behind which requests go on.
pub struct JournalEnd {
    /// The files.
    pub files: Files,
    /// The seal of the data.
    pub seal: Arc<Seal>,
    /// The journal to go on with.
    pub segment: Segment,
    /// Its end.
    pub head: Head,
    /// Time that serving it anew took.
    pub replay: Duration,
}

/// Replay of the journals, with nothing changed on the disk.
struct Replayed {
    segment: Segment,
    rows: usize,
    /// Sequence number behind the last row that any journal knows to be durable.
    durable: u64,
    /// Journals that go on from what was lost with power.
    strays: Vec<PathBuf>,
    took: Duration,
}

/// The drive of a configuration with a backing file, made if it is new.
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

/// The state that a new drive is to begin with, if there is one.
pub fn initial_state(config: &Config) -> Result<Option<Vec<u8>>> {
    let Some(path) = &config.state else { return Ok(None) };
    fs::read(path).map(Some).map_err(|error| Error::io(path, "read it", &error))
}

impl Files {
    /// Opens the data, alone, and their seal; there is none if no drive is in them yet.
    fn open_data(&self, size_bytes: u64) -> Result<(File, Option<Seal>)> {
        let path = &self.data;
        let failed = |error| Error::io(path, "open it", &error);
        let is_flash_there = self.flash().exists();
        if is_flash_there && !path.exists() {
            let why = format!(
                "the data of this drive are missing; its flash is there, in {}",
                self.flash().display()
            );
            return Err(Error::damaged(path, why));
        }
        let file = private::written().read(true).create(true).truncate(false).open(path);
        let file = file.map_err(failed)?;
        // SAFETY: a system call on a descriptor that is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let sentence = format!("{}: another server is using this drive", path.display());
            return Err(Error { sentence, errno: libc::EBUSY });
        }
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(Error::damaged(path, "a backing file must be a regular file"));
        }
        let seal = Seal::open(path, &file)?;
        if !is_flash_there {
            // A drive whose making was interrupted has no data yet.
            let is_unmade = if let Some(seal) = &seal {
                seal.ending()? == Ending::Unmade
            } else {
                let lengths = [size_bytes, Seal::file_bytes(size_bytes)];
                found.len() == 0 || (lengths.contains(&found.len()) && found.blocks() == 0)
            };
            if is_unmade {
                return Ok((file, None));
            }
            let why = format!(
                "there is data here but no flash behind it ({} is missing); give the name of a new \
                 file, or of one that serve has made",
                self.flash().display()
            );
            return Err(Error::damaged(path, why));
        }
        match seal {
            Some(seal) if seal.size_bytes() == size_bytes => Ok((file, Some(seal))),
            None if found.len() == size_bytes => {
                let why = "no seal is behind these data: they are of an earlier build of writeamp, \
                           whose drives cannot be told apart, or were cut; make a new drive, and \
                           copy them to it";
                Err(Error::damaged(path, why))
            }
            _ => {
                let why = format!(
                    "the host sees {size_bytes} bytes of this drive, for which this file should \
                     have {}, a seal at their end; it has {}; either they were cut or damaged, or \
                     the options are not those that the drive was made with",
                    Seal::file_bytes(size_bytes),
                    found.len()
                );
                Err(Error::damaged(path, why))
            }
        }
    }

    fn begin(self, config: &Config, mut flash: Flash, file: File) -> Result<Opened> {
        let page_bytes = config.drive.geometry.page_bytes;
        let sums = self.sums();
        let is_foreign = fs::metadata(&sums).is_ok_and(|found| found.len() > 0);
        if is_foreign && !private::begins_with(&sums, sums::MAGIC)? {
            let why =
                "the checksums of the drive would replace this file, which is none of a drive";
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
        let held = flash.held(pages);
        let end = JournalEnd {
            seal: Arc::new(seal),
            segment,
            head: Head::after(0),
            replay: Duration::ZERO,
            files: self,
        };
        opened(flash, data, held, end)
    }

    /// Opens what was left; changes nothing before all of it is known to fit together.
    fn go_on(self, config: &Config, mut flash: Flash, file: File, seal: Seal) -> Result<Opened> {
        let (identity, ending) = (seal.identity(), seal.ending()?);
        let number = self.restore(&mut flash, identity)?;
        let Replayed { segment, rows, durable, strays, took } =
            self.replay(&mut flash, &seal, number)?;
        seal.check(ending, flash.requests().served, durable)?;
        let page_bytes = config.drive.geometry.page_bytes;
        let pages = config.size_bytes / u64::from(page_bytes);
        let sums = if ending == Ending::PowerLost {
            // What was not flushed may be there without its checksum, or the other way round.
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
        let held = flash.held(pages);
        let compared = data.compare_all(&held);
        data.check()?;
        compared.map_err(|error| Error::damaged(&self.data, error))?;
        for stray in strays {
            remove(&stray)?;
        }
        let was_used = rows > 0 || segment.number != number;
        if let (Flash::Clocked(clocked, _), true) = (&mut flash, was_used) {
            clocked.restart()?;
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
            // The server ended while it was taking a snapshot, or before a timed drive was turned
            // off: taken now instead.
            end.begin_next(&mut flash)?;
        }
        opened(flash, data, held, end)
    }

    /// Restores the flash from its snapshot; the number of the journal that goes on from it.
    fn restore(&self, flash: &mut Flash, identity: Identity) -> Result<u64> {
        let path = self.flash();
        let map = Mapping::to_read(&path).map_err(|error| Error::io(&path, "read it", &error))?;
        // SAFETY: all of it is mapped; snapshots are replaced, never written to; the drive's lock is ours.
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
        let numbers: Vec<_> = self.journals()?.into_iter().filter(|one| *one >= number).collect();
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
                // It was never begun, or what it goes on from was lost with power: then nothing in it
                // was ever durable.
                found if last.is_some() && found.as_ref().is_none_or(Segment::is_volatile) => {
                    strays.push(path);
                    continue;
                }
                None => {
                    let why = "the beginning of this journal is missing: it was cut or damaged";
                    return Err(Error::damaged(&path, why));
                }
                _ => {
                    let why = "this journal does not go on from the one before, or from the flash";
                    return Err(Error::damaged(&path, why));
                }
            };
            let records = segment.records()?;
            for record in &records {
                if !record.ask.is_on(seal.size_bytes()) || record.at_ns > LONGEST_RUN_NS {
                    let why = format!("its request {} is none of this drive", record.sequence);
                    return Err(Error::damaged(&path, why));
                }
                // One that failed failed then too, and left the same counters.
                let _ = flash.replay(record);
            }
            durable = durable.max(segment.durable());
            // What goes on from it may be made durable, and must not be without it.
            if let Some((before, _)) = last.replace((segment, records.len())) {
                before.sync()?;
            }
        }
        let (segment, rows) = last.expect("the first journal is there");
        Ok(Replayed { segment, rows, durable, strays, took: began.elapsed() })
    }
}

impl JournalEnd {
    /// Begins a journal of its own, if there is space for it and for a snapshot before it.
    fn begin_next(&mut self, flash: &mut Flash) -> Result<()> {
        self.segment.sync()?;
        let (identity, number) =
            (self.seal.identity(), self.files.next_journal(self.segment.number));
        let path = self.files.journal(number);
        let first = flash.requests().served;
        let next = match Segment::create(&path, identity, number, first) {
            Ok(next) => next,
            // A journal does not tell that a timed drive was turned on again.
            Err(error) if flash.is_timed() => return Err(error),
            Err(_) => return Ok(()),
        };
        if let Err(error) = self.files.keep(&snapshot(flash, identity, number), number) {
            if flash.is_timed() {
                return Err(error);
            }
            // The last one and all journals since are kept, until there is space.
            eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
        }
        (self.segment, self.head, self.replay) = (next, Head::after(0), Duration::ZERO);
        Ok(())
    }
}

/// The drive, which is in use from here on.
fn opened(flash: Flash, data: Data, held: Arc<Held>, end: JournalEnd) -> Result<Opened> {
    end.segment.cut(end.head.rows() as usize)?;
    end.seal.begin(flash.requests().served)?;
    Ok(Opened { flash, data, held, end })
}

/// True if a file, named as a journal is, is none, whole or in part: it holds something else.
fn is_foreign(path: &Path) -> Result<bool> {
    let length = fs::metadata(path).map_err(|error| Error::io(path, "open it", &error))?.len();
    Ok(length > 0 && length != FILE_BYTES as u64 && !is_journal(path)?)
}
