//! Segment of the journal: a mapped file with the requests since a snapshot of the flash.
//!
//! An appended row survives a kill of the process. Once synchronised, it survives a loss of power.
//!
//! ```text
//! header (4096): label (its numbers: number of the journal, sequence of the first row)
//!                … at 512, a cell: sequence after the last durable row (8)
//! rows (32 each): see `record`
//! ```

#![allow(unsafe_code)]

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Result};
use crate::files::cell::{Cell, MOST};
use crate::files::label::{Identity, LABEL_BYTES, Label};
use crate::files::mapping::Mapping;
use crate::files::private;
use crate::files::space::allocate;
use crate::record::{ROW_BYTES, Record};

const MAGIC: [u8; 8] = *b"WampJrnl";
const HEADER_BYTES: usize = 4096;
const MARK_AT: usize = 512;

/// Largest number of rows of a segment, which bounds the size of the file.
/// The time of a replay has a limit of its own.
pub const ROWS: usize = 1 << 20;
/// Greatest number of a journal and of its first row, which real drives never reach.
const MOST_COUNTED: u64 = MOST / 2;
/// Rows for which space is reserved at a time.
const CHUNK_ROWS: usize = 1 << 15;
/// If reserved space remains for fewer rows, more space is reserved.
/// The number exceeds that of concurrent requests.
const SPARE_ROWS: usize = 1 << 10;
/// Bytes of a segment's file, which is sparse.
pub const FILE_BYTES: usize = HEADER_BYTES + ROWS * ROW_BYTES;

/// Segment of the journal: a file of rows, one per request.
pub struct Segment {
    path: PathBuf,
    map: Mapping,
    salt: u32,
    /// True if the name of its file survives a loss of power.
    pub is_named: AtomicBool,
    /// Number of the segment. A snapshot has the number of the segment that follows it.
    pub number: u64,
    /// Sequence number of the first row.
    pub first_sequence: u64,
}

impl Segment {
    /// Creates a segment without rows; the file must not exist.
    pub fn create(path: &Path, identity: Identity, number: u64, first: u64) -> Result<Self> {
        let failed = |error| Error::io(path, "create it", &error);
        let file = private::written().read(true).create_new(true).open(path);
        let file = file.map_err(failed)?;
        let label = Label { identity, numbers: [number, first] };
        let map = (|| {
            // The label is written first, so that a file without rows is recognised as an
            // interrupted creation.
            file.write_all_at(&label.encode(MAGIC), 0)?;
            file.set_len(FILE_BYTES as u64)?;
            allocate(&file, 0, &(0..(HEADER_BYTES + CHUNK_ROWS * ROW_BYTES) as u64))?;
            Mapping::of(path, file, 0..FILE_BYTES as u64)
        })();
        let map = map.map_err(|error| {
            // A segment without space for its first rows is useless, so it is removed.
            let _ = std::fs::remove_file(path);
            failed(error)
        })?;
        Ok(Segment::of(path, map, &label))
    }

