//! Serialized part of a drive: its flash and its journal, one request at a time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use writeamp_engine::request::Op;

use crate::error::{Error, Result};
use crate::files::private;
use crate::flash::Flash;
use crate::flash::report::Samples;
use crate::kept::journal::Journal;
use crate::record::{Ask, Record};

/// Recordings are of no drive.
const NO_SALT: u32 = 0;

/// The parts of a drive that one request at a time may use; they stand behind its lock.
pub struct Serialized {
    pub flash: Flash,
    pub journal: Option<Journal>,
    pub recording: Option<Recording>,
    pub samples: Samples,
    /// Requests since the server started, and how many of them when counting began.
    pub served: u64,
    pub since: u64,
}

/// A file of the requests.
pub struct Recording {
    path: PathBuf,
    file: BufWriter<File>,
    /// Error that ended it, such as a full disk: the host's requests do not fail for that.
    failure: Option<Error>,
}

impl Serialized {
    /// Serves a request and writes it down, also where it failed: what is replayed fails alike.
    /// `at_ns` is when it came, but of a timed drive, whose own time that is.
    pub fn serve(&mut self, ask: &Ask, at_ns: u64, partly_held: u64) -> Result<Option<u32>> {
        let (mut timed, mut sequence) = (None, self.served);
        if let Some(journal) = &mut self.journal {
            let made = journal.make_room(&mut self.flash);
            // On a full disk, what changes no data is answered and not counted.
            if journal.shortage().is_some() && matches!(ask.op, Op::Read | Op::Flush) {
                return Ok(None);
            }
            made?;
            sequence = self.flash.requests().served;
            timed = journal.times().then(Instant::now);
        }
        let id = match &mut self.flash {
            Flash::Counted(books) => books.serve(ask).map(|()| None),
            Flash::Clocked(clocked, _) => clocked.submit(ask, partly_held).map(Some),
        };
        let at_ns = match &self.flash {
            Flash::Counted(_) => at_ns,
            Flash::Clocked(clocked, _) => clocked.submitted_ns(),
        };
        if let Some(journal) = &mut self.journal {
            if let Some(from) = timed {
                journal.took(from.elapsed());
            }
            let appended = journal.append(&Record { at_ns, ask: *ask, sequence });
            if ask.op != Op::Read {
                appended?;
            }
        }
        if let Some(recording) = &mut self.recording {
            recording.append(&Record { at_ns, ask: *ask, sequence: self.served });
        }
        self.served += 1;
        if ask.op == Op::Write {
            self.samples.observe(&self.flash.counters());
        }
        id
    }

    /// Writes the requests and edges so far, for whoever asks to read them; an error if any are
    /// missing.
    pub fn write_recordings(&mut self) -> Result<()> {
        let requests = self.recording.as_mut().map_or(Ok(()), Recording::flush);
        requests.and(self.flash.write_edges())
    }
}

impl Recording {
    pub fn new(path: &Path) -> Result<Self> {
        let file = private::written().create(true).truncate(true).open(path);
        let file = file.map_err(|error| Error::io(path, "create it", &error))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(Recording { path: path.to_owned(), file, failure: None })
    }

    pub fn append(&mut self, record: &Record) {
        if self.failure.is_none() {
            let written = self.file.write_all(&record.encode(NO_SALT));
            self.note(written);
        }
    }

    /// Hands over what was recorded so far; an error if requests are missing from it.
    pub fn flush(&mut self) -> Result<()> {
        if self.failure.is_none() {
            let written = self.file.flush();
            self.note(written);
        }
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn note(&mut self, written: std::io::Result<()>) {
        let failed = |error| Error::io(&self.path, "record requests, so some are missing", &error);
        self.failure = written.map_err(failed).err();
    }
}
