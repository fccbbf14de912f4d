//! Inner part of a drive: its flash and its journal, one request at a time.

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
use crate::record::{Record, Request};

/// Salt of the checksums in a recording of requests.
/// Recordings belong to no drive, so it is 0.
const NO_SALT: u32 = 0;

/// State of a drive that is used under a lock, by one request at a time.
pub struct Inner {
    pub flash: Flash,
    pub journal: Option<Journal>,
    pub recording: Option<Recording>,
    pub samples: Samples,
    /// Number of requests since the server started.
    pub served: u64,
    /// Value of `served` when counting began.
    pub since: u64,
}

/// Recording: a file of the served requests.
pub struct Recording {
    path: PathBuf,
    file: BufWriter<File>,
    /// Error that ended the recording, such as a full disk.
    /// Requests of the host do not fail because of it.
    failure: Option<Error>,
}

impl Inner {
    /// Serves a request and appends it to the journal.
    /// A failed request is appended too, because it fails again in a replay.
    ///
    /// `at_ns` is the arrival time; a timed drive uses its own time instead.
    pub fn serve(
        &mut self,
        request: &Request,
        at_ns: u64,
        partly_allocated: u64,
    ) -> Result<Option<u32>> {
        let (mut timed, mut sequence) = (None, self.served);
        if let Some(journal) = &mut self.journal {
            let made = journal.make_room(&mut self.flash);
            // On a full disk, the journal cannot grow. Reads and flushes are then answered, but they
            // are neither counted nor sent to the flash.
            if journal.shortage().is_some() && matches!(request.op, Op::Read | Op::Flush) {
                return Ok(None);
            }
            made?;
            sequence = self.flash.requests().served;
            timed = journal.times().then(Instant::now);
        }
        let id = match &mut self.flash {
            Flash::Untimed(untimed) => untimed.serve(request).map(|()| None),
            Flash::Timed(timed, _) => timed.submit(request, partly_allocated).map(Some),
        };
        let at_ns = match &self.flash {
            Flash::Untimed(_) => at_ns,
            Flash::Timed(timed, _) => timed.submitted_ns(),
        };
        if let Some(journal) = &mut self.journal {
            if let Some(from) = timed {
                journal.took(from.elapsed());
            }
            let appended = journal.append(&Record { at_ns, request: *request, sequence });
            if request.op != Op::Read {
                appended?;
            }
        }
        if let Some(recording) = &mut self.recording {
            recording.append(&Record { at_ns, request: *request, sequence: self.served });
        }
        self.served += 1;
        if request.op == Op::Write {
            self.samples.observe(&self.flash.counters());
        }
        id
    }

    /// Writes the requests and edges recorded since the last call to their files.
    /// Returns an error if any were lost, now or earlier.
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

    /// Flushes the recorded requests; an error if any are missing.
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
