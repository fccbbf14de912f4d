//! What keeps a drive in files: the data, a snapshot of its flash, and journals of the requests since.
//!
//! `FILE` holds the data, `FILE.flash` the flash as it was before the first row of the journal of the
//! same number, and `FILE.journal-N` the requests since. A request stores its data, then appends its
//! row, then is answered: nothing answered is lost when the process is killed. A flush makes data
//! durable, then rows, and then notes that they are: nothing flushed is lost with power.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memmap2::{Mmap, MmapOptions};
use writeamp_engine::state::{self, Reader, State, Writer};

use crate::books::Books;
use crate::config::Config;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::journal::{Head, Segment};
use crate::private;
use crate::record::Record;

/// What a drive is in files, once it is open.
pub struct Opened {
    /// The flash, after all requests that were kept.
    pub books: Books,
    /// The data.
    pub data: Data,
    /// The journal to go on with.
    pub segment: Arc<Segment>,
    /// Its end.
    pub head: Head,
    /// Time that serving it anew took.
    pub replay: Duration,
    /// The files.
    pub files: Files,
}

/// The files of a drive.
#[derive(Debug, Clone)]
pub struct Files {
    data: PathBuf,
    directory: PathBuf,
}

/// The flash, and the number of the journal that goes on from it.
struct Snapshot<'a> {
    number: u64,
    books: &'a mut Books,
}

impl State for Snapshot<'_> {
    fn save(&self, to: &mut Writer) {
        to.value(&self.number);
        self.books.save(to);
    }

    fn restore(&mut self, from: &mut Reader) -> writeamp_engine::Result<()> {
        self.number = from.value("the number of its journal")?;
        self.books.restore(from)
    }
}

/// The drive of a configuration with a backing file, made if it is new.
pub fn open(config: &Config, path: &Path) -> Result<Opened> {
    let files = Files::of(path);
    let (file, is_new) = files.open_data(config.size_bytes)?;
    let books =
        Books::new(&config.drive, if is_new { initial_state(config)? } else { None }.as_deref())?;
    let data = Data::in_file(file, config.size_bytes)
        .map_err(|error| Error::io(path, "map it into memory", &error))?;
    if is_new { files.begin(books, data) } else { files.go_on(books, data) }
}

/// The state that a new drive is to begin with, if there is one.
pub fn initial_state(config: &Config) -> Result<Option<Vec<u8>>> {
    let Some(path) = &config.state else { return Ok(None) };
    fs::read(path).map(Some).map_err(|error| Error::io(path, "read it", &error))
}

/// The bytes of a snapshot.
pub fn snapshot(books: &mut Books, number: u64) -> Vec<u8> {
    state::pack(&Snapshot { number, books })
}

