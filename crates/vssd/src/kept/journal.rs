//! Journal of a drive in use: it appends a row per request, and takes snapshots of the flash.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use super::names::Files;
use super::seal::Seal;
use super::segment::{Head, Segment};
use super::snapshot::snapshot;
use super::store::JournalEnd;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::flash::Flash;
use crate::record::Record;

/// The duration of one request out of this number is measured.
const TIMED_EACH: u64 = 64;

/// Segments (files) of a drive's journal.
/// Rows are appended to the last; earlier segments are removed after the next snapshot.
pub struct Journal {
    files: Files,
    seal: Arc<Seal>,
    segment: Arc<Segment>,
    head: Head,
    /// Earlier segments that may not be durable yet, each with its number of rows.
    unsynced: Vec<(Arc<Segment>, u64)>,
    /// Estimated time to replay the requests of the last segment.
    replay: Duration,
    /// Longest time that a replay may take. A snapshot is due when the estimate exceeds it.
    longest_replay: Duration,
    shortage: Option<Error>,
    /// Error of a row that could not be appended.
    /// All further rows fail with it, so that none is missing in between.
    failure: Option<Error>,
    keeper: Keeper,
}

/// Background writer of snapshots.
struct Keeper {
    jobs: Option<mpsc::Sender<(Vec<u8>, u64)>>,
    is_busy: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Rows that may not be durable yet.
pub struct Unsynced {
    files: Files,
    seal: Arc<Seal>,
    segments: Vec<(Arc<Segment>, u64)>,
}

impl Journal {
    /// Opens the journal of a drive at its end.
    pub fn new(end: JournalEnd, longest_replay: Duration) -> Result<Self> {
        let JournalEnd { files, seal, segment, head, replay } = end;
        let keeper = Keeper::new(files.clone())?;
        Ok(Journal {
            files,
            seal,
            segment: Arc::new(segment),
            head,
            unsynced: Vec::new(),
            replay,
            longest_replay,
            shortage: None,
            failure: None,
            keeper,
        })
    }

    /// Reserves space for another row; takes a snapshot if it is due.
    pub fn make_room(&mut self, flash: &mut Flash) -> Result<()> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        // A timed drive has operations in progress until it is turned off, so it takes no snapshot
        // before.
        let is_due =
            !flash.is_timed() && self.replay > self.longest_replay && !self.keeper.is_busy();
        let mut made = Ok(());
        if is_due || self.head.is_near_end() {
            made = self.begin_next(flash);
            self.replay = Duration::ZERO;
        }
        // If there is no disk space for another segment, this segment is used to its end.
        let reserved = self.head.reserve(&self.segment);
        self.shortage = if self.head.is_near_end() { made.err() } else { reserved.err() };
        match &self.shortage {
            Some(shortage) if !self.head.has_room() => Err(shortage.clone()),
            _ => Ok(()),
        }
    }

    /// Error that prevents further rows, or will do so soon; None without one.
    pub fn shortage(&self) -> Option<&Error> {
        self.failure.as_ref().or(self.shortage.as_ref())
    }

    /// True while a snapshot is being written.
    pub fn is_busy(&self) -> bool {
        self.keeper.is_busy()
    }

    /// True if the duration of the next request should be measured.
    pub fn times(&self) -> bool {
        self.head.rows().is_multiple_of(TIMED_EACH)
    }

    /// Adds a measured duration of one request, times [`TIMED_EACH`], to the replay estimate.
    pub fn took(&mut self, time: Duration) {
        self.replay += time * TIMED_EACH as u32;
    }

