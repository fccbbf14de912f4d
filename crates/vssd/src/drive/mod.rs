//! A virtual drive: interface for servers of a protocol, usable from any number of threads.
//!
//! Data are copied under a lock of their page: before the flash serves a write, and after it serves a
//! read. Under the lock of [`Inner`], the flash serves the request, which is appended to the journal
//! of a kept drive as a row of 32 bytes. Flash and journal therefore have the same order.

mod inner;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use writeamp_engine::request::Op;

use crate::allocation_bitmap::AllocationBitmap;
use crate::config::Config;
use crate::data::{Data, Source};
use crate::error::{Error, Result};
use crate::flash::Flash;
use crate::flash::report::{self, Samples};
use crate::flash::timed::TimedFlash;
use crate::flash::untimed::Pages;
use crate::kept::journal::Journal;
use crate::kept::store::{self, Opened};
use crate::record::Request;
use inner::{Inner, Recording};

/// A drive that serves requests.
pub struct Drive {
    size_bytes: u64,
    page_bytes: u64,
    host_page_bytes: Option<u32>,
    started: Instant,
    data: Data,
    allocated: Arc<AllocationBitmap>,
    inner: Mutex<Inner>,
    /// Condition variable, notified when a request of a timed drive completes.
    done: Condvar,
    /// True if the journal cannot grow: the disk is full, or a row could not be appended.
    ///
    /// Writes and trims are then rejected unless another attempt makes room. Reads and flushes are
    /// answered, but not counted.
    is_short: AtomicBool,
    /// Error of a lost write-back: every later flush fails with it.
    lost_writes: OnceLock<Error>,
}

impl Drive {
    /// Opens the drive of a configuration: a new drive, or the drive in its files.
    pub fn open(config: &Config) -> Result<Self> {
        config.check()?;
        let page_bytes = u64::from(config.drive.geometry.page_bytes);
        let (flash, data, allocated, journal) = if let Some(path) = &config.backing {
            let Opened { flash, data, allocated, end } = store::open(config, path)?;
            let journal = Journal::new(end, Duration::from_millis(config.longest_replay_ms))?;
            (flash, data, allocated, Some(journal))
        } else {
            let flash = Flash::new(config, store::initial_state(config)?.as_deref())?;
            let data = Data::in_memory(config.size_bytes, page_bytes as u32);
            let data = data.map_err(|error| Error {
                sentence: format!(
                    "memory for the drive's {} bytes cannot be mapped: {error}",
                    config.size_bytes
                ),
                errno: libc::ENOMEM,
            })?;
            let allocated = flash.allocated(config.size_bytes / page_bytes);
            (flash, data, allocated, None)
        };
        let recording = config.record.as_deref().map(Recording::new).transpose()?;
        let samples = Samples::from(&flash.counters());
        let inner = Inner { flash, journal, recording, samples, served: 0, since: 0 };
        Ok(Drive {
            size_bytes: config.size_bytes,
            page_bytes,
            host_page_bytes: config.host_page_bytes,
            started: Instant::now(),
            data,
            allocated,
            inner: Mutex::new(inner),
            done: Condvar::new(),
            is_short: AtomicBool::new(false),
            lost_writes: OnceLock::new(),
        })
    }

    /// Capacity that the host sees, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes of a page of the host: a mapped page, unless mapping units are larger.
    pub fn host_page_bytes(&self) -> u32 {
        self.host_page_bytes.unwrap_or(self.page_bytes as u32)
    }