    /// Opens an existing segment.
    ///
    /// Returns None if its creation was interrupted, so that it never had a row.
    pub fn open(path: &Path, identity: Identity, number: u64) -> Result<Option<Self>> {
        let failed = |error| Error::io(path, "open it", &error);
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        // A file that ends at its label or before was left by a server that was killed during
        // creation.
        if length <= LABEL_BYTES as u64 {
            return Ok(None);
        }
        if length != FILE_BYTES as u64 {
            let why = format!("this journal should have {FILE_BYTES} bytes and has {length}");
            return Err(Error::damaged(path, why));
        }
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).map_err(failed)?;
        if header == [0; HEADER_BYTES] {
            return Ok(None);
        }
        let head = header[..LABEL_BYTES].try_into().expect("a label is shorter than a header");
        let Some(label) = Label::decode(&head, MAGIC) else {
            return Err(Error::damaged(
                path,
                "this is not a journal of a virtual drive, or it is damaged",
            ));
        };
        if label.identity != identity {
            return Err(Error::of_another_drive(path));
        }
        if label.numbers[0] != number {
            let why = format!("this is journal {} under another name", label.numbers[0]);
            return Err(Error::damaged(path, why));
        }
        if label.numbers.iter().any(|number| *number > MOST_COUNTED) {
            return Err(Error::damaged(path, "the numbers of this journal are damaged"));
        }
        let map = Mapping::of(path, file, 0..FILE_BYTES as u64).map_err(failed)?;
        let segment = Segment::of(path, map, &label);
        let mark = segment.mark().get();
        segment.map.check()?;
        if mark.is_none() {
            return Err(Error::damaged(path, "this journal's number of durable rows is damaged"));
        }
        Ok(Some(segment))
    }

    fn of(path: &Path, map: Mapping, label: &Label) -> Self {
        Segment {
            path: path.to_owned(),
            map,
            salt: label.identity.salt(),
            is_named: AtomicBool::new(false),
            number: label.numbers[0],
            first_sequence: label.numbers[1],
        }
    }

    /// True if it has no durable rows.
    pub fn is_volatile(&self) -> bool {
        self.durable() <= self.first_sequence
    }

    /// Sequence number after the last durable row.
    pub fn durable(&self) -> u64 {
        self.mark().get().unwrap_or(u64::MAX)
    }

    /// Returns the records in order, up to the first invalid row.
    ///
    /// An error if a durable row is missing.
    pub fn records(&self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        let mut rows = vec![[0; ROW_BYTES]; CHUNK_ROWS];
        while records.len().is_multiple_of(CHUNK_ROWS) && records.len() < ROWS {
            let decoded = records.len();
            self.read_rows(decoded, &mut rows)?;
            let first = self.first_sequence + decoded as u64;
            let numbered = rows.iter().zip(first..);
            records
                .extend(numbered.map_while(|(row, number)| Record::decode(row, number, self.salt)));
            if records.len() == decoded {
                break;
            }
        }
        let end = self.first_sequence + records.len() as u64;
        if end < self.durable() {
            let why = format!("the journal is damaged at request {end}, which was durable");
            return Err(Error::damaged(&self.path, why));
        }
        Ok(records)
    }

    /// Clears all rows after the first `rows`, so that they are not read as later ones.
    pub fn cut(&self, rows: usize) -> Result<()> {
        let failed = |error| Error::io(&self.path, "cut it", &error);
        let first = HEADER_BYTES + rows * ROW_BYTES;
        let page_end = first.next_multiple_of(HEADER_BYTES).min(FILE_BYTES);
        let zeros = vec![0; page_end - first];
        self.map.file().write_all_at(&zeros, first as u64).map_err(failed)?;
        if page_end < FILE_BYTES {
            let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            allocate(self.map.file(), mode, &(page_end as u64..FILE_BYTES as u64))
                .map_err(failed)?;
        }
        self.sync()
    }

    /// Makes all rows durable.
    pub fn sync(&self) -> Result<()> {
        self.map.file().sync_data().map_err(|error| Error::io(&self.path, "synchronise it", &error))
    }

    /// Marks the first `rows`, and their data, as durable.
    pub fn set_mark(&self, rows: u64) -> Result<()> {
        self.mark().raise(self.first_sequence + rows);
        self.map.check()
    }

    fn mark(&self) -> Cell<'_> {
        Cell::of(&self.map, MARK_AT)
    }

    /// Reads rows from `first` on, by system calls: the mapping may have no space there.
    fn read_rows(&self, first: usize, rows: &mut [[u8; ROW_BYTES]]) -> Result<()> {
        let at = (HEADER_BYTES + first * ROW_BYTES) as u64;
        let read = self.map.file().read_exact_at(rows.as_flattened_mut(), at);
        read.map_err(|error| Error::io(&self.path, "read it", &error))
    }

    fn put_row(&self, at: usize, row: &[u8; ROW_BYTES]) -> Result<()> {
        assert!(at < ROWS, "rows of the journal");
        // SAFETY: within the mapping; one thread at a time writes rows, under the lock of `Inner`.
        unsafe {
            let to = self.map.as_mut_ptr().add(HEADER_BYTES + at * ROW_BYTES);
            to.copy_from_nonoverlapping(row.as_ptr(), ROW_BYTES);
        }
        self.map.check()
    }
}

/// True if a file begins with the magic bytes of a journal.
pub fn is_journal(path: &Path) -> Result<bool> {
    private::begins_with(path, MAGIC)
}

/// Position in a segment at which the next row is appended.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    rows: usize,
    reserved_rows: usize,
}

impl Head {
    /// Position after `rows` rows.
    pub fn after(rows: usize) -> Self {
        Head { rows, reserved_rows: rows }
    }

    /// Number of rows before this position.
    pub fn rows(&self) -> u64 {
        self.rows as u64
    }

    /// True if the segment is almost full.
    pub fn is_near_end(&self) -> bool {
        self.rows + SPARE_ROWS >= ROWS
    }

    /// True if space for another row is reserved.
    pub fn has_room(&self) -> bool {
        self.rows < self.reserved_rows
    }

    /// Reserves space for the next rows, up to the end of the segment.
    pub fn reserve(&mut self, segment: &Segment) -> Result<()> {
        if self.rows + SPARE_ROWS < self.reserved_rows || self.reserved_rows == ROWS {
            return Ok(());
        }
        let rows = self.reserved_rows..(self.reserved_rows + CHUNK_ROWS).min(ROWS);
        let byte = |row: usize| (HEADER_BYTES + row * ROW_BYTES) as u64;
        allocate(segment.map.file(), 0, &(byte(rows.start)..byte(rows.end)))
            .map_err(|error| Error::io(&segment.path, "make it longer", &error))?;
        self.reserved_rows = rows.end;
        Ok(())
    }

    /// Appends a row, for which space was reserved.
    pub fn append(&mut self, segment: &Segment, record: &Record) -> Result<()> {
        segment.put_row(self.rows, &record.encode(segment.salt))?;
        self.rows += 1;
        Ok(())
    }
}