    /// Appends a row, for which space is reserved. After a failure, all further rows fail.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let appended = self.head.append(&self.segment, record);
        let appended = appended.and_then(|()| self.seal.set_served(record.sequence + 1));
        self.failure = appended.clone().err();
        appended
    }

    /// Returns the rows that may not be durable.
    pub fn unsynced(&self) -> Unsynced {
        let mut segments = self.unsynced.clone();
        segments.push((self.segment.clone(), self.head.rows()));
        Unsynced { files: self.files.clone(), seal: self.seal.clone(), segments }
    }

    /// Records that these rows were made durable, so that later flushes skip earlier segments.
    pub fn synced(&mut self, rows: &Unsynced) {
        let current = self.segment.number;
        let last = rows.segments.last().map_or(0, |(segment, _)| segment.number);
        self.unsynced.retain(|(segment, _)| segment.number >= last.min(current));
    }

    /// Marks the drive as closed, so that the next start treats everything as durable.
    pub fn close(&self) -> Result<()> {
        self.seal.close()
    }

    /// Turns a timed drive off and takes a snapshot of it; does nothing for an untimed drive.
    /// The rows of the journal are already durable.
    pub fn finish(&mut self, flash: &mut Flash) -> Result<()> {
        let Flash::Timed(timed, _) = flash else { return Ok(()) };
        timed.turn_off()?;
        self.begin_segment(flash)?;
        let number = self.segment.number;
        self.files.keep(&snapshot(flash, self.seal.identity(), number), number)
    }

    /// Begins the next segment and starts a snapshot of the state before it.
    ///
    /// A timed drive takes no snapshot while it serves.
    fn begin_next(&mut self, flash: &mut Flash) -> Result<()> {
        self.begin_segment(flash)?;
        if !flash.is_timed() && !self.keeper.is_busy() {
            let number = self.segment.number;
            self.keeper.keep(snapshot(flash, self.seal.identity(), number), number);
        }
        Ok(())
    }

    fn begin_segment(&mut self, flash: &Flash) -> Result<()> {
        let (number, identity) =
            (self.files.next_journal(self.segment.number), self.seal.identity());
        let path = self.files.journal(number);
        let next = Segment::create(&path, identity, number, flash.requests().served)?;
        let previous = std::mem::replace(&mut self.segment, Arc::new(next));
        self.unsynced.push((previous, self.head.rows()));
        (self.head, self.replay) = (Head::after(0), Duration::ZERO);
        Ok(())
    }
}

impl Unsynced {
    /// Makes the data durable, then the rows of the journal, and then marks these rows as
    /// durable.
    pub fn sync(&self, data: &Data) -> Result<()> {
        data.sync()?;
        for (segment, _) in &self.segments {
            segment.sync()?;
        }
        if self.segments.iter().any(|(segment, _)| !segment.is_named.load(Ordering::Acquire)) {
            self.files.sync_names()?;
        }
        for (segment, rows) in &self.segments {
            segment.is_named.store(true, Ordering::Release);
            segment.set_mark(*rows)?;
        }
        let (segment, rows) = self.segments.last().expect("the current segment");
        self.seal.set_durable(segment.first_sequence + rows)
    }
}

impl Keeper {
    fn new(files: Files) -> Result<Self> {
        let (jobs, taken) = mpsc::channel::<(Vec<u8>, u64)>();
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = is_busy.clone();
        let work = move || {
            for (bytes, number) in taken {
                let _idle_again = Idle(&busy);
                // Without space for a snapshot, the previous one and all journals since it remain.
                if let Err(error) = files.keep(&bytes, number) {
                    eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
                }
            }
        };
        let thread = std::thread::Builder::new().name("keeper".into()).spawn(work);
        let thread = thread.map_err(|error| {
            Error::fault(format!("no thread can be started for snapshots: {error}"))
        })?;
        Ok(Keeper { jobs: Some(jobs), is_busy, thread: Some(thread) })
    }

    fn is_busy(&self) -> bool {
        self.is_busy.load(Ordering::Acquire)
    }

    fn keep(&self, bytes: Vec<u8>, number: u64) {
        self.is_busy.store(true, Ordering::Release);
        let jobs = self.jobs.as_ref().expect("the keeper takes jobs until it is dropped");
        if jobs.send((bytes, number)).is_err() {
            self.is_busy.store(false, Ordering::Release);
        }
    }
}

/// Clears the busy flag when dropped.
struct Idle<'a>(&'a AtomicBool);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