    /// Reads bytes.
    pub fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let Some(request) = self.request(Op::Read, offset, to.len() as u64, false)? else {
            return Ok(());
        };
        self.serve(self.lock_with_room()?, &request)?;
        let pages = Pages::of(&request, self.page_bytes).range;
        let mut at = 0;
        for (end, holds) in self.allocated.runs(pages) {
            let end = ((end * self.page_bytes - offset) as usize).min(to.len());
            let chunk = &mut to[at..end];
            if holds {
                self.data.read(offset + at as u64, chunk)?;
            } else {
                chunk.fill(0);
            }
            at = end;
        }
        Ok(())
    }

    /// Writes bytes. With `fua` (force unit access), they are durable when this returns.
    pub fn write(&self, offset: u64, from: &[u8], fua: bool) -> Result<()> {
        let Some(request) = self.request(Op::Write, offset, from.len() as u64, fua)? else {
            return Ok(());
        };
        self.store(&request, Source::Bytes(from))
    }

    /// Sets bytes to 0.
    ///
    /// If `may_trim`, pages that lie entirely within the bytes are trimmed, and zeros are written
    /// to the others. Otherwise, zeros are written to all pages.
    pub fn zero(&self, offset: u64, length: u64, may_trim: bool, fua: bool) -> Result<()> {
        let Some(request) = self.request(Op::Write, offset, length, fua)? else { return Ok(()) };
        let inner = self.whole_pages(offset, length);
        if !may_trim || inner.is_empty() {
            return self.store(&request, Source::Zeros(length));
        }
        for edge in [offset..inner.start, inner.end..offset + length] {
            if let Some(request) =
                self.request(Op::Write, edge.start, edge.end - edge.start, false)?
            {
                self.store(&request, Source::Zeros(edge.end - edge.start))?;
            }
        }
        self.trim(inner.start, inner.end - inner.start, fua)
    }

    /// Trims all pages that lie entirely within the bytes.
    pub fn trim(&self, offset: u64, length: u64, fua: bool) -> Result<()> {
        self.request(Op::Trim, offset, length, fua)?;
        let inner = self.whole_pages(offset, length);
        let whole_bytes = inner.end - inner.start;
        let Some(request) = self.request(Op::Trim, inner.start, whole_bytes, fua)? else {
            return Ok(());
        };
        self.check_room()?;
        self.data.discard(inner)?;
        self.serve(self.lock_with_room()?, &request)?;
        if fua { self.sync() } else { Ok(()) }
    }

    /// Makes all completed requests durable.
    pub fn flush(&self) -> Result<()> {
        self.serve(self.lock_with_room()?, &Request::flush())?;
        self.sync()
    }

    /// Splits a range into runs of whole pages with or without data.
    ///
    /// Yields the bytes of each run, and true if they hold data. The first and the last run may
    /// extend beyond the range.
    pub fn extents(
        &self,
        offset: u64,
        length: u64,
    ) -> Result<impl Iterator<Item = (Range<u64>, bool)> + '_> {
        self.request(Op::Read, offset, length, false)?;
        let pages = offset / self.page_bytes..(offset + length).div_ceil(self.page_bytes);
        let mut at = pages.start;
        Ok(self.allocated.runs(pages).map(move |(end, holds)| {
            let first = std::mem::replace(&mut at, end);
            (first * self.page_bytes..end * self.page_bytes, holds)
        }))
    }

    /// Waits until no snapshot is in progress.
    pub fn settle(&self) {
        while self.lock().is_ok_and(|locked| locked.journal.as_ref().is_some_and(Journal::is_busy))
        {
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    /// Makes everything durable; the last call before the drive is dropped.
    pub fn close(&self) -> Result<()> {
        self.settle();
        let mut synced = self.sync();
        let mut locked = self.lock()?;
        let locked = &mut *locked;
        let caught_up = locked.flash.catch_up();
        // The recording is written before the drive is turned off, because the operations of
        // turning off do not belong to it.
        let recorded = locked.write_recordings();
        if let (Ok(()), Some(journal)) = (&synced, &mut locked.journal) {
            if let Err(error) = journal.finish(&mut locked.flash) {
                // Without the snapshot, the next start replays the requests from the journal, so
                // this failure only makes that start slower.
                eprintln!("writeamp: warning: no snapshot of the flash was taken: {error}");
            }
            synced = self.data.sync_sums().and_then(|()| journal.close());
        }
        synced.and(caught_up).and(recorded)
    }

    /// Returns the counters as JSON, counted since the drive was new.
    ///
    /// If `begin` is true, a new run begins now: its samples and latencies restart. `since` is then
    /// the number of requests before the run.
    pub fn counters(&self, begin: bool) -> Result<Map<String, Value>> {
        let mut locked = self.lock()?;
        let locked = &mut *locked;
        locked.flash.catch_up()?;
        let recorded = locked.write_recordings();
        let counters = locked.flash.counters();
        if begin {
            (locked.since, locked.samples) = (locked.served, Samples::from(&counters));
            if let Flash::Timed(timed, _) = &mut locked.flash {
                timed.forget_latencies();
            }
        }
        let requests = locked.flash.requests();
        let mut document =
            report::counters(locked.flash.flash(), &counters, requests, locked.flash.causes());
        if self.host_page_bytes.is_some() && !locked.flash.is_timed() {
            report::split_host_programs(&mut document, requests.read_modify_write_pages);
        }
        document.insert("since".into(), locked.since.into());
        document.insert("requests".into(), locked.served.into());
        document.insert("elapsed_ns".into(), (self.started.elapsed().as_nanos() as u64).into());
        document.insert("size_bytes".into(), self.size_bytes.into());
        // The flash's own number of mapped pages is not used. On a timed drive, it includes pages
        // of the mapping table, and lacks the pages in an SLC cache or a write cache.
        document.insert("logical_pages".into(), (self.size_bytes / self.page_bytes).into());
        document.insert("mapped_pages".into(), self.allocated.count().into());
        if let Some(by_handle) = locked.flash.flash().tag_counters() {
            let handles = report::handles(&by_handle, locked.flash.causes());
            document.insert("handles".into(), handles);
        }
        if let Some(wear) = locked.flash.slc_wear() {
            document.insert("slc".into(), report::slc(&wear));
        }
        document.insert("latency".into(), locked.flash.latencies());
        document.insert("timed".into(), locked.flash.moment());
        document
            .insert("recording_error".into(), recorded.err().map(|error| error.sentence).into());
        Ok(document)
    }

    /// Samples since counting began.
    pub fn series(&self) -> Result<Value> {
        Ok(self.lock()?.samples.to_json())
    }

    /// Number of blocks by valid pages and by erases, as JSON.
    pub fn blocks(&self) -> Result<Value> {
        Ok(report::blocks(self.lock()?.flash.flash()))
    }

    /// Returns the request, or None if it is empty; an error if it exceeds the drive.
    fn request(&self, op: Op, offset: u64, length: u64, fua: bool) -> Result<Option<Request>> {
        let request = u32::try_from(length).map(|length| Request { op, offset, length, fua });
        let Some(request) = request.ok().filter(|request| request.is_on(self.size_bytes)) else {
            return Err(Error::invalid(format!(
                "{length} bytes at {offset} are not on this drive of {} bytes",
                self.size_bytes
            )));
        };
        Ok((length > 0).then_some(request))
    }

    fn whole_pages(&self, offset: u64, length: u64) -> Range<u64> {
        let first = offset.next_multiple_of(self.page_bytes);
        let end = (offset + length) / self.page_bytes * self.page_bytes;
        first..end.max(first)
    }

    /// Stores data, then serves the request.
    ///
    /// First writes to a page are serialized under the lock: two requests may write to the same new
    /// page, and the bytes that neither writes must be zeros.
    fn store(&self, request: &Request, source: Source<'_>) -> Result<()> {
        self.check_room()?;
        let pages = Pages::of(request, self.page_bytes);
        let locked = if pages.range.clone().all(|page| self.allocated.holds(page)) {
            self.put(request, source)?;
            self.lock_with_room()?
        } else {
            let locked = self.lock_with_room()?;
            // The bytes of a new page that the request does not write must read as zeros.
            for page in pages.partial().filter(|page| !self.allocated.holds(*page)) {
                self.data.begin(page)?;
            }
            self.put(request, source)?;
            locked
        };
        self.serve(locked, request)?;
        if request.fua { self.sync() } else { Ok(()) }
    }

    fn put(&self, request: &Request, source: Source<'_>) -> Result<()> {
        self.data.write(request.offset, source)
    }

    /// Serves a request whose data are stored, and marks which pages hold data.
    ///
    /// Both happen under the lock, so that the journal has the same order.
    fn serve(&self, mut locked: MutexGuard<'_, Inner>, request: &Request) -> Result<()> {
        let partly_allocated =
            Pages::of(request, self.page_bytes).mark(request.op, &self.allocated);
        let at_ns = self.started.elapsed().as_nanos() as u64;
        let served = locked.serve(request, at_ns, partly_allocated);
        let is_short = locked.journal.as_ref().is_some_and(|journal| journal.shortage().is_some());
        self.is_short.store(is_short, Ordering::Relaxed);
        let id = served?;
        while let (Some(id), Flash::Timed(timed, _)) = (id, &mut locked.flash) {
            self.catch_up(timed)?;
            if timed.take_done(id) {
                break;
            }
            locked = self.wait(locked)?;
        }
        Ok(())
    }

    /// Fails, before any data changes, if the journal has no space for the request.
    fn check_room(&self) -> Result<()> {
        if !self.is_short.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut locked = self.lock()?;
        let Inner { journal: Some(journal), flash, .. } = &mut *locked else { return Ok(()) };
        journal.make_room(flash)?;
        journal.shortage().cloned().map_or(Ok(()), Err)
    }

    /// Advances the model to the current time and wakes threads whose requests completed.
    fn catch_up(&self, timed: &mut TimedFlash) -> Result<()> {
        if timed.catch_up()? {
            self.done.notify_all();
        }
        Ok(())
    }

    /// Waits until a request completes, or the next event of a timed drive is due.
    ///
    /// Returns at once for an untimed drive.
    fn wait<'a>(&self, locked: MutexGuard<'a, Inner>) -> Result<MutexGuard<'a, Inner>> {
        let Flash::Timed(timed, _) = &locked.flash else { return Ok(locked) };
        let Some(time) = timed.until_next() else {
            return self.done.wait(locked).map_err(|_| broken());
        };
        let (mut locked, _) = self.done.wait_timeout(locked, time).map_err(|_| broken())?;
        if let Flash::Timed(timed, _) = &mut locked.flash {
            self.catch_up(timed)?;
        }
        Ok(locked)
    }

    /// Makes data and journal durable.
    ///
    /// The kernel reports a write-back error to one fsync caller only, so every later call fails.
    fn sync(&self) -> Result<()> {
        let unsynced = self.lock()?.journal.as_ref().map(Journal::unsynced);
        let Some(unsynced) = unsynced else { return Ok(()) };
        if let Some(error) = self.lost_writes.get() {
            return Err(error.clone());
        }
        unsynced.sync(&self.data).inspect_err(|error| {
            let _ = self.lost_writes.set(error.clone());
        })?;
        if let Some(journal) = &mut self.lock()?.journal {
            journal.synced(&unsynced);
        }
        Ok(())
    }

    /// Takes the lock as soon as the drive can accept another request.
    fn lock_with_room(&self) -> Result<MutexGuard<'_, Inner>> {
        let mut locked = self.lock()?;
        while locked.flash.is_full() {
            locked = self.wait(locked)?;
        }
        Ok(locked)
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>> {
        self.inner.lock().map_err(|_| broken())
    }
}

/// Returns the error of a drive whose engine panicked.
///
/// The state may be inconsistent, and would not match the journal.
fn broken() -> Error {
    Error::fault("a request panicked, so this drive has stopped serving; start it again")
}