impl Files {
    fn of(data: &Path) -> Self {
        let directory = data.parent().filter(|parent| !parent.as_os_str().is_empty());
        Files { data: data.to_owned(), directory: directory.unwrap_or(Path::new(".")).to_owned() }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.data.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    fn flash(&self) -> PathBuf {
        self.beside(".flash")
    }

    /// Where the journal of that number lies.
    pub fn journal(&self, number: u64) -> PathBuf {
        self.beside(&format!(".journal-{number}"))
    }

    /// Opens the data, alone; true if there is no drive in them yet.
    fn open_data(&self, size_bytes: u64) -> Result<(File, bool)> {
        let path = &self.data;
        let failed = |error| Error::io(path, "open it", &error);
        if self.flash().exists() && !path.exists() {
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
        let is_new = !self.flash().exists();
        // A drive whose making was interrupted has no data yet.
        if is_new && found.len() != 0 && (found.len() != size_bytes || found.blocks() != 0) {
            let why = format!(
                "there is data here but no flash behind it ({} is missing); give the name of a new \
                 file, or of one that serve has made",
                self.flash().display()
            );
            return Err(Error::damaged(path, why));
        }
        if is_new {
            file.set_len(size_bytes).map_err(|error| Error::io(path, "make it longer", &error))?;
        } else if found.len() != size_bytes {
            let why = format!(
                "the host sees {size_bytes} bytes of this drive, and its data have {}; either they \
                 were cut, or the options are not those that the drive was made with",
                found.len()
            );
            return Err(Error::damaged(path, why));
        }
        Ok((file, is_new))
    }

    /// The journals that there are, by number, from `least` on.
    fn journals(&self) -> Result<Vec<u64>> {
        let failed = |error| Error::io(&self.directory, "list it", &error);
        let prefix = self.beside(".journal-");
        let prefix = prefix.file_name().expect("a file has a name").as_encoded_bytes();
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number = name.as_encoded_bytes().strip_prefix(prefix);
            let number = number.and_then(|digits| std::str::from_utf8(digits).ok());
            numbers.extend(number.and_then(|digits| digits.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn begin(self, mut books: Books, data: Data) -> Result<Opened> {
        for number in self.journals()? {
            remove(&self.journal(number))?;
        }
        let segment = Segment::create(&self.journal(1), 1, 0)?;
        // Its length is part of what a snapshot promises.
        data.sync().map_err(|error| Error::io(&self.data, "synchronise it", &error))?;
        self.keep(&snapshot(&mut books, 1), 1)?;
        self.opened(books, data, segment, 0, Duration::ZERO)
    }

    fn go_on(self, mut books: Books, data: Data) -> Result<Opened> {
        let path = self.flash();
        let bytes = mapped(&path).map_err(|error| Error::io(&path, "read it", &error))?;
        let mut kept = Snapshot { number: 0, books: &mut books };
        state::unpack(&mut kept, &bytes).map_err(|error| Error::damaged(&path, error))?;
        drop(bytes);
        let number = kept.number;
        let began = Instant::now();
        let (segment, rows) = self.replay(&mut books, number)?;
        let replay = began.elapsed();
        if segment.number == number {
            return self.opened(books, data, segment, rows, replay);
        }
        // Several journals, so the server ended while it was taking a snapshot: taken now instead.
        segment.sync()?;
        let (number, first) = (segment.number + 1, books.requests().served);
        let Ok(next) = Segment::create(&self.journal(number), number, first) else {
            return self.opened(books, data, segment, rows, replay);
        };
        if let Err(error) = self.keep(&snapshot(&mut books, number), number) {
            // The last one and all journals since are kept, until there is space.
            eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
        }
        self.opened(books, data, next, 0, Duration::ZERO)
    }

    fn opened(
        self,
        books: Books,
        data: Data,
        segment: Segment,
        rows: usize,
        replay: Duration,
    ) -> Result<Opened> {
        segment.cut(rows)?;
        let head = Head::after(rows);
        Ok(Opened { books, data, segment: Arc::new(segment), head, replay, files: self })
    }

    /// Serves the requests of all journals from `number` on; returns the last that was needed, and
    /// how many rows of it.
    fn replay(&self, books: &mut Books, number: u64) -> Result<(Segment, usize)> {
        let mut numbers = self.journals()?;
        numbers.retain(|one| *one >= number);
        if numbers.first() != Some(&number) {
            let path = self.journal(number);
            return Err(Error::damaged(&path, "the journal of this drive is missing"));
        }
        let mut last: Option<(Segment, usize)> = None;
        let mut is_over = false;
        for number in numbers {
            if is_over {
                remove(&self.journal(number))?;
                continue;
            }
            let path = self.journal(number);
            let segment = match Segment::open(&path)? {
                Some(segment) if segment.first_sequence == books.requests().served => segment,
                // It was never begun, or what it goes on from was lost with power: then nothing in it
                // was ever durable.
                found if last.is_some() && found.as_ref().is_none_or(Segment::is_volatile) => {
                    remove(&path)?;
                    is_over = true;
                    continue;
                }
                _ => {
                    let why = "this journal does not go on from the one before, or from the flash";
                    return Err(Error::damaged(&path, why));
                }
            };
            let records = segment.records()?;
            for Record { ask, .. } in &records {
                // One that failed failed then too, and left the same counters.
                let _ = books.serve(ask);
            }
            // What goes on from it may be made durable, and must not be without it.
            if let Some((before, _)) = last.replace((segment, records.len())) {
                before.sync()?;
            }
        }
        Ok(last.expect("the first journal is there"))
    }

    /// Puts a snapshot in the place of the last one; the journals before it are then of no use.
    pub fn keep(&self, bytes: &[u8], number: u64) -> Result<()> {
        let (path, new) = (self.flash(), self.beside(".flash.new"));
        let failed = |error| Error::io(&new, "write it", &error);
        // The journal that it names must be there once it is.
        let journal = self.journal(number);
        let begun = File::open(&journal).and_then(|file| file.sync_all());
        begun.map_err(|error| Error::io(&journal, "synchronise it", &error))?;
        self.sync_names()?;
        let made = private::written().create(true).truncate(true).open(&new);
        let written = made.and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        if let Err(error) = written {
            // A part of it is of no use, and takes space from the host.
            remove(&new)?;
            return Err(failed(error));
        }
        fs::rename(&new, &path).map_err(failed)?;
        self.sync_names()?;
        for old in self.journals()?.into_iter().filter(|old| *old < number) {
            remove(&self.journal(old))?;
        }
        Ok(())
    }

    /// Makes names of files durable.
    pub fn sync_names(&self) -> Result<()> {
        let synced = File::open(&self.directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| Error::io(&self.directory, "synchronise it", &error))
    }
}

/// The bytes of a file, without a copy of them.
fn mapped(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    // SAFETY: snapshots are replaced, never written to; and the drive's lock is ours.
    unsafe { MmapOptions::new().populate().map(&file) }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(path, "remove it", &error))
        }
        _ => Ok(()),
    }
}
